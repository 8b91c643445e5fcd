"""Reads a folder of CSV or Parquet files as series of bars, by symbol and timeframe. Every file is checked completely.
A bad file makes the whole folder unusable at the start; later only that file is refused.

AAPL.csv, ^GSPC.csv, BTC-USD.parquet    daily bars of one symbol, by the file's name
AAPL_1h.csv                             bars of an hour (1m, 5m, 15m, 1h), beside the daily ones
anything.csv                            with a column `symbol`: many symbols in one file
"""

import csv
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from contracts.symbols import InvalidSymbolError, Symbol, SymbolKind, parse_symbol
from contracts.tools.market import Timeframe
from market_adapter.adapters.bar_table import BadBarsError, Row, TableReader, dividends_of, splits_of
from market_adapter.adapters.exchange_hours import Hours, exchange_of, hours_on
from market_adapter.domain.bars import Bar, Dividend, Split

MAX_FILES = 2_000
MAX_BARS = 400_000
"""Bars of all files together at most: they are kept in memory, at about 0.7 KB each."""
MAX_FILE_BYTES = 200_000_000
SUFFIXES = (".csv", ".parquet")
DEFAULT_HOURS = (time(9, 30), time(16, 0), ZoneInfo("America/New_York"))
"""The hours of a symbol whose exchange is unknown, and of days that an exchange's calendar does not contain."""
_TIMEFRAME = re.compile(r"(.+)_(1m|5m|15m|1h)")
_DECIMAL_COMMA = re.compile(r"\d,\d")
_DELIMITERS = ",;\t"

Signature = Mapping[str, tuple[int, int]]
"""For each file, its modification time (ns) and its size."""


@dataclass(frozen=True, slots=True)
class FileSeries:
    """A symbol's bars of one timeframe, oldest first, as traded."""

    symbol: Symbol
    timeframe: Timeframe
    currency: str
    bars: tuple[Bar, ...]
    splits: tuple[Split, ...]
    dividends: tuple[Dividend, ...]
    file: str

    @property
    def key(self) -> tuple[str, Timeframe]:
        return self.symbol.name, self.timeframe

    def until(self, moment: datetime) -> int:
        """The number of bars that had closed by then."""
        return bisect_right(self.bars, moment, key=lambda bar: bar.end)


Folder = Mapping[tuple[str, Timeframe], FileSeries]


def signature_of(folder: Path) -> Signature:
    """The folder's signature, which differs after any change. Raises BadBarsError if there is no such folder, or if it
    contains no file or too much."""
    try:
        files = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in SUFFIXES and file.is_file()]
        files_found = {file.name: (state.st_mtime_ns, state.st_size) for file in files if (state := file.stat())}
    except OSError as error:
        raise BadBarsError(f"{folder} is not a readable folder: {error.strerror}") from error
    if not files_found:
        raise BadBarsError(f"{folder} has no .csv or .parquet file")
    if len(files_found) > MAX_FILES:
        raise BadBarsError(f"{folder} has {len(files_found)} files; the most are {MAX_FILES}")
    if large := [name for name, (_, size) in files_found.items() if size > MAX_FILE_BYTES]:
        raise BadBarsError(f"{large[0]} is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    return files_found


def read_folder(folder: Path) -> Folder:
    """All series of a folder. Raises BadBarsError, which names the file and the line."""
    series, bad = reread_folder(folder, {})
    if bad:
        raise BadBarsError(bad[0])
    return series


def reread_folder(folder: Path, previous: Folder) -> tuple[Folder, list[str]]:
    """All series of a folder, and the problems of bad files, whose series are taken from `previous`. Raises
    BadBarsError if the folder as a whole cannot be used."""
    series: dict[tuple[str, Timeframe], FileSeries] = {}
    problems: list[str] = []
    count = 0
    for name in signature_of(folder):
        try:
            file_series = _series_of(folder / name)
            for series_read in file_series:
                if duplicate := series.get(series_read.key):
                    raise BadBarsError(
                        f"{name}: {series_read.symbol} in {series_read.timeframe} is in {duplicate.file} too"
                    )
        except BadBarsError as error:
            problems.append(str(error))
            file_series = [old for old in previous.values() if old.file == name and old.key not in series]
        series.update({new.key: new for new in file_series})
        count += sum(len(new.bars) for new in file_series)
        if count > MAX_BARS:
            raise BadBarsError(f"{name}: this makes more than {MAX_BARS:,} bars: keep fewer years")
    for lone in [intraday for intraday in series.values() if (intraday.symbol.name, Timeframe.D1) not in series]:
        problems.append(f"{lone.file}: {lone.symbol} has no daily bars beside those of {lone.timeframe}")
        del series[lone.key]
    return series, problems


def _series_of(file: Path) -> list[FileSeries]:
    stem, timeframe = file.stem, Timeframe.D1
    if match := _TIMEFRAME.fullmatch(stem):
        stem, timeframe = match[1], Timeframe(match[2])
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in _rows(file):
        rows[row.symbol or stem].append(row)
    if not rows:
        raise BadBarsError(f"{file.name}: no rows")
    return [_series(file.name, name, timeframe, symbol_rows) for name, symbol_rows in rows.items()]


def _series(file: str, name: str, timeframe: Timeframe, rows: list[Row]) -> FileSeries:
    try:
        symbol = parse_symbol(name)
    except InvalidSymbolError as error:
        raise BadBarsError(f"{file}: {error}") from error
    has_times = {isinstance(row.at, datetime) for row in rows}
    if timeframe is Timeframe.D1 and True in has_times:
        raise BadBarsError(
            f"{file}: {name} has times of day; a file of shorter bars is called {name}_1h.csv (1m, 5m, 15m, 1h)"
        )
    rows.sort(key=lambda row: _start(row.at))
    for earlier, row in pairwise(rows):
        if earlier.at == row.at:
            raise BadBarsError(f"{file}: {name} has {row.at} twice")
    currencies = {row.currency for row in rows}
    if len(currencies) > 1:
        raise BadBarsError(f"{file}: {name} is in {' and '.join(sorted(currencies))}")
    exchange = None if symbol.kind is SymbolKind.PAIR else exchange_of(symbol)
    bars = tuple(_bar(row, timeframe, _hours(symbol, exchange, row.session)) for row in rows)
    quote_currency = symbol.name.partition("/")[2]
    currency = currencies.pop() or quote_currency or "USD"
    return FileSeries(symbol, timeframe, currency, bars, splits_of(rows), dividends_of(rows), file)


def _start(value: date | datetime) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time(), UTC)


def _hours(symbol: Symbol, exchange: str | None, session: date) -> Hours:
    if symbol.kind is SymbolKind.PAIR:
        midnight = datetime.combine(session, time(), UTC)
        return midnight, midnight + timedelta(days=1)
    return hours_on(exchange, session, DEFAULT_HOURS)


def _bar(row: Row, timeframe: Timeframe, hours: Hours) -> Bar:
    start, end = hours
    if timeframe is not Timeframe.D1:
        start = _start(row.at)
        end = min(start + timeframe.length, end) if start < end else start + timeframe.length
    volume = int(row.volume) if row.volume == row.volume.to_integral_value() else row.volume
    return Bar(row.session, start, end, row.open, row.high, row.low, row.close, volume)


def _rows(file: Path) -> Iterator[Row]:
    table = _parquet_rows(file) if file.suffix.lower() == ".parquet" else _csv_rows(file)
    header, decimal_comma = next(table)
    reader = TableReader(file.name, [str(cell) for cell in header], decimal_comma=decimal_comma)
    for line, cells in enumerate((cells for cells, _ in table), start=2):
        row = reader.row(line, cells) if cells else None
        if row is not None:
            yield row


def _csv_rows(file: Path) -> Iterator[tuple[Sequence[Any], bool]]:
    """The header, then the rows, each with whether a comma is the decimal point in this file."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            first = text.readline()
            delimiter = max(_DELIMITERS, key=first.count)
            decimal_comma = delimiter != "," and any(_DECIMAL_COMMA.search(line) for line in text)
            text.seek(0)
            for cells in csv.reader(text, delimiter=delimiter):
                yield cells, decimal_comma
            if not first:
                raise BadBarsError(f"{file.name}: it is empty")
    except UnicodeDecodeError as error:
        raise BadBarsError(f"{file.name}: it is not UTF-8 text ({error.reason})") from error
    except csv.Error as error:
        raise BadBarsError(f"{file.name}: {error}") from error
    except OSError as error:
        raise BadBarsError(f"{file.name} cannot be read: {error.strerror}") from error


def _parquet_rows(file: Path) -> Iterator[tuple[Sequence[Any], bool]]:
    try:
        # With 130 MB it is too large to be installed everywhere for the few who have such files.
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        command = 'pip install "nexus-market-adapter[parquet]"'
        raise BadBarsError(f"{file.name}: reading Parquet needs pyarrow: {command}, or write CSV") from error
    try:
        table: Any = parquet.read_table(file)
    except (arrow.ArrowException, OSError) as error:
        raise BadBarsError(f"{file.name} is not readable as Parquet: {str(error)[:200]}") from error
    yield table.column_names, False
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [[_exact(value) for value in column.to_pylist()] for column in batch.columns]
        for cells in zip(*columns, strict=True):
            yield cells, False


def _exact(value: Any) -> Any:
    """A float as the decimal that people would write: 0.1 and not its binary approximation."""
    return Decimal(repr(value)) if isinstance(value, float) else value
