"""Nothing missed, nothing twice: resuming, running turns, reconnects of the gateway itself."""

import asyncio
import json
import uuid
from datetime import UTC, datetime

import pytest
from nats.aio.client import Client
from nats.errors import SlowConsumerError

from contracts.agent_rpc import TurnState
from contracts.channels import LIVE_CHAT_ALL, ChatKind, LiveTurnKind
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, Role
from contracts.ids import answer_id
from contracts.streams import CHAT
from gateway.adapters.identity import IdentityKeys
from gateway.adapters.log import NatsLog
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from gateway.settings import GatewaySettings
from gateway.testing.harness import AgentStandIn, ChatClient, Frame, GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.bus.jetstream_api import StreamConfig
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams, stream_config
from runtime.clock import SystemClock
from runtime.conversation import ConversationLog
from runtime.testing.servers import NatsServer, eventually

pytestmark = pytest.mark.usefixtures("memory")


def durable(frames: list[Frame]) -> list[int]:
    """The sequences of the durable facts that a client was told, in the order in which it was."""
    seqs: list[int] = []
    for frame in frames:
        if frame["type"] == "message.created":
            seqs.append(frame["message"]["seq"])
        elif frame["type"] in {"owner.changed", "run.cancelled"} and "seq" in frame:
            seqs.append(frame["seq"])
    return seqs


def owners() -> list[OwnerChanged]:
    """Three changes of owner."""
    kinds = (OwnerKind.WAITING, OwnerKind.AI, OwnerKind.WAITING)
    return [OwnerChanged(owner=Owner(kind=kind), by="v1") for kind in kinds]


async def conversation_of(gateway: GatewayUnderTest, tokens: TokenMaker) -> Frame:
    """A conversation in which v1 has said one thing: its client.welcome, with the place of that message as `seq`."""
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        return client.welcome | {"seq": (await client.say("first"))["seq"]}


async def test_a_client_that_was_away_gets_every_later_fact_once_and_in_order(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    mine = await conversation_of(gateway, tokens)
    agent = AgentStandIn(nats_client, "acme", mine["conversationId"])
    expected = [(await agent.answer(mine["seq"], "an answer")).seq]
    owner = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1")
    expected.append((await agent.append(ChatKind.OWNER, owner, "o1")).seq)
    async with ChatClient(gateway.url) as other:
        await other.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
        expected.append((await other.say("second"))["seq"])
    async with ChatClient(gateway.url) as client:
        since = {"epoch": mine["epoch"], "seq": mine["seq"]}
        again = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"], since=since)
        await client.send("ping")
        await client.until("pong")
    assert again["recovered"] is True
    assert again["seq"] == expected[-1]
    assert again["owner"] == {"kind": "waiting"}
    assert durable(client.seen) == expected
    assert not [frame for frame in client.seen if frame["type"] == "snapshot"]


@pytest.mark.parametrize("resumes", [True, False])
async def test_what_memory_alone_has_kept_is_in_the_snapshot(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, resumes: bool
) -> None:
    async with ChatClient(gateway.url) as client:
        mine = (await client.hello(tokens.visitor("v1")))["conversationId"]
    # As after the loss of the log: sequences of another incarnation, beyond the end of this one.
    old = [
        MessageView(
            id=f"m{seq}", seq=seq, role=Role.VISITOR, text=str(seq), created_at=datetime(2026, 1, 2, tzinfo=UTC)
        )
        for seq in (418, 419)
    ]
    memory.archived_messages[mine] = old
    since = {"since": {"epoch": "another", "seq": 419}} if resumes else {}

    async def shown() -> list[int]:
        async with ChatClient(gateway.url) as client:
            welcome = await client.hello(tokens.visitor("v1"), conversationId=mine, **since)
            assert welcome["recovered"] is not resumes
            return [message["seq"] for message in (await client.until("snapshot"))["messages"]]

    assert await shown() == [418, 419]
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"), conversationId=mine)
        said = (await client.say("I am back"))["seq"]
    assert await shown() == [418, 419, said]


@pytest.mark.parametrize("distance", [MAX_STREAM_DISTANCE, -1], ids=["from the log", "from memory"])
async def test_facts_that_arrive_while_the_gap_is_read_are_neither_lost_nor_doubled(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker, memory: MemoryStandIn, distance: int
) -> None:
    async with run_gateway(nats_server.url, identity, GatewaySettings(stream_distance=distance)) as gateway:
        mine = await conversation_of(gateway, tokens)
        hello = {"conversationId": mine["conversationId"], "since": {"epoch": mine["epoch"], "seq": mine["seq"]}}
        acks: list[int] = []

        async def read() -> list[int]:
            async with ChatClient(gateway.url) as reader:
                await reader.hello(tokens.visitor("v1"), **hello)
                await reader.send("ping")
                await reader.until("pong")
            return durable(reader.seen)

        async def write() -> None:
            async with ChatClient(gateway.url) as writer:
                await writer.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
                for number in range(18):
                    acks.append((await writer.say(str(number)))["seq"])

        writing = asyncio.create_task(write())
        seen = [await read() for _ in range(8)]
        await writing
        for seqs in seen:
            assert seqs == acks[: len(seqs)]
        assert await read() == acks
        assert ("facts" in memory.requested_methods) is (distance < 0)


async def test_a_client_that_comes_in_mid_answer_gets_the_text_so_far_and_then_the_rest(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That hello does not wait for a slow agent is not what this is about.
    monkeypatch.setattr("gateway.adapters.agents.TURN_STATE_SECONDS", 10.0)
    mine = await conversation_of(gateway, tokens)
    agent = AgentStandIn(nats_client, "acme", mine["conversationId"])
    await agent.start()
    turn = agent.begin(mine["seq"])
    agent.state = TurnState(turn_id=turn, message_id=answer_id(turn), text_so_far="The Pro plan ", delta_seq=4)
    async with ChatClient(gateway.url) as client:
        hello = {"conversationId": mine["conversationId"], "since": {"epoch": mine["epoch"], "seq": mine["seq"]}}
        welcome = await client.hello(tokens.visitor("v1"), **hello)
        assert welcome["activeTurn"] == {
            "turnId": turn,
            "messageId": answer_id(turn),
            "textSoFar": "The Pro plan ",
            "deltaSeq": 4,
        }
        await agent.delta(5, "costs 29 USD.")
        assert (await client.next())["delta"] == "costs 29 USD."
        await agent.answer(mine["seq"], "The Pro plan costs 29 USD.")
        final = await client.next()
    assert final["message"]["id"] == answer_id(turn)
    assert final["message"]["turnId"] == turn


async def test_an_answered_conversation_has_no_active_turn_and_nobody_is_asked(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    mine = await conversation_of(gateway, tokens)
    agent = AgentStandIn(nats_client, "acme", mine["conversationId"])
    await agent.start()
    await agent.answer(mine["seq"], "done")
    agent.state = TurnState(turn_id=agent.turn, message_id="m", text_so_far="late", delta_seq=0)
    async with ChatClient(gateway.url) as client:
        welcome = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
    assert "activeTurn" not in welcome


async def test_every_sign_of_a_running_turn_reaches_the_sockets_of_its_conversation_alone(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client, ChatClient(gateway.url) as stranger:
        await stranger.hello(tokens.visitor("v2"))
        await client.until("snapshot")
        await stranger.until("snapshot")
        agent = AgentStandIn(nats_client, "acme", client.conversation)
        turn = agent.begin(1)
        tool = {"callId": f"{turn}-0-0", "tool": "fetch_page"}
        await agent.live(LiveTurnKind.RUN_STARTED, messageId="m", secret="stays inside")
        await agent.live(LiveTurnKind.TOOL_STARTED, **tool, label="Reading /pricing")
        await agent.live(LiveTurnKind.TOOL_FINISHED, **tool, success=True, cached=False)
        await agent.delta(0, "hi")
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="superseded")
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="user")
        await agent.live(LiveTurnKind.RUN_ERROR, code="LLM_UNAVAILABLE", message="no model")
        await agent.live(LiveTurnKind.RUN_FINISHED, usage={"promptTokens": 1, "completionTokens": 2})
        head = {"v": 1, "conversationId": client.conversation, "turnId": turn}
        assert [await client.next() for _ in range(7)] == [
            head | {"type": "run.started", "messageId": "m"},
            head | {"type": "tool.started", **tool, "label": "Reading /pricing"},
            head | {"type": "tool.finished", **tool, "success": True, "cached": False},
            head | {"type": "message.delta", "messageId": answer_id(turn), "deltaSeq": 0, "delta": "hi"},
            head | {"type": "run.cancelled", "reason": "superseded"},
            head | {"type": "run.error", "code": "LLM_UNAVAILABLE", "message": "no model"},
            head | {"type": "run.finished", "usage": {"promptTokens": 1, "completionTokens": 2}},
        ]
        await stranger.send("ping")
        assert (await stranger.next())["type"] == "pong"


@pytest.mark.own_servers
async def test_what_was_stored_while_the_gateway_was_cut_off_from_the_bus_reaches_its_sockets(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_server: NatsServer, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        expected = [(await client.say("first"))["seq"]]
        nats_server.restart()
        agent = AgentStandIn(nats_client, "acme", client.conversation)
        expected.append((await agent.answer(expected[0], "meanwhile")).seq)
        expected.append((await client.say("second"))["seq"])
        await eventually(lambda: gateway.client.is_connected)

        async def caught_up() -> bool:
            await client.send("ping")
            await client.until("pong")
            return durable(client.seen) == expected

        await eventually(caught_up)


async def test_a_fact_that_the_live_feed_never_brought_is_noticed_and_made_good(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        silent = stream_config(CHAT)
        del silent["republish"]
        answer = await nats_client.request("$JS.API.STREAM.UPDATE.CHAT", json.dumps(silent).encode())
        assert "error" not in json.loads(answer.data)
        ack = await client.say("stored, acknowledged, and told to nobody")
        created = await client.until("message.created")
        assert created["message"]["seq"] == ack["seq"]


async def test_when_the_bus_has_dropped_facts_every_socket_is_brought_up_to_date(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        silent = stream_config(CHAT)
        del silent["republish"]
        await nats_client.request("$JS.API.STREAM.UPDATE.CHAT", json.dumps(silent).encode())
        agent = AgentStandIn(nats_client, "acme", client.conversation)
        lost = [(await agent.append(ChatKind.OWNER, owner, str(n))).seq for n, owner in enumerate(owners())]
        feed = await gateway.client.subscribe(LIVE_CHAT_ALL)  # pyright: ignore[reportUnknownMemberType]
        for _ in lost:
            await gateway.hooks.failed(SlowConsumerError("live.chat.acme.c.owner.changed.v1", "", 1, feed))
        await client.fact(lost[-1])
        assert durable(client.seen) == lost


@pytest.mark.parametrize("silence", [False, True], ids=["at the next fact of anybody", "by looking at the log's end"])
async def test_facts_that_servers_of_the_bus_lost_between_them_are_noticed(
    silence: bool, gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    """The gateway's own connection lives all the time."""

    async def told(config: StreamConfig) -> None:
        answer = await nats_client.request("$JS.API.STREAM.UPDATE.CHAT", json.dumps(config).encode())
        assert "error" not in json.loads(answer.data)

    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.say("hello")
        await client.until("message.created")
        agent = AgentStandIn(nats_client, "acme", client.conversation)
        silent = stream_config(CHAT)
        del silent["republish"]
        await told(silent)
        lost = [(await agent.append(ChatKind.OWNER, owner, str(n))).seq for n, owner in enumerate(owners())]
        await told(stream_config(CHAT))
        if silence:
            gateway.gateway.chat.log.forget_bounds()
            for _ in range(2):
                await gateway.gateway.check_for_lost_facts()
        else:
            await AgentStandIn(nats_client, "acme", "another").append(ChatKind.OWNER, owners()[0], "elsewhere")
        await client.fact(lost[-1])
        assert durable(client.seen)[1:] == lost


async def test_who_opens_a_conversation_gets_all_that_the_live_feed_has_passed_on(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    """What was passed on before is not in the client's buffer, and a replica that lags does not have it yet."""
    mine = await conversation_of(gateway, tokens)
    gateway.gateway.chat.log.has_reached(mine["seq"] + 1)
    async with ChatClient(gateway.url) as client:
        opening = asyncio.create_task(client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"]))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(opening), 0.3)
        await AgentStandIn(nats_client, "acme", "another").append(ChatKind.OWNER, owners()[0], "elsewhere")
        assert (await opening)["seq"] == mine["seq"]


async def test_the_first_look_at_the_logs_end_does_not_count_as_having_been_passed_on(nats_streams: Client) -> None:
    """A fact whose live copy was lost would be looked for by nobody."""
    agent = AgentStandIn(nats_streams, "acme", "another")
    for name in ("passed on", "lost"):
        await agent.append(ChatKind.OWNER, owners()[0], name)
    log = NatsLog(ConversationLog(nats_streams), Publisher(nats_streams), SystemClock())
    log.has_reached(1)
    assert (await log.bounds()).last_seq == 2
    assert log.position == 1


async def test_who_was_told_more_by_another_gateway_than_is_known_here_is_not_sent_back(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica that lags behind, and a log's end that was looked at a moment ago."""
    mine = await conversation_of(gateway, tokens)
    log = NatsLog(ConversationLog(nats_client), Publisher(nats_client), SystemClock())
    stale = await log.snapshot_and_bounds("acme", mine["conversationId"])

    async def lagging(*_: object, **__: object) -> object:
        return stale

    async with ChatClient(gateway.url) as other:
        await other.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
        newest = (await other.say("second"))["seq"]
    monkeypatch.setattr(NatsLog, "snapshot_and_bounds", lagging)
    async with ChatClient(gateway.url) as client:
        since = {"epoch": mine["epoch"], "seq": newest}
        again = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"], since=since)
        await client.send("ping")
        await client.until("pong")
    assert (again["recovered"], again["seq"]) == (True, newest)
    assert durable(client.seen) == []
    assert not [frame for frame in client.seen if frame["type"] == "snapshot"]


@pytest.mark.own_servers
async def test_when_the_log_is_made_anew_clients_are_told_to_come_back_and_get_a_snapshot(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, nats_server: NatsServer
) -> None:
    mine = await conversation_of(gateway, tokens)
    hello = {"conversationId": mine["conversationId"], "since": {"epoch": mine["epoch"], "seq": mine["seq"]}}
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"), **hello)
        await nats_client.request("$JS.API.STREAM.DELETE.CHAT", b"")
        await ensure_streams(nats_client)
        nats_server.restart()
        assert await client.closed() == 4010
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"), **hello)
        assert again["recovered"] is False
        assert again["epoch"] != mine["epoch"]
        assert (await client.next())["messages"] == []


async def test_two_gateways_tell_their_sockets_the_same(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_server: NatsServer, identity: IdentityKeys
) -> None:
    async with run_gateway(nats_server.url, identity) as second:
        mine = await conversation_of(gateway, tokens)
        async with ChatClient(gateway.url) as here, ChatClient(second.url) as there:
            for client in (here, there):
                await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
            identity_ = str(uuid.uuid4())
            ack = await here.say("hello", clientMessageId=identity_)
            assert (await there.until("message.created"))["message"]["seq"] == ack["seq"]
            assert (await there.say("hello", clientMessageId=identity_))["duplicate"] is True
            await there.send("typing")
            assert (await here.until("typing"))["actor"] == "visitor"


async def test_a_fact_is_delivered_to_a_gateway_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async def heard() -> int:
        await gateway.client.flush()
        return gateway.client.stats["in_msgs"]

    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        agent, before = AgentStandIn(nats_client, "acme", client.conversation), await heard()
        stored = [(await agent.append(ChatKind.OWNER, owners()[n % 2], str(n))).seq for n in range(20)]
        await client.fact(stored[-1])
        # It may have heard something else in the meantime, but not as much again.
        assert len(stored) <= await heard() - before < 1.5 * len(stored)
