"""Collects an HTML table cell by cell, and detects tables that are only used for layout."""

from collections.abc import Mapping

_WIDEST = 100
"""Cells that one cell may stand for."""
_LONGEST_CELL = 1500
"""Characters from which on a cell is no datum but a part of a page."""


class Table:
    """Rows with the text that a cell over several rows or columns has in each of them."""

    def __init__(self) -> None:
        self.given_up = False
        self.header = False
        self._rows: list[list[str]] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._heads = 0
        self._hanging: dict[int, tuple[int, str]] = {}
        """Column to how many more rows a text stands in."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins inside the table."""
        if self.given_up:
            return
        if tag == "tr":
            self._end_row()
            self._row, self._heads = [], 0
        elif tag in {"td", "th"}:
            if self._row is None:
                self._row = []
            self._cell = []
            self._heads += tag == "th"
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

    def end(self) -> list[list[str]] | None:
        """The rows, all of one length; None: it was no table of data."""
        self._end_row()
        wide = max(map(len, self._rows), default=0)
        long = any(len(cell) > _LONGEST_CELL for row in self._rows for cell in row)
        if self.given_up or wide < 2 or long:
            return None
        return [row + [""] * (wide - len(row)) for row in self._rows]

    def give_up(self) -> list[str]:
        """Gives up a table that is a mere layout, and returns the texts that it held so far."""
        self._end_row()
        self.given_up = True
        texts = list(dict.fromkeys(cell for row in self._rows for cell in row if cell))
        self._rows = []
        return texts

    def _end_row(self) -> None:
        self.end_cell()
        row, self._row = self._row, None
        if row is None:
            return
        self._fill(row)
        if any(row):
            if not self._rows:
                self.header = self._heads > 1 or (self._heads == 1 and len(row) == 1)
            self._rows.append(row)

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
