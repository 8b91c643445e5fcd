"""A table of bars as other programs write them: well-known column names in, checked rows out.

A name is read without case, spaces, dots and angle brackets (`<CLOSE>`, `Adj Close`, `Close/Last`). Prices are as they
stand. A `split` column may stand beside prices as traded or beside ones that are adjusted already: which of them it is
the prices themselves say, and in adjusted ones there is nothing left to do for a split.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise

from market_adapter.domain.bars import Dividend, Split

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "time": ("date", "datetime", "time", "timestamp", "day", "fecha"),
    "open": ("open", "o", "apertura"),
    "high": ("high", "h", "max", "maximo", "máximo"),
    "low": ("low", "l", "min", "minimo", "mínimo"),
    "close": ("close", "c", "last", "closelast", "cierre"),
    "volume": ("volume", "vol", "v", "volumen"),
    "symbol": ("symbol", "ticker", "símbolo", "simbolo"),
    "currency": ("currency", "divisa"),
    "dividend": ("dividend", "dividends", "dividendo"),
    "split": ("split", "splits", "stocksplits"),
}
NEEDED = ("time", "open", "high", "low", "close")
PRICES = ("open", "high", "low", "close")
_NOISE = re.compile(r"[\s<>._/\-]")
_COMPACT = re.compile(r"\d{8}")
_GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(?:\.\d{2,3})*\.\d{3}(?:,\d+)?"),
}
"""A number with what divides its thousands: 1,234.5 and 1.234,5 (and 1,23,456, as in India)."""
LONGEST_CELL = 40
MOST_DIGITS = 18
"""The most digits before or behind the decimal point: a larger or smaller number is no price, and could not be passed
on."""
YEARS = range(1700, 2200)


class BadBarsError(ValueError):
    """A table that cannot be used; the message names the file, the line and what is wrong."""


@dataclass(frozen=True, slots=True)
class Row:
    """One bar. `at` is a date, or a moment in UTC."""

    symbol: str
    at: date | datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal
    currency: str
    dividend: Decimal
    split: Fraction


class TableReader:
    """Reads the rows of one file, whose column names are known."""

    def __init__(self, name: str, header: Sequence[str], *, decimal_comma: bool) -> None:
        """Raises BadBarsError when a needed column is missing, or one is there twice."""
        self._name = name
        self._comma = decimal_comma
        self._places: dict[str, int] = {}
        plain = [_NOISE.sub("", one).lower().removeprefix("﻿") for one in header]
        for column, names in COLUMNS.items():
            found = [place for place, one in enumerate(plain) if one in names]
            if len(found) > 1:
                raise BadBarsError(f"{name}: the columns {', '.join(header[one] for one in found)} all say {column}")
            if found:
                self._places[column] = found[0]
        if missing := [column for column in NEEDED if column not in self._places]:
            wanted = "; ".join(f"{column}: {' or '.join(COLUMNS[column])}" for column in missing)
            raise BadBarsError(f"{name}: no column for {wanted}. It has: {', '.join(header) or 'nothing'}")

    def row(self, line: int, cells: Sequence[object]) -> Row | None:
        """A row, or None when it has no prices at all (a day without trades). Raises BadBarsError."""
        try:
            return self._row(cells)
        except (ValueError, ArithmeticError, IndexError) as error:
            raise BadBarsError(f"{self._name}, line {line}: {error}") from error

    def _row(self, cells: Sequence[object]) -> Row | None:
        if len(cells) <= max(self._places[column] for column in NEEDED):
            raise ValueError(f"{len(cells)} cells, fewer than the header has")
        if all(self._is_empty(cells[self._places[column]]) for column in PRICES):
            return None
        prices = {column: self._number(column, cells) for column in PRICES}
        for column, price in prices.items():
            if price <= 0:
                raise ValueError(f"{column} is {price}, and a price is above 0")
        if prices["high"] < max(prices.values()) or prices["low"] > min(prices.values()):
            raise ValueError(
                f"open {prices['open']}, high {prices['high']}, low {prices['low']}, close {prices['close']}: "
                "high must be the highest, low the lowest"
            )
        volume, split = self._number("volume", cells), self._number("split", cells)
        dividend = self._number("dividend", cells)
        for column, value in (("volume", volume), ("split", split), ("dividend", dividend)):
            if value < 0:
                raise ValueError(f"{column} is {value}, below 0")
        return Row(
            symbol=self._text("symbol", cells),
            at=_in_our_time(moment(cells[self._places["time"]])),
            **prices,
            volume=volume,
            currency=self._text("currency", cells).upper(),
            dividend=dividend,
            split=_ratio(split),
        )

    def _cell(self, column: str, cells: Sequence[object]) -> object:
        place = self._places.get(column)
        return None if place is None or place >= len(cells) else cells[place]

    def _text(self, column: str, cells: Sequence[object]) -> str:
        value = self._cell(column, cells)
        return "" if value is None else str(value).strip()

    def _number(self, column: str, cells: Sequence[object]) -> Decimal:
        """0 where an optional column has nothing."""
        value = self._cell(column, cells)
        if self._is_empty(value):
            if column in NEEDED:
                raise ValueError(f"{column} is empty")
            return Decimal(0)
        text = str(value).strip().removeprefix("$")
        thousands = "." if self._comma else ","
        try:
            # 12,5 in a file with commas between the cells is no 125.
            if thousands in text and not _GROUPED[thousands].fullmatch(text):
                raise InvalidOperation
            text = text.replace(thousands, "").replace(",", ".")
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(f"{column} is {str(value)[:LONGEST_CELL]!r}, no number") from None
        if not number.is_finite():
            raise ValueError(f"{column} is {text}, no number")
        if number and abs(number.adjusted()) > MOST_DIGITS:
            raise ValueError(f"{column} is {text[:LONGEST_CELL]}, beyond {MOST_DIGITS} digits")
        return number

    @staticmethod
    def _is_empty(value: object) -> bool:
        return value is None or str(value).strip().lower() in {"", "null", "nan", "n/a"}


def moment(value: object) -> date | datetime:
    """A cell's date, or moment in UTC (a time without a zone is UTC; midnight is a date). Raises ValueError."""
    if isinstance(value, datetime):
        at: date | datetime = value
    elif isinstance(value, date):
        return value
    else:
        text = str(value).strip().replace("/", "-")
        try:
            compact = _COMPACT.fullmatch(text)
            at = datetime.strptime(text, "%Y%m%d") if compact else datetime.fromisoformat(text)
        except ValueError:
            wanted = "write it as 2024-01-31, 20240131 or 2024-01-31T15:30:00+00:00"
            raise ValueError(f"{str(value)[:LONGEST_CELL]!r} is no date: {wanted}") from None
    if at.hour == at.minute == at.second == 0:
        # An exchange's midnight in its own zone is its date.
        return at.date()
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def _in_our_time(at: date | datetime) -> date | datetime:
    """Where an exchange's hours can be worked out. Raises ValueError."""
    if at.year not in YEARS:
        raise ValueError(f"{at.isoformat()[:10]} is before {YEARS[0]} or after {YEARS[-1]}")
    return at


def _ratio(split: Decimal) -> Fraction:
    """1 if none is given. Raises ValueError."""
    ratio = Fraction(split).limit_denominator(1000) if split else Fraction(1)
    if not ratio:
        raise ValueError(f"split is {split}: a share became so many")
    return ratio


def splits_of(rows: Sequence[Row]) -> tuple[Split, ...]:
    """The splits that the prices still show, as traded; those of adjusted prices are over."""
    found: list[Split] = []
    for before, row in pairwise(rows):
        if row.split == 1:
            continue
        fell = Fraction(before.close) / Fraction(row.open)
        # As traded the price falls by the ratio, adjusted it stays: whichever is nearer.
        if abs(math.log(fell / row.split)) < abs(math.log(fell)):
            found.append(Split(_session(row), row.split))
    return tuple(found)


def dividends_of(rows: Sequence[Row]) -> tuple[Dividend, ...]:
    """Returns the dividends on each share, by ex-date."""
    return tuple(Dividend(_session(row), row.dividend) for row in rows if row.dividend)


def _session(row: Row) -> date:
    return row.at.date() if isinstance(row.at, datetime) else row.at
