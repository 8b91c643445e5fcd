"""Indicators: against references computed another way, textbook values, and series that break naive code."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from contracts.symbols import parse_symbol
from contracts.tools.market import Indicator
from market_adapter.adapters.sample_files import load_sample
from market_adapter.domain.bars import Bar, BarHistory, Split
from market_adapter.domain.indicators import DEFAULT_BARS, Value, converged, indicator, obv_line, rsi_line, vwap
from market_adapter.domain.series import Series, series_of
from market_adapter.testing.markets import bar, bars_of

SAMPLE = load_sample()
IBM = parse_symbol("IBM")


def series(*bars: Bar, splits: tuple[Split, ...] = ()) -> Series:
    return series_of(BarHistory(IBM, "USD", "test", bars, splits))


def real(ticker: str, count: int = 500) -> Series:
    found = SAMPLE.series[ticker]
    return series(*found.bars[-count:], splits=found.splits)


def ema(values: list[float], period: int) -> float:
    """Straight from its definition, in plain Python: seeded by the mean of the first `period`."""
    value = sum(values[:period]) / period
    for one in values[period:]:
        value += (one - value) * 2 / (period + 1)
    return value


def wilder(values: list[float], period: int) -> float:
    value = sum(values[:period]) / period
    for one in values[period:]:
        value = (value * (period - 1) + one) / period
    return value


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "MSFT", "GOOG"])
def test_each_agrees_with_its_definition_on_real_bars(ticker: str) -> None:
    bars = real(ticker)
    close, high, low = bars.close.tolist(), bars.high.tolist(), bars.low.tolist()

    def value(kind: Indicator, key: str = "value") -> Value:
        return indicator(kind, bars)[key]

    assert value(Indicator.SMA) == pytest.approx(sum(close[-20:]) / 20)
    assert value(Indicator.EMA) == pytest.approx(ema(close, 20))
    moves = [b - a for a, b in pairwise(close)]
    gain, loss = wilder([max(m, 0) for m in moves], 14), wilder([max(-m, 0) for m in moves], 14)
    assert value(Indicator.RSI) == pytest.approx(100 - 100 / (1 + gain / loss))
    ranges = [max(h - lo, abs(h - c), abs(lo - c)) for h, lo, c in zip(high[1:], low[1:], close[:-1], strict=True)]
    assert value(Indicator.ATR) == pytest.approx(wilder(ranges, 14))
    middle = sum(close[-20:]) / 20
    deviation = (sum((c - middle) ** 2 for c in close[-20:]) / 20) ** 0.5
    assert value(Indicator.BB, "upper") == pytest.approx(middle + 2 * deviation)
    assert value(Indicator.BB, "lower") == pytest.approx(middle - 2 * deviation)
    line = [ema(close[: n + 1], 12) - ema(close[: n + 1], 26) for n in range(25, len(close))]
    # TA-Lib starts the fast average later than the textbook: after the warm-up they agree.
    assert value(Indicator.MACD, "macd") == pytest.approx(line[-1], rel=1e-6, abs=1e-9)
    assert value(Indicator.MACD, "signal") == pytest.approx(ema(line, 9), rel=1e-6, abs=1e-9)
    volume = bars.volume.tolist()
    flow = sum(v if b > a else -v if b < a else 0 for a, b, v in zip(close, close[1:], volume[1:], strict=False))
    assert value(Indicator.OBV) == pytest.approx(flow)
    typical = [(h + lo + c) / 3 for h, lo, c in zip(high, low, close, strict=True)]
    weighted = sum(t * v for t, v in zip(typical[-20:], volume[-20:], strict=True))
    assert value(Indicator.VWAP) == pytest.approx(weighted / sum(volume[-20:]))


def test_adx_agrees_with_its_definition_after_the_warm_up() -> None:
    bars = real("IBM")
    up: list[float] = []
    down: list[float] = []
    ranges: list[float] = []
    for n in range(1, len(bars)):
        rise, fall = bars.high[n] - bars.high[n - 1], bars.low[n - 1] - bars.low[n]
        up.append(rise if rise > fall and rise > 0 else 0.0)
        down.append(fall if fall > rise and fall > 0 else 0.0)
        ranges.append(
            max(
                bars.high[n] - bars.low[n],
                abs(bars.high[n] - bars.close[n - 1]),
                abs(bars.low[n] - bars.close[n - 1]),
            )
        )
    directions: list[float] = []
    for end in range(14, len(ranges) + 1):
        true_range = wilder(ranges[:end], 14)
        plus, minus = wilder(up[:end], 14) / true_range, wilder(down[:end], 14) / true_range
        directions.append(100 * abs(plus - minus) / (plus + minus))
    assert indicator(Indicator.ADX, bars)["value"] == pytest.approx(wilder(directions, 14), rel=1e-6)


def test_rsi_of_wilders_textbook_series() -> None:
    # The worked example of StockCharts' page on the RSI: 70.53 at the fifteenth close, 66.32 at the next.
    closes = [44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245]
    closes += [45.8433, 46.0826, 45.8931, 46.0328, 45.6140, 46.2820, 46.2820, 46.0028]
    line = rsi_line(np.array(closes))
    assert line[14] == pytest.approx(70.53, abs=0.01)
    assert line[15] == pytest.approx(66.32, abs=0.01)


def test_on_a_straight_line_each_has_the_value_of_its_closed_form() -> None:
    # A price that rises by one a bar, each bar from its close - 1 to its close + 1. An average over n bars lags by
    # (n - 1) / 2; after 600 bars an exponential one is there to the last digits.
    line = series(*[bar(n, f"{99 + n}", f"{101 + n}", f"{99 + n}", f"{100 + n}", 1000) for n in range(600)])
    last = 699.0

    def found(kind: Indicator) -> list[Value]:
        return [
            value for name, value in indicator(kind, line).items() if name not in ("period", "bars", "gap", "share")
        ]

    assert indicator(Indicator.SMA, line)["gap"] == pytest.approx(last / (last - 9.5) - 1)
    assert found(Indicator.SMA) == [pytest.approx(last - 9.5)]
    assert found(Indicator.EMA) == [pytest.approx(last - 9.5)]
    assert found(Indicator.MACD) == [pytest.approx(7), pytest.approx(7), pytest.approx(0, abs=1e-9)]
    width = 2 * ((20**2 - 1) / 12) ** 0.5
    assert found(Indicator.BB) == [pytest.approx(last - 9.5 + width * sign) for sign in (1, 0, -1)]
    assert found(Indicator.RSI) == [100]
    assert found(Indicator.ATR) == [pytest.approx(2)]
    assert indicator(Indicator.ATR, line)["share"] == pytest.approx(2 / last)
    assert found(Indicator.ADX) == [pytest.approx(100)]
    assert found(Indicator.VWAP) == [pytest.approx(last - 9.5)]
    assert found(Indicator.OBV) == [599 * 1000]


def test_a_session_that_is_missing_in_between_changes_nothing() -> None:
    # A hole (a holiday, a halt) is no bar of its own: indicators count bars, not days.
    whole = bars_of([100 + 10 * np.sin(n / 7) for n in range(300)])
    late = tuple(
        replace(one, session=one.session + timedelta(days=9), time=one.time + timedelta(days=9)) for one in whole[150:]
    )
    for kind in Indicator:
        assert indicator(kind, series(*whole[:150], *late)) == indicator(kind, series(*whole))


def test_bars_without_volume_move_neither_obv_nor_vwap() -> None:
    traded = bars_of([100 + n % 5 for n in range(40)])
    quiet = tuple(replace(one, volume=0) if n % 2 else one for n, one in enumerate(traded))
    kept = quiet[-20:][::2] if quiet[-20].volume else quiet[-19:][::2]
    typical = [float(one.high + one.low + one.close) / 3 for one in kept]
    assert vwap(series(*quiet), anchored=False)["value"] == pytest.approx(sum(typical) / len(typical))
    line = obv_line(series(*quiet)).tolist()
    assert all(line[n] == line[n - 1] for n in range(1, 40) if quiet[n].volume == 0)


def test_a_flat_series_has_an_rsi_of_50_and_no_width() -> None:
    flat = series(*[bar(day, "10", "10", "10", "10") for day in range(300)])
    assert indicator(Indicator.RSI, flat)["value"] == 50
    assert indicator(Indicator.ATR, flat)["value"] == 0
    assert indicator(Indicator.BB, flat) == {"upper": 10, "middle": 10, "lower": 10}
    assert indicator(Indicator.OBV, flat)["value"] == 0


def test_nothing_but_losses_is_an_rsi_of_0_and_nothing_but_gains_100() -> None:
    falling = [300.0 - n for n in range(280)]
    assert indicator(Indicator.RSI, series(*bars_of(falling)))["value"] == 0
    assert indicator(Indicator.RSI, series(*bars_of(falling[::-1])))["value"] == 100


def test_without_volume_there_is_no_vwap() -> None:
    quiet = series(*[bar(day, "10", "11", "9", "10", volume=0) for day in range(30)])
    assert vwap(quiet, anchored=False)["value"] is None


def test_an_anchored_vwap_begins_with_the_session() -> None:
    early, late = bar(0, "10", "12", "8", "10", 100), bar(1, "20", "24", "16", "20", 100)
    second = replace(late, time=late.time + timedelta(hours=1), close=Decimal(26), high=Decimal(26), volume=300)
    found = vwap(series(early, late, second), anchored=True)
    assert found == {"value": pytest.approx((20 * 100 + (26 + 16 + 26) / 3 * 300) / 400), "period": 2}


def test_obv_counts_from_zero() -> None:
    line = obv_line(
        series(bar(0, "1", "1", "1", "1", 500), bar(1, "2", "2", "2", "2", 70), bar(2, "1", "1", "1", "1", 30))
    )
    assert line.tolist() == [0, 70, 40]


@pytest.mark.parametrize("kind", [kind for kind in Indicator if kind is not Indicator.OBV])
def test_too_few_bars_give_no_value_instead_of_a_wrong_one(kind: Indicator) -> None:
    found = indicator(kind, series(*bars_of([10.0, 11.0])))
    assert all(value is None for name, value in found.items() if name != "period")


def test_an_incomplete_bar_is_refused_before_it_can_spoil_the_rest() -> None:
    broken = replace(bar(1, "1", "1", "1", "1"), close=Decimal("NaN"))
    with pytest.raises(ValueError, match="has no close"):
        series(bar(0, "1", "1", "1", "1"), broken)


def test_a_split_leaves_no_trace_in_any_indicator() -> None:
    plain = bars_of([100 + 10 * np.sin(n / 7) + n * 0.1 for n in range(400)])
    split = Split(plain[390].session, Fraction(7))
    as_traded = tuple(
        one
        if one.session >= split.on
        else replace(
            one, open=one.open * 7, high=one.high * 7, low=one.low * 7, close=one.close * 7, volume=one.volume // 7
        )
        for one in plain
    )
    for kind in (Indicator.RSI, Indicator.ATR, Indicator.ADX, Indicator.BB, Indicator.MACD):
        found, wanted = indicator(kind, series(*as_traded, splits=(split,))), indicator(kind, series(*plain))
        assert found == {name: pytest.approx(value, rel=1e-9, abs=1e-9) for name, value in wanted.items()}
    raw, adjusted = rsi_line(series(*as_traded).close)[-1], rsi_line(series(*plain).close)[-1]
    assert raw < adjusted / 2


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "MSFT", "GOOG"])
@pytest.mark.parametrize("kind", list(Indicator))
def test_what_is_said_to_have_converged_no_longer_depends_on_where_the_history_begins(
    kind: Indicator, ticker: str
) -> None:
    first = next(bars for bars in range(1, DEFAULT_BARS + 1) if converged([kind], bars))
    whole = real(ticker, 2000)
    for end in range(2000, 1000, -250):
        seen = whole if end == 2000 else series(*SAMPLE.series[ticker].bars[-2000 : end - 2000], splits=())
        short, full = indicator(kind, seen.tail(max(first, 30))), indicator(kind, seen)
        scale = 1e-3 * float(seen.close[-1]) if kind is Indicator.MACD else 0.0
        for name in () if kind is Indicator.OBV else full:
            assert short[name] == pytest.approx(full[name], rel=1e-9, abs=1e-9 * scale), (ticker, end, name)


def test_an_adx_of_250_bars_is_not_said_to_have_converged() -> None:
    for ticker in ("AAPL", "MSFT"):
        short, full = (indicator(Indicator.ADX, real(ticker, count))["value"] for count in (250, 2000))
        assert short != pytest.approx(full, rel=1e-9)
    assert not converged([Indicator.SMA, Indicator.ADX], 250)
    assert converged([Indicator.SMA, Indicator.BB, Indicator.VWAP], 250)
    assert converged(Indicator, DEFAULT_BARS)
