"""Splits a sentence into tokens: tickers, figures, numbers, periods, directions, comparisons, and other words.

"IBM rose 2.7% over the year" is ticker, rise, number, period. Both languages are read together: Spanish and English
words rarely clash, and an answer may contain both.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from agent.domain.claims import patterns, times
from agent.domain.claims.figure_words import FIGURE_PHRASES, FIGURES
from agent.domain.claims.words import COMPARING, EVENT_WORDS, PLAIN_WORDS
from agent.domain.tickers import NAMES, tickers_in

_MEASUREMENT = re.compile(r"[%$€]|\d[.,]\d|[+−-]\d")
"""A number with a sign, a unit or decimals: what stands beside it in capitals may be whose it is."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: ticker, foreign, figure, number, period, day, report, source, rise, fall, flat, more, less, better,
    worse, than, above, below, between, all, neither, break, not, unknown, expected, confirmed, word or odd, …"""

    kind: str
    text: str
    position: int
    value: Any = None
    word: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: its readings (value, decimal places), its unit, its sign."""

    readings: tuple[tuple[float, int], ...]
    percent: bool
    money: str | None
    scale: float
    sign: str
    points: bool
    times: bool = False
    about: bool = False
    """Whether the words before it say that it is no more than near: "a little over 25%"."""
    bound: str = ""
    """`>` where its figure is said to be more than it, `<` where less."""
    part: bool = False
    """Whether it is told as a part of the whole: "lost a third"."""


_WORDS_RE = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*|\d[\d.,]*\w*|[^\s\w]")
_QUALIFIER_WIDTH = 24
"""Characters before a number in which words say how near it is."""
_ADVERB = re.compile(
    r"(?!(?:reported|alleged|supposed|purported|inverse|negative|former|hard|bare|scarce)ly$)(?!(?:fami|supp|assemb|"
    r"ita|monopo|anoma|ju|re|al)ly$)(?!(?:supuesta|presunta|inversa|negativa)mente$)[a-z]{2,}(?:ly|mente)"
)
"""Adverbs: how something is so, but for those that take it back, or turn it round; and what only looks like one."""
_SIDES = {"over": "above", "sobre": "above", "under": "below", "beneath": "below", "bajo": "below"}
LINES = ("sma_", "upper", "middle", "lower")
"""What a price stands above or below: averages, and the bands around one."""
_PUNCTUATION = frozenset(".,;:()[]«»“”\"'’‘?!¿¡/-–—*_…·→|•`#")


def folded(text: str) -> str:
    """Lower case, without accents, letter by letter, so that places stay."""
    swapped = text.translate({0x2212: "-", 0x2013: "-", 0x2019: "'", 0xA0: " ", 0x202F: " "})
    return "".join((unicodedata.normalize("NFD", c)[0].lower() or c)[:1] for c in swapped)


def readings(digits: str) -> tuple[tuple[float, int], ...]:
    """The values that a number may have, with its decimal places: 1,234.5 and 1.234,5 and, in doubt, both."""
    found: dict[tuple[float, int], None] = {}
    for group, point in ((",", "."), (".", ",")):
        if re.fullmatch(rf"(?:\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+)(?:{re.escape(point)}\d+)?", digits):
            text = digits.replace(group, "").replace(point, ".")
            found[float(text), len(text.partition(".")[2])] = None
    return tuple(found)


def periods_of(segment: Sequence[Token]) -> list[str]:
    """The periods that some tokens name."""
    return [token.value for token in segment if token.kind == "period"]


class Lexer:
    """Reads sentences about `names` (by spelling in lower case); `sources` and `words` are those of the tools."""

    def __init__(self, names: dict[str, str], sources: Iterable[str], words: Iterable[str]) -> None:
        self._names = names
        spellings = sorted(names, key=len, reverse=True)
        self._tickers = re.compile(
            r"(?<![\w&^.])(?:" + "|".join(re.escape(one) for one in spellings) + r")(?=$|[^\w&]|'s)"
            if spellings
            else r"(?!)"
        )
        self._sources = {folded(one) for one in sources}
        self._words = PLAIN_WORDS.union(words, *(one.split() for one in self._sources))

    def tokens(self, sentence: str) -> list[Token]:
        """The tokens in their order."""
        text = folded(sentence)
        found: list[Token] = []
        taken = bytearray(len(text))

        def take(kind: str, match: re.Match[str], value: Any = None) -> None:
            found.append(Token(kind, match[0], match.start(), value))
            taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())

        def each(pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
            blank = "".join("\x00" if used else c for c, used in zip(text, taken, strict=True))
            return (match for match in pattern.finditer(blank) if match[0].strip() and "\x00" not in match[0])

        self._in_parts(sentence, text, take, each)
        for match in each(_WORDS_RE):
            word = match[0]
            bare = word.removesuffix("'s").strip("'’.-")
            if bare in COMPARING:
                found.append(Token("loaded", word, match.start(), word=bare))
            elif word in _PUNCTUATION or bare in self._words or not bare or _ADVERB.fullmatch(bare):
                found.append(Token("word", word, match.start(), word=bare))
            else:
                found.append(Token("odd", word, match.start(), word=bare))
        return list(_with_sides(sorted(found, key=lambda token: token.position)))

    def _in_parts(
        self, sentence: str, text: str, take: Callable[..., None], each: Callable[..., Iterator[re.Match[str]]]
    ) -> None:
        for match in each(patterns.SOURCE):
            name = match["a"] or match["b"]
            if (name is None and match["b"] is None and match["a"] is None) or name in self._sources:
                take("word", match)
            elif name in patterns.PLAIN_SOURCES or name in self._names:
                continue
            elif match["a"] or name not in self._words:
                take("source", match, name)
        for match in each(self._tickers):
            take("ticker", match, self._names[match[0]])
        for ticker in tickers_in(sentence, shouting=sentence.isupper() and not _MEASUREMENT.search(sentence)):
            if ticker in self._names.values():
                continue
            spellings = [ticker, *(name for name, its in NAMES.items() if its == ticker and name not in self._words)]
            for match in each(re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(folded(one)) for one in spellings)})(?!\w)")):
                written = sentence[match.start() : match.end()]
                if written == ticker or (match[0] in NAMES and written[0].isupper()):
                    take("foreign", match, ticker)
        for match in each(patterns.REPORT):
            take("report", match, int(match["year"]))
        has_average = bool(patterns.HAS_AVERAGE.search(text))
        if has_average:
            for match in each(patterns.SMA):
                take("figure", match, (f"sma_{next(filter(None, match.groups()))}",))
        for names, pattern in FIGURE_PHRASES:
            for match in each(pattern):
                take("figure", match, names)
        if patterns.MOVED.search(text):
            self._parts(text, take, each)
        self._times(text, take, each)
        for kind, pattern in patterns.TOKENS:
            for match in each(pattern):
                take(*_token_parts(kind, match))
            if kind == "figure":
                self._numbers(text, take, each)

    def _times(self, text: str, take: Callable[..., None], each: Callable[..., Iterator[re.Match[str]]]) -> None:
        for match in each(times.RANGE):
            value = times.range_of(match["first"], match["last"])
            if value is not None and not (re.fullmatch(r"\d{1,2}.*", match["first"]) and "/" not in value):
                take("period", match, value)
        for match in each(times.SINCE):
            value = times.since_of(match["first"])
            if value is not None:
                take("period", match, value)
        for pattern, read in ((times.QUARTER, times.quarter_range), (times.HALF, times.half_range)):
            for match in each(pattern):
                take("period", match, read(match))
        for match in each(times.DATE):
            try:
                take("day", match, times.day_of(match))
            except ValueError:
                take("odd", match)
        for match in each(times.MONTH_MOOD):
            take("rise" if match["up"] else "fall", match)
        for match in each(times.IN_MONTH):
            take("period", match, times.month_range(int(match["year"]), times.month_of(match["month"])))
        for match in each(times.IN_YEAR):
            take("period", match, times.year_range(int(match["year"])))
        for match in each(times.BARE_UNIT):
            if match[0].endswith("end") or times.BEFORE_BARE_UNIT.search(text, 0, match.start()):
                take("word", match)
        if patterns.STREAK.search(text):
            for match in each(times.COUNT_OF_DAYS):
                days = float(times.count_of(match["count"]))
                take("number", match, Number(((days, 0),), percent=False, money=None, scale=1.0, sign="", points=False))
        for name, pattern in ((times.LAST_YEAR, times.IN_LAST_YEAR), *times.PERIODS):
            for match in each(pattern):
                take("period", match, times.span_of(match) if name == "span" else name)

    def _parts(self, text: str, take: Callable[..., None], each: Callable[..., Iterator[re.Match[str]]]) -> None:
        """Takes "lost a third" as a number of percent."""
        for match in each(patterns.PART):
            share = next(share for name, share in patterns.PART_SHARES.items() if match[name]) * 100
            side = ">" if match["over"] else "<" if match["under"] else ""
            number = Number(
                ((share, 0),), percent=True, money=None, scale=1.0, sign="", points=False, bound=side, part=True
            )
            take("number", match, number)

    def _numbers(self, text: str, take: Callable[..., None], each: Callable[..., Iterator[re.Match[str]]]) -> None:
        for match in each(patterns.NUMBER):
            near = text[max(match.start() - _QUALIFIER_WIDTH, 0) : match.start()]
            bound = patterns.BOUND.search(near)
            before, after = (match["before"] or "").strip(), (match["after"] or "").strip()
            number = Number(
                readings=readings(match["digits"]),
                percent=bool(match["percent"]),
                money=patterns.CURRENCY.get(before) or patterns.CURRENCY.get(after.removeprefix("us ")),
                scale=patterns.SCALES.get(match["scale"] or "", 1.0),
                sign=match["sign"] or match["sign2"] or "",
                points=bool(match["points"]),
                times=bool(match["times"]),
                about=bool(patterns.ABOUT.search(near)),
                bound="" if bound is None else ">" if bound["over"] else "<",
            )
            take("number", match, number)


def _with_sides(tokens: list[Token]) -> Iterator[Token]:
    """The tokens, of which a preposition right before an average or a band says on which side of it a price is."""
    for token, after in zip_longest(tokens, tokens[1:]):
        kind = _SIDES.get(token.word) if after and after.kind == "figure" and after.value[0].startswith(LINES) else None
        yield token if kind is None else Token(kind, token.text, token.position)


def _token_parts(kind: str, match: re.Match[str]) -> tuple[str, re.Match[str], Any]:
    """A token's kind and value."""
    groups = match.groupdict()
    if kind == "figure":
        index = next(i for i in range(len(FIGURES)) if groups[f"f{i}"])
        return "figure", match, FIGURES[index][0]
    if kind == "compare":
        if groups["rmore"] or groups["rless"]:
            return ("more" if groups["rmore"] else "less"), match, "volatility"
        if any(groups[name] for name in ("wmore", "wless", "vmore", "vless")):
            return ("less" if groups["wless"] or groups["vless"] else "more"), match, "market_cap"
        figure = _figure_of(next((groups[name] for name in _ADJECTIVE_GROUPS if groups[name]), "volatil"))
        less = any(groups[name] for name in ("less", "fless", "adj3", "adj4", "half")) != figure.startswith("-")
        return ("less" if less else "more"), match, figure.lstrip("-")
    if kind == "super":
        adjective = groups["sadj"] or groups["sadj2"] or groups["sest"]
        figure = _figure_of(adjective)
        least = bool(groups["sleast"] or groups["sleast2"]) != figure.startswith("-")
        return ("lowest" if least else "highest"), match, figure.lstrip("-")
    if kind == "moved_more":
        much = groups["much"] or groups["fmuch"]
        return "moved", match, ("fall" if groups["fdir"] else "rise", "more" if much in ("more", "mas") else "less")
    if kind == "best":
        which = groups["b"] or groups["b2"] or groups["b3"] or ("worst" if groups["loser"] else "best")
        figure = None if re.match("lead|led|lider", match[0]) else "return"
        return ("lowest" if which in ("worst", "weakest", "peor") else "highest"), match, figure
    return kind, match, None


_ADJECTIVE_GROUPS = ("adj", "adj2", "adj3", "adj4", "adj5", "er")
"""Groups of a comparison in which its adjective stands."""


def _figure_of(adjective: str) -> str:
    known = (figure for start, figure in patterns.ADJECTIVES.items() if adjective.startswith(start))
    return next(known, "volatility")


_TALK_KINDS = frozenset("word odd break not all period unknown expected confirmed loaded".split())  # noqa: SIM905


def is_talk(tokens: Iterable[Token]) -> bool:
    """Whether a sentence claims nothing of any market: no ticker, figure, number, direction or event."""
    return all(token.kind in _TALK_KINDS and token.word not in EVENT_WORDS for token in tokens)
