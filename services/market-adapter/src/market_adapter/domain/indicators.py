"""Nine indicators over one series, by TA-Lib: the value at the last bar.

TA-Lib's early values differ from the textbook's (MACD by up to 7.7 %, ADX 4.9 %, MACD's histogram 36 %) and converge
with history: `converged` says when. Conventions: EMA seeded by a simple mean;
Wilder's smoothing (RSI, ATR, ADX) seeded by the mean; MACD 12/26/9; Bollinger bands 20, 2, population deviation;
VWAP of (high + low + close) / 3; OBV counted from 0 at the first bar. https://ta-lib.org/functions/
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from contracts.tools.market import Indicator
from market_adapter.domain.series import Floats, Series
from market_adapter.domain.ta_lib import ta_lib

BARS = 500
"""The number of bars that are fetched: more than any of the nine needs to converge."""
RSI_PERIOD = ATR_PERIOD = ADX_PERIOD = 14
AVERAGE_PERIOD = BANDS_PERIOD = VWAP_PERIOD = 20
FAST, SLOW, SIGNAL = 12, 26, 9
DEVIATIONS = 2.0
Value = float | int | str | None
Values = dict[str, Value]


def indicator(kind: Indicator, series: Series, length: int | None = None, *, anchored: bool = False) -> Values:
    """One indicator at the last bar; a value is None while there are too few bars for it. `length`: in place of the
    usual 14 or 20 bars; MACD and OBV have none. `anchored`: VWAP runs from the opening of the last session (intraday
    bars)."""
    if kind is Indicator.VWAP:
        return vwap(series, length or VWAP_PERIOD, anchored=anchored)
    return _FUNCTIONS[kind](series, length)


def bars_for(length: int | None) -> int:
    """Returns the number of bars to fetch: as many as the slowest of the indicators needs to converge."""
    return max(BARS, _CONVERGED_AFTER[Indicator.ADX] * (length or 0) // ADX_PERIOD)


_CONVERGED_AFTER: Mapping[Indicator, int] = {
    Indicator.RSI: 340,
    Indicator.MACD: 400,
    Indicator.EMA: 260,
    Indicator.ATR: 340,
    Indicator.ADX: 400,
}
"""Bars after which the value is within 1e-9 of itself (MACD: of a thousandth of the price, since it goes through 0)
with all the history there is: measured on 13 years of real bars, where the last one needed 280, 330, 190, 280 and 340,
and a fifth more. The others look at a window, or (OBV) count from the first bar by definition."""


_SMOOTHED = (Indicator.RSI, Indicator.EMA, Indicator.ATR, Indicator.ADX)


def converged(kinds: Iterable[Indicator], bars: int, length: int | None = None) -> bool:
    """Whether none of these values leans on where the history of so many bars begins. What is smoothed over more bars
    needs as many times more of them."""
    usual = {kind: AVERAGE_PERIOD if kind is Indicator.EMA else RSI_PERIOD for kind in _SMOOTHED}
    return all(
        bars >= _CONVERGED_AFTER.get(kind, 1) * (length / usual[kind] if length and kind in usual else 1)
        for kind in kinds
    )


def rsi_line(close: Floats, length: int = RSI_PERIOD) -> Floats:
    """Wilder's RSI at each bar, NaN before there are enough. Where nothing has moved it is 50: no strength either way
    (TA-Lib says 0, as if all had been losses)."""
    line = ta_lib().RSI(close, length)
    if len(close) > length:
        moves = np.diff(close)
        # Only where no loss has been seen can a 0 mean "nothing moved" rather than "all losses".
        lossless = np.concatenate(([True], np.minimum.accumulate(moves) >= 0))
        line[(line == 0) & lossless & ~np.isnan(line)] = 50.0
    return line


def vwap(series: Series, length: int = VWAP_PERIOD, *, anchored: bool) -> Values:
    """Volume-weighted mean of (high + low + close) / 3; None where nothing was traded."""
    count = sum(1 for session in series.sessions if session == series.sessions[-1]) if anchored else length
    if len(series) < count:
        return {"value": None, "period": count}
    part = series.tail(count)
    volume = float(part.volume.sum())
    typical = (part.high + part.low + part.close) / 3
    value = float((typical * part.volume).sum() / volume) if volume > 0 else None
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


def _sma(series: Series, length: int | None) -> Values:
    period = length or AVERAGE_PERIOD
    value = _last(ta_lib().SMA(series.close, period))
    return {"value": value, "period": period, "gap": _gap(series, value)}


def _ema(series: Series, length: int | None) -> Values:
    period = length or AVERAGE_PERIOD
    value = _last(ta_lib().EMA(series.close, period))
    return {"value": value, "period": period, "gap": _gap(series, value)}


def _gap(series: Series, average: float | None) -> float | None:
    """Returns how far the last close is above an average, as a fraction of it."""
    return None if not average else float(series.close[-1]) / average - 1


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
    Indicator.SMA: _sma,
    Indicator.EMA: _ema,
    Indicator.ATR: _atr,
    Indicator.OBV: _obv,
    Indicator.ADX: _adx,
}


def _last(line: Floats) -> float | None:
    value = float(line[-1])
    return value if np.isfinite(value) else None
