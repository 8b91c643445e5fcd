"""Protects an outside source and its callers from each other: cache, shared requests, rate limit, retries, circuit
breakers.

A source that limits us is not asked for as long as it says. One that is down is tried a few times, and then not asked
for a while, so that callers get an error at once instead of waiting; the same applies to a single symbol that fails. No
caller waits longer than TIMEOUT_SECONDS, which is shorter than every tool's own limit, so callers learn which ticker
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
"""Errors that show that a source's answer has an unexpected shape, an invalid time or number included."""
MAX_CACHED = 2000
TIMEOUT_SECONDS = 3.5
"""Deadline of one request, retries and pauses included. The shortest limit of a tool is 5 s."""
ATTEMPTS = 3
"""How often one request is tried."""
FIRST_PAUSE_SECONDS = 0.25
"""Pause before the second attempt; twice that before the third."""
MAX_WAIT_SECONDS = 2.0
"""A caller waits for the rate limiter this long at most."""
MAX_FAILURES = 5
"""After this many failures in a row, of MIN_FAILING_TICKERS tickers or more, a source is not asked for a while."""
MIN_FAILING_TICKERS = 3
"""If failures in a row concern at least this many symbols, the source is at fault, otherwise the symbols are."""
REST_SECONDS = 30.0
"""How long a source or a symbol is not asked after MAX_FAILURES failures in a row."""
SILENCE_REST_SECONDS = 5.0
"""How long a symbol is not asked after a timeout, which has cost a caller the whole deadline."""
FIRST_COOLING_SECONDS, MAX_COOLING_SECONDS = 30.0, 600.0
"""How long a source that limits us is not asked if it does not say how long: doubled with each limit in a row, up to
MAX_COOLING_SECONDS."""


@dataclass(slots=True)
class _Breaker:
    failures: int = 0
    closed_until: float = 0.0


class Guard:
    """The guard of one source. Answers are cached by key for as long as the caller says."""

    def __init__(self, name: str, clock: Clock, *, per_minute: int, patience: float = TIMEOUT_SECONDS) -> None:
        self._name = name
        self._clock = clock
        self._timeout_seconds = patience
        self._interval = 60 / per_minute
        self._burst = max(1.0, per_minute / 6)
        self._next_slot = 0.0
        self._source = _Breaker()
        self._failing_tickers: set[str] = set()
        self._tickers = Bounded[str, _Breaker](MAX_CACHED)
        self._limits_in_a_row = 0
        self._cooling_until = 0.0
        self._cache = Bounded[str, tuple[float, Any]](MAX_CACHED)
        self._requests = SingleFlight[Any]()

    async def ask(self, key: str, ticker: str, seconds: float, request: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """The answer, at most `seconds` old; callers who ask for the same at the same time share one request.

        Raises:
            ProviderRateLimitedError: the source's limit, or our own in front of it.
            ProviderDownError: no answer after a few attempts or in time, or the source is not asked at the moment.
            MarketError: what the request itself raises.
        """
        cached = self._cache.get(key)
        if cached is not None and cached[0] > self._clock.monotonic():
            return cast(AnswerT, cached[1])
        return await self._requests.result(key, lambda: self._answer(key, ticker, seconds, request))

    async def _answer(
        self, key: str, ticker: str, seconds: float, request: Callable[[], Awaitable[AnswerT]]
    ) -> AnswerT:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._ask_with_retries(ticker, request)
        except TimeoutError as error:
            self._note_failure(ticker)
            breaker = self._tickers[ticker]
            breaker.closed_until = max(breaker.closed_until, self._clock.monotonic() + SILENCE_REST_SECONDS)
            text = TEXTS["source.too_slow"].format(name=self._name, ticker=ticker, patience=self._timeout_seconds)
            raise ProviderDownError(ticker, text) from error
        self._cache[key] = (self._clock.monotonic() + seconds, answer)
        return answer

    async def _ask_with_retries(self, ticker: str, request: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            await self._wait_for_slot(ticker)
            try:
                answer = await request()
            except ProviderDownError:
                self._note_failure(ticker)
                if attempt == ATTEMPTS:
                    raise
                await self._clock.sleep(pause)
                pause *= 2
                continue
            except ProviderRateLimitedError as error:
                self._cool(error.retry_after)
                raise
            except MarketError:
                # The source has answered with an error, so it is not down.
                self._note_success(ticker)
                raise
            except TimeoutError:
                raise  # counted where the deadline is set
            except _UNREADABLE as error:
                # A retry would get the same answer.
                self._note_failure(ticker)
                raise self._unreadable(ticker, error) from error
            self._note_success(ticker)
            return answer
        raise ProviderDownError(ticker, TEXTS["source.silent"].format(name=self._name))

    def _unreadable(self, ticker: str, error: Exception) -> ProviderDownError:
        log.warning("provider.unreadable", provider=self._name, ticker=ticker, error=repr(error)[:200])
        return ProviderDownError(ticker, TEXTS["source.unreadable"].format(name=self._name, ticker=ticker))

    async def _wait_for_slot(self, ticker: str) -> None:
        """Waits for the rate limit: a leaky bucket that lets a sixth of a minute's requests through at once."""
        now = self._clock.monotonic()
        self._refuse_while_closed(ticker, now)
        wait = max(self._next_slot, now) - now - self._burst * self._interval
        if wait > MAX_WAIT_SECONDS:
            raise ProviderRateLimitedError(ticker, TEXTS["source.too_many_at_once"].format(name=self._name, wait=wait))
        self._next_slot = max(self._next_slot, now) + self._interval
        if wait > 0:
            await self._clock.sleep(wait)
            # Failures that happened while this request waited apply to it too.
            self._refuse_while_closed(ticker, self._clock.monotonic())

    def _refuse_while_closed(self, ticker: str, now: float) -> None:
        if now < self._cooling_until:
            remaining = self._cooling_until - now
            raise ProviderRateLimitedError(
                ticker, TEXTS["source.asked_to_wait"].format(name=self._name, left=remaining)
            )
        ticker_breaker = self._tickers.get(ticker)
        for breaker, text in (
            (self._source, TEXTS["source.left_alone"]),
            (ticker_breaker, TEXTS["source.left_alone_for"]),
        ):
            if breaker is not None and now < breaker.closed_until:
                remaining = breaker.closed_until - now
                raise ProviderDownError(ticker, text.format(name=self._name, ticker=ticker, left=remaining))

    def _cool(self, retry_after: float | None) -> None:
        seconds = (
            min(FIRST_COOLING_SECONDS * 2**self._limits_in_a_row, MAX_COOLING_SECONDS)
            if retry_after is None
            else retry_after
        )
        self._limits_in_a_row = min(self._limits_in_a_row + 1, 10)
        self._cooling_until = max(self._cooling_until, self._clock.monotonic() + seconds)

    def _note_success(self, ticker: str) -> None:
        self._limits_in_a_row = 0
        self._source.failures = 0
        self._failing_tickers.clear()
        self._tickers.pop(ticker, None)

    def _note_failure(self, ticker: str) -> None:
        self._tickers[ticker] = ticker_breaker = self._tickers.get(ticker) or _Breaker()
        self._failing_tickers.add(ticker)
        ticker_breaker.failures += 1
        self._source.failures += 1
        for breaker, is_at_fault in (
            (ticker_breaker, True),
            (self._source, len(self._failing_tickers) >= MIN_FAILING_TICKERS),
        ):
            if breaker.failures >= MAX_FAILURES and is_at_fault:
                breaker.closed_until = self._clock.monotonic() + REST_SECONDS
                # After the rest, one failure is enough to close it again.
                breaker.failures = MAX_FAILURES - 1
