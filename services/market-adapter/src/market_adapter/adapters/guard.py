"""Protects us and an outside source from each other: cache, one request at a time, rate limit, retries, circuit
breakers.

A source that limits us is left alone for as long as it says. One that is down is tried a few times, and then left
alone for a while, so that a caller hears it at once instead of waiting; a symbol that fails alone is left alone by
itself. No caller waits longer than PATIENCE, which is below every tool's own limit: so who asked hears which ticker
failed, and why.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import structlog

from market_adapter.errors import MarketError, ProviderDownError, ProviderRateLimitedError
from market_adapter.texts import TEXTS
from runtime.calls.single_flight import SingleFlight
from runtime.clock import Clock
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

AnswerT = TypeVar("AnswerT")
_UNREADABLE = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, OSError)
"""How what a source has sent turns out to be of another shape, a time or number that is none among it."""
KEPT = 2000
PATIENCE = 3.5
"""Seconds for one question, tries and pauses included. The shortest limit of a tool is 5 s."""
ATTEMPTS = 3
"""Tries of one question."""
FIRST_PAUSE = 0.25
"""Seconds before the second try; twice that before the third."""
LONGEST_WAIT = 2.0
"""Seconds that a caller waits for its turn at the limiter, at most."""
FAILURES = 5
"""Failures in a row, of TICKERS tickers or more, after which a source is left alone for a while."""
TICKERS = 3
"""If failures in a row concern at least this many symbols, the source is at fault, and otherwise the symbols."""
REST = 30.0
"""Seconds for which a source or a symbol is left alone after so many failures in a row."""
REST_AFTER_SILENCE = 5.0
"""Seconds for which a symbol is left alone after no answer at all: it cost somebody all their patience."""
FIRST_COOLING, LONGEST_COOLING = 30.0, 600.0
"""Seconds for which a source that limits us is left alone when it does not say how long: doubled each time in a row."""


@dataclass(slots=True)
class _Breaker:
    failures: int = 0
    closed_until: float = 0.0


class Guard:
    """The guard of one source. Answers are kept by key for as long as the caller says."""

    def __init__(self, name: str, clock: Clock, *, per_minute: int, patience: float = PATIENCE) -> None:
        self._name = name
        self._clock = clock
        self._patience = patience
        self._gap = 60 / per_minute
        self._burst = max(1.0, per_minute / 6)
        self._next = 0.0
        self._source = _Breaker()
        self._failing: set[str] = set()
        self._tickers = Bounded[str, _Breaker](KEPT)
        self._limited = 0
        self._cooling_until = 0.0
        self._kept = Bounded[str, tuple[float, Any]](KEPT)
        self._asking = SingleFlight[Any]()

    async def ask(self, key: str, ticker: str, seconds: float, question: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """The answer, at most `seconds` old; many who ask the same at once share one question.

        Raises:
            ProviderRateLimitedError: the source's limit, or our own before it.
            ProviderDownError: no answer after a few tries or in time, or it is left alone at this moment.
            MarketError: what the question itself raises.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] > self._clock.monotonic():
            return cast(AnswerT, kept[1])
        return await self._asking.result(key, lambda: self._answer(key, ticker, seconds, question))

    async def _answer(
        self, key: str, ticker: str, seconds: float, question: Callable[[], Awaitable[AnswerT]]
    ) -> AnswerT:
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._tried(ticker, question)
        except TimeoutError as error:
            self._failed(ticker)
            breaker = self._tickers[ticker]
            breaker.closed_until = max(breaker.closed_until, self._clock.monotonic() + REST_AFTER_SILENCE)
            text = TEXTS["source.too_slow"].format(name=self._name, ticker=ticker, patience=self._patience)
            raise ProviderDownError(ticker, text) from error
        self._keep(key, seconds, answer)
        return answer

    async def _tried(self, ticker: str, question: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            await self._turn(ticker)
            try:
                answer = await question()
            except ProviderDownError:
                self._failed(ticker)
                if attempt == ATTEMPTS:
                    raise
                await self._clock.sleep(pause)
                pause *= 2
                continue
            except ProviderRateLimitedError as error:
                self._cool(error.retry_after)
                raise
            except MarketError:
                # It has answered: what it says is an error, but it is not down.
                self._answered(ticker)
                raise
            except TimeoutError:
                raise  # counted where the caller's patience is
            except _UNREADABLE as error:
                # Asked again it would say the same.
                self._failed(ticker)
                raise self._nonsense(ticker, error) from error
            self._answered(ticker)
            return answer
        raise ProviderDownError(ticker, TEXTS["source.silent"].format(name=self._name))

    def _nonsense(self, ticker: str, error: Exception) -> ProviderDownError:
        log.warning("provider.unreadable", provider=self._name, ticker=ticker, error=repr(error)[:200])
        return ProviderDownError(ticker, TEXTS["source.unreadable"].format(name=self._name, ticker=ticker))

    async def _turn(self, ticker: str) -> None:
        """Waits for a place under the limit: a leaky bucket that lets a sixth of a minute's share through at once."""
        now = self._clock.monotonic()
        self._refuse_while_closed(ticker, now)
        wait = max(self._next, now) - now - self._burst * self._gap
        if wait > LONGEST_WAIT:
            raise ProviderRateLimitedError(ticker, TEXTS["source.too_many_at_once"].format(name=self._name, wait=wait))
        self._next = max(self._next, now) + self._gap
        if wait > 0:
            await self._clock.sleep(wait)
            # What was said while this one waited for its turn counts for it too.
            self._refuse_while_closed(ticker, self._clock.monotonic())

    def _refuse_while_closed(self, ticker: str, now: float) -> None:
        if now < self._cooling_until:
            left = self._cooling_until - now
            raise ProviderRateLimitedError(ticker, TEXTS["source.asked_to_wait"].format(name=self._name, left=left))
        own = self._tickers.get(ticker)
        for breaker, text in ((self._source, TEXTS["source.left_alone"]), (own, TEXTS["source.left_alone_for"])):
            if breaker is not None and now < breaker.closed_until:
                left = breaker.closed_until - now
                raise ProviderDownError(ticker, text.format(name=self._name, ticker=ticker, left=left))

    def _cool(self, told: float | None) -> None:
        seconds = min(FIRST_COOLING * 2**self._limited, LONGEST_COOLING) if told is None else told
        self._limited = min(self._limited + 1, 10)
        self._cooling_until = max(self._cooling_until, self._clock.monotonic() + seconds)

    def _answered(self, ticker: str) -> None:
        self._limited = 0
        self._source.failures = 0
        self._failing.clear()
        self._tickers.pop(ticker, None)

    def _failed(self, ticker: str) -> None:
        self._tickers[ticker] = own = self._tickers.get(ticker) or _Breaker()
        self._failing.add(ticker)
        own.failures += 1
        self._source.failures += 1
        for breaker, enough in ((own, True), (self._source, len(self._failing) >= TICKERS)):
            if breaker.failures >= FAILURES and enough:
                breaker.closed_until = self._clock.monotonic() + REST
                # After the rest one failure is enough to close it again.
                breaker.failures = FAILURES - 1

    def _keep(self, key: str, seconds: float, answer: object) -> None:
        self._kept[key] = (self._clock.monotonic() + seconds, answer)
