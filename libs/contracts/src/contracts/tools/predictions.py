"""Tools about predictions: their arguments and results."""

from typing import Annotated

from pydantic import Field, WithJsonSchema

from contracts.envelope import Snake
from contracts.tools.arguments import SymbolArguments
from contracts.tools.results import NOT_REQUIRED, NonEmpty, Share, Sourced

Call = Annotated[str, WithJsonSchema({"type": "string", "enum": ["bullish", "bearish", "neutral", "no_edge"]})]


class FeatureArguments(SymbolArguments):
    """Input of get_ml_features: without `prediction_id`, the newest prediction."""

    prediction_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="A prediction_id of get_ml_signals; without it, the newest prediction of the symbol",
    )


class SignalData(Sourced):
    """Output of get_ml_signals. `confidence` is the calibrated probability of the direction; `accuracy` and
    `base_accuracy` were measured out of sample on `checked_bars`; with `skill_vs_base` ≤ 0 the answer is no_edge."""

    symbol: NonEmpty = NOT_REQUIRED
    prediction_id: NonEmpty
    prediction: Call
    confidence: Share
    horizon: NonEmpty
    accuracy: Share
    base_accuracy: Share = NOT_REQUIRED
    skill_vs_base: float
    brier_score: float = NOT_REQUIRED
    checked_bars: int = NOT_REQUIRED
    method: NonEmpty = NOT_REQUIRED


class FeatureData(Snake):
    """One feature: its share of the model's gain, and its value at the prediction's bar."""

    name: NonEmpty
    importance: Share
    value: float | None


class FeaturesData(Sourced):
    """Output of get_ml_features, most important first; importances add up to 1."""

    symbol: NonEmpty = NOT_REQUIRED
    prediction_id: NonEmpty = NOT_REQUIRED
    features: list[FeatureData]
