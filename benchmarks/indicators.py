"""How much CPU do nine indicators over 500 bars take, for 1,000 symbols?

The bars are real, with a different window for each symbol; measured from arrays, and from bars as a provider returns
them.
"""

import time

from benchmarks.report import Figure
from contracts.symbols import parse_symbol
from contracts.tools.market import Indicator
from market_adapter.adapters.sample_files import load_sample
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.indicators import DEFAULT_BARS, indicator
from market_adapter.domain.series import series_of

QUESTION = "indicators"
SYMBOLS = 1000
TARGET_MICROSECONDS = 250.0


def histories() -> list[BarHistory]:
    """Returns a window of 500 bars for each symbol, no two alike."""
    windows: list[BarHistory] = []
    long_series = [series for series in load_sample().series.values() if len(series.bars) > DEFAULT_BARS + SYMBOLS // 3]
    for index in range(SYMBOLS):
        series = long_series[index % len(long_series)]
        first = index // len(long_series)
        bars = series.bars[first : first + DEFAULT_BARS]
        windows.append(BarHistory(parse_symbol(series.ticker), "USD", "sample", bars, series.splits))
    return windows


async def run() -> list[Figure]:
    """Returns microseconds of CPU per symbol, since the machine may be busy."""
    windows = histories()
    arrays = [series_of(window) for window in windows]
    for kind in Indicator:
        indicator(kind, arrays[0])
    cpu_started, started = time.process_time(), time.perf_counter()
    for series in arrays:
        for kind in Indicator:
            indicator(kind, series)
    cpu_seconds, seconds = time.process_time() - cpu_started, time.perf_counter() - started
    cpu_started = time.process_time()
    for window in windows:
        series_of(window)
    array_seconds = time.process_time() - cpu_started
    note = f"nine indicators, {DEFAULT_BARS} bars, {SYMBOLS} symbols; {seconds:.2f} s in all"
    return [
        Figure(QUESTION, "CPU a symbol", cpu_seconds / SYMBOLS * 1e6, "µs", TARGET_MICROSECONDS, note=note),
        Figure(QUESTION, "CPU a symbol to make arrays of bars", array_seconds / SYMBOLS * 1e6, "µs"),
    ]
