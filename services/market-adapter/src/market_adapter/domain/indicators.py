"""Nine indicators of a series, by TA-Lib: the values at the last bar.

TA-Lib's early values differ from the textbook's (MACD by up to 7.7 %, ADX 4.9 %, MACD's histogram 36 %) and converge
with history: `converged` says when. Conventions: EMA seeded by a simple mean;
Wilder's smoothing (RSI, ATR, ADX) seeded by the mean; MACD 12/26/9; Bollinger bands 20, 2, population deviation;
VWAP of (high + low + close) / 3; OBV counted from 0 at the first bar. https://ta-lib.org/functions/
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from contracts.tools.market import Indicator
from market_adapter.domain.series import Floats, Series
from market_adapter.domain.ta_lib import ta_lib

DEFAULT_BARS = 500
"""The number of bars read by default: more than any of the nine needs to converge."""
RSI_PERIOD = ATR_PERIOD = ADX_PERIOD = 14
AVERAGE_PERIOD = BANDS_PERIOD = VWAP_PERIOD = 20
FAST, SLOW, SIGNAL = 12, 26, 9
DEVIATIONS = 2.0
Value = int | float | None
Values = dict[str, Value]


def indicator(kind: Indicator, series: Series, length: int | None = None, *, anchored: bool = False) -> Values:
    """One indicator at the last bar; a value is None if there are too few bars for it. `length` replaces the usual 14
    or 20 bars; MACD and OBV have none. `anchored`: VWAP starts at the opening of the last session (for intraday
    bars)."""
    if kind is Indicator.VWAP:
        return vwap(series, length or VWAP_PERIOD, anchored=anchored)
    return _FUNCTIONS[kind](series, length)


def bars_for(length: int | None) -> int:
    """The number of bars to read: as many as the slowest of the indicators needs to converge."""
    return max(DEFAULT_BARS, _CONVERGED_AFTER[Indicator.ADX] * (length or 0) // ADX_PERIOD)


_CONVERGED_AFTER: Mapping[Indicator, int] = {
    Indicator.RSI: 340,
    Indicator.MACD: 400,
    Indicator.EMA: 260,
    Indicator.ATR: 340,
    Indicator.ADX: 400,
}
"""The number of bars after which a value is within 1e-9 of its value with the full history (for MACD within 1e-9 of a
thousandth of the price, since it passes through 0). Measured on 13 years of real bars, where 280, 330, 190, 280 and 340
were needed, plus a fifth. The other indicators use a window, or (OBV) start at the first bar by definition."""


_SMOOTHED = (Indicator.RSI, Indicator.EMA, Indicator.ATR, Indicator.ADX)


def converged(kinds: Iterable[Indicator], bars: int, length: int | None = None) -> bool:
    """Whether none of these values depends on where a history of this many bars begins. An indicator smoothed over more
    bars than usual needs proportionally more of them."""
    default_lengths = {kind: AVERAGE_PERIOD if kind is Indicator.EMA else RSI_PERIOD for kind in _SMOOTHED}
    return all(
        bars
        >= _CONVERGED_AFTER.get(kind, 1) * (length / default_lengths[kind] if length and kind in default_lengths else 1)
        for kind in kinds
    )


def rsi_line(close: Floats, length: int = RSI_PERIOD) -> Floats:
    """Wilder's RSI at each bar; NaN until there are enough bars. Without any move it is 50, no strength either way
    (TA-Lib returns 0, as if all moves had been losses)."""
    line = ta_lib().RSI(close, length)
    if len(close) > length:
        moves = np.diff(close)
        # Only as long as there was no loss can a 0 mean "no move" instead of "all losses".
        lossless = np.concatenate(([True], np.minimum.accumulate(moves) >= 0))
        line[(line == 0) & lossless & ~np.isnan(line)] = 50.0
    return line


def vwap(series: Series, length: int = VWAP_PERIOD, *, anchored: bool) -> Values:
    """The volume-weighted mean of (high + low + close) / 3; None if nothing was traded."""
    count = sum(1 for session in series.sessions if session == series.sessions[-1]) if anchored else length
    if len(series) < count:
        return {"value": None, "period": count}
    window = series.tail(count)
    volume = float(window.volume.sum())
    typical = (window.high + window.low + window.close) / 3
    value = float((typical * window.volume).sum() / volume) if volume > 0 else None
    return {"value": value, "period": count}


def obv_line(series: Series) -> Floats:
    """On-balance volume at each bar, from 0 at the first (TA-Lib starts at that bar's volume)."""
    return ta_lib().OBV(series.close, series.volume) - series.volume[0]


def _rsi(series: Series, length: int | None) -> Values:
    period = length or RSI_PERIOD
    return {"value": _last(rsi_line(series.close, period)), "period": period}


def _macd(series: Series, length: int | None) -> Values:
    line, signal, histogram = ta_lib().MACD(series.close, FAST, SLOW, SIGNAL)
    return {"macd": _last(line), "signal": _last(signal), "histogram": _last(histogram)}


def _bands(series: Series, length: int | None) -> Values:
    upper, middle, lower = ta_lib().BBANDS(series.close, length or BANDS_PERIOD, DEVIATIONS, DEVIATIONS)
    return {"upper": _last(upper), "middle": _last(middle), "lower": _last(lower)}


def _average(name: str, series: Series, length: int | None) -> Values:
    """The average that TA-Lib calls `name`, and how far the last close is above it, as a fraction of the average."""
    period = length or AVERAGE_PERIOD
    value = _last(getattr(ta_lib(), name)(series.close, period))
    gap = float(series.close[-1]) / value - 1 if value else None
    return {"value": value, "period": period, "gap": gap}


def _atr(series: Series, length: int | None) -> Values:
    period = length or ATR_PERIOD
    value = _last(ta_lib().ATR(series.high, series.low, series.close, period))
    return {"value": value, "period": period, "share": None if value is None else value / float(series.close[-1])}


def _obv(series: Series, length: int | None) -> Values:
    return {"value": _last(obv_line(series)), "bars": len(series)}


def _adx(series: Series, length: int | None) -> Values:
    period = length or ADX_PERIOD
    return {"value": _last(ta_lib().ADX(series.high, series.low, series.close, period)), "period": period}


_FUNCTIONS: Mapping[Indicator, Callable[[Series, int | None], Values]] = {
    Indicator.RSI: _rsi,
    Indicator.MACD: _macd,
    Indicator.BB: _bands,
    Indicator.SMA: partial(_average, "SMA"),
    Indicator.EMA: partial(_average, "EMA"),
    Indicator.ATR: _atr,
    Indicator.OBV: _obv,
    Indicator.ADX: _adx,
}


def _last(line: Floats) -> float | None:
    value = float(line[-1])
    return value if np.isfinite(value) else None
