"""A folder of files as a provider: what other programs write is read, what is wrong is named, what changes is seen."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contracts.symbols import parse_symbol
from contracts.tools.market import Timeframe
from market_adapter.adapters.bar_folder import read_folder
from market_adapter.adapters.bar_table import BadBarsError
from market_adapter.adapters.files_provider import FilesProvider
from market_adapter.domain.bars import Dividend, Split
from market_adapter.errors import NoDataError, StaleDataError
from runtime.testing.clock import FakeClock

PLAIN = "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-02,10,12,9,11,5.5,1000\n2024-01-03,11,13,10,12,6,2000\n"
HOURS = "Datetime,Open,High,Low,Close\n" + "".join(
    f"2024-01-03T{hour}:30:00Z,{price},{price},{price},{price}\n" for hour, price in ((14, 11), (15, 12), (20, 13))
)
ACME, DAILY = parse_symbol("ACME"), Timeframe.D1


def folder(directory: Path, **files: str) -> Path:
    """Files by their names without ending."""
    for name, text in files.items():
        (directory / f"{name}.csv").write_text(text, encoding="utf-8")
    return directory


def provider(directory: Path, now: datetime = datetime(2024, 6, 1, tzinfo=UTC)) -> FilesProvider:
    return FilesProvider(directory, FakeClock(now))


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeffdate;apertura;máximo;mínimo;cierre;volumen\n2024-01-02;10,0;12;9;11,0;1.000\n2024-01-03;11;13;10;12;2000\n",
        "<TICKER>,<DATE>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\nACME,20240102,10,12,9,11,1000\nACME,20240103,11,13,10,12,2000\n",
        'Date,Close/Last,Volume,Open,High,Low\n2024/01/03,$12,"2,000",$11,$13,$10\n2024/01/02,$11,1000,$10,$12,$9\n',
        "Date\tOpen\tHigh\tLow\tClose\tVolume\n2024-01-02 00:00:00-05:00\t10\t12\t9\t11\t1000\n"
        "2024-01-03 00:00:00-05:00\t11\t13\t10\t12\t2000\n2024-01-04\tnull\tnull\tnull\tnull\tnull\n",
    ],
    ids=["yahoo", "spanish", "stooq", "nasdaq, newest first", "tabs, zones and a day without trades"],
)
async def test_what_other_programs_write_is_read(tmp_path: Path, text: str) -> None:
    history = await provider(folder(tmp_path, ACME=text)).daily_history(ACME, 10)
    assert [(bar.session, bar.open, bar.high, bar.low, bar.close, bar.volume) for bar in history.bars] == [
        (date(2024, 1, 2), 10, 12, 9, 11, 1000),
        (date(2024, 1, 3), 11, 13, 10, 12, 2000),
    ]
    assert (history.source, history.currency) == ("files", "USD")
    assert history.last.end == datetime(2024, 1, 3, 21, tzinfo=UTC)


async def test_parquet_is_read_like_csv_and_many_symbols_from_one_file(tmp_path: Path) -> None:
    days = [date(2024, 1, 2), date(2024, 1, 3)] * 2
    columns: dict[str, Any] = {
        "symbol": ["ACME", "ACME", "BTC-USD", "BTC-USD"],
        "date": days,
        **{name: [0.1, 0.2, 5.0, 6.5] for name in ("open", "high", "low", "close")},
        "volume": [10, 20, 1.25, 2.0],
    }
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), tmp_path / "all.parquet")
    files = provider(tmp_path)
    assert [bar.close for bar in (await files.daily_history(ACME, 5)).bars] == [Decimal("0.1"), Decimal("0.2")]
    pair = await files.daily_history(parse_symbol("BTC/USD"), 5)
    assert (pair.bars[0].volume, pair.currency) == (Decimal("1.25"), "USD")
    assert pair.last.end == datetime(2024, 1, 4, tzinfo=UTC)
    assert files.now() == pair.last.end


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ACME.csv: it is empty"),
        ("Date,Open,High,Low,Close\n", "ACME.csv: no rows"),
        ("Date,Open,High,Low,Volume\n", "ACME.csv: no column for close: close or c or last"),
        ("Date,Open,High,Low,Close,Close\n", "the columns Close, Close all say close"),
        (PLAIN + "2024-01-04,11,13,10,x,6,1\n", "ACME.csv, line 4: close is 'x', no number"),
        (PLAIN + "2024-01-04,11,13,10,,6,1\n", "line 4: close is empty"),
        (
            PLAIN + "2024-01-04,11,10,13,12,6,1\n",
            "line 4: open 11, high 10, low 13, close 12: high must be the highest",
        ),
        (PLAIN + "2024-01-04,11,13,-1,12,6,1\n", "line 4: low is -1, and a price is above 0"),
        (PLAIN + "2024-01-04,11,13,10,12,6,-1\n", "line 4: volume is -1, below 0"),
        (PLAIN + "2024-01-04,11,13,10,inf,6,1\n", "line 4: close is inf, no number"),
        (PLAIN + "31/12/2024,11,13,10,12,6,1\n", "line 4: '31/12/2024' is no date: write it as 2024-01-31"),
        (PLAIN + "2024-01-03,11,13,10,12,6,1\n", "ACME has 2024-01-03 twice"),
        (
            PLAIN + "2024-01-04T15:30,11,13,10,12,6,1\n",
            "ACME has times of day; a file of shorter bars is called ACME_1h.csv",
        ),
        (PLAIN + "2024-01-04,11\n", "line 4: 2 cells, fewer than the header has"),
        (PLAIN + '2024-01-04,11,"13,5",10,12,6,1\n', "line 4: high is '13,5', no number"),
        ("Date;Open;High;Low;Close\n2024-01-04;11,5;13.25;10;12\n", "line 2: high is '13.25', no number"),
        (PLAIN + "2024-01-04,11,1e400,10,12,6,1\n", "line 4: high is 1e400, beyond 18 digits"),
        (PLAIN + "2024-01-04,11,13,1e-400,12,6,1\n", "line 4: low is 1e-400, beyond 18 digits"),
        (PLAIN + "0001-01-01,11,13,10,12,6,1\n", "line 4: 0001-01-01 is before 1700"),
        (PLAIN + "9999-12-31,11,13,10,12,6,1\n", "line 4: 9999-12-31 is before 1700 or after 2199"),
        (
            "Date,Open,High,Low,Close,Split\n2024-01-02,10,12,9,11,0\n2024-01-03,11,13,10,12,0.0001\n",
            "line 3: split is 0.0001",
        ),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadBarsError) as error:
        read_folder(folder(tmp_path, ACME=text))
    assert said in str(error.value)


def test_a_bad_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadBarsError, match="not a readable folder"):
        read_folder(tmp_path / "none")
    with pytest.raises(BadBarsError, match=r"has no \.csv or \.parquet file"):
        read_folder(tmp_path)
    (tmp_path / "ACME.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(BadBarsError, match=r"ACME\.parquet is not readable as Parquet"):
        read_folder(tmp_path)
    (tmp_path / "ACME.parquet").unlink()
    with pytest.raises(BadBarsError, match="'no such thing' is not a symbol"):
        read_folder(folder(tmp_path, **{"no such thing": PLAIN}))
    (tmp_path / "no such thing.csv").unlink()
    with pytest.raises(BadBarsError, match=r"acme\.csv: ACME in 1d is in ACME\.csv too"):
        read_folder(folder(tmp_path, ACME=PLAIN, acme=PLAIN))
    (tmp_path / "ACME.csv").unlink()
    (tmp_path / "acme.csv").rename(tmp_path / "ACME_1h.csv")
    with pytest.raises(BadBarsError, match=r"ACME_1h\.csv: ACME has no daily bars beside those of 1h"):
        read_folder(tmp_path)
    (tmp_path / "ACME_1h.csv").write_bytes(b"Date,Open\n\xff\xfe")
    with pytest.raises(BadBarsError, match="not UTF-8"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("closes", "splits"),
    [(("100", "50"), (Split(date(2024, 1, 3), Fraction(2)),)), (("50", "51"), ())],
    ids=["as traded", "adjusted already"],
)
def test_a_split_counts_where_the_prices_still_show_it(
    tmp_path: Path, closes: tuple[str, str], splits: tuple[Split, ...]
) -> None:
    rows = [
        f"2024-01-0{day},{c},{c},{c},{c},1,{s},{d}" for day, c, s, d in zip((2, 3), closes, "02", "01", strict=True)
    ]
    text = "\n".join(["Date,Open,High,Low,Close,Volume,Stock Splits,Dividends", *rows])
    series = read_folder(folder(tmp_path, ACME=text))["ACME", DAILY]
    assert series.splits == splits
    assert series.dividends == (Dividend(date(2024, 1, 3), Decimal(1)),)


async def test_nothing_that_closes_later_is_known(tmp_path: Path) -> None:
    files = provider(folder(tmp_path, ACME=PLAIN), datetime(2024, 1, 3, 20, tzinfo=UTC))
    assert (await files.quote(ACME)).price == 11
    assert files.now() == datetime(2024, 1, 2, 21, tzinfo=UTC)
    early = provider(tmp_path, datetime(2023, 1, 1, tzinfo=UTC))
    with pytest.raises(NoDataError, match="has not closed yet"):
        await early.quote(ACME)


async def test_shorter_bars_are_used_where_there_are_some(tmp_path: Path) -> None:
    files = provider(folder(tmp_path, ACME=PLAIN, ACME_1h=HOURS))
    history = await files.bars(ACME, Timeframe.H1, 2)
    assert [(bar.close, bar.end.hour, bar.end.minute) for bar in history.bars] == [(12, 16, 30), (13, 21, 0)]
    blocks = await files.bars(ACME, Timeframe.H4, 5)
    assert [(bar.open, bar.close) for bar in blocks.bars] == [(11, 12), (13, 13)]
    new = await files.bars_since(ACME, datetime(2024, 1, 3, 15, 30, tzinfo=UTC))
    assert new is not None
    assert len(new.bars) == 2
    with pytest.raises(NoDataError, match=r"that would be ACME_5m\.csv"):
        await files.bars(ACME, Timeframe.M5, 1)


async def test_a_bad_file_does_not_hold_up_the_others(tmp_path: Path) -> None:
    files = provider(folder(tmp_path, ACME=PLAIN, OTHER=PLAIN, GOES_1h=HOURS, GOES=PLAIN))
    folder(tmp_path, ACME="a,b\n1,2\n", acme=PLAIN, OTHER=PLAIN + "2024-01-04,12,14,11,13,6,1\n", NEW=PLAIN)
    (tmp_path / "GOES.csv").unlink()
    await files.refresh()
    assert files.symbols() == ["ACME", "NEW", "OTHER"]
    assert (await files.quote(parse_symbol("OTHER"))).price == 13
    (tmp_path / "acme.csv").unlink()
    await files.refresh()
    assert (await files.quote(ACME)).price == 12


async def test_a_changed_file_is_read_again_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    files = provider(folder(tmp_path, ACME=PLAIN))
    folder(tmp_path, ACME=PLAIN + "2024-01-04,12,14,11,13,6,1\n", OLD=PLAIN.replace("2024", "2023"))
    await files.refresh()
    assert (await files.quote(ACME)).price == 13
    with pytest.raises(StaleDataError):
        await files.quote(parse_symbol("OLD"))
    folder(tmp_path, ACME="Date\n")
    await files.refresh()
    assert (await files.quote(ACME)).price == 13
    with pytest.raises(NoDataError, match="ZZZ is not in the files, which hold ACME, OLD"):
        await files.quote(parse_symbol("ZZZ"))
    with pytest.raises(NoDataError, match="bars of ACME alone"):
        await files.fundamentals(ACME)
