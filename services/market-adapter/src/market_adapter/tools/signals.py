"""get_ml_signals and get_ml_features. The id of a prediction contains its inputs: symbol, session and version. So
any replica can compute the same prediction again, to the last digit, and nothing is stored."""

import asyncio
import re
from dataclasses import replace
from datetime import date

from contracts.envelope import Snake
from contracts.symbols import Symbol
from contracts.text import Text
from contracts.tools.arguments import SymbolArguments
from contracts.tools.market import FeatureArguments
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.series import series_of
from market_adapter.domain.signals.prediction import BARS, HORIZON, METHOD, Prediction, TooShortError, predict
from market_adapter.errors import NoDataError, UnknownPredictionError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool
from runtime.calls.single_flight import SingleFlight
from runtime.recent import Bounded

VERSION = "v1"
_ID = re.compile(rf"(.+)-(\d{{8}})-h{HORIZON}-{VERSION}")
KEPT = 64
"""Predictions kept in memory: each takes a few hundred milliseconds to make."""
SPARE = 260
"""Sessions that a prediction may be old when its features are asked for."""


class SignalData(Sourced):
    """Output of get_ml_signals. `confidence` is the calibrated probability of the direction; `accuracy` and
    `base_accuracy` were measured out of sample on `checked_bars`; with `skill_vs_base` ≤ 0 the answer is no_edge."""

    symbol: str
    prediction_id: str
    prediction: str
    confidence: float
    horizon: str
    accuracy: float
    base_accuracy: float
    skill_vs_base: float
    brier_score: float
    checked_bars: int
    method: str = METHOD


class FeatureData(Snake):
    """One feature: its share of the model's gain, and its value at the prediction's bar."""

    name: str
    importance: float
    value: float


class FeaturesData(Sourced):
    """Output of get_ml_features, most important first; importances add up to 1."""

    symbol: str
    prediction_id: str
    features: list[FeatureData]


class SignalTools:
    """Predictions and what they are made of."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider
        self._made = Bounded[str, Prediction](KEPT)
        self._making = SingleFlight[Prediction]()
        self._one_at_a_time = asyncio.Lock()

    @tool
    async def get_ml_signals(self, asked: SymbolArguments) -> SignalData:
        """The direction over the next sessions, with what such predictions have been worth."""
        history = _last(await self._closed(asked_symbol(asked.symbol), BARS + 1), BARS)
        found = await self._prediction(history)
        return SignalData(
            symbol=history.symbol.name,
            prediction_id=prediction_id(history.symbol, history.last.session),
            prediction=found.call.value,
            confidence=round(found.confidence, 4),
            horizon=f"{found.horizon} sessions",
            accuracy=round(found.accuracy, 4),
            base_accuracy=round(found.base_accuracy, 4),
            skill_vs_base=round(found.skill_vs_base, 4),
            brier_score=round(found.brier, 4),
            checked_bars=found.checked,
            source=history.source,
            as_of=history.last.end,
        )

    @tool
    async def get_ml_features(self, asked: FeatureArguments) -> FeaturesData:
        symbol = asked_symbol(asked.symbol)
        history = await self._closed(symbol, BARS + SPARE)
        if asked.prediction_id is not None:
            history = _until(history, _session_of(symbol, asked.prediction_id), asked.prediction_id)
        then = _last(history, BARS)
        found = await self._prediction(then)
        return FeaturesData(
            symbol=symbol.name,
            prediction_id=prediction_id(symbol, then.last.session),
            features=[
                FeatureData(name=one.name, importance=round(one.importance, 6), value=round(one.value, 6))
                for one in found.weights
            ],
            source=history.source,
            as_of=then.last.end,
        )

    async def _closed(self, symbol: Symbol, limit: int) -> BarHistory:
        """Returns only sessions that are over: the running one may still change, and a prediction's id must mean one
        thing."""
        history = await self._provider.daily_history(symbol, limit)
        closed = tuple(bar for bar in history.bars if bar.end <= self._provider.now())
        if not closed:
            raise NoDataError(symbol.name, TEXTS["signal.no_session_over"].format(symbol=symbol))
        return replace(history, bars=closed)

    async def _prediction(self, history: BarHistory) -> Prediction:
        key = prediction_id(history.symbol, history.last.session)
        made = self._made.get(key)
        # A caller whose time is over leaves it to be finished: the next one finds it made.
        return made if made is not None else await self._making.result(key, lambda: self._make(key, history))

    async def _make(self, key: str, history: BarHistory) -> Prediction:
        async with self._one_at_a_time:
            try:
                made = await asyncio.to_thread(predict, series_of(history))
            except TooShortError as error:
                text = TEXTS["signal.too_short"].format(symbol=history.symbol, bars=error.bars, needed=error.needed)
                raise NoDataError(history.symbol.name, text) from error
            self._made[key] = made
            return made


def _until(history: BarHistory, session: date, name: str) -> BarHistory:
    """The bars up to the session of a prediction. Raises UnknownPredictionError when there is no such session."""
    bars = tuple(bar for bar in history.bars if bar.session <= session)
    if not bars or bars[-1].session != session:
        raise UnknownPredictionError(history.symbol.name, _unknown(name))
    return replace(history, bars=bars)


def _last(history: BarHistory, count: int) -> BarHistory:
    """The last bars, and the splits that were known by then."""
    bars = history.bars[-count:]
    return replace(history, bars=bars, splits=tuple(one for one in history.splits if one.on <= bars[-1].session))


def prediction_id(symbol: Symbol, session: date) -> str:
    """Names the prediction at a session's close, e.g. IBM-20130301-h5-v1."""
    return f"{symbol.name.replace('/', '_').replace('.', '_')}-{session:%Y%m%d}-h{HORIZON}-{VERSION}"


def _session_of(symbol: Symbol, name: str) -> date:
    found = _ID.fullmatch(name)
    try:
        session = date.fromisoformat(found[2]) if found else None
    except ValueError:
        session = None
    if session is None or prediction_id(symbol, session) != name:
        raise UnknownPredictionError(symbol.name, _unknown(name))
    return session


def _unknown(name: str) -> Text:
    return TEXTS["signal.no_such_prediction"].format(name=name)
