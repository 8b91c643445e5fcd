"""What stands before a provider: cache, single flight, limiter, retries, breaker."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import InvalidOperation
from itertools import pairwise

import pytest

from contracts.text import Text
from market_adapter.adapters.guard import ATTEMPTS, MAX_FAILURES, REST_SECONDS, SILENCE_REST_SECONDS, Guard
from market_adapter.errors import MarketError, NoDataError, ProviderDownError, ProviderRateLimitedError
from runtime.testing.clock import FakeClock


class Provider:
    """Answers with a number that counts its questions, or fails as told."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails: list[Exception] = []
        self.gate: asyncio.Event | None = None

    async def answer(self) -> int:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise self.fails.pop(0)
        return self.asked


DOWN = ProviderDownError("IBM", Text(es="sin respuesta", en="no answer"))


async def driven(clock: FakeClock, question: Callable[[], Awaitable[int]]) -> int:
    """The answer, with the clock moved on whenever somebody sleeps."""
    task = asyncio.ensure_future(question())
    for _ in range(200):
        await asyncio.sleep(0)
        if task.done():
            break
        if clock.sleeping:
            await clock.advance(0.25)
    return await task


async def test_an_answer_is_kept_for_as_long_as_was_said() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=60)
    for _ in range(3):
        assert await guard.ask("k", "IBM", 10, provider.answer) == 1
    await clock.advance(10)
    assert await guard.ask("k", "IBM", 10, provider.answer) == 2


async def test_many_who_ask_the_same_at_once_share_one_question() -> None:
    provider = Provider()
    provider.gate = asyncio.Event()
    guard = Guard("them", FakeClock(), per_minute=60)
    asking = [asyncio.create_task(guard.ask("k", "IBM", 10, provider.answer)) for _ in range(20)]
    await asyncio.sleep(0)
    asking[0].cancel()  # who gives up takes nothing from the others
    provider.gate.set()
    assert await asyncio.gather(*asking[1:]) == [1] * 19


async def test_a_provider_that_is_down_is_tried_again_a_few_times() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=60)
    provider.fails = [DOWN] * (ATTEMPTS - 1)
    assert await driven(clock, lambda: guard.ask("k", "IBM", 10, provider.answer)) == ATTEMPTS


@pytest.mark.parametrize(
    "error",
    [ProviderRateLimitedError("IBM", Text(es="espera", en="wait")), NoDataError("IBM", Text(es="nada", en="nothing"))],
)
async def test_an_answer_that_says_no_is_not_asked_for_again(error: MarketError) -> None:
    provider = Provider()
    provider.fails = [error]
    with pytest.raises(type(error)):
        await Guard("them", FakeClock(), per_minute=60).ask("k", "IBM", 10, provider.answer)
    assert provider.asked == 1


@pytest.mark.parametrize(
    "error", [ValueError(), TypeError(), InvalidOperation(), KeyError(), AttributeError(), OSError()]
)
async def test_an_answer_that_cannot_be_read_is_none_and_is_said_to_be(error: Exception) -> None:
    clock, provider = FakeClock(), Provider()
    provider.fails = [error]
    with pytest.raises(ProviderDownError, match="IBM cannot be read"):
        await driven(clock, lambda: Guard("them", clock, per_minute=60).ask("k", "IBM", 10, provider.answer))
    assert provider.asked == 1


async def test_after_failures_in_a_row_it_is_left_alone_and_then_tried_once() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=600)
    provider.fails = [DOWN] * 100
    for number in range(3):
        with pytest.raises(ProviderDownError):
            await driven(clock, lambda number=number: guard.ask(f"k{number}", "IBM", 10, provider.answer))
    assert provider.asked == MAX_FAILURES
    with pytest.raises(ProviderDownError, match="left alone"):
        await guard.ask("k", "IBM", 10, provider.answer)
    await clock.advance(REST_SECONDS)
    with pytest.raises(ProviderDownError):
        await driven(clock, lambda: guard.ask("k", "IBM", 10, provider.answer))
    assert provider.asked == MAX_FAILURES + 1
    await clock.advance(REST_SECONDS)
    provider.fails = []
    assert await guard.ask("k", "IBM", 10, provider.answer) == MAX_FAILURES + 2


async def test_a_time_out_of_the_question_itself_is_one_failure() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=600)
    provider.fails = [TimeoutError()] * MAX_FAILURES
    for _ in range(MAX_FAILURES):
        with pytest.raises(ProviderDownError, match="no answer"):
            await guard.ask("k", "IBM", 10, provider.answer)
        await clock.advance(SILENCE_REST_SECONDS)
    assert provider.asked == MAX_FAILURES


async def test_more_than_the_limit_is_refused_with_a_time() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=60)

    async def ask(number: int) -> int:
        return await guard.ask(f"k{number}", "IBM", 10, provider.answer)

    for number in range(11):
        await ask(number)
    waiting = [asyncio.create_task(ask(number)) for number in range(11, 20)]
    for _ in range(5):
        await asyncio.sleep(0)
    refused = [task for task in waiting if task.done() and isinstance(task.exception(), ProviderRateLimitedError)]
    assert len(refused) == 7
    await clock.advance(3)
    assert sum(not task.cancelled() and task.exception() is None for task in waiting if task.done()) == 2


def limited(seconds: float | None = None) -> ProviderRateLimitedError:
    return ProviderRateLimitedError("IBM", Text(es="espera", en="wait"), seconds)


async def refused(guard: Guard, provider: Provider, ticker: str = "IBM", key: str = "k") -> MarketError:
    with pytest.raises(MarketError) as raised:
        await guard.ask(key, ticker, 0, provider.answer)
    return raised.value


async def test_a_source_is_left_alone_for_as_long_as_it_says() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=6000)
    provider.fails = [limited(100)]
    for ticker in ("IBM", "IBM", "MSFT"):
        assert isinstance(await refused(guard, provider, ticker), ProviderRateLimitedError)
    assert provider.asked == 1
    await clock.advance(99)
    assert "try again in 1 s" in str(await refused(guard, provider))
    await clock.advance(1)
    assert await guard.ask("k", "IBM", 0, provider.answer) == 2


async def test_who_does_not_say_how_long_is_asked_ever_less_often_until_it_answers() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=6000)
    provider.fails = [limited() for _ in range(4)]
    asked: list[float] = []
    for _ in range(600):
        before = provider.asked
        await refused(guard, provider)
        if provider.asked > before:
            asked.append(clock.monotonic())
        if not provider.fails:
            break
        await clock.advance(1)
    assert [round(later - earlier) for earlier, later in pairwise(asked)] == [30, 60, 120]


async def test_a_symbol_that_fails_does_not_close_the_source_and_many_do() -> None:
    clock, provider = FakeClock(), Provider()
    guard = Guard("them", clock, per_minute=60_000)

    async def fail(ticker: str) -> None:
        provider.fails = [DOWN] * ATTEMPTS
        with pytest.raises(ProviderDownError):
            await driven(clock, lambda: guard.ask(ticker, ticker, 0, provider.answer))
        provider.fails = []

    for _ in range(4):
        await fail("BAD")
        await fail("WORSE")
    assert "with BAD" in (await refused(guard, provider, "BAD")).text.in_language("en").replace("for BAD", "with BAD")
    before = provider.asked
    assert await guard.ask("good", "IBM", 0, provider.answer) == before + 1
    for ticker in ("A", "B"):
        await fail(ticker)
    assert provider.asked == before + 1 + 2 * ATTEMPTS
    await asyncio.sleep(0)
    for ticker in ("C", "D"):
        provider.fails = [DOWN] * ATTEMPTS
        with pytest.raises(ProviderDownError):
            await driven(clock, lambda ticker=ticker: guard.ask(ticker, ticker, 0, provider.answer))
    provider.fails = []
    assert "left alone" in str(await refused(guard, provider, "IBM"))


async def test_nobody_waits_longer_than_the_guards_patience() -> None:
    provider = Provider()
    provider.gate = asyncio.Event()
    guard = Guard("them", FakeClock(), per_minute=60, patience=0.05)
    assert "gave no answer for IBM within 0.05 s" in str(await refused(guard, provider))
    assert "left alone" in str(await refused(guard, provider, key="other"))
    assert provider.asked == 1
    provider.gate.set()
    assert await guard.ask("k", "MSFT", 0, provider.answer) == 2
