"""Splits a document's blocks into passages of some 200 to 350 tokens, without cutting a table row or separating a
heading from its text. Tokens are estimated as a quarter of the characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from contracts.knowledge import Block

ENOUGH = 800
"""Characters of a passage (200 tokens) from which on no further section is added to it."""
MOST = 1_400
"""Characters of a passage (350 tokens), exceeded only by a single longer row or word."""
ALONE = 400
"""Characters from which on a section is a passage of its own."""
LONGEST_CELL = 2_000
MOST_OF_DOCUMENT = 4_000
"""The most passages of one document; the rest of it is not searched."""
_SENTENCE = re.compile(r"(?<=[.!?…:;])\s+")
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Section:
    """The position in a passage's text at which a heading's words begin."""

    start: int
    headings: tuple[str, ...]
    anchor: str | None


def parted(text: str, sections: Sequence[Section]) -> list[tuple[Section, str]]:
    """The sections of a passage's text, each with what it says."""
    ends = [*(section.start for section in sections[1:]), len(text)]
    return [(section, text[section.start : end]) for section, end in zip(sections, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class PassageCut:
    """One passage: Markdown as contracts.knowledge describes it, and its sections, the first of which begins at 0."""

    text: str
    sections: tuple[Section, ...]


@dataclass(slots=True)
class _OpenPassage:
    """A passage that is being filled."""

    parts: list[str] = field(default_factory=list[str])
    sections: list[Section] = field(default_factory=list[Section])
    length: int = 0

    def add(self, text: str, glue: str) -> None:
        self.parts.append((glue if self.parts else "") + text)
        self.length += len(self.parts[-1])

    def heading(self) -> str:
        """The heading that the text gets once a second section is added."""
        heading = _heading(self.sections[0].headings) if len(self.sections) == 1 else ""
        return f"{heading}\n\n" if heading else ""

    def begin(self, text: str) -> None:
        self.parts.insert(0, text)
        self.length += len(text)

    def cut(self) -> PassageCut:
        return PassageCut("".join(self.parts), tuple(self.sections))


def passages(blocks: Sequence[Block]) -> list[PassageCut]:
    """The passages of a document, in order."""
    found: list[PassageCut] = []
    current = _OpenPassage()
    for headings, anchor, section in _sections(blocks):
        pieces = [piece for block in section for piece in _pieces(block)]
        size = sum(len(text) for text, _, _ in pieces)
        if not size:
            continue
        grown = current.length + len(current.heading()) + size
        # Text under no heading, such as a footer, would seem to belong to the section before it.
        headless = not headings and current.sections and current.sections[-1].headings
        if current.parts and (current.length >= ENOUGH or size >= ALONE or grown > MOST or headless):
            found.append(current.cut())
            current = _OpenPassage()
        if current.parts:
            # A second section in one passage: the headings of both are part of the text, or nobody would know what
            # each is about.
            current.begin(current.heading())
            start = current.length + 2
            heading = _heading(headings, current.sections[-1].headings)
            current.sections.append(Section(start, headings, anchor))
            if heading:
                current.add(heading, "\n\n")
        else:
            current.sections.append(Section(0, headings, anchor))
        for text, glue, again in pieces:
            if current.parts and current.length + len(text) > MOST:
                found.append(current.cut())
                current = _OpenPassage(sections=[Section(0, headings, anchor)])
                if again:
                    current.add(again, "\n\n")
            current.add(text, glue)
        if len(found) >= MOST_OF_DOCUMENT:
            return found[:MOST_OF_DOCUMENT]
        if size >= ALONE:
            found.append(current.cut())
            current = _OpenPassage()
    if current.parts:
        found.append(current.cut())
    return found[:MOST_OF_DOCUMENT]


def plain(block: Block) -> str:
    """The block's words on one line, for comparing blocks."""
    return " ".join(" ".join((block.text, *(cell for row in block.rows for cell in row))).split())


def _sections(blocks: Iterable[Block]) -> Iterator[tuple[tuple[str, ...], str | None, list[Block]]]:
    current: list[Block] = []
    for block in blocks:
        if current and (block.headings, block.anchor) != (current[0].headings, current[0].anchor):
            yield tuple(current[0].headings), current[0].anchor, current
            current = []
        current.append(block)
    if current:
        yield tuple(current[0].headings), current[0].anchor, current


def _pieces(block: Block) -> Iterator[tuple[str, str, str]]:
    """Indivisible pieces: the text, what joins it to the piece before it, and what a new passage begins with."""
    if block.rows:
        # An empty first row says that nothing names the columns.
        rows = [_row(row) for at, row in enumerate(block.rows) if any(map(str.strip, row)) or (block.header and not at)]
        if not rows:
            return
        rule = "| " + " | ".join("---" for _ in block.rows[0]) + " |"
        head = f"{rows.pop(0)}\n{rule}" if block.header else ""
        if head and not rows:
            yield head, "\n\n", ""
            return
        for number, row in enumerate(rows):
            first = number == 0
            yield (f"{head}\n{row}" if first and head else row), ("\n\n" if first else "\n"), ("" if first else head)
    elif block.kind == "list":
        for number, item in enumerate(one for one in block.text.split("\n") if one.strip()):
            for place, part in enumerate(_short(item.strip())):
                yield ("" if place else "- ") + part, (" " if place else "\n" if number else "\n\n"), ""
    elif block.kind == "code":
        for number, line in enumerate(block.text.split("\n")):
            for part in _short(line) or [""]:
                yield part, ("\n" if number else "\n\n"), ""
    else:
        for number, part in enumerate(_short(" ".join(block.text.split()))):
            yield part, (" " if number else "\n\n"), ""


def _heading(headings: Sequence[str], before: Sequence[str] = ()) -> str:
    """A section's heading, with those above it that the section before it does not stand under."""
    shared = 0
    while shared < min(len(headings) - 1, len(before)) and headings[shared] == before[shared]:
        shared += 1
    lines = (f"{'#' * min(at + 2, _LEVEL)} {headings[at]}" for at in range(shared, len(headings)))
    return "\n\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split())[:LONGEST_CELL].replace("|", "\\|") for cell in cells) + " |"


def _short(text: str) -> list[str]:
    """The text split into sentences if it is too long for one passage; a long sentence into words."""
    if len(text) <= MOST:
        return [text] if text else []
    found: list[str] = []
    for sentence in _SENTENCE.split(text):
        rest = sentence
        while len(rest) > MOST:
            end = rest.rfind(" ", 1, MOST)
            end = end if end > 0 else MOST
            found.append(rest[:end])
            rest = rest[end:].lstrip()
        if rest:
            found.append(rest)
    return found
