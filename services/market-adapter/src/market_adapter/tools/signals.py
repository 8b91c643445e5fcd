"""get_ml_signals and get_ml_features. The id of a prediction contains its inputs: symbol, session and version. So any
replica can compute exactly the same prediction again, and nothing is stored."""

import asyncio
import re
from dataclasses import replace
from datetime import date

from contracts.symbols import Symbol
from contracts.text import Text
from contracts.tools.arguments import SymbolArguments
from contracts.tools.predictions import FeatureArguments, FeatureData, FeaturesData, SignalData
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.series import series_of
from market_adapter.domain.signals.prediction import HORIZON, MAX_BARS, METHOD, Prediction, TooShortError, predict
from market_adapter.errors import NoDataError, UnknownPredictionError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.tool import MarketTools, tool
from runtime.calls.single_flight import SingleFlight
from runtime.recent import Bounded

VERSION = "v1"
_ID = re.compile(rf"(.+)-(\d{{8}})-h{HORIZON}-{VERSION}")
MAX_CACHED = 64
"""Predictions cached in memory: each takes a few hundred milliseconds to compute."""
MAX_AGE_SESSIONS = 260
"""A prediction may be this many sessions old when its features are requested."""


class SignalTools(MarketTools):
    """Tools for predictions and their features."""

    def __init__(self, provider: MarketProvider) -> None:
        super().__init__(provider)
        self._cache = Bounded[str, Prediction](MAX_CACHED)
        self._computations = SingleFlight[Prediction]()
        self._computation_lock = asyncio.Lock()

    @tool
    async def get_ml_signals(self, arguments: SymbolArguments) -> SignalData:
        """Predicts the direction over the next sessions, with the measured accuracy of such predictions."""
        history = _last(await self._closed(requested_symbol(arguments.symbol), MAX_BARS + 1), MAX_BARS)
        prediction = await self._prediction(history)
        return SignalData(
            symbol=history.symbol.name,
            prediction_id=prediction_id(history.symbol, history.last.session),
            prediction=prediction.call.value,
            confidence=round(prediction.confidence, 4),
            horizon=f"{HORIZON} sessions",
            accuracy=round(prediction.accuracy, 4),
            base_accuracy=round(prediction.base_accuracy, 4),
            skill_vs_base=round(prediction.skill_vs_base, 4),
            brier_score=round(prediction.brier, 4),
            checked_bars=prediction.checked,
            method=METHOD,
            source=history.source,
            as_of=history.last.end,
        )

    @tool
    async def get_ml_features(self, arguments: FeatureArguments) -> FeaturesData:
        symbol = requested_symbol(arguments.symbol)
        history = await self._closed(symbol, MAX_BARS + MAX_AGE_SESSIONS)
        if arguments.prediction_id is not None:
            history = _until(history, _session_of(symbol, arguments.prediction_id), arguments.prediction_id)
        window = _last(history, MAX_BARS)
        prediction = await self._prediction(window)
        return FeaturesData(
            symbol=symbol.name,
            prediction_id=prediction_id(symbol, window.last.session),
            features=[
                FeatureData(name=weight.name, importance=round(weight.importance, 6), value=round(weight.value, 6))
                for weight in prediction.weights
            ],
            source=history.source,
            as_of=window.last.end,
        )

    async def _closed(self, symbol: Symbol, limit: int) -> BarHistory:
        """The history without the running session, which may still change: a prediction's id must always mean the same
        prediction."""
        history = await self._provider.daily_history(symbol, limit)
        closed = tuple(bar for bar in history.bars if bar.end <= self._provider.now())
        if not closed:
            raise NoDataError(symbol.name, TEXTS["signal.no_session_over"].format(symbol=symbol))
        return replace(history, bars=closed)

    async def _prediction(self, history: BarHistory) -> Prediction:
        key = prediction_id(history.symbol, history.last.session)
        prediction = self._cache.get(key)
        if prediction is not None:
            return prediction
        # If the caller's deadline passes, the computation continues, and the next caller finds its result.
        return await self._computations.result(key, lambda: self._compute(key, history))

    async def _compute(self, key: str, history: BarHistory) -> Prediction:
        async with self._computation_lock:
            try:
                prediction = await asyncio.to_thread(predict, series_of(history))
            except TooShortError as error:
                text = TEXTS["signal.too_short"].format(symbol=history.symbol, bars=error.bars, needed=error.needed)
                raise NoDataError(history.symbol.name, text) from error
            self._cache[key] = prediction
            return prediction


def _until(history: BarHistory, session: date, prediction_name: str) -> BarHistory:
    """The bars up to the session of a prediction. Raises UnknownPredictionError if there is no such session."""
    bars = tuple(bar for bar in history.bars if bar.session <= session)
    if not bars or bars[-1].session != session:
        raise UnknownPredictionError(history.symbol.name, _unknown(prediction_name))
    return replace(history, bars=bars)


def _last(history: BarHistory, count: int) -> BarHistory:
    """The last `count` bars, and the splits up to the last one."""
    bars = history.bars[-count:]
    return replace(history, bars=bars, splits=tuple(split for split in history.splits if split.on <= bars[-1].session))


def prediction_id(symbol: Symbol, session: date) -> str:
    """Names the prediction at a session's close, e.g. IBM-20130301-h5-v1."""
    return f"{symbol.name.replace('/', '_').replace('.', '_')}-{session:%Y%m%d}-h{HORIZON}-{VERSION}"


def _session_of(symbol: Symbol, name: str) -> date:
    match = _ID.fullmatch(name)
    try:
        session = date.fromisoformat(match[2]) if match else None
    except ValueError:
        session = None
    if session is None or prediction_id(symbol, session) != name:
        raise UnknownPredictionError(symbol.name, _unknown(name))
    return session


def _unknown(name: str) -> Text:
    return TEXTS["signal.no_such_prediction"].format(name=name)
