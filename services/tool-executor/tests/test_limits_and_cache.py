"""Limits that slide, and results that are shared: against a real Valkey."""

import asyncio
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.errors import ToolCode
from contracts.text import Text
from runtime.testing.servers import ValkeyServer, eventually
from tool_executor.adapters.local_limiter import LocalRateLimiter
from tool_executor.adapters.rate_limiter import RedisRateLimiter
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.adapters.renewals import Renewals
from tool_executor.adapters.result_cache import RedisResultCache
from tool_executor.domain.declaration import CacheScope, CallContext, Data, ToolFailedError
from tool_executor.domain.limits import CallWindow, limits_of
from tool_executor.domain.plans import Arguments, VerifiedCaller
from tool_executor.ports import RateLimiter
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import CountingHandler, Someone, ToolRequester, asking, running_executor, tool_named

ANA = VerifiedCaller("demo", "ana", "user")
BEN = VerifiedCaller("demo", "ben", "user")


@pytest.fixture(params=["redis", "local"])
def limiter(request: pytest.FixtureRequest, store: RedisStore) -> RateLimiter:
    """Both kinds keep the same contract."""
    return RedisRateLimiter(store) if request.param == "redis" else LocalRateLimiter()


async def test_a_refused_call_consumes_nothing_and_a_repeated_id_consumes_once(limiter: RateLimiter):
    limits = limits_of(2)
    assert (await limiter.admit(ANA, "t", limits, "1")).blocking is None
    assert (await limiter.admit(ANA, "t", limits, "1")).quotas[0].remaining == 1
    assert (await limiter.admit(ANA, "t", limits, "2")).quotas[0].remaining == 0
    for call in ("3", "4", "5"):
        refused = await limiter.admit(ANA, "t", limits, call)
        assert refused.blocking is not None
    assert (await limiter.admit(ANA, "t", limits, "2")).blocking is None
    assert (await limiter.admit(BEN, "t", limits, "1")).blocking is None
    assert (await limiter.admit(ANA, "u", limits, "1")).blocking is None
    assert (await limiter.remaining(ANA, "t", limits)).quotas[0].remaining == 0
    assert (await limiter.remaining(BEN, "t", limits)).quotas[0].remaining == 1


async def test_the_window_that_opens_last_says_when(limiter: RateLimiter):
    limits = limits_of(1, 1, 5)
    first = await limiter.admit(ANA, "t", limits, "1")
    assert [quota.remaining for quota in first.quotas] == [0, 0, 4]
    refused = await limiter.admit(ANA, "t", limits, "2")
    assert refused.blocking is not None
    assert refused.blocking.window.name == "hour"
    assert abs(refused.blocking.reset_at - first.quotas[1].reset_at) <= 2


async def test_a_place_opens_when_the_oldest_entry_leaves_the_window(limiter: RateLimiter):
    limits = (CallWindow("minute", 1, 2),)
    loop = asyncio.get_running_loop()
    started = loop.time()
    for call in ("1", "2"):
        assert (await limiter.admit(ANA, "t", limits, call)).blocking is None
    while (await limiter.admit(ANA, "t", limits, "3")).blocking is not None:
        assert loop.time() - started < 20
        await asyncio.sleep(0.02)
    assert loop.time() - started >= 0.95


async def test_many_at_once_never_get_more_than_the_limit(store: RedisStore):
    limiter = RedisRateLimiter(store)
    answers = await asyncio.gather(*(limiter.admit(ANA, "t", limits_of(20), str(n)) for n in range(100)))
    assert sum(answer.blocking is None for answer in answers) == 20


async def test_a_limit_refuses_with_the_time_when_it_opens_and_the_id_stays_free(
    nats_client: Client, valkey_server: ValkeyServer
):
    counting = CountingHandler()
    tool = tool_named("few", counting, per_minute=2, input_schema={"type": "object", "additionalProperties": False})
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        first = await asker.call("few", {}, call_id="first")
        assert first.result.success
        assert first.quota is not None
        assert (first.quota["minute"].limit, first.quota["minute"].remaining) == (2, 1)
        # A repeated call is not counted: what was left then is no longer true.
        assert (await asker.call("few", {}, call_id="first", attempt=2)).quota is None
        invalid = (await asker.call("few", {"x": 1})).result.error
        assert invalid is not None
        assert invalid.code == ToolCode.VALIDATION_ERROR
        refused = (await asker.call("few", {}, call_id="late")).result.error
        assert refused is not None
        assert refused.code == ToolCode.RATE_LIMIT
        assert refused.reset_at is not None
        assert (await asker.call("few", {}, Someone(sub="user-2"))).result.success
        again = (await asker.call("few", {}, call_id="late", attempt=2)).result.error
        assert again is not None
        assert again.code == ToolCode.RATE_LIMIT
        assert counting.runs == 2


@pytest.mark.parametrize("data", [{"value": 0}, {"value": False}, {"value": None}, {"value": ""}, {}])
async def test_empty_values_are_hits(nats_client: Client, valkey_server: ValkeyServer, data: dict[str, Any]):
    runs = 0

    async def give(arguments: Arguments, context: CallContext) -> Data:
        nonlocal runs
        runs += 1
        return data

    tool = tool_named("give", give, category="news", cache=CacheScope.PUBLIC)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        assert not (await asker.call("give", {})).result.metadata.cached
        second = (await asker.call("give", {}, Someone(sub="user-2"))).result
        assert second.metadata.cached
        assert second.data == data
        assert runs == 1


async def test_a_users_own_data_is_kept_for_that_user_alone(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    tool = tool_named("mine", counting, category="portfolio", cache=CacheScope.USER)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        seen = [
            (await asker.call("mine", {}, someone)).result.data
            for someone in (Someone(), Someone(sub="user-2"), Someone(company="other"), Someone())
        ]
        assert seen == [{"run": 1}, {"run": 2}, {"run": 3}, {"run": 1}]


async def test_what_changes_state_and_what_fails_is_never_kept(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    runs = 0

    async def fails(arguments: Arguments, context: CallContext) -> Data:
        nonlocal runs
        runs += 1
        raise KeyError

    tools = (
        tool_named("order", counting, category="market", cache=CacheScope.PUBLIC, side_effects=True),
        tool_named("fails", fails, category="market", cache=CacheScope.PUBLIC),
    )
    async with asking(nats_client, valkey_server.url, tools=tools) as asker:
        for _ in range(2):
            await asker.call("order", {})
            await asker.call("fails", {})
        assert (counting.runs, runs) == (2, 2)


async def test_many_that_miss_at_once_cause_one_execution_across_executors(
    nats_client: Client, valkey_server: ValkeyServer
):
    runs = 0
    go_on = asyncio.Event()

    async def slow(arguments: Arguments, context: CallContext) -> Data:
        nonlocal runs
        runs += 1
        await go_on.wait()
        return {"run": runs}

    tools = (tool_named("slow", slow, category="news", cache=CacheScope.PUBLIC, time_limit=30.0),)
    async with (
        running_executor(nats_client, valkey_server.url, tools=tools) as one,
        running_executor(nats_client, valkey_server.url, tools=tools) as two,
    ):
        asker = ToolRequester(nats_client)
        calls = [asyncio.create_task(asker.call("slow", {}, Someone(sub=f"u{n}"))) for n in range(40)]
        await eventually(lambda: one.worker.in_work + two.worker.in_work == 40)
        go_on.set()
        results = [completed.result for completed in await asyncio.gather(*calls)]
        assert {str(result.data) for result in results} == {"{'run': 1}"}
        assert sum(result.metadata.cached for result in results) == 39
        assert runs == 1


async def test_who_misses_at_once_hears_of_a_failure_in_their_own_language(
    nats_client: Client, valkey_server: ValkeyServer
):
    go_on = asyncio.Event()

    async def fails(arguments: Arguments, context: CallContext) -> Data:
        await go_on.wait()
        raise ToolFailedError("gone", Text(es="ya no está", en="it is gone"))

    tools = (tool_named("fails", fails, category="news", cache=CacheScope.PUBLIC, time_limit=30.0),)
    async with running_executor(nats_client, valkey_server.url, tools=tools) as executor:
        asker = ToolRequester(nats_client)
        languages = ["en", "es", "en", "es"]
        calls = [
            asyncio.create_task(asker.call("fails", {}, Someone(sub=f"u{n}", language=language)))
            for n, language in enumerate(languages)
        ]
        await eventually(lambda: executor.worker.in_work == len(calls))
        go_on.set()
        errors = [completed.result.error for completed in await asyncio.gather(*calls)]
        said = {"en": "it is gone", "es": "ya no está"}
        assert [error and error.message for error in errors] == [said[language] for language in languages]


async def test_a_follower_whose_leader_gave_nothing_is_not_kept_waiting(store: RedisStore):
    cache = RedisResultCache(store, Renewals(store))
    token = await cache.lead("k", 5)
    assert token is not None
    assert await cache.lead("k", 5) is None
    follower = asyncio.create_task(cache.follow("k", 5))
    await cache.yield_lead("k", "somebody else's")
    await cache.yield_lead("k", token)
    async with asyncio.timeout(20):
        assert await follower is None
    other = await cache.lead("k", 5)
    assert other is not None
    follower = asyncio.create_task(cache.follow("k", 5))
    await cache.put("k", {"v": 1}, 5)
    async with asyncio.timeout(20):
        assert await follower == {"v": 1}


async def test_a_full_category_does_not_starve_the_others(nats_client: Client, valkey_server: ValkeyServer):
    go_on = asyncio.Event()

    async def slow(arguments: Arguments, context: CallContext) -> Data:
        await go_on.wait()
        return {}

    tools = (tool_named("slow", slow, category="ml", time_limit=60.0), tool_named("quick", CountingHandler()))
    settings = ExecutorSettings(slots=8, slow_slots=2)
    async with asking(nats_client, valkey_server.url, tools=tools, settings=settings) as asker:
        slow_calls = [asyncio.create_task(asker.call("slow", {}, deadline=60)) for _ in range(12)]
        async with asyncio.timeout(40):
            assert (await asker.call("quick", {})).result.success
        go_on.set()
        assert all(completed.result.success for completed in await asyncio.gather(*slow_calls))
