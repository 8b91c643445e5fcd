"""Collects an HTML table cell by cell, and detects tables that are only used for layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from contracts.knowledge import Block

_WIDEST = 100
"""Cells that one cell may stand for."""
_LONGEST_CELL = 1500
"""Characters from which on a cell is no datum but a part of a page."""
_LONGEST_NAME = 60
"""Characters of the name of a group of rows."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row's cells as texts. `alone`: one cell is all of it; `head`: it names the columns; `named`: it begins with its
    own name."""

    cells: list[str]
    alone: bool
    head: bool
    named: bool


class Table:
    """Rows with the text that a cell over several rows or columns has in each of them."""

    def __init__(self) -> None:
        self.given_up = False
        self._rows: list[_Row] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._own: list[str] = []
        """The tags of the cells of the open row."""
        self._head_end = 0
        """Rows that the cells of the first one reach down into, if it names the columns."""
        self._hanging: dict[int, tuple[int, str]] = {}
        """Column to how many more rows a text stands in."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins inside the table."""
        if self.given_up:
            return
        if tag == "tr":
            self._end_row()
            self._row, self._own = [], []
        elif tag in {"td", "th"}:
            if self._row is None:
                self._row = []
            self._cell = []
            self._own.append(tag)
            self._span = _number(attributes.get("colspan")), _number(attributes.get("rowspan"))

    def add(self, text: str) -> bool:
        """Adds a text to the open cell; False: there is none, or this is not a table."""
        if self.given_up or self._cell is None:
            return False
        self._cell.append(text.replace("\n", " "))
        return True

    def end_cell(self) -> None:
        if self.given_up or self._cell is None or self._row is None:
            return
        text, self._cell = " ".join(self._cell), None
        self._fill(self._row)
        wide, high = self._span
        for column in range(len(self._row), len(self._row) + wide):
            self._row.append(text)
            if high > 1:
                self._hanging[column] = high - 1, text

    def end(self) -> list[Block]:
        """The table, all its rows of one length, with what is said above it; nothing: it was no table of data. The
        first row names the columns if `header`; it is empty where each row begins with its name and nothing names the
        columns."""
        self._end_row()
        rows = self._rows
        wide = max((len(row.cells) for row in rows), default=0)
        long = any(len(cell) > _LONGEST_CELL for row in rows for cell in row.cells)
        if self.given_up or wide < 2 or long:
            return []
        heads = list(takewhile(lambda row: row.head, rows))
        above: list[Block] = []
        if heads and heads[0].alone and len(rows) > 1:
            above = [Block(text=heads.pop(0).cells[0])]
            rows = rows[1:]
        if len(heads) == len(rows) > 1:
            heads = heads[:1]  # nothing but names: a plain table
        body = _grouped(rows[len(heads) :], wide)
        if heads:
            columns = [[row.cells[at] for row in heads if at < len(row.cells)] for at in range(wide)]
            names = [[" ".join(dict.fromkeys(filter(None, column))) for column in columns]]
        else:
            names = [[""] * wide] if all(row.named or row.alone for row in rows) else []
        return [*above, Block(kind="table", rows=[*names, *body], header=bool(names))]

    def give_up(self) -> list[str]:
        """Gives up a table that is a mere layout, and returns the texts that it held so far."""
        self._end_row()
        self.given_up = True
        texts = list(dict.fromkeys(cell for row in self._rows for cell in row.cells if cell))
        self._rows = []
        return texts

    def _end_row(self) -> None:
        self.end_cell()
        row, self._row = self._row, None
        if row is None:
            return
        self._fill(row)
        if any(row):
            only_heads = set(self._own) <= {"th"}
            head = only_heads and all(row.head for row in self._rows) if self._own else False
            head = head or len(self._rows) < self._head_end
            if head and not self._rows:
                self._head_end = 1 + max((left for left, _ in self._hanging.values()), default=0)
            named = self._own[:1] == ["th"] and "th" not in self._own[1:]
            self._rows.append(_Row(row, len(self._own) == 1 and len(set(row)) == 1, head, named))

    def _fill(self, row: list[str]) -> None:
        """Columns that a cell of an earlier row reaches down into."""
        while (hanging := self._hanging.get(len(row))) is not None:
            left, text = hanging
            if left > 1:
                self._hanging[len(row)] = left - 1, text
            else:
                del self._hanging[len(row)]
            row.append(text)


def _number(text: str | None) -> int:
    return min(int(text), _WIDEST) if text is not None and text.isascii() and text.isdigit() and int(text) > 0 else 1


def _grouped(rows: Sequence[_Row], wide: int) -> list[list[str]]:
    """The rows; those below a row that is one short cell begin with what that says: it is their group's name."""
    found: list[list[str]] = []
    group = ""
    for at, row in enumerate(rows):
        cells = row.cells + [""] * (wide - len(row.cells))
        if row.alone and len(row.cells) == wide and len(cells[0]) <= _LONGEST_NAME and at + 1 < len(rows):
            group = "" if rows[at + 1].alone else cells[0]
            if group:
                continue
        found.append([f"{group}, {cells[0]}", *cells[1:]] if group and not row.alone else cells)
    return found
