"""Predicts a price's direction, and first measures the accuracy of such predictions.

Walk-forward: each block of bars is predicted by a model that was fitted on earlier bars only, with a gap of the horizon
in between (the last targets before a block look into it: with shuffled folds a coin toss seems to have an AUC of 0.7).
Nothing is scaled or filled with later figures. Probabilities are calibrated on earlier blocks only. The result contains
the accuracy on those blocks, and the skill compared with always predicting the direction that was more frequent in them
(known only in hindsight, so a hard measure). Without skill there is no signal.
"""

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

import numpy as np

from contracts.json_values import JsonObject
from market_adapter.domain.series import Floats, Series
from market_adapter.domain.signals.calibration import Calibration, calibrate
from market_adapter.domain.signals.features import FIRST, NAMES, direction, features

HORIZON = 5
"""Bars that a prediction looks ahead."""
MAX_BARS = 2500
"""Ten years of sessions at most."""
BLOCK_BARS = 126
BLOCKS = 6
"""Half-years that are predicted out of sample; the first one is used only to calibrate."""
MIN_TRAINING_ROWS = 500
"""Rows on which the first model is fitted, at least."""
NEUTRAL_MARGIN = 0.02
"""A probability closer to one half than this is neutral."""
ROUNDS = 60
PARAMETERS: JsonObject = {
    "objective": "binary",
    "num_leaves": 7,
    "learning_rate": 0.05,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.8,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 1.0,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
METHOD = "LightGBM on past daily bars, walk-forward with a gap of the horizon, Platt calibration"


class TooShortError(ValueError):
    """The history is too short to measure anything."""

    def __init__(self, bars: int, needed: int) -> None:
        super().__init__(f"{bars} daily bars are too few to measure a signal on: it takes {needed}")
        self.bars = bars
        self.needed = needed


class DirectionCall(StrEnum):
    """The predicted direction."""

    BULLISH = "bullish"
    BEARISH = "bearish"
    NEUTRAL = "neutral"
    NO_EDGE = "no_edge"


@dataclass(frozen=True, slots=True)
class Weight:
    """A feature: its share of the model's gain (all shares add up to 1), and its value at the last bar."""

    name: str
    importance: float
    value: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction. `confidence`: the calibrated probability of the direction. `accuracy` and `base_accuracy`: the
    shares of `checked` past bars on which the model was right, and on which the more frequent direction would have
    been."""

    call: DirectionCall
    confidence: float
    accuracy: float
    base_accuracy: float
    brier: float
    checked: int
    weights: tuple[Weight, ...]

    @property
    def skill_vs_base(self) -> float:
        """How much more often the model was right than the base."""
        return self.accuracy - self.base_accuracy


@dataclass(frozen=True, slots=True)
class WalkForwardCheck:
    """Out-of-sample scores with their outcomes, block after block."""

    scores: tuple[Floats, ...]
    outcomes: tuple[Floats, ...]


def predict(series: Series) -> Prediction:
    """Predicts the direction over the next HORIZON bars. Raises TooShortError below about five years of daily bars."""
    rows, targets = features(series), direction(series.close, HORIZON)
    check = walk_forward(rows, targets)
    accuracy, base, brier, checked = measure(check)
    is_known = ~np.isnan(targets)
    is_known[:FIRST] = False
    model = _fit(rows[is_known], targets[is_known])
    curve = calibrate(np.concatenate(check.scores), np.concatenate(check.outcomes))
    probability_up = float(curve(_scores(model, rows[-1:]))[0])
    gains = np.asarray(model.feature_importance("gain"), dtype=float)
    shares = gains / gains.sum() if gains.sum() > 0 else np.zeros(len(gains))
    ranked = sorted(zip(NAMES, shares, rows[-1], strict=True), key=lambda entry: -entry[1])
    return Prediction(
        call=_call(probability_up, accuracy - base),
        confidence=max(probability_up, 1 - probability_up),
        accuracy=accuracy,
        base_accuracy=base,
        brier=brier,
        checked=checked,
        weights=tuple(Weight(name, float(share), float(value)) for name, share, value in ranked),
    )


def walk_forward(rows: Floats, targets: Floats) -> WalkForwardCheck:
    """Predicts each of the last blocks with known outcomes from the bars before it and the gap."""
    end = len(targets) - HORIZON
    first = end - BLOCK_BARS * BLOCKS
    if first - HORIZON - FIRST < MIN_TRAINING_ROWS:
        raise TooShortError(len(targets), FIRST + MIN_TRAINING_ROWS + HORIZON * 2 + BLOCK_BARS * BLOCKS)
    scores: list[Floats] = []
    outcomes: list[Floats] = []
    for start in range(first, end, BLOCK_BARS):
        train = slice(FIRST, start - HORIZON)
        model = _fit(rows[train], targets[train])
        scores.append(_scores(model, rows[start : start + BLOCK_BARS]))
        outcomes.append(targets[start : start + BLOCK_BARS])
    return WalkForwardCheck(tuple(scores), tuple(outcomes))


def measure(check: WalkForwardCheck) -> tuple[float, float, float, int]:
    """Returns (accuracy, accuracy of the base, Brier score, bars) over every block except the first, each calibrated on
    the blocks before it."""
    right = bars = 0
    squares = 0.0
    for index in range(1, len(check.scores)):
        curve: Calibration = calibrate(np.concatenate(check.scores[:index]), np.concatenate(check.outcomes[:index]))
        chance, outcome = curve(check.scores[index]), check.outcomes[index]
        right += int(((chance > 0.5) == (outcome > 0.5)).sum())
        squares += float(((chance - outcome) ** 2).sum())
        bars += len(outcome)
    ups = float(np.concatenate(check.outcomes[1:]).mean())
    return right / bars, max(ups, 1 - ups), squares / bars, bars


def _call(up: float, skill: float) -> DirectionCall:
    if skill <= 0:
        return DirectionCall.NO_EDGE
    if abs(up - 0.5) < NEUTRAL_MARGIN:
        return DirectionCall.NEUTRAL
    return DirectionCall.BULLISH if up > 0.5 else DirectionCall.BEARISH


def _fit(rows: Floats, targets: Floats) -> Any:
    # With SciPy the import takes half a second, and most runs of the service never predict.
    lightgbm: Any = import_module("lightgbm")
    data = lightgbm.Dataset(rows, label=targets, params={"verbosity": -1})
    return lightgbm.train(PARAMETERS, data, num_boost_round=ROUNDS)


def _scores(model: Any, rows: Floats) -> Floats:
    return np.asarray(model.predict(rows), dtype=float)
