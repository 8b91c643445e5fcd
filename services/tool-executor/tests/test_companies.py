"""What companies' settings say about tools: asked once, kept up to date, never undone by a late answer."""

import asyncio
from contextlib import suppress

import pytest
from nats.aio.client import Client

from contracts.company import ToolConfig
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.errors import ToolCode
from contracts.events.fact import CompanyConfigChanged
from runtime.bus.connection import subscribe
from runtime.calls.deadlines import serve_for
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.companies import CHANGES, CompanyCache
from runtime.testing.servers import eventually
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.domain.declaration import ToolUnavailableError
from tool_executor.domain.plans import CompanyTools
from tool_executor.testing.harness import Memory, Someone, ToolRequester, settings_of

NONE = ToolConfig()
SOME = ToolConfig(enabled_tools=["get_price"])
OTHER = ToolConfig(enabled_tools=["calculate_risk_reward"])


async def listening(client: Client) -> tuple[ExecutorCompanies, CompanyCache]:
    cache = CompanyCache(client, RpcClient(client))
    await subscribe(client, CHANGES, cache.changed)
    await client.flush()
    return ExecutorCompanies(cache), cache


async def announce(client: Client, config: ToolConfig, version: int) -> None:
    changed = CompanyConfigChanged(**settings_of("demo", config, version).model_dump())
    event = CloudEvent[CompanyConfigChanged](source="/test", type="company.config.changed.v1", data=changed)
    await client.publish("company.config.changed.v1.demo.-", event.to_json())


async def test_many_that_ask_at_once_cause_one_question(nats_client: Client):
    memory = Memory({"demo": SOME})
    await memory.serve(nats_client)
    companies, _ = await listening(nats_client)
    answers = await asyncio.gather(*(companies.tools_of("demo") for _ in range(50)))
    assert {tuple(answer.config.enabled_tools) for answer in answers} == {("get_price",)}
    assert memory.asked == 1


async def test_a_company_without_settings_has_the_defaults(nats_client: Client):
    await Memory().serve(nats_client)
    companies, _ = await listening(nats_client)
    assert await companies.tools_of("nobody") == CompanyTools()


async def test_who_lists_tools_waits_for_a_part_of_the_time_given_and_the_next_finds_the_answer(nats_client: Client):
    go_on = asyncio.Event()
    asked: list[str] = []

    async def slow(request: CompanyRequest) -> CompanyReply:
        asked.append(request.company_id)
        await go_on.wait()
        return CompanyReply(settings=settings_of("demo", SOME, 1))

    await RpcServer(nats_client).serve(COMPANY_GET, slow)
    companies, _ = await listening(nats_client)

    async def serve_a_request() -> None:
        serve_for(0.5)
        await companies.tools_of("demo")

    with pytest.raises(ToolUnavailableError, match="not there yet"):
        await asyncio.create_task(serve_a_request())
    go_on.set()
    assert (await companies.tools_of("demo")).config == SOME
    assert len(asked) == 1


async def test_a_late_answer_does_not_undo_a_change(nats_client: Client):
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: CompanyRequest) -> CompanyReply:
        asked.set()
        await go_on.wait()
        return CompanyReply(settings=settings_of("demo", SOME, 1))

    await RpcServer(nats_client).serve(COMPANY_GET, slow)
    companies, cache = await listening(nats_client)
    waiting = asyncio.create_task(companies.tools_of("demo"))
    async with asyncio.timeout(40):
        await asked.wait()
        await announce(nats_client, OTHER, 2)
        await eventually(lambda: cache.count == 1)
        go_on.set()
        assert (await waiting).config == OTHER
    assert (await companies.tools_of("demo")).config == OTHER


async def test_an_older_change_does_not_undo_a_newer_one(nats_client: Client):
    companies, cache = await listening(nats_client)
    await announce(nats_client, OTHER, 3)
    await announce(nats_client, SOME, 2)
    await eventually(lambda: cache.count == 1)
    await nats_client.flush()
    assert (await companies.tools_of("demo")).config == OTHER


async def test_after_a_reconnect_what_is_known_is_confirmed_and_counts_while_memory_is_away(nats_client: Client):
    memory = Memory({"demo": SOME})
    server = await memory.serve(nats_client)
    companies, cache = await listening(nats_client)
    assert (await companies.tools_of("demo")).config == SOME
    memory.configs["demo"], memory.version = NONE, 2
    assert (await companies.tools_of("demo")).config == SOME
    cache.missed()
    assert (await companies.tools_of("demo")).config == NONE
    await server.drain(0.1)
    cache.missed()
    with suppress(ToolUnavailableError):  # whoever asks first waits for memory in vain
        await companies.tools_of("demo")
    assert (await companies.tools_of("demo")).config == NONE


async def test_what_cannot_be_asked_is_said_and_not_guessed(nats_client: Client, asker: ToolRequester):
    companies, _ = await listening(nats_client)
    with pytest.raises(ToolUnavailableError):
        await companies.tools_of("demo")
    visitor = Someone(role="visitor")
    risk = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}
    error = await asker.failure("calculate_risk_reward", risk, visitor, call_id="v")
    assert error.code == ToolCode.UNAVAILABLE
    assert (await asker.call("calculate_risk_reward", risk, Someone())).result.success
    await Memory({"demo": OTHER}).serve(nats_client)
    assert (await asker.call("calculate_risk_reward", risk, visitor, call_id="v", attempt=2)).result.success
