"""A call runs once per id: repeats, conflicts, executors that die in mid-call, two executors at once."""

import asyncio
import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from nats.aio.client import Client

from contracts.errors import ToolCode
from contracts.events.tool import ToolMetadata, ToolResult
from runtime.testing.forks import ForkedProcess, fork
from runtime.testing.servers import NatsServer, ValkeyServer, eventually
from runtime.workers.pull_worker import LEASE
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.adapters.redis_store import Part, RedisStore, Script
from tool_executor.adapters.renewals import Renewals
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.registry import build_registry
from tool_executor.domain.declaration import CallContext, Data
from tool_executor.domain.plans import Arguments, VerifiedCaller
from tool_executor.pipeline.call import CallProgress, Outcome, Postponed
from tool_executor.pipeline.idempotency import Idempotency
from tool_executor.ports import (
    CallKey,
    Claimed,
    OtherArguments,
    RecordedResult,
    RedisUnavailableError,
    RunningElsewhere,
)
from tool_executor.testing.harness import (
    CountingHandler,
    Someone,
    ToolRequester,
    asking,
    listen,
    running_executor,
    tool_named,
)

KEY = CallKey("demo", "user-1", "call-1")
DONE = ToolResult(success=True, data={"answer": None}, metadata=ToolMetadata(execution_time=1.0))
VALUE = {"type": "object", "properties": {"value": {"type": "number"}}, "additionalProperties": False}


async def test_a_repeat_is_answered_with_the_recorded_result(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    async with asking(nats_client, valkey_server.url, tools=(tool_named("count", counting),)) as asker:
        first = await asker.call("count", {}, call_id="same")
        again = await asker.call("count", {}, call_id="same", attempt=2)
        assert again.result == first.result
        assert counting.runs == 1


async def test_an_error_is_recorded_like_a_result(asker: ToolRequester):
    first = await asker.call("calculate_risk_reward", {"entry_price": 1}, call_id="same")
    again = await asker.call("calculate_risk_reward", {"entry_price": 1}, call_id="same", attempt=2)
    assert first.result.error is not None
    assert again.result == first.result


async def test_the_same_id_with_other_arguments_is_a_conflict(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    tool = tool_named("count", counting, input_schema=VALUE)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        assert (await asker.call("count", {"value": 1.0}, call_id="same")).result.success
        error = await asker.failure("count", {"value": 2}, call_id="same", attempt=2)
        assert error.code == ToolCode.CONFLICT
        assert (await asker.call("count", {"value": 1}, call_id="same", attempt=3)).result.data == {"run": 1}


async def test_an_id_belongs_to_its_user_and_company(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    async with asking(nats_client, valkey_server.url, tools=(tool_named("count", counting),)) as asker:
        callers = (Someone(), Someone(sub="user-2"), Someone(company="other"))
        for attempt, someone in enumerate(callers, start=1):
            data = (await asker.call("count", {}, someone, call_id="same", attempt=attempt)).result.data
            assert data == {"run": attempt}


async def test_many_deliveries_of_one_call_run_it_once(nats_client: Client, valkey_server: ValkeyServer):
    started = asyncio.Event()
    go_on = asyncio.Event()
    runs: list[str] = []

    async def slow(arguments: Arguments, context: CallContext) -> Data:
        runs.append(context.call_id)
        started.set()
        await go_on.wait()
        return {"run": len(runs)}

    tools = (tool_named("slow", slow, time_limit=30.0, side_effects=True),)
    async with (
        running_executor(nats_client, valkey_server.url, tools=tools),
        running_executor(nats_client, valkey_server.url, tools=tools),
    ):
        asker = ToolRequester(nats_client)
        calls = [asyncio.create_task(asker.call("slow", {}, call_id="one", attempt=n)) for n in range(1, 6)]
        async with asyncio.timeout(40):
            await started.wait()
        go_on.set()
        results = await asyncio.gather(*calls)
        assert {str(completed.result.data) for completed in results} == {"{'run': 1}"}
        assert runs == ["one"]


async def test_who_asks_for_a_call_that_runs_already_hears_of_its_end_soon(valkey_server: ValkeyServer):
    store = RedisStore(valkey_server.url, 10.0)
    offers = Offers(build_registry([tool_named("count", CountingHandler())]))
    recall = Idempotency(RedisCallRecords(store, Renewals(store), 60), offers)
    runs: list[str] = []
    started, go_on = asyncio.Event(), asyncio.Event()

    def call() -> CallProgress:
        return CallProgress(
            "one", "count", {}, VerifiedCaller("demo", "user-1", "user"), expires=time.monotonic() + 30.0
        )

    async def rest() -> Outcome:
        runs.append("one")
        started.set()
        await go_on.wait()
        return Postponed(0.0)

    running = asyncio.create_task(recall(call(), rest))
    try:
        await asyncio.wait_for(started.wait(), 20)
        again = await recall(call(), rest)
        assert isinstance(again, Postponed)
        assert 0 < again.seconds <= 0.5
        assert runs == ["one"]
    finally:
        go_on.set()
        await running
        await store.close()


async def test_a_started_record_turns_done_for_its_owner_alone(store: RedisStore):
    records = RedisCallRecords(store, Renewals(store), 60)
    first = await records.claim(KEY, "f", 1.0, is_renewed=False)
    assert isinstance(first, Claimed)
    assert not first.abandoned
    assert isinstance(await records.claim(KEY, "f", 1.0, is_renewed=False), RunningElsewhere)
    assert isinstance(await records.claim(KEY, "other", 1.0, is_renewed=False), OtherArguments)

    async def taken_over() -> Claimed | None:
        claim = await records.claim(KEY, "f", 5, is_renewed=False)
        return claim if isinstance(claim, Claimed) else None

    second = await eventually(taken_over)
    assert second is not None
    assert second.abandoned
    assert not await records.finish(KEY, first.owner, DONE, is_lasting=True)
    assert await records.finish(KEY, second.owner, DONE, is_lasting=True)
    await records.release(KEY, second.owner, forget=True)
    assert await records.claim(KEY, "f", 5, is_renewed=False) == RecordedResult(DONE)


async def test_a_renewed_lease_lasts_while_its_process_lives_and_not_much_longer(
    valkey_server: ValkeyServer, store: RedisStore
):
    other_store = RedisStore(valkey_server.url, 1.0)
    renewals = Renewals(store)
    records, others = RedisCallRecords(store, renewals, 60), RedisCallRecords(other_store, Renewals(other_store), 60)
    loop = asyncio.get_running_loop()
    try:
        assert isinstance(await records.claim(KEY, "f", 20, is_renewed=True), Claimed)
        started = loop.time()
        while loop.time() < started + LEASE + 1:
            assert isinstance(await others.claim(KEY, "f", 20, is_renewed=True), RunningElsewhere)
            await asyncio.sleep(0.1)
        await renewals.close()

        async def abandoned() -> bool:
            claim = await others.claim(KEY, "f", 20, is_renewed=True)
            return isinstance(claim, Claimed) and claim.abandoned

        assert await eventually(abandoned, LEASE + 5)
    finally:
        await other_store.close()


@pytest.mark.own_servers
async def test_a_store_that_hangs_costs_one_deadline_and_not_each_call_one(
    valkey_server: ValkeyServer, store: RedisStore
):
    await store.ping()
    valkey_server.pause()
    loop = asyncio.get_running_loop()
    started = loop.time()
    answers = await asyncio.gather(*(store.ping() for _ in range(2000)), return_exceptions=True)
    assert all(isinstance(answer, RedisUnavailableError) for answer in answers)
    assert loop.time() - started < 30
    started = loop.time()
    for _ in range(20):
        with pytest.raises(RedisUnavailableError):
            await store.ping()
    assert loop.time() - started < 5
    valkey_server.resume()

    async def back() -> bool:
        try:
            await store.ping()
        except RedisUnavailableError:
            return False
        return True

    assert await eventually(back)


@pytest.mark.own_servers
async def test_without_redis_what_has_no_effects_goes_on_and_says_so(nats_client: Client, valkey_server: ValkeyServer):
    effects = tool_named("effects", CountingHandler(), side_effects=True)
    limited = tool_named("limited", CountingHandler(), per_minute=2)
    async with asking(nats_client, valkey_server.url, tools=(effects, limited)) as asker:
        valkey_server.kill()
        refused = (await asker.call("effects", {}, call_id="e1")).result
        assert refused.error is not None
        assert refused.error.code == ToolCode.UNAVAILABLE
        results = [(await asker.call("limited", {})).result for _ in range(3)]
        assert [result.success for result in results] == [True, True, False]
        assert all(result.metadata.degraded for result in results)
        assert results[2].error is not None
        assert results[2].error.code == ToolCode.RATE_LIMIT
        valkey_server.start()

        async def recovered() -> bool:
            return (await asker.call("effects", {})).result.success

        assert await eventually(recovered)


@contextmanager
def executor_process(nats_url: str, redis_url: str, marks: Path) -> Generator[ForkedProcess]:
    """An executor in a process of its own, whose tools never end: made to be killed."""
    process = fork("tool_executor.testing.harness", nats_url, redis_url, str(marks), environment=os.environ)
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("name", "code", "data"),
    [
        ("read", None, {"run": 1}),
        ("write", ToolCode.UNKNOWN_OUTCOME, None),
        ("reconciled", None, {"found": "killed-reconciled"}),
    ],
)
async def test_a_call_whose_executor_was_killed_is_run_again_only_without_effects(
    nats_server: NatsServer,
    nats_client: Client,
    valkey_server: ValkeyServer,
    tmp_path: Path,
    name: str,
    code: ToolCode | None,
    data: Data | None,
):
    async def look_up(arguments: Arguments, context: CallContext) -> Data:
        return {"found": context.call_id}

    counting = CountingHandler()
    tools = (
        tool_named("read", counting, time_limit=60.0),
        tool_named("write", counting, time_limit=1.0, side_effects=True),
        tool_named("reconciled", counting, time_limit=60.0, side_effects=True, reconcile=look_up),
    )
    call_id = f"killed-{name}"
    inbox = await listen(nats_client, "_INBOX.answers")
    with executor_process(nats_server.url, valkey_server.url, tmp_path) as process:
        await eventually(lambda: (tmp_path / "ready").exists())
        await ToolRequester(nats_client).send(name, {}, Someone(), call_id=call_id, reply_to="_INBOX.answers")
        await eventually(lambda: (tmp_path / call_id).exists())
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    async with running_executor(nats_client, valkey_server.url, tools=tools):
        # Nobody asks anew: the message itself comes again, and no time limit of the tool is waited for.
        answer = await inbox.next_msg(timeout=20)
        result = ToolResult.model_validate_json(_result_in(answer.data))
        assert (result.error.code if result.error else None) == code
        assert result.data == data
        assert counting.runs == (1 if name == "read" else 0)


def _result_in(event: bytes) -> bytes:
    return orjson.dumps(orjson.loads(event)["data"]["result"])


class Slept(RedisStore):
    """Carries out the first script, and loses its answer: what stood still reads later what was sent to it."""

    lost = False

    async def run(self, script: Script, key: str, *arguments: Part) -> Any:
        answer = await super().run(script, key, *arguments)
        if not self.lost:
            self.lost = True
            raise RedisUnavailableError("too late")
        return answer


@pytest.mark.parametrize("abandoned", [False, True])
async def test_a_claim_whose_answer_was_lost_is_found_again_by_the_next_attempt(
    valkey_server: ValkeyServer, abandoned: bool
):
    key = CallKey("demo", "user-1", f"slept-{abandoned}")
    store, before = Slept(valkey_server.url, deadline=2.0), RedisStore(valkey_server.url, deadline=2.0)
    try:
        if abandoned:
            died = RedisCallRecords(before, Renewals(before), keep_seconds=60)
            first = await died.claim(key, "f", 30.0, is_renewed=False)
            assert isinstance(first, Claimed)
            await died.release(key, first.owner, forget=False)
        records = RedisCallRecords(store, Renewals(store), keep_seconds=60)
        with pytest.raises(RedisUnavailableError):
            await records.claim(key, "f", 30.0, is_renewed=False)
        claim = await records.claim(key, "f", 30.0, is_renewed=False)
        assert isinstance(claim, Claimed)
        assert claim.abandoned is abandoned
    finally:
        await store.close()
        await before.close()


class Refusing(RedisStore):
    """Away, when it is told to be."""

    refuses = False

    async def run(self, script: Script, key: str, *arguments: Part) -> Any:
        if self.refuses:
            raise RedisUnavailableError("away")
        return await super().run(script, key, *arguments)


async def test_a_claim_that_could_not_be_given_back_is_found_again_by_the_next_attempt(valkey_server: ValkeyServer):
    key = CallKey("demo", "user-1", "kept")
    store = Refusing(valkey_server.url, deadline=2.0)
    try:
        records = RedisCallRecords(store, Renewals(store), keep_seconds=60)
        first = await records.claim(key, "f", 30.0, is_renewed=False)
        assert isinstance(first, Claimed)
        store.refuses = True
        with pytest.raises(RedisUnavailableError):
            await records.release(key, first.owner, forget=True)
        store.refuses = False
        assert await records.claim(key, "f", 30.0, is_renewed=False) == first
    finally:
        await store.close()
