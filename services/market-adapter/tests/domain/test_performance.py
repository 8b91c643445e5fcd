"""Returns, drawdowns, volatility: figures that can be checked by hand."""

from fractions import Fraction

import numpy as np
import pytest

from contracts.symbols import parse_symbol
from market_adapter.adapters.sample_files import load_sample
from market_adapter.domain.bars import Bar, BarHistory, Split
from market_adapter.domain.performance import performance, returns
from market_adapter.domain.series import Series, series_of
from market_adapter.testing.markets import bars_of

SAMPLE = load_sample()


def series(bars: tuple[Bar, ...], splits: tuple[Split, ...] = ()) -> Series:
    return series_of(BarHistory(parse_symbol("IBM"), "USD", "test", bars, splits))


def test_returns_of_real_bars_are_the_ratios_of_the_closes_of_those_days() -> None:
    ibm = SAMPLE.series["IBM"]
    close = {str(bar.session): float(bar.close) for bar in ibm.bars}
    found = returns(series(ibm.bars, ibm.splits))
    last = close["2013-03-01"]
    assert found == {
        "1d": pytest.approx(last / close["2013-02-28"] - 1),
        "1w": pytest.approx(last / close["2013-02-22"] - 1),
        "1m": pytest.approx(last / close["2013-02-01"] - 1),
        "3m": pytest.approx(last / close["2012-11-30"] - 1),  # 1 December was a Saturday
        "1y": pytest.approx(last / close["2012-03-01"] - 1),
        "ytd": pytest.approx(last / close["2012-12-31"] - 1),
    }


def test_a_return_that_the_history_does_not_reach_is_unknown() -> None:
    found = returns(series(bars_of([10.0, 11.0, 12.1])))
    assert found == {"1d": pytest.approx(0.1), "1w": None, "1m": None, "3m": None, "1y": None, "ytd": None}


def test_drawdowns_are_from_the_highest_close_before() -> None:
    found = performance(series(bars_of([100.0, 120.0, 90.0, 108.0])))
    assert (found.max_drawdown, found.current_drawdown) == (pytest.approx(-0.25), pytest.approx(-0.1))


def test_volatility_is_the_yearly_deviation_of_log_returns() -> None:
    closes = [100.0 * 1.01 ** (n % 2) for n in range(300)]
    steps = np.diff(np.log(closes[-253:]))
    assert performance(series(bars_of(closes))).volatility == pytest.approx(steps.std(ddof=1) * 252**0.5, rel=1e-3)


def test_flat_prices_and_volumes_give_zeros_and_an_unknown_z_score() -> None:
    found = performance(series(bars_of([50.0] * 260)))
    assert (found.volatility, found.max_drawdown, found.current_drawdown) == (0, 0, 0)
    assert found.volume_zscore is None
    assert found.averages == {20: 50, 50: 50, 200: 50}


def test_a_split_is_no_loss() -> None:
    aapl = SAMPLE.series["AAPL"]
    at = next(n for n, bar in enumerate(aapl.bars) if str(bar.session) == "2005-02-28")
    found = performance(series(aapl.bars[at - 400 : at + 1], aapl.splits))
    assert abs(found.returns["1d"] or 0) < 0.05
    raw = performance(series(aapl.bars[at - 400 : at + 1]))
    assert (raw.returns["1d"] or 0) < -0.4
    assert Split(aapl.bars[at].session, Fraction(2)) in aapl.splits
