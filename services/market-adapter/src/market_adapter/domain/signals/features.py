"""The features of a bar, computed from that bar and earlier ones only."""

import numpy as np

from market_adapter.domain.indicators import ATR_PERIOD, RSI_PERIOD, rsi_line
from market_adapter.domain.series import Floats, Series
from market_adapter.domain.ta_lib import ta_lib

NAMES = (
    "return_1d",
    "return_5d",
    "return_10d",
    "return_21d",
    "return_63d",
    "volatility_21d",
    f"rsi_{RSI_PERIOD}",
    "macd_histogram_to_price",
    "close_to_sma_20",
    "close_to_sma_50",
    "close_to_sma_200",
    "atr_to_price",
    "volume_zscore_20",
    "drawdown_63d",
)
FIRST = 250
"""Rows before this one lack a figure, or have one that has not converged, and are left out."""


def features(series: Series) -> Floats:
    """The features: a row for each bar and a column for each name of NAMES; NaN where there are too few bars."""
    close = series.close
    _, _, histogram = ta_lib().MACD(close)
    deviations = ta_lib().STDDEV(series.volume, 20)
    with np.errstate(divide="ignore", invalid="ignore"):
        zscore = np.where(deviations > 0, (series.volume - ta_lib().SMA(series.volume, 20)) / deviations, 0.0)
    columns = [
        *(_change(close, bars) for bars in (1, 5, 10, 21, 63)),
        ta_lib().STDDEV(_change(close, 1), 21),
        rsi_line(close),
        histogram / close,
        *(close / ta_lib().SMA(close, bars) - 1 for bars in (20, 50, 200)),
        ta_lib().ATR(series.high, series.low, close, ATR_PERIOD) / close,
        zscore,
        close / ta_lib().MAX(close, 63) - 1,
    ]
    return np.column_stack(columns)


def direction(close: Floats, horizon: int) -> Floats:
    """1 where the close `horizon` bars later is higher, 0 where it is not, NaN for the last bars, where it is
    unknown."""
    target = np.full(len(close), np.nan)
    target[:-horizon] = (close[horizon:] > close[:-horizon]).astype(float)
    return target


def _change(close: Floats, bars: int) -> Floats:
    change = np.full(len(close), np.nan)
    change[bars:] = close[bars:] / close[:-bars] - 1
    return change
