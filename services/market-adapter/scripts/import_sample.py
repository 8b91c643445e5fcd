"""Make the sample data anew from its source: `import_sample.py STOCKS_CSV_GZ`.

The argument is `bokeh_sampledata/_data/stocks.csv.gz` of bokeh_sampledata 2026.1, a package that is needed here and
nowhere else. Writes `data/bars/<TICKER>.csv` (raw, as traded) and `data/actions.csv` (splits and cash dividends).

The source has no list of splits and dividends, but its adjusted close holds them: at an ex-date with closing price c,
split ratio s and dividend d it multiplies all earlier prices by c / (s * (c + d)). The ratio of adjusted to raw close,
on the day against the day before, gives s * (1 + d / c) back, to the cent.
"""

import csv
import gzip
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

SHA256 = "5abadf99b2d394f920120a27de6f0df129859d71d4cfb0bf661bcc99446ab1fd"
DATA = Path(__file__).parent.parent / "src" / "market_adapter" / "data"
NOISE = Decimal("0.0002")
"""The adjusted close is rounded: a smaller step than this is no corporate action."""

Row = dict[str, str]


def read(path: Path) -> dict[str, list[Row]]:
    """The source's rows by ticker, in their order; refuses any other file than the one that was checked."""
    packed = path.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{path}: sha256 is {digest}, not {SHA256}; take the file of bokeh_sampledata 2026.1")
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in csv.DictReader(gzip.decompress(packed).decode().splitlines()):
        rows[row["Ticker"]].append(row)
    return rows


def actions(ticker: str, rows: list[Row]) -> Iterator[tuple[str, str, str, str]]:
    """(ticker, date, kind, value) of each split (new shares for one old) and dividend (USD a share, as paid)."""
    for before, row in pairwise(rows):
        close = Decimal(row["Close"])
        step = (Decimal(row["Adj Close"]) / close) / (Decimal(before["Adj Close"]) / Decimal(before["Close"]))
        split = round(step) if step > Decimal("1.4") else 1
        if split != 1:
            yield ticker, row["Date"], "split", str(split)
        if abs(step / split - 1) > NOISE:
            yield ticker, row["Date"], "dividend", str(round((step / split - 1) * close, 2))


def main() -> None:
    """Write every file of the sample data."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: import_sample.py STOCKS_CSV_GZ")
    rows = read(Path(sys.argv[1]))
    (DATA / "bars").mkdir(parents=True, exist_ok=True)
    for ticker in sorted(rows):
        with (DATA / "bars" / f"{ticker}.csv").open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(("date", "open", "high", "low", "close", "volume"))
            out.writerows(
                [r[name] for name in ("Date", "Open", "High", "Low", "Close", "Volume")] for r in rows[ticker]
            )
    with (DATA / "actions.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("ticker", "date", "kind", "value"))
        for ticker in sorted(rows):
            out.writerows(actions(ticker, rows[ticker]))


if __name__ == "__main__":
    main()
