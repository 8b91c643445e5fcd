"""Splits a document's blocks into passages of some 200 to 350 tokens, without cutting a table row or separating a
heading from its text. Tokens are estimated as a quarter of the characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from contracts.knowledge import Block

FULL_CHARACTERS = 800
"""Characters of a passage (200 tokens) from which on no further section is added to it."""
MAX_CHARACTERS = 1_400
"""Characters of a passage (350 tokens), exceeded only by a single longer row or word."""
SEPARATE_CHARACTERS = 400
"""Characters from which on a section is a passage of its own."""
MAX_CELL_CHARACTERS = 2_000
MAX_REPEATED_CHARACTERS = 4_000
"""Characters of a table's head that are repeated in each of its passages; a longer head is in the first one only, since
the passages would be thousands of copies of it."""
MAX_DOCUMENT_PASSAGES = 4_000
"""The most passages of one document; the rest of it is not searched."""
_SENTENCE = re.compile(r"(?<=[.!?…:;])\s+")
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class HeadingPosition:
    """The position in a passage's text at which a heading's words begin."""

    start: int
    headings: tuple[str, ...]
    anchor: str | None


def split_sections(text: str, sections: Sequence[HeadingPosition]) -> list[tuple[HeadingPosition, str]]:
    """Returns the sections of a passage's text, each with its own text."""
    ends = [*(section.start for section in sections[1:]), len(text)]
    return [(section, text[section.start : end]) for section, end in zip(sections, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class PassageCut:
    """One passage: Markdown as contracts.knowledge describes it, and its sections, the first of which begins at 0."""

    text: str
    sections: tuple[HeadingPosition, ...]


@dataclass(slots=True)
class _OpenPassage:
    """A passage that is being filled."""

    parts: list[str] = field(default_factory=list[str])
    sections: list[HeadingPosition] = field(default_factory=list[HeadingPosition])
    length: int = 0

    def add(self, text: str, glue: str) -> None:
        self.parts.append((glue if self.parts else "") + text)
        self.length += len(self.parts[-1])

    def heading(self) -> str:
        """Returns the heading that the text gets once a second section is added."""
        heading = _heading(self.sections[0].headings) if len(self.sections) == 1 else ""
        return f"{heading}\n\n" if heading else ""

    def begin(self, text: str) -> None:
        self.parts.insert(0, text)
        self.length += len(text)

    def cut(self) -> PassageCut:
        return PassageCut("".join(self.parts), tuple(self.sections))


def passages(blocks: Sequence[Block]) -> list[PassageCut]:
    """Returns the passages of a document, in order."""
    cuts: list[PassageCut] = []
    current = _OpenPassage()
    for headings, anchor, section in _sections(blocks):
        pieces = [piece for block in section for piece in _pieces(block)]
        size = sum(len(text) for text, _, _ in pieces)
        if not size:
            continue
        new_length = current.length + len(current.heading()) + size
        # Text under no heading, such as a footer, would seem to belong to the section before it.
        has_no_heading = not headings and current.sections and current.sections[-1].headings
        if current.parts and (
            current.length >= FULL_CHARACTERS
            or size >= SEPARATE_CHARACTERS
            or new_length > MAX_CHARACTERS
            or has_no_heading
        ):
            cuts.append(current.cut())
            current = _OpenPassage()
        if current.parts:
            # A second section in one passage: the text contains both headings, so that it is clear what each is about.
            current.begin(current.heading())
            start = current.length + 2
            heading = _heading(headings, current.sections[-1].headings)
            current.sections.append(HeadingPosition(start, headings, anchor))
            if heading:
                current.add(heading, "\n\n")
        else:
            current.sections.append(HeadingPosition(0, headings, anchor))
        for text, glue, repeated_head in pieces:
            if current.parts and current.length + len(text) > MAX_CHARACTERS:
                cuts.append(current.cut())
                current = _OpenPassage(sections=[HeadingPosition(0, headings, anchor)])
                if repeated_head:
                    current.add(repeated_head, "\n\n")
            current.add(text, glue)
        if len(cuts) >= MAX_DOCUMENT_PASSAGES:
            return cuts[:MAX_DOCUMENT_PASSAGES]
        if size >= SEPARATE_CHARACTERS:
            cuts.append(current.cut())
            current = _OpenPassage()
    if current.parts:
        cuts.append(current.cut())
    return cuts[:MAX_DOCUMENT_PASSAGES]


def plain(block: Block) -> str:
    """Returns the block's words on one line, for comparing blocks."""
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
    """Yields indivisible pieces: the text, what joins it to the previous piece, and what a new passage begins with."""
    if block.rows:
        # An empty first row says that nothing names the columns.
        rows = [
            _row(row)
            for index, row in enumerate(block.rows)
            if any(map(str.strip, row)) or (block.header and not index)
        ]
        if not rows:
            return
        rule = "| " + " | ".join("---" for _ in block.rows[0]) + " |"
        head = f"{rows.pop(0)}\n{rule}" if block.header else ""
        if head and not rows:
            yield head, "\n\n", ""
            return
        repeated_head = head if len(head) <= MAX_REPEATED_CHARACTERS else ""
        for number, row in enumerate(rows):
            is_first = number == 0
            yield (
                (f"{head}\n{row}" if is_first and head else row),
                ("\n\n" if is_first else "\n"),
                ("" if is_first else repeated_head),
            )
    elif block.kind == "list":
        for number, item in enumerate(line for line in block.text.split("\n") if line.strip()):
            for place, part in enumerate(_short_parts(item.strip())):
                yield ("" if place else "- ") + part, (" " if place else "\n" if number else "\n\n"), ""
    elif block.kind == "code":
        for number, line in enumerate(block.text.split("\n")):
            for part in _short_parts(line) or [""]:
                yield part, ("\n" if number else "\n\n"), ""
    else:
        for number, part in enumerate(_short_parts(" ".join(block.text.split()))):
            yield part, (" " if number else "\n\n"), ""


def _heading(headings: Sequence[str], previous: Sequence[str] = ()) -> str:
    """Returns a section's heading, with those above it that the previous section does not have."""
    shared = 0
    while shared < min(len(headings) - 1, len(previous)) and headings[shared] == previous[shared]:
        shared += 1
    lines = (f"{'#' * min(level + 2, _MAX_LEVEL)} {headings[level]}" for level in range(shared, len(headings)))
    return "\n\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split())[:MAX_CELL_CHARACTERS].replace("|", "\\|") for cell in cells) + " |"


def _short_parts(text: str) -> list[str]:
    """Returns the text in sentences if it is too long for one passage, and a long sentence in pieces between words."""
    if len(text) <= MAX_CHARACTERS:
        return [text] if text else []
    parts: list[str] = []
    for sentence in _SENTENCE.split(text):
        remaining = sentence
        while len(remaining) > MAX_CHARACTERS:
            end = remaining.rfind(" ", 1, MAX_CHARACTERS)
            end = end if end > 0 else MAX_CHARACTERS
            parts.append(remaining[:end])
            remaining = remaining[end:].lstrip()
        if remaining:
            parts.append(remaining)
    return parts
