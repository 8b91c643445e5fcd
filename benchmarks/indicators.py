"""How long do nine indicators over 500 bars take, for 1,000 symbols?

The bars are real ones, each symbol a window of its own; from arrays, and from bars as they come from a provider.
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
    """One window of 500 bars a symbol, no two alike."""
    found: list[BarHistory] = []
    held = [one for one in load_sample().series.values() if len(one.bars) > DEFAULT_BARS + SYMBOLS // 3]
    for number in range(SYMBOLS):
        series = held[number % len(held)]
        first = number // len(held)
        bars = series.bars[first : first + DEFAULT_BARS]
        found.append(BarHistory(parse_symbol(series.ticker), "USD", "sample", bars, series.splits))
    return found


async def run() -> list[Figure]:
    """Microseconds a symbol, by the processor's clock: the machine may be busy with other things."""
    windows = histories()
    arrays = [series_of(window) for window in windows]
    for kind in Indicator:
        indicator(kind, arrays[0])
    began, started = time.process_time(), time.perf_counter()
    for series in arrays:
        for kind in Indicator:
            indicator(kind, series)
    used, lasted = time.process_time() - began, time.perf_counter() - started
    began = time.process_time()
    for window in windows:
        series_of(window)
    reading = time.process_time() - began
    note = f"nine indicators, {DEFAULT_BARS} bars, {SYMBOLS} symbols; {lasted:.2f} s in all"
    return [
        Figure(QUESTION, "CPU a symbol", used / SYMBOLS * 1e6, "µs", TARGET_MICROSECONDS, note=note),
        Figure(QUESTION, "CPU a symbol to make arrays of bars", reading / SYMBOLS * 1e6, "µs"),
    ]
