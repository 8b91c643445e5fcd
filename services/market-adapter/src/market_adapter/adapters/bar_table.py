"""Reads tables of bars as other programs write them: it recognises well-known column names and checks each row.

Case, spaces, dots and angle brackets of names are ignored (`<CLOSE>`, `Adj Close`, `Close/Last`). Prices are not
changed. A `split` column may accompany prices as traded or adjusted prices: the prices show which, and a split of
adjusted prices needs no further adjustment.
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
REQUIRED = ("time", "open", "high", "low", "close")
PRICES = ("open", "high", "low", "close")
_NOISE = re.compile(r"[\s<>._/\-]")
_COMPACT = re.compile(r"\d{8}")
_THOUSANDS = {
    ",": re.compile(r"[+-]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(?:\.\d{2,3})*\.\d{3}(?:,\d+)?"),
}
"""Numbers with a thousands separator: 1,234.5 and 1.234,5 (and 1,23,456, as in India)."""
MAX_CELL_CHARACTERS = 40
MAX_DIGITS = 18
"""Digits before or after the decimal point at most: a larger or smaller number is no price, and could not be sent
on."""
YEARS = range(1700, 2200)


class BadBarsError(ValueError):
    """A table that cannot be used; the message names the file, the line and the problem."""


@dataclass(frozen=True, slots=True)
class Row:
    """One bar. `at` is a date, or a time in UTC."""

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

    @property
    def session(self) -> date:
        """The date of `at`."""
        return self.at.date() if isinstance(self.at, datetime) else self.at


class TableReader:
    """Reads the rows of one file by its header."""

    def __init__(self, name: str, header: Sequence[str], *, decimal_comma: bool) -> None:
        """Raises BadBarsError if a required column is missing, or one occurs twice."""
        self._name = name
        self._decimal_comma = decimal_comma
        self._columns: dict[str, int] = {}
        normalized = [_NOISE.sub("", title).lower().removeprefix("﻿") for title in header]
        for column, names in COLUMNS.items():
            indexes = [index for index, title in enumerate(normalized) if title in names]
            if len(indexes) > 1:
                raise BadBarsError(
                    f"{name}: the columns {', '.join(header[index] for index in indexes)} all say {column}"
                )
            if indexes:
                self._columns[column] = indexes[0]
        if missing := [column for column in REQUIRED if column not in self._columns]:
            missing_columns = "; ".join(f"{column}: {' or '.join(COLUMNS[column])}" for column in missing)
            raise BadBarsError(f"{name}: no column for {missing_columns}. It has: {', '.join(header) or 'nothing'}")

    def row(self, line: int, cells: Sequence[object]) -> Row | None:
        """Parses a row; None if it has no prices at all (a day without trades). Raises BadBarsError."""
        try:
            return self._row(cells)
        except (ValueError, ArithmeticError, IndexError) as error:
            raise BadBarsError(f"{self._name}, line {line}: {error}") from error

    def _row(self, cells: Sequence[object]) -> Row | None:
        if len(cells) <= max(self._columns[column] for column in REQUIRED):
            raise ValueError(f"{len(cells)} cells, fewer than the header has")
        if all(self._is_empty(cells[self._columns[column]]) for column in PRICES):
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
            at=_checked_year(parse_time(cells[self._columns["time"]])),
            **prices,
            volume=volume,
            currency=self._text("currency", cells).upper(),
            dividend=dividend,
            split=_split_ratio(split),
        )

    def _cell(self, column: str, cells: Sequence[object]) -> object:
        index = self._columns.get(column)
        return None if index is None or index >= len(cells) else cells[index]

    def _text(self, column: str, cells: Sequence[object]) -> str:
        value = self._cell(column, cells)
        return "" if value is None else str(value).strip()

    def _number(self, column: str, cells: Sequence[object]) -> Decimal:
        """The number in a column; 0 if an optional column is empty. Raises ValueError."""
        value = self._cell(column, cells)
        if self._is_empty(value):
            if column in REQUIRED:
                raise ValueError(f"{column} is empty")
            return Decimal(0)
        text = str(value).strip().removeprefix("$")
        thousands = "." if self._decimal_comma else ","
        try:
            # In a file with commas between the cells, 12,5 does not mean 125.
            if thousands in text and not _THOUSANDS[thousands].fullmatch(text):
                raise InvalidOperation
            text = text.replace(thousands, "").replace(",", ".")
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(f"{column} is {str(value)[:MAX_CELL_CHARACTERS]!r}, no number") from None
        if not number.is_finite():
            raise ValueError(f"{column} is {text}, no number")
        if number and abs(number.adjusted()) > MAX_DIGITS:
            raise ValueError(f"{column} is {text[:MAX_CELL_CHARACTERS]}, beyond {MAX_DIGITS} digits")
        return number

    @staticmethod
    def _is_empty(value: object) -> bool:
        return value is None or str(value).strip().lower() in {"", "null", "nan", "n/a"}


def parse_time(value: object) -> date | datetime:
    """A cell's date, or time in UTC (a time without a zone is in UTC; midnight means a date). Raises ValueError."""
    if isinstance(value, datetime):
        time: date | datetime = value
    elif isinstance(value, date):
        return value
    else:
        text = str(value).strip().replace("/", "-")
        try:
            compact = _COMPACT.fullmatch(text)
            time = datetime.strptime(text, "%Y%m%d") if compact else datetime.fromisoformat(text)
        except ValueError:
            hint = "write it as 2024-01-31, 20240131 or 2024-01-31T15:30:00+00:00"
            raise ValueError(f"{str(value)[:MAX_CELL_CHARACTERS]!r} is no date: {hint}") from None
    if time.hour == time.minute == time.second == 0:
        # Midnight in the exchange's own zone stands for the date.
        return time.date()
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _checked_year(time: date | datetime) -> date | datetime:
    """The time, if it is in YEARS, for which an exchange's hours can be computed. Raises ValueError."""
    if time.year not in YEARS:
        raise ValueError(f"{time.isoformat()[:10]} is before {YEARS[0]} or after {YEARS[-1]}")
    return time


def _split_ratio(split: Decimal) -> Fraction:
    """The split ratio; 1 if there is none. Raises ValueError."""
    ratio = Fraction(split).limit_denominator(1000) if split else Fraction(1)
    if not ratio:
        raise ValueError(f"split is {split}: a share became so many")
    return ratio


def splits_of(rows: Sequence[Row]) -> tuple[Split, ...]:
    """The splits that the prices show, which are as traded then; splits of adjusted prices are left out."""
    splits: list[Split] = []
    for previous, row in pairwise(rows):
        if row.split == 1:
            continue
        fall = Fraction(previous.close) / Fraction(row.open)
        # A price as traded falls by the ratio, an adjusted one stays: the nearer of the two applies.
        if abs(math.log(fall / row.split)) < abs(math.log(fall)):
            splits.append(Split(row.session, row.split))
    return tuple(splits)


def dividends_of(rows: Sequence[Row]) -> tuple[Dividend, ...]:
    """The dividends on each share, by ex-date."""
    return tuple(Dividend(row.session, row.dividend) for row in rows if row.dividend)
