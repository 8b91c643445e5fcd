"""``python -m tests.security.expressions``: finds regular expressions that take more than linear time on hostile texts.

Every expression that the product compiles on import, or passes as a literal, searches texts made from its own parts: a
piece that one of its repetitions matches, many times, with a beginning and an end that match or do not. Prints each
expression that takes more than three times as long for twice the text, and more than MOMENT seconds for 40,000
characters. Measures CPU time, so that a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, cast

from contracts.expressions import LazyPattern

codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (*ROOT.glob("libs/*/src"), *ROOT.glob("services/*/src"), ROOT / "cli/src")
LEFT_OUT = (
    "testing", "scripted_model", "__main__",
    "gateway/web/script.py", "gateway/web/pages.py", "gateway/web/docs/", "gateway/site/",
)  # fmt: skip
"""Modules for tests, and modules that read only our own files."""
BOUNDED = {
    "agent/domain/offline/answers.py _OF_THE_DEMO": "our own texts",
    "agent/domain/shortcuts/memory_words.py": "400 characters",
    "agent/domain/shortcuts/words.py": "60 characters",
    "agent/turns/cited_text.py _UNDECIDED": "looked at from 40 characters before the end",
}
"""Expressions that only get short texts, by place: the bound that is checked before."""
SIZES = (10_000, 20_000, 40_000)
MOMENT = 0.2
"""Seconds of CPU for the longest text that are acceptable."""
MAX_SECONDS = 1.5
"""Seconds after which a search is stopped."""
ENDS = ("", "\x00", "!", "a", " x")
MAX_TEXTS = 40
"""The maximum number of texts for each expression."""
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
SAMPLES = {
    codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_NOT_SPACE: "a", codes.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
Parsed = Sequence[tuple[Any, Any]]


class TooSlowError(Exception):
    """A search took longer than MAX_SECONDS."""


@dataclass
class Use:
    """Where an expression is used, and which of its methods."""

    places: set[str] = field(default_factory=set[str])
    how: set[str] = field(default_factory=set[str])


def expressions() -> dict[re.Pattern[str], Use]:
    """Returns every expression of the product with its use."""
    found: defaultdict[re.Pattern[str], Use] = defaultdict(Use)
    for file in modules():
        place = str(file).partition("/src/")[2]
        text = file.read_text()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) in ("re.compile", "expression"):
                continue
            if (made := written(node)) is not None:
                found[made].places.add(f"{place}:{node.lineno}")
                found[made].how.add(ast.unparse(node.func).removeprefix("re."))
        module = importlib.import_module(place.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        for name, value in vars(module).items():
            used = set(re.findall(rf"\b{name}(?:\[[^\]]*\])?\.(\w+)", text))
            for made in held(value):
                found[made].places.add(f"{place} {name}")
                found[made].how |= used
    for use in found.values():
        use.how = use.how or {"search"}
    return found


def modules() -> Iterator[Path]:
    """Yields the product's files."""
    for source in SOURCES:
        for file in sorted(source.rglob("*.py")):
            if not any(word in str(file) for word in LEFT_OUT):
                yield file


def written(node: ast.Call) -> re.Pattern[str] | None:
    """Returns the expression that a call such as `re.sub("…", …)` compiles, if its text and flags are literals."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[ast.Constant(value=str(text)), *more]):
            given = [*more, *(keyword.value for keyword in node.keywords if keyword.arg == "flags")]
            names = {name.attr for one in given for name in ast.walk(one) if isinstance(name, ast.Attribute)}
            flags = sum(getattr(re, name) for name in names if name in re.RegexFlag.__members__)
            try:
                return re.compile(text, flags)
            except re.error:
                return None
        case _:
            return None


def held(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """Yields the expressions in a module's value: the value itself, or those in a table."""
    if isinstance(value, LazyPattern):
        yield re.compile(value.pattern, value.flags)
    elif isinstance(value, re.Pattern):
        made = cast("re.Pattern[Any]", value)
        if isinstance(made.pattern, str):
            yield made
    elif isinstance(value, (list, tuple, set, frozenset, dict)) and depth < 4:
        table = cast("dict[object, object]", value) if isinstance(value, dict) else {}
        for one in (*table.values(), *cast("Iterable[object]", value)):
            yield from held(one, depth + 1)


def hostile(made: re.Pattern[str]) -> list[tuple[str, str]]:
    """Returns pairs of a beginning and the piece to repeat after it."""
    tree: Parsed = parser.parse(made.pattern, made.flags)
    found = list(repeated(tree))
    pieces = list(dict.fromkeys(piece for _, piece in found))
    pairs = [(before, piece) for before, piece in found]
    pairs += [("", piece) for piece in pieces]
    pairs += [("", before + piece) for before, piece in found if before]
    pairs += [("", text) for text in samples(tree) if text]
    pairs += [("", piece + other) for piece in pieces[:6] for other in pieces[:6] if piece != other]
    return list(dict.fromkeys(pairs))[:MAX_TEXTS]


def repeated(tree: Parsed, before: str = "") -> Iterator[tuple[str, str]]:
    """Yields for each long repetition a text that leads to it and a piece that it matches."""
    for op, value in tree:
        if op in REPEATS:
            low, high, inner = value
            if high is codes.MAXREPEAT or high >= 200:
                yield from ((before, text) for text in samples(inner)[:3] if text)
            yield from repeated(inner, before)
            before += samples(inner)[0] if low else ""
        elif op is codes.SUBPATTERN:
            yield from repeated(value[3], before)
            before += samples(value[3])[0]
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from repeated(branch, before)
            before += samples(value[1][0])[0]
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repeated(value[1], before)
        else:
            before += samples([(op, value)])[0]


def samples(tree: Parsed) -> list[str]:
    """Returns a few short texts that it (roughly) matches."""
    found = [""]
    for op, value in tree:
        found = [before + text for before in found for text in of_one(op, value)][:4]
    return found


def of_one(op: Any, value: Any) -> list[str]:
    """Returns short texts that one element matches."""
    if op is codes.LITERAL:
        return [chr(value)]
    if op is codes.NOT_LITERAL:
        return ["b" if chr(value) == "a" else "a"]
    if op is codes.ANY:
        return ["a"]
    if op is codes.IN:
        return in_class(value)
    if op in REPEATS:
        return [text * max(value[0], 1) for text in samples(value[2])[:2]]
    if op is codes.SUBPATTERN:
        return samples(value[3])[:3]
    if op is codes.ATOMIC_GROUP:
        return samples(value)[:3]
    if op is codes.BRANCH:
        return [samples(branch)[0] for branch in value[1][:4]]
    return [""]


def in_class(items: Parsed) -> list[str]:
    """Returns up to two characters of a class."""
    if items[0][0] is codes.NEGATE:
        inner = "".join(in_class(items[1:])) if len(items) > 1 else ""
        return [one for one in "a1 -x" if one not in inner][:2]
    found: list[str] = []
    for op, value in items:
        found.append(SAMPLES[value] if op is codes.CATEGORY else chr(value[0]) if op is codes.RANGE else chr(value))
    return found[:2]


def seconds(made: re.Pattern[str], text: str, how: set[str]) -> float:
    """Returns the CPU seconds to run the used methods on the text: all matches, at its beginning, or of all of it."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    began = time.process_time()
    try:
        if how - {"match", "fullmatch", "pattern"}:
            for _ in made.finditer(text):
                pass
        if "match" in how:
            made.match(text)
        if "fullmatch" in how:
            made.fullmatch(text)
    except TooSlowError:
        return MAX_SECONDS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def worst(made: re.Pattern[str], how: set[str]) -> tuple[float, str] | None:
    """Returns the longest time that is more than linear and its text; None: there is none."""
    slowest: tuple[float, str] | None = None
    for before, piece in hostile(made):
        for end in ENDS:

            def text(size: int, before: str = before, piece: str = piece, end: str = end) -> str:
                return before + (piece * (size // len(piece) + 1))[:size] + end

            if seconds(made, text(SIZES[0]), how) < MOMENT / 32:
                continue
            half, whole = seconds(made, text(SIZES[1]), how), seconds(made, text(SIZES[2]), how)
            if whole >= min(3 * half, MAX_SECONDS) and whole > MOMENT and (slowest is None or whole > slowest[0]):
                slowest = whole, f"{before[:30]!r} {piece[:30]!r}… {end!r}"
            if slowest and slowest[0] >= MAX_SECONDS:
                return slowest
    return slowest


def main() -> int:
    """Checks the expressions; returns exit code 1 if one is slow."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("only", nargs="?", default="", help="part of a place's name")
    only = arguments.parse_args().only

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    signal.signal(signal.SIGVTALRM, stop)
    uses = {made: use for made, use in expressions().items() if any(only in place for place in use.places)}
    bounded = [made for made, use in uses.items() if all(place.startswith(tuple(BOUNDED)) for place in use.places)]
    uses = {made: use for made, use in uses.items() if made not in bounded}
    slow = 0
    for made, use in sorted(uses.items(), key=lambda item: sorted(item[1].places)):
        if (took := worst(made, use.how)) is not None:
            slow += 1
            sys.stdout.write(
                f"{took[0]:.2f} s: {', '.join(sorted(use.places))}\n    {made.pattern[:160]!r}\n    {took[1]}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{slow} of {len(uses)} expressions take more than linear time\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
