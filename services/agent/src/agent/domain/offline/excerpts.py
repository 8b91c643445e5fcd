"""Splits a page into quotable parts: sentences, list items and table rows.

A row gives its columns' names with each cell: "Saturday: Opens 8:00, Closes 16:00".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contracts.expressions import expression

_SENTENCE_END = expression(r"(?<=[.!?])\s+(?=[¿¡\"“«(]?[A-ZÁÉÍÓÚÑ0-9])")
_NUMBER_ALONE = expression(r"(?m)^(\d{1,2}\.)\n")
"""A number alone on a line, which numbers the sentence or heading after it."""
_CELL_END = expression(r"(?<!\\)\|")
_TABLE_RULE = expression(r"[|\s:-]+")


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site; `links` are (path, text, language)."""

    path: str
    url: str
    title: str
    text: str
    links: tuple[tuple[str, str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A quotable part of a page: a sentence, a list item or a table row.

    `heading` is the heading that it stands under, `above` the headings above that one. `page_position` is its position
    in the page. `number` is the 1-based number of the stored passage that it is from, 0 if it is from a page fetched
    now. `paragraph` counts paragraphs in the passage; a list is one. `row` is true for table rows and list items, which
    stand by themselves, `item` for list items only. `column` is the header of a table's first column, `columns` the
    headers of the others, `cells` their texts in this row. `near` is how similar in meaning to the question its section
    is, 0 if unknown.
    """

    text: str
    heading: str
    url: str
    title: str
    page_position: int
    number: int = 0
    paragraph: int = 0
    row: bool = False
    item: bool = False
    column: str = ""
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    above: str = ""
    near: float = 0.0

    @property
    def location(self) -> tuple[str, str]:
        """The section that it is in: its page's address and its heading."""
        return self.url, self.heading

    @property
    def section_id(self) -> tuple[str, str, int]:
        """Its section within one stored passage."""
        return self.url, self.heading, self.number

    @property
    def is_table_row(self) -> bool:
        """Whether it is a row of a table, and not an item of a list."""
        return self.row and not self.item

    def is_in(self, answer: str) -> bool:
        """Whether an answer quotes it; of a table row, at least one cell with the row's name."""
        cells = (_cell_text(name, cell) for name, cell in zip(self.columns, self.cells, strict=False) if cell)
        name = f"{self.text.partition(':')[0]}: "
        return self.text in answer or (name in answer and any(cell in answer for cell in cells))


def excerpts_of_page(page: SitePage) -> list[Excerpt]:
    """The excerpts of a page, in its order."""
    return sentences_of(page.text, "", page.url, page.title)


def sentences_of(
    text: str, heading: str, url: str, title: str, number: int = 0, above: Sequence[str] = ()
) -> list[Excerpt]:
    """Return the sentences, list items and rows of a text that begins under a heading; `above` are the headings above
    that one."""
    excerpts: list[Excerpt] = []
    columns, cells, paragraph = list[str](), list[str](), 0
    path = {at: text_line for at, text_line in enumerate([*above, heading], start=2) if text_line}
    lines = [line for text_line in text.splitlines() if (line := text_line.strip())]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), []
            level = len(line) - len(line.lstrip("#"))
            path = {at: text_line for at, text_line in path.items() if at < level} | {level: heading}
            continue
        if " | " in line:
            if _TABLE_RULE.fullmatch(line):
                columns = columns if "-" in line else [""] * (line.count("|") - 1)
                continue
            cells = [
                cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.removeprefix("|").removesuffix("|"))
            ]
            row, item = True, False
            if _TABLE_RULE.fullmatch(following) or not (columns or any(map(str.isdigit, line))):
                columns = cells
                continue
            columns = columns or [""] * len(cells)
            if len(set(cells)) == 1:
                line = cells[0]
            elif len(set(cells[1:])) == 1 and len(cells) > 2 and not any(text_line.isdigit() for text_line in cells[1]):
                line = f"{cells[0]}: {cells[1]}"
            elif len(cells) == len(columns):
                line = _row_text(cells[0], columns[1:], cells[1:])
            pieces = [line]
        else:
            row = item = line.startswith("- ")
            sentence_text = _SENTENCE_END.sub("\n", line.lstrip("- "))
            columns, cells, pieces = [], [], _NUMBER_ALONE.sub(r"\1 ", sentence_text).split("\n")
        paragraph += not (item and excerpts and excerpts[-1].item and excerpts[-1].heading == heading)
        excerpts += [
            Excerpt(
                sentence_text,
                heading,
                url,
                title,
                len(excerpts) + at,
                number,
                paragraph,
                row,
                item,
                columns[0] if row and columns else "",
                tuple(columns[1:]) if row else (),
                tuple(cells[1:]) if row and len(cells) == len(columns) else (),
                " ".join(list(path.values())[:-1]),
            )
            for at, sentence_text in enumerate(pieces)
        ]
    return excerpts


def with_columns(row: Excerpt, places: Sequence[int]) -> Excerpt:
    """A table row with only the cells at these positions."""
    names, cells = (tuple(those[at] for at in places) for those in (row.columns, row.cells))
    return replace(row, text=_row_text(row.text.partition(":")[0], names, cells), columns=names, cells=cells)


def _row_text(row: str, names: Sequence[str], cells: Sequence[str]) -> str:
    """A row's name with its cells, each with its column's header; empty cells are left out."""
    named_cells = [_cell_text(name, cell) for name, cell in zip(names, cells, strict=True) if cell]
    return f"{row}: " + ", ".join(named_cells) if named_cells else row


def _cell_text(name: str, cell: str) -> str:
    """A cell with its column's header; with a colon if the header is long or ends in a figure."""
    if not name or name == cell:
        return cell
    return f"{name}: {cell}" if name[-1].isdigit() or name.count(" ") > 1 else f"{name} {cell}"
