"""What stands between us and somebody else's service: cache, one question at a time, limiter, retries, breaker.

A provider that limits us is not asked again at once; one that is down is tried a few times, and then left alone for a
while, so that a caller hears it at once instead of waiting.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from contracts.text import Text
from market_adapter.errors import MarketError, ProviderDownError, RateLimitedError
from runtime.clock import Clock
from runtime.single_flight import SingleFlight

AnswerT = TypeVar("AnswerT")
KEPT = 2000
ATTEMPTS = 3
"""Tries of one question."""
FIRST_PAUSE = 0.25
"""Seconds before the second try; twice that before the third."""
LONGEST_WAIT = 2.0
"""Seconds that a caller waits for its turn at the limiter, at most."""
FAILURES = 5
"""In a row, after which the provider rests."""
REST = 30.0
"""Seconds for which a provider is left alone after so many failures in a row."""


class Guard:
    """One provider's. Its answers are kept by key for as long as the asker says."""

    def __init__(self, name: str, clock: Clock, *, per_minute: int) -> None:
        self._name = name
        self._clock = clock
        self._gap = 60 / per_minute
        self._burst = max(1.0, per_minute / 6)
        self._next = 0.0
        self._failures = 0
        self._closed_until = 0.0
        self._kept: OrderedDict[str, tuple[float, Any]] = OrderedDict()
        self._asking = SingleFlight[Any]()

    async def ask(self, key: str, ticker: str, seconds: float, question: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """The answer, at most `seconds` old; many who ask the same at once share one question.

        Raises:
            RateLimitedError: the provider's limit, or our own before it.
            ProviderDownError: no answer after a few tries, or it is left alone at this moment.
            MarketError: what the question itself raises.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] > self._clock.monotonic():
            return cast(AnswerT, kept[1])
        return await self._asking.result(key, lambda: self._answer(key, ticker, seconds, question))

    async def _answer(
        self, key: str, ticker: str, seconds: float, question: Callable[[], Awaitable[AnswerT]]
    ) -> AnswerT:
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            await self._turn(ticker)
            try:
                answer = await question()
            except ProviderDownError:
                self._failed()
                if attempt == ATTEMPTS:
                    raise
                await self._clock.sleep(pause)
                pause *= 2
                continue
            except MarketError:
                # It has answered: what it says is an error, but it is not down.
                self._failures = 0
                raise
            self._failures = 0
            self._keep(key, seconds, answer)
            return answer
        raise ProviderDownError(ticker, Text(es=f"{self._name} no responde", en=f"{self._name} does not answer"))

    async def _turn(self, ticker: str) -> None:
        """Waits for a place under the limit: a leaky bucket that lets a sixth of a minute's share through at once."""
        now = self._clock.monotonic()
        if now < self._closed_until:
            left = self._closed_until - now
            text = Text(
                es=f"{self._name} ha fallado {FAILURES} veces: no se le pregunta durante {left:.0f} s",
                en=f"{self._name} has failed {FAILURES} times: left alone for {left:.0f} s more",
            )
            raise ProviderDownError(ticker, text)
        wait = max(self._next, now) - now - self._burst * self._gap
        if wait > LONGEST_WAIT:
            text = Text(
                es=f"demasiadas preguntas a {self._name} a la vez: prueba otra vez dentro de {wait:.0f} s",
                en=f"too many questions to {self._name} at once: try again in {wait:.0f} s",
            )
            raise RateLimitedError(ticker, text)
        self._next = max(self._next, now) + self._gap
        if wait > 0:
            await self._clock.sleep(wait)

    def _failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._closed_until = self._clock.monotonic() + REST
            # After the rest one failure is enough to close it again.
            self._failures = FAILURES - 1

    def _keep(self, key: str, seconds: float, answer: Any) -> None:
        self._kept[key] = (self._clock.monotonic() + seconds, answer)
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
