"""Collects an HTML table cell by cell, and detects tables that are only used for layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from contracts.knowledge import Block

_MAX_SPAN = 100
"""The most rows or columns that one cell may span; no text is repeated beyond so many columns, since the spans of
cells in successive rows add up."""
_MAX_EVENED = 100
"""The most columns up to which short rows are filled."""
_MAX_DATA_CELL_CHARS = 1500
"""The most characters of a cell of data; a longer one is a part of a page."""
_MAX_GROUP_NAME_CHARS = 60
"""The most characters of the name of a group of rows."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The texts of a row's cells. `is_single_cell`: the row is one cell; `is_header`: it names the columns;
    `has_row_name`: its first cell is its name."""

    cells: list[str]
    is_single_cell: bool
    is_header: bool
    has_row_name: bool


class Table:
    """Collects rows; the text of a cell that spans several rows or columns is repeated in each of them."""

    def __init__(self) -> None:
        self.is_layout = False
        self._rows: list[_Row] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._row_tags: list[str] = []
        """The tags (td, th) of the cells of the open row."""
        self._header_height = 0
        """The number of header rows, if the first row names the columns: as many as its cells span."""
        self._pending_spans: dict[int, tuple[int, str]] = {}
        """For each column, the number of further rows that a cell spans, and its text."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Notes the start of an element inside the table."""
        if self.is_layout:
            return
        if tag == "tr":
            self._end_row()
            self._row, self._row_tags = [], []
        elif tag in {"td", "th"}:
            if self._row is None:
                self._row = []
            self._cell = []
            self._row_tags.append(tag)
            self._span = _span_of(attributes.get("colspan")), _span_of(attributes.get("rowspan"))

    def add(self, text: str) -> bool:
        """Adds a text to the open cell. Returns False if none is open, or if the table is layout."""
        if self.is_layout or self._cell is None:
            return False
        self._cell.append(text.replace("\n", " "))
        return True

    def end_cell(self) -> None:
        if self.is_layout or self._cell is None or self._row is None:
            return
        text, self._cell = " ".join(self._cell), None
        self._fill_spans(self._row)
        columns, rows = self._span
        for column in range(len(self._row), max(len(self._row) + 1, min(len(self._row) + columns, _MAX_SPAN))):
            self._row.append(text)
            if rows > 1 and column < _MAX_SPAN:
                self._pending_spans[column] = rows - 1, text

    def end(self) -> list[Block]:
        """Returns the table, its rows evened, after a block for its caption; empty if it is layout. With
        `header`, the first row names the columns; its cells are empty if every row starts with its name but nothing
        names the columns."""
        self._end_row()
        rows = self._rows
        width = max((len(row.cells) for row in rows), default=0)
        has_long_cell = any(len(cell) > _MAX_DATA_CELL_CHARS for row in rows for cell in row.cells)
        if self.is_layout or width < 2 or has_long_cell:
            return []
        header_rows = list(takewhile(lambda row: row.is_header, rows))
        caption: list[Block] = []
        if header_rows and header_rows[0].is_single_cell and len(rows) > 1:
            caption = [Block(text=header_rows.pop(0).cells[0])]
            rows = rows[1:]
        if len(header_rows) == len(rows) > 1:
            header_rows = header_rows[:1]  # every row is a header: a plain table
        body = _rows_with_group_names(rows[len(header_rows) :], width)
        if header_rows:
            columns: list[dict[str, None]] = [{} for _ in range(width)]
            for row in header_rows:
                for column, cell in zip(columns, row.cells, strict=False):
                    if cell:
                        column[cell] = None
            names = [[" ".join(column) for column in columns]]
        else:
            names = [[""] * width] if all(row.has_row_name or row.is_single_cell for row in rows) else []
        return [*caption, Block(kind="table", rows=[*names, *body], header=bool(names))]

    def give_up(self) -> list[str]:
        """Marks the table as layout and returns the texts collected so far."""
        self._end_row()
        self.is_layout = True
        texts = list(dict.fromkeys(cell for row in self._rows for cell in row.cells if cell))
        self._rows = []
        return texts

    def _end_row(self) -> None:
        self.end_cell()
        row, self._row = self._row, None
        if row is None:
            return
        self._fill_spans(row)
        if any(row):
            has_only_headers = set(self._row_tags) <= {"th"}
            is_top = not self._rows or self._rows[-1].is_header
            is_header = is_top and has_only_headers and bool(self._row_tags)
            is_header = is_header or len(self._rows) < self._header_height
            if is_header and not self._rows:
                self._header_height = 1 + max((remaining for remaining, _ in self._pending_spans.values()), default=0)
            has_row_name = self._row_tags[:1] == ["th"] and "th" not in self._row_tags[1:]
            self._rows.append(_Row(row, len(self._row_tags) == 1 and len(set(row)) == 1, is_header, has_row_name))

    def _fill_spans(self, row: list[str]) -> None:
        """Fills the columns that a cell of an earlier row spans."""
        while (span := self._pending_spans.get(len(row))) is not None:
            remaining, text = span
            if remaining > 1:
                self._pending_spans[len(row)] = remaining - 1, text
            else:
                del self._pending_spans[len(row)]
            row.append(text)


def _span_of(text: str | None) -> int:
    return min(int(text), _MAX_SPAN) if text is not None and text.isascii() and text.isdigit() and int(text) > 0 else 1


def evened(cells: list[str], width: int) -> list[str]:
    """Returns a row's cells with empty ones at its end, up to the table's width. A wider table keeps its short rows:
    one wide row must not make all others as long."""
    return cells + [""] * (min(width, _MAX_EVENED) - len(cells))


def _rows_with_group_names(rows: Sequence[_Row], width: int) -> list[list[str]]:
    """Returns the cells of the rows. A row of one short cell names a group: its text begins the rows below it."""
    grouped: list[list[str]] = []
    group = ""
    for index, row in enumerate(rows):
        cells = evened(row.cells, width)
        if (
            row.is_single_cell
            and len(row.cells) == width
            and len(cells[0]) <= _MAX_GROUP_NAME_CHARS
            and index + 1 < len(rows)
        ):
            group = "" if rows[index + 1].is_single_cell else cells[0]
            if group:
                continue
        grouped.append([f"{group}, {cells[0]}", *cells[1:]] if group and not row.is_single_cell else cells)
    return grouped
