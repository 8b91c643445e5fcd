"""A call with side effects that timed out may have had them: its id is looked up, and never says TIMEOUT for ever."""

import asyncio
import json
import time
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, ToolCode
from contracts.events.tool import ToolDeclaration, ToolResult, ToolsAnnounced
from contracts.rpc import Rpc
from contracts.streams import FACTS
from contracts.tools_rpc import (
    TOOL_OUTCOME,
    ToolOutcome,
    ToolServiceData,
    ToolServiceRequest,
    tool_outcome,
    tool_service,
)
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams, stream_config
from runtime.calls.deadlines import time_left
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.testing.network import proxy_to
from runtime.testing.servers import NatsServer, ValkeyServer, eventually
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.adapters.renewals import Renewals
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.registry import Entry, build_registry
from tool_executor.domain.declaration import CallContext, Category, Data, OverTheBus, ToolUnavailableError
from tool_executor.domain.fingerprint import fingerprint
from tool_executor.domain.plans import Arguments, Plan, VerifiedCaller
from tool_executor.pipeline.call import CallProgress
from tool_executor.pipeline.idempotency import Idempotency
from tool_executor.pipeline.permission import RateStep
from tool_executor.ports import CallKey
from tool_executor.testing.harness import NOTHING, Someone, ToolRequester, asking, running_executor, tool_named

SOMEONE = Someone(sub="ann")


class Owner:
    """A service with one tool that has effects: slow, or failing, as it is told; its calls are known by their ids."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.late: list[ToolServiceRequest] = []
        self.waits: list[float | None] = []
        """Seconds that the callers of the late calls said that they wait."""
        self.looked_up: list[str] = []
        self.look_up_waits: list[float | None] = []
        self.effect = True
        self.error: RpcError | None = None
        self.hangs = False
        self.silent = False
        self.state: str | None = None

    async def call(self, request: ToolServiceRequest) -> ToolServiceData:
        if self.effect and request.call_id not in self.done:
            self.done.append(request.call_id)
        if self.hangs:
            self.late.append(request)
            self.waits.append(time_left())
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return ToolServiceData(result={"made": request.call_id})

    async def outcome(self, request: ToolServiceRequest) -> ToolOutcome:
        self.looked_up.append(request.call_id)
        self.look_up_waits.append(time_left())
        if self.silent:
            await asyncio.Event().wait()
        if self.state == "unknown":
            return ToolOutcome(state="unknown")
        if request.call_id in self.done:
            return ToolOutcome(state="done", result={"made": request.call_id})
        return ToolOutcome(state="not_done")

    def heal(self) -> None:
        self.hangs, self.silent, self.error, self.effect, self.state = False, False, None, True, None


async def owner_of(client: Client, *methods: Rpc[ToolServiceRequest, Any]) -> tuple[Owner, RpcServer]:
    owner, server = Owner(), RpcServer(client)
    await server.serve(methods[0], owner.call)
    for method in methods[1:]:
        await server.serve(method, owner.outcome)
    await client.flush()
    return owner, server


def tool(name: str = "act", **more: Any) -> Any:
    declared: dict[str, Any] = {"side_effects": True, "time_limit": 1.0, "reconcile": OverTheBus(), **more}
    return tool_named(name, OverTheBus(), **declared)


async def asked(asker: ToolRequester, attempt: int, call_id: str = "same", **more: Any) -> ToolResult:
    return (await asker.call("act", {}, SOMEONE, call_id=call_id, attempt=attempt, **more)).result


@pytest.mark.parametrize("effect", [True, False])
async def test_a_timed_out_call_says_unknown_and_its_repeat_the_truth(
    nats_client: Client, valkey_server: ValkeyServer, effect: bool
):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"), TOOL_OUTCOME)
    async with asking(nats_client, valkey_server.url, tools=(tool(),)) as asker:
        owner.hangs, owner.effect, owner.silent = True, effect, True
        for attempt in (1, 2):  # still silent: still unknown, and nothing is run again
            error = (await asked(asker, attempt)).error
            assert error is not None
            assert (error.code, error.reason) == (ToolCode.TIMEOUT, OUTCOME_UNKNOWN)
            # In a chat or without an Idempotency-Key, asking again makes another call, and a second effect.
            assert error.message.endswith("Check before trying it again.")
            assert len(owner.late) == 1
        assert owner.looked_up
        assert {one.call_id for one in owner.late} == {"same"}
        (waits,) = owner.waits
        assert waits is not None
        assert waits < 1.0, "no more than the tool's own limit"
        assert max(filter(None, owner.look_up_waits)) < 0.31, "a look-up has a share of it"
        owner.heal()
        results = [await asked(asker, attempt) for attempt in (3, 4)]
        assert [result.data for result in results] == [{"made": "same"}] * 2
        assert owner.done == ["same"]
    await server.drain(1.0)


async def test_of_a_timed_out_call_that_nobody_can_look_up_it_is_said_that_it_is_unknown(
    nats_client: Client, valkey_server: ValkeyServer
):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"))
    async with asking(nats_client, valkey_server.url, tools=(tool(reconcile=None),)) as asker:
        owner.hangs = True
        codes = [one.error.code for n in range(1, 4) if (one := await asked(asker, n)).error is not None]
        assert codes == [ToolCode.TIMEOUT, ToolCode.UNKNOWN_OUTCOME, ToolCode.UNKNOWN_OUTCOME]
        assert owner.done == ["same"]
    await server.drain(1.0)


@pytest.mark.parametrize(
    "error",
    [
        RpcError(ErrorCode.UNAVAILABLE, "the store did not answer", retryable=True),
        RpcError(ErrorCode.INTERNAL, "died half-way"),
        RpcError(ErrorCode.TIMEOUT, "took too long"),
    ],
    ids=lambda error: error.code,
)
@pytest.mark.parametrize("effect", [True, False])
async def test_an_owner_that_failed_half_way_is_asked_what_it_has_done(
    nats_client: Client, valkey_server: ValkeyServer, error: RpcError, effect: bool
):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"), TOOL_OUTCOME)
    async with asking(nats_client, valkey_server.url, tools=(tool(),)) as asker:
        owner.error, owner.effect = error, effect
        failed = (await asked(asker, 1)).error
        assert failed is not None
        assert failed.reason == OUTCOME_UNKNOWN
        owner.heal()
        assert (await asked(asker, 2)).data == {"made": "same"}
        assert (owner.looked_up, owner.done) == (["same"], ["same"])
    await server.drain(1.0)


async def test_a_refusal_is_final_and_is_not_looked_up(nats_client: Client, valkey_server: ValkeyServer):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"), TOOL_OUTCOME)
    async with asking(nats_client, valkey_server.url, tools=(tool(),)) as asker:
        owner.error, owner.effect = RpcError(ToolCode.EXECUTION_ERROR, "no cash", reason="no_cash"), False
        first = await asked(asker, 1)
        owner.heal()
        assert await asked(asker, 2) == first
        assert owner.looked_up == []
    await server.drain(1.0)


async def test_a_call_that_came_too_late_to_be_run_may_be_made_in_time(
    nats_client: Client, valkey_server: ValkeyServer
):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"), TOOL_OUTCOME)
    async with asking(nats_client, valkey_server.url, tools=(tool(),)) as asker:
        error = (await asked(asker, 1, seconds=-1.0)).error
        assert error is not None
        assert (error.code, error.reason) == (ToolCode.TIMEOUT, "deadline_passed")
        assert "(0 s)" not in error.message
        assert owner.done == []
        assert (await asked(asker, 2)).data == {"made": "same"}
    await server.drain(1.0)


async def test_what_an_owner_does_not_know_stays_unknown(nats_client: Client, valkey_server: ValkeyServer):
    owner, server = await owner_of(nats_client, tool_service("act", "market-adapter"), TOOL_OUTCOME)
    async with asking(nats_client, valkey_server.url, tools=(tool(),)) as asker:
        owner.error, owner.state = RpcError(ErrorCode.INTERNAL, "died half-way"), "unknown"
        await asked(asker, 1)
        owner.error = None
        error = (await asked(asker, 2)).error
        assert error is not None
        assert error.reason == OUTCOME_UNKNOWN
    await server.drain(1.0)


async def test_an_announced_tool_is_looked_up_where_its_service_says(nats_client: Client, valkey_server: ValkeyServer):
    calls = Rpc("rpc.tool.crm", ToolServiceRequest, ToolServiceData, queue=None, safe=False)
    outcomes = tool_outcome("rpc.tool.crm.outcome", queue=None)
    owner, server = await owner_of(nats_client, calls, outcomes)
    declared = ToolDeclaration(
        id="crm.act",
        name="act",
        description={"en": "Acts"},
        category="calculate",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        output_schema={"type": "object"},
        side_effects=True,
        time_limit_seconds=1.0,
    )
    offer = ToolsAnnounced(
        service="crm", tools=[declared], call_subject=calls.subject, outcome_subject=outcomes.subject
    )
    async with running_executor(nats_client, valkey_server.url) as executor:
        event = CloudEvent[ToolsAnnounced](source="/crm", type="tools.announced.v1", data=offer)
        subject = fact("tools.announced.v1", "demo", "-")
        await Publisher(nats_client).append(subject, event, stream="FACTS", msg_id="crm-1")
        await eventually(lambda: executor.offers.find("act", "demo") is not None)
        asker = ToolRequester(nats_client)
        owner.hangs = True
        assert not (await asked(asker, 1)).success
        owner.heal()
        assert (await asked(asker, 2)).data == {"made": "same"}
        assert (owner.looked_up, owner.done) == (["same"], ["same"])
    await server.drain(1.0)


@pytest.mark.parametrize(("delivered_before", "reason"), [(False, "store"), (True, OUTCOME_UNKNOWN)])
async def test_while_redis_is_away_a_call_that_was_delivered_before_may_have_been_made(
    delivered_before: bool, reason: str
) -> None:
    nothing: Any = None
    caller = VerifiedCaller(company="demo", user="ann", role="user", plan=Plan.FREE, language="en")
    entry = Entry(tool(), Plan.FREE, Category.CALCULATE, nothing, {}, nothing, nothing)
    store = RedisStore("redis://127.0.0.1:1", 1.0)
    records = RedisCallRecords(store, Renewals(store), 60)
    call = CallProgress("c1", "act", {}, caller, time.monotonic() + 5, entry=entry, abandoned=delivered_before)
    result = await Idempotency(records, Offers(build_registry([])))(
        call, lambda: RateStep(nothing, nothing)(call, nothing)
    )
    await store.close()
    assert isinstance(result, ToolResult)
    assert result.error is not None
    assert (result.error.code, result.error.reason) == (ToolCode.UNAVAILABLE, reason)


@pytest.mark.parametrize(
    ("needs", "code"),
    [
        ({"required_plan": "premium"}, ToolCode.PLAN_REQUIRED),
        ({"input_schema": {**NOTHING, "required": ["ticker"]}}, ToolCode.VALIDATION_ERROR),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
async def test_a_refusal_says_nothing_of_an_attempt_that_another_executor_began(
    nats_client: Client,
    valkey_server: ValkeyServer,
    store: RedisStore,
    needs: dict[str, Any],
    code: ToolCode,
    begun: bool,
):
    if begun:  # that executor's network stands still: its lease has run out, and what it does may still be done
        records = RedisCallRecords(store, Renewals(store), 60)
        key = CallKey(SOMEONE.company, SOMEONE.sub, "same")
        await records.claim(key, fingerprint("act", {}), 0.001, is_renewed=False)
    async with asking(nats_client, valkey_server.url, tools=(tool(**needs),)) as asker:
        error = (await asked(asker, 1)).error
    assert error is not None
    assert (error.code, error.reason == OUTCOME_UNKNOWN) == (code, begun)


@pytest.mark.parametrize("subject", ["rpc.memory.company.get.v1", TOOL_OUTCOME.subject])
async def test_an_offer_cannot_take_a_subject_of_nexus_for_its_look_ups(
    nats_client: Client, valkey_server: ValkeyServer, subject: str
):
    await ensure_streams(nats_client)
    async with running_executor(nats_client, valkey_server.url) as executor:
        offer = ToolsAnnounced(service="crm", tools=[], call_subject="rpc.tool.crm", outcome_subject=subject)
        (why,) = executor.offers.announce("-", offer, 60)
        assert "outcomeSubject" in why


class Away:
    """A tool that cannot be reached, until it is back."""

    def __init__(self) -> None:
        self.back = False
        self.done: list[str] = []

    async def __call__(self, arguments: Arguments, context: CallContext) -> Data:
        del arguments
        if not self.back:
            raise ToolUnavailableError("nobody serves it")
        self.done.append(context.call_id)
        return {"made": context.call_id}


async def test_a_refusal_whose_message_could_come_again_is_not_told(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer
):
    away = Away()
    acts = tool_named("act", away, side_effects=True)
    async with proxy_to(nats_server.url) as proxy:
        cut = asyncio.Event()

        def lose_the_acknowledgement(chunk: bytes) -> None:
            if b"+ACK" in chunk and not cut.is_set():
                proxy.refusing = True
                proxy.cut()
                cut.set()

        proxy.listener = lambda: lose_the_acknowledgement
        far = await connect(NatsSettings(url=proxy.url), name="tool-executor")
        async with running_executor(far, valkey_server.url, tools=(acts,)):
            asking = asyncio.create_task(asked(ToolRequester(nats_client), 1))
            await asyncio.wait_for(cut.wait(), 30)
            away.back = True
            async with running_executor(nats_client, valkey_server.url, tools=(acts,)):
                assert (await asking).data == {"made": "same"}
            assert away.done == ["same"]
            proxy.refusing = False
        await far.close()


async def test_a_refusal_that_cannot_be_logged_does_not_make_the_call_later(
    nats_client: Client, valkey_server: ValkeyServer
):
    away = Away()
    async with asking(nats_client, valkey_server.url, tools=(tool_named("act", away, side_effects=True),)) as asker:
        full = {**stream_config(FACTS), "max_bytes": 1, "discard": "new"}
        answer = await nats_client.request("$JS.API.STREAM.UPDATE.FACTS", json.dumps(full).encode(), timeout=10)
        assert "error" not in json.loads(answer.data)
        error = (await asked(asker, 1)).error
        assert error is not None
        assert error.code == ToolCode.UNAVAILABLE
        away.back = True

        async def settled() -> bool:
            info = await nats_client.request("$JS.API.STREAM.INFO.TOOLS", timeout=10)
            return json.loads(info.data)["state"]["messages"] == 0

        await eventually(settled)
        assert away.done == []
