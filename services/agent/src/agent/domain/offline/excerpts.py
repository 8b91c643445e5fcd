"""Splits a page into quotable parts: sentences, list items and table rows.

A row says its columns' names with each cell: "Saturday: Opens 8:00, Closes 16:00".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_ENDED = re.compile(r"(?<=[.!?])\s+(?=[¿¡\"“«(]?[A-ZÁÉÍÓÚÑ0-9])")
_NUMBER_ALONE = re.compile(r"(?m)^(\d{1,2}\.)\n")
"""What numbers a sentence or a heading that stands in the text, and is no sentence."""
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[|\s:-]+")


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page that was read; `links`: (path, words, language)."""

    path: str
    url: str
    title: str
    text: str
    links: tuple[tuple[str, str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, list item or table row, with the heading that it stands under and the page's address and title.
    `paragraph`: the one that it stands in, counted in its passage; a list is one; `number`: of the passage that it is
    from, where it is from one that was found for the question; `row`: it stands by
    itself, as a row or an item of a list (`item`) does; `above`: the headings above its own; `column`: what a
    table calls its rows; `columns`: what it calls the rest of each, whose texts are `cells`; `near`: how near in
    meaning to the question its section is, 0 where that is not known."""

    text: str
    heading: str
    url: str
    title: str
    place: int
    number: int = 0
    paragraph: int = 0
    row: bool = False
    item: bool = False
    column: str = ""
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    above: str = ""
    near: float = 0.0

    def is_in(self, answer: str) -> bool:
        """Whether an answer quotes it, or a row of a table with one of its cells at least."""
        cells = (_named_cell(name, cell) for name, cell in zip(self.columns, self.cells, strict=False) if cell)
        name = f"{self.text.partition(':')[0]}: "
        return self.text in answer or (name in answer and any(cell in answer for cell in cells))


def passages_of(page: SitePage) -> list[Excerpt]:
    """A page's passages, in its order; a row of a table says its column's name with each cell."""
    return sentences_of(page.text, "", page.url, page.title)


def sentences_of(
    text: str, heading: str, url: str, title: str, number: int = 0, above: Sequence[str] = ()
) -> list[Excerpt]:
    """The sentences, list items and rows of a text that begins under a heading; `above`: those above that one."""
    found: list[Excerpt] = []
    columns, cells, paragraph = list[str](), list[str](), 0
    path = {at: one for at, one in enumerate([*above, heading], start=2) if one}
    lines = [line for one in text.splitlines() if (line := one.strip())]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), []
            level = len(line) - len(line.lstrip("#"))
            path = {at: one for at, one in path.items() if at < level} | {level: heading}
            continue
        if " | " in line:
            if _RULE.fullmatch(line):
                columns = columns if "-" in line else [""] * (line.count("|") - 1)
                continue
            cells = [
                cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.removeprefix("|").removesuffix("|"))
            ]
            row, item = True, False
            if _RULE.fullmatch(following) or not (columns or any(map(str.isdigit, line))):
                columns = cells
                continue
            columns = columns or [""] * len(cells)
            if len(set(cells)) == 1:
                line = cells[0]
            elif len(set(cells[1:])) == 1 and len(cells) > 2 and not any(one.isdigit() for one in cells[1]):
                line = f"{cells[0]}: {cells[1]}"
            elif len(cells) == len(columns):
                line = _told(cells[0], columns[1:], cells[1:])
            pieces = [line]
        else:
            row = item = line.startswith("- ")
            said = _ENDED.sub("\n", line.lstrip("- "))
            columns, cells, pieces = [], [], _NUMBER_ALONE.sub(r"\1 ", said).split("\n")
        paragraph += not (item and found and found[-1].item and found[-1].heading == heading)
        found += [
            Excerpt(
                said,
                heading,
                url,
                title,
                len(found) + at,
                number,
                paragraph,
                row,
                item,
                columns[0] if row and columns else "",
                tuple(columns[1:]) if row else (),
                tuple(cells[1:]) if row and len(cells) == len(columns) else (),
                " ".join(list(path.values())[:-1]),
            )
            for at, said in enumerate(pieces)
        ]
    return found


def of_columns(row: Excerpt, places: Sequence[int]) -> Excerpt:
    """A table's row with some of its cells alone."""
    names, cells = (tuple(those[at] for at in places) for those in (row.columns, row.cells))
    return replace(row, text=_told(row.text.partition(":")[0], names, cells), columns=names, cells=cells)


def _told(row: str, names: Sequence[str], cells: Sequence[str]) -> str:
    """A row with its cells, each with its column's name; empty ones are left out."""
    said = [_named_cell(name, cell) for name, cell in zip(names, cells, strict=True) if cell]
    return f"{row}: " + ", ".join(said) if said else row


def _named_cell(name: str, cell: str) -> str:
    """A cell with its column's name, which is kept apart from it if it is long or ends in a figure."""
    if not name or name == cell:
        return cell
    return f"{name}: {cell}" if name[-1].isdigit() or name.count(" ") > 1 else f"{name} {cell}"
