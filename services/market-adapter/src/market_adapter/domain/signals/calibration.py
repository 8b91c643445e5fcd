"""Converts a model's score to a probability that has proved right on past out-of-sample bars.

Platt's scaling: a logistic curve over the score's log-odds, fitted by Newton's method with his smoothed targets.
Platt 1999, "Probabilistic outputs for support vector machines", section 2.2; Lin, Lin & Weng 2007.
"""

from dataclasses import dataclass

import numpy as np

from market_adapter.domain.series import Floats

EDGE = 1e-6
STEPS = 50
RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Calibration:
    """probability = 1 / (1 + exp(-(slope * log-odds + offset)))"""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, scores: Floats) -> Floats:
        """The probabilities for scores in (0, 1)."""
        return 1 / (1 + np.exp(-(self.slope * _log_odds(scores) + self.offset)))


def calibrate(scores: Floats, outcomes: Floats) -> Calibration:
    """Fits the curve to past scores and their outcomes (0 or 1)."""
    ups = float(outcomes.sum())
    downs = len(outcomes) - ups
    targets = np.where(outcomes > 0, (ups + 1) / (ups + 2), 1 / (downs + 2))
    columns = np.column_stack([_log_odds(scores), np.ones(len(scores))])
    weights = np.array([0.0, np.log((ups + 1) / (downs + 1))])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (chance - targets) + RIDGE * weights
        curvature = (columns * (chance * (1 - chance))[:, None]).T @ columns + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        weights = weights - step
        if float(np.abs(step).max()) < EDGE:
            break
    # A negative slope would mean "believe the opposite": noise, not knowledge.
    return Calibration(max(float(weights[0]), 0.0), float(weights[1]))


def _log_odds(scores: Floats) -> Floats:
    bounded = np.clip(scores, EDGE, 1 - EDGE)
    return np.log(bounded / (1 - bounded))
