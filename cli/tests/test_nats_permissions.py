"""deploy/nats/nats.conf on a real server: every service can do its part on the bus, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

import nats
import pytest
from nats.aio.client import Client

from contracts.agent_rpc import TURN_STATE
from contracts.completion_rpc import COMPLETE, CompletePart, CompleteRequest, CompletionMessage
from contracts.events.registry import EVENTS, EventType
from contracts.mcp_rpc import CLIENT_ANSWER
from contracts.methods import METHODS
from contracts.rpc import Rpc
from contracts.streams import STREAMS
from nexus_cli.stack.services import SERVICES
from nexus_cli.testing.stacks import production_nats
from runtime.bus.direct import DirectReader
from runtime.calls.streamed_calls import ReplyStream, StreamClient, StreamServer
from runtime.workers.dead_letters import DeadLetters

OWNED = [event for event in EVENTS if event.owners != ("other services",)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with the production configuration and its streams."""
    with production_nats(tmp_path_factory.mktemp("nats")) as server:
        asyncio.run(_make_streams(server.address))
        yield server.address


async def _make_streams(address: str) -> None:
    async with bus(address, "operator") as (client, _):
        for stream in STREAMS:
            await client.jetstream().add_stream(name=stream.name, subjects=list(stream.subjects), allow_direct=True)  # pyright: ignore[reportUnknownMemberType]


@asynccontextmanager
async def bus(address: str, user: str) -> AsyncGenerator[tuple[Client, list[str]]]:
    """A client of one user, and what the server has refused it."""
    refused: list[str] = []

    async def on_error(error: Exception) -> None:
        refused.append(str(error))

    client = await nats.connect(  # pyright: ignore[reportUnknownMemberType]
        f"nats://{user}:pw-{user}@{address}", error_cb=on_error, allow_reconnect=False, inbox_prefix=f"_INBOX.{user}"
    )
    try:
        yield client, refused
    finally:
        await client.close()


def subject(event: EventType) -> str:
    ids = {"company": "demo", "conversation": "c1", "user": "u1", "category": "market", "analysis": "a1", "call": "k1"}
    ids |= {"part": "p1"}
    return event.subject.format(**ids)


async def may_publish(address: str, user: str, subject: str) -> bool:
    """Whether this user may write to the subject."""
    return await _allowed(address, user, f"PUB {subject} 2\r\n{{}}")


async def may_subscribe(address: str, user: str, subject: str) -> bool:
    """Whether this user may hear the subject."""
    return await _allowed(address, user, f"SUB {subject} 1")


async def _allowed(address: str, user: str, command: str) -> bool:
    """Spoken by hand: one stream of commands, so that the refusal, if any, comes before the PONG."""
    host, port = address.split(":")
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection(host, int(port))
        login = json.dumps({"user": user, "pass": f"pw-{user}", "verbose": False})
        writer.write(f"CONNECT {login}\r\n{command}\r\nPING\r\n".encode())
        answers = (await reader.readuntil(b"PONG\r\n")).decode()
        writer.close()
    assert "Authorization" not in answers
    return "-ERR" not in answers


@pytest.mark.parametrize("user", SERVICES)
@pytest.mark.parametrize("event", OWNED, ids=lambda event: event.type)
async def test_an_event_is_published_by_its_owners_alone(address: str, event: EventType, user: str) -> None:
    assert await may_publish(address, user, subject(event)) is (user in event.owners)


@pytest.mark.parametrize("user", SERVICES)
async def test_no_service_deletes_from_the_log_and_memory_alone_purges(address: str, user: str) -> None:
    for method in ("STREAM.DELETE.CHAT", "STREAM.MSG.DELETE.CHAT", "CONSUMER.DELETE.CHAT.turns"):
        assert not await may_publish(address, user, f"$JS.API.{method}")
    assert await may_publish(address, user, "$JS.API.STREAM.PURGE.CHAT") is (user == "memory")


@pytest.mark.parametrize("user", SERVICES)
async def test_streams_are_managed_by_memory_alone(address: str, user: str) -> None:
    for method in ("STREAM.CREATE.CHAT", "STREAM.UPDATE.CHAT"):
        assert await may_publish(address, user, f"$JS.API.{method}") is (user == "memory")


@pytest.mark.parametrize("user", SERVICES)
async def test_a_service_serves_its_own_methods_and_answers_them(address: str, user: str) -> None:
    for method in METHODS:
        served_by = {"tools": "tool-executor", "market": "market-adapter"}.get(
            method.subject.split(".")[1], method.subject.split(".")[1]
        )
        if served_by != user:
            continue
        async with bus(address, user) as (server, refused), bus(address, "operator") as (caller, _):
            subscription = await server.subscribe(method.subject, queue=method.queue or "")  # pyright: ignore[reportUnknownMemberType]
            await server.flush()
            await server.flush()  # nats-py's first PING overtakes the subscription, its second does not
            asking = asyncio.create_task(caller.request(method.subject, b"?", timeout=30))
            await (await subscription.next_msg(30)).respond(b"!")
            assert (await asking).data == b"!"
            assert refused == []


@pytest.mark.parametrize(("user", "method"), [("agent", TURN_STATE), ("gateway", CLIENT_ANSWER)])
async def test_agents_ask_agents_who_drives_a_turn_and_gateways_hand_answers_to_gateways(
    address: str, user: str, method: Rpc[Any, Any]
) -> None:
    async with bus(address, user) as (one, not_one), bus(address, user) as (other, not_others):
        asked = await one.subscribe(method.subject)  # pyright: ignore[reportUnknownMemberType]
        await one.flush()
        await one.flush()  # nats-py's first PING overtakes the subscription, its second does not
        asking = asyncio.create_task(other.request(method.subject, b"?", timeout=30))
        await (await asked.next_msg(30)).respond(b"!")
        assert (await asking).data == b"!"
        assert (not_one, not_others) == ([], [])


async def test_answers_of_clients_come_from_gateways_alone(address: str) -> None:
    allowed = [service for service in SERVICES if await may_publish(address, service, CLIENT_ANSWER.subject)]
    assert allowed == ["gateway"]


async def test_a_completion_comes_in_as_many_parts_as_it_has_and_is_told_how_far_it_was_read(address: str) -> None:
    async def count(request: CompleteRequest, replies: ReplyStream[CompletePart]) -> None:
        for number in range(200):
            await replies.send(CompletePart(text=f"{number} {request.model}"))

    asked = CompleteRequest(
        company_id="demo", request_id="r1", principal="p", messages=[CompletionMessage(role="user", content="hi")]
    )
    async with bus(address, "agent") as (agent, not_agents), bus(address, "gateway") as (gateway, not_gateways):
        await StreamServer(agent).serve(COMPLETE, count)
        await agent.flush()
        await agent.flush()  # nats-py's first PING overtakes the subscription, its second does not
        async with asyncio.timeout(30), StreamClient(gateway).open(COMPLETE, asked) as parts:
            assert len([part async for part in parts]) == 200
        assert (not_agents, not_gateways) == ([], [])


@pytest.mark.parametrize(("user", "stream"), [
    ("agent", "CHAT"), ("memory", "CHAT"), ("memory", "FACTS"), ("tool-executor", "TOOLS"), ("tool-executor", "FACTS"),
    ("tool-executor", "KNOWLEDGE"),
])  # fmt: skip
async def test_a_service_pulls_and_acknowledges_its_work(address: str, user: str, stream: str) -> None:
    at = {
        "CHAT": "chat.demo.c9.message.visitor.v1",
        "FACTS": "feedback.given.v1.demo.u1",
        "KNOWLEDGE": "knowledge.refresh.requested.v1.demo",
    }
    where = at.get(stream, "tools.call.requested.v1.market")
    async with bus(address, user) as (client, refused), bus(address, "operator") as (operator, _):
        work = await client.jetstream().pull_subscribe(where, durable=f"{user}-{stream}", stream=stream)  # pyright: ignore[reportUnknownMemberType]
        await operator.jetstream().publish(where, b"{}")  # pyright: ignore[reportUnknownMemberType]
        for message in await work.fetch(1, timeout=30):
            await message.ack_sync()
        assert refused == []


async def test_replies_to_a_service_come_from_itself_and_from_the_executor_alone(address: str) -> None:
    allowed = [user for user in SERVICES if await may_publish(address, user, "_INBOX.gateway.somebodys.reply")]
    assert allowed == ["gateway", "tool-executor"]


@pytest.mark.parametrize("user", SERVICES)
async def test_dead_letters_carry_their_services_name(address: str, user: str) -> None:
    allowed = [service for service in SERVICES if await may_publish(address, user, f"dlq.{service}.FACTS")]
    assert allowed == [user]


CONFIG = "company.config.changed.v1.demo.-"
WRITTEN = {
    "order.closed.v1.demo.u1": {"market-adapter"},
    "rpc.tool.outcome.v1": {"tool-executor"},
    "rpc.memory.owner.seen.v1": {"gateway"},
    "rpc.memory.company.patch.v1": {"gateway"},
    "rpc.memory.user.forget.v1": {"gateway"},
    "rpc.market.user.forget.v1": {"gateway", "memory"},
    "rpc.tools.user.forget.v1": {"gateway", "memory"},
    "rpc.memory.knowledge.pages.known.v1": {"gateway", "tool-executor"},
    "rpc.memory.context.v1": {"gateway", "agent"},
    f"$JS.API.DIRECT.GET.FACTS.{CONFIG}": {"gateway", "agent", "tool-executor", "memory"},
    "$JS.API.DIRECT.GET.FACTS.turn.failed.v1.demo.-": {"agent", "memory"},
    "$JS.API.DIRECT.GET.FACTS": {"agent", "tool-executor", "memory"},
    "$JS.API.DIRECT.GET.DLQ": {"memory"},
    **{f"$JS.API.DIRECT.GET.DLQ.dlq.{user}.CHAT.x": {user, "memory"} & {"agent", "memory"} for user in SERVICES},
    **{f"$JS.API.STREAM.PURGE.{stream.name}": set[str]() for stream in STREAMS},
    **{f"$JS.API.STREAM.PURGE.{stream}": {"memory"} for stream in ("CHAT", "TURNS", "FACTS", "TRACES")},
    "$JS.API.STREAM.PURGE.UPLOADS": {"tool-executor"},
    "$JS.API.DIRECT.GET.UPLOADS.uploads.v1.demo.u1.0": {"tool-executor"},
    "uploads.v1.demo.u1.0": {"gateway"},
    **{f"$JS.API.STREAM.MSG.DELETE.{stream.name}": set[str]() for stream in STREAMS},
    **{f"$JS.API.STREAM.MSG.DELETE.{stream}": {"memory"} for stream in ("FACTS", "TOOLS", "DLQ", "WEBHOOKS")},
}
"""Who may write to a subject; nobody else may."""
HEARD = {
    "order.closed.v1.>": {"gateway", "tool-executor"},
    "order.filled.v1.>": {"gateway", "tool-executor"},
    "rpc.tool.outcome.v1": {"market-adapter", "memory", "tool-executor"},
    "rpc.memory.owner.seen.v1": {"memory"},
    "company.config.changed.v1.>": {"gateway", "agent", "tool-executor", "memory"},
    "knowledge.changed.v1.>": {"memory"},
    "dlq.>": set[str](),
}
"""Who may hear a subject as it is written; nobody else may."""


@pytest.mark.parametrize(("subject", "users"), WRITTEN.items())
async def test_a_subject_is_written_to_by_those_who_need_it(address: str, subject: str, users: set[str]) -> None:
    assert {user for user in SERVICES if await may_publish(address, user, subject)} == users


@pytest.mark.parametrize(("subject", "users"), HEARD.items())
async def test_a_subject_is_heard_by_those_who_need_it(address: str, subject: str, users: set[str]) -> None:
    assert {user for user in SERVICES if await may_subscribe(address, user, subject)} == users


@pytest.mark.parametrize("user", SERVICES)
async def test_every_service_writes_a_letter_once_and_those_who_look_for_theirs_find_it(
    address: str, user: str
) -> None:
    async with bus(address, user) as (client, refused):
        letters = DeadLetters(client)
        for first in (True, False):
            kept = await letters.put(
                service=user,
                stream="CHAT",
                subject="chat.demo.c1.message.visitor.v1",
                body=b"{}",
                reason="-",
                letter="l",
            )
            assert kept is first
        if user in {"agent", "memory"}:
            assert await letters.has(user, "CHAT", "l")
        assert refused == []


@pytest.mark.parametrize("user", ["gateway", "agent", "memory"])
async def test_settings_are_read_from_the_facts_and_memory_takes_them_away(address: str, user: str) -> None:
    where = f"company.config.changed.v1.{user}.-"
    async with bus(address, "memory") as (memory, not_memory), bus(address, user) as (client, refused):
        await memory.jetstream().publish(where, b"{}")  # pyright: ignore[reportUnknownMemberType]
        assert await DirectReader(client, "FACTS").last(where) is not None
        assert await memory.jetstream().purge_stream("FACTS", subject=where)  # pyright: ignore[reportUnknownMemberType]
        assert await DirectReader(client, "FACTS").last(where) is None
        assert (not_memory, refused) == ([], [])
