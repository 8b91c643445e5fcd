"""The direction signal: nothing from later gets in, and what is told is what was measured."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from contracts.symbols import parse_symbol
from contracts.tools.arguments import SymbolArguments
from contracts.tools.predictions import FeatureArguments
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.series import Series, series_of
from market_adapter.domain.signals.calibration import calibrate
from market_adapter.domain.signals.features import FIRST, NAMES, direction, features
from market_adapter.domain.signals.prediction import (
    BLOCK_BARS,
    BLOCKS,
    HORIZON,
    DirectionCall,
    TooShortError,
    measure,
    predict,
    walk_forward,
)
from market_adapter.errors import MarketError
from market_adapter.testing.markets import ScriptedProvider, bars_of
from market_adapter.tools.signals import SignalTools


def walk(seed: int, count: int = 1700, drift: float = 0.0) -> Series:
    steps = np.random.default_rng(seed).normal(drift, 0.02, count)
    closes = (100 * np.exp(np.cumsum(steps))).tolist()
    return series_of(BarHistory(parse_symbol("IBM"), "USD", "test", bars_of(closes)))


def test_a_figure_of_a_bar_does_not_change_when_later_bars_come() -> None:
    series = walk(1, 600)
    whole = features(series)
    for end in (300, 450, 599):
        np.testing.assert_allclose(features(series_cut(series, end))[-1], whole[end - 1], rtol=1e-9, atol=1e-12)


def series_cut(series: Series, end: int) -> Series:
    return Series(
        series.sessions[:end], series.open[:end], series.high[:end], series.low[:end], series.close[:end],
        series.volume[:end],
    )  # fmt: skip


def test_every_row_after_the_first_ones_is_complete() -> None:
    rows = features(walk(2, 400))
    assert rows.shape[1] == len(NAMES)
    assert np.isfinite(rows[FIRST:]).all()


def test_the_target_is_the_future_and_unknown_at_the_end() -> None:
    close = np.array([1.0, 2, 3, 4, 5, 6, 0, 8])
    target = direction(close, 5)
    assert target[:3].tolist() == [1, 0, 1]
    assert np.isnan(target[3:]).all()


def test_a_block_is_predicted_from_bars_whose_outcome_was_known_before_it() -> None:
    series = walk(3)
    rows, targets = features(series), direction(series.close, HORIZON)
    before = walk_forward(rows, targets)
    first = len(targets) - HORIZON - BLOCK_BARS * BLOCKS
    # Whatever happens from the gap on may not move a score of the first block.
    changed = targets.copy()
    changed[first - HORIZON :] = 1 - changed[first - HORIZON :]
    after = walk_forward(rows, changed)
    np.testing.assert_array_equal(before.scores[0], after.scores[0])
    assert not np.array_equal(before.scores[-1], after.scores[-1])


def test_on_a_random_walk_there_is_no_edge_to_speak_of() -> None:
    skills = [predict(walk(seed)).skill_vs_base for seed in (4, 5, 6)]
    assert max(skills) < 0.05


def test_what_can_be_known_is_found() -> None:
    # Up and down in waves of forty bars: the last moves tell the next.
    closes = [100 + 10 * np.sin(n / 40 * 2 * np.pi) for n in range(1700)]
    found = predict(series_of(BarHistory(parse_symbol("IBM"), "USD", "test", bars_of(closes))))
    assert found.accuracy > 0.9
    assert found.skill_vs_base > 0.3
    assert found.call in (DirectionCall.BULLISH, DirectionCall.BEARISH)
    assert found.confidence > 0.7


def test_the_same_bars_give_the_same_prediction_to_the_last_digit() -> None:
    assert predict(walk(6)) == predict(walk(6))


def test_too_few_bars_are_refused() -> None:
    with pytest.raises(TooShortError, match="daily bars are too few"):
        predict(walk(7, 1000))


def test_calibration_makes_overconfident_scores_modest() -> None:
    rng = np.random.default_rng(8)
    outcomes = (rng.random(5000) < 0.6).astype(float)
    # Says 0.95 or 0.05, and is right six times in ten.
    scores = np.where(rng.random(5000) < 0.6, np.where(outcomes > 0, 0.95, 0.05), np.where(outcomes > 0, 0.05, 0.95))
    curve = calibrate(scores, outcomes)
    high, low = curve(np.array([0.95]))[0], curve(np.array([0.05]))[0]
    assert high == pytest.approx(outcomes[scores > 0.5].mean(), abs=0.02)
    assert low == pytest.approx(outcomes[scores < 0.5].mean(), abs=0.02)


def test_scores_that_were_wrong_more_often_than_right_are_not_turned_round() -> None:
    outcomes = np.array([0.0, 1.0] * 200)
    curve = calibrate(np.where(outcomes > 0, 0.2, 0.8), outcomes)
    assert curve.slope == 0


def test_the_measure_counts_all_blocks_but_the_first() -> None:
    series = walk(9)
    check = walk_forward(features(series), direction(series.close, HORIZON))
    accuracy, base, brier, bars = measure(check)
    assert bars == BLOCK_BARS * (BLOCKS - 1)
    assert 0 < accuracy < 1
    assert 0 < base < 1
    assert 0 < brier < 0.5


class RunningSession(ScriptedProvider):
    """A market in the middle of its newest session."""

    def now(self) -> datetime:
        return super().now() - timedelta(hours=1)


async def test_a_session_that_still_runs_is_no_part_of_a_prediction() -> None:
    closes = (100 + np.cumsum(np.random.default_rng(5).normal(0, 0.5, 1701))).tolist()
    bars = bars_of(closes)
    asked = SymbolArguments(symbol="IBM")
    yesterday = SignalTools(ScriptedProvider({"IBM": bars}, today=1700))
    market = RunningSession({"IBM": bars}, today=1701)
    today = SignalTools(market)
    found = await today.get_ml_signals(asked)
    assert found == await yesterday.get_ml_signals(asked)
    assert found.as_of <= market.now()
    newest = await today.get_ml_features(FeatureArguments(symbol="IBM"))
    assert newest.prediction_id == found.prediction_id
    assert newest == await today.get_ml_features(FeatureArguments(symbol="IBM", prediction_id=found.prediction_id))
    running = f"IBM-{bars[1700].session:%Y%m%d}-h{HORIZON}-v1"
    with pytest.raises(MarketError, match="no prediction"):
        await today.get_ml_features(FeatureArguments(symbol="IBM", prediction_id=running))
