"""Human agents watch, take over, write and give back; visitors ask for one, stop an answer, and rate it."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from nats.aio.client import Client

from contracts.agent_rpc import SUMMARY, SummaryReply, SummaryRequest
from contracts.channels import ChatKind, LiveTurnKind
from contracts.ids import turn_id
from contracts.testing import closed_for_days
from gateway.testing.harness import AgentStandIn, ChatClient, Frame, GatewayUnderTest, MemoryStandIn
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually

pytestmark = pytest.mark.usefixtures("memory")


@asynccontextmanager
async def being_answered(
    gateway: GatewayUnderTest, tokens: TokenMaker, client: Client
) -> AsyncGenerator[tuple[ChatClient, AgentStandIn, int]]:
    """A visitor whose message an agent has begun to answer, with its sequence."""
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        agent = AgentStandIn(client, "acme", visitor.conversation)
        asked: int = (await visitor.say("tell me everything"))["seq"]
        agent.begin(asked)
        await agent.live(LiveTurnKind.RUN_STARTED)
        yield visitor, agent, asked


async def last_of(client: Client, conversation: str, kind: ChatKind) -> dict[str, Any]:
    """The data of the newest fact of a kind."""
    return dict((await ConversationLog(client).snapshot("acme", conversation)).last[kind].data)


async def watched(agent: ChatClient, conversation: str) -> Frame:
    """Watches; gives the conversation's welcome."""
    await agent.send("conversation.watch", conversationId=conversation)
    return await agent.until("welcome", lambda frame: frame["conversationId"] == conversation)


async def test_a_human_agent_begins_with_no_conversation_and_watches_those_of_the_company(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url) as visitor, ChatClient(gateway.url) as other, ChatClient(gateway.url) as ana:
        mine = await visitor.hello(tokens.visitor("v1"))
        await visitor.say("hello")
        second = await other.hello(tokens.visitor("v2"))
        await other.say("good morning")
        start = await ana.hello(tokens.user("ana", "commercial"))
        assert (start["conversationId"], start["owner"], start["epoch"]) == (None, None, mine["epoch"])
        for conversation, text in [(mine["conversationId"], "hello"), (second["conversationId"], "good morning")]:
            await watched(ana, conversation)
            snapshot = await ana.until("snapshot")
            assert snapshot["conversationId"] == conversation
            assert [message["text"] for message in snapshot["messages"]] == [text]
        ack = await visitor.say("again")
        told = await ana.fact(ack["seq"])
        assert told["conversationId"] == mine["conversationId"]


async def test_a_conversation_of_another_company_cannot_be_watched(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: Any
) -> None:
    memory.add_company("other")
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as spy:
        await visitor.say("hello")
        await spy.hello(tokens.user("spy", "admin", company="other"))
        for conversation in (visitor.conversation, "nobody-knows-this-one"):
            await spy.send("conversation.watch", conversationId=conversation)
            assert (await spy.until("error"))["code"] == "NOT_FOUND"
            await spy.send("owner.take", conversationId=conversation)
            assert (await spy.until("error"))["code"] == "NOT_FOUND"


@pytest.mark.parametrize("kind", ["owner.take", "owner.release", "conversation.watch"])
async def test_what_is_for_human_agents_is_forbidden_to_visitors_and_customers(
    gateway: GatewayUnderTest, tokens: TokenMaker, kind: str
) -> None:
    for token in (tokens.visitor("v1"), tokens.user("u1", "user")):
        async with ChatClient(gateway.url, hello=token) as client:
            await client.send(kind, conversationId=client.conversation)
            assert (await client.until("error"))["code"] == "FORBIDDEN"


async def test_take_over_message_and_release_are_told_to_everybody(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as ana:
        await visitor.say("is anybody there?")
        await ana.hello(tokens.user("ana", "commercial", name="Ana Ruiz"))
        # All at once: what is asked for is done in its order.
        await ana.send("conversation.watch", conversationId=visitor.conversation)
        await ana.send("owner.take", conversationId=visitor.conversation)
        await ana.send("message.send", clientMessageId=str(uuid.uuid4()), text="I am Ana")
        ack = await ana.until("message.ack")
        await ana.send("owner.release", conversationId=visitor.conversation)
        for client in (visitor, ana):
            taken = next((f for f in client.seen if f["type"] == "owner.changed"), None)
            taken = taken or await client.until("owner.changed")
            assert taken["owner"] == {"kind": "human", "operatorId": "ana", "name": "Ana Ruiz"}
            said = (await client.fact(ack["seq"]))["message"]
            assert (said["role"], said["text"], said["operatorId"]) == ("operator", "I am Ana", "ana")
            # Whoever reads the history later has not seen who took the conversation over.
            assert said["name"] == "Ana Ruiz"
            released = await client.until("owner.changed")
            assert released["owner"] == {"kind": "ai"}
            assert taken["seq"] < said["seq"] < released["seq"]
    assert (await last_of(nats_client, visitor.conversation, ChatKind.OWNER))["by"] == "ana"


@pytest.mark.parametrize("kind", ["owner.take", "owner.release"])
async def test_who_takes_or_returns_a_conversation_that_they_do_not_watch_watches_it(
    gateway: GatewayUnderTest, tokens: TokenMaker, kind: str
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as ana:
        await visitor.say("hello")
        await ana.hello(tokens.user("ana", "commercial"))
        await ana.send(kind, conversationId=visitor.conversation)
        told = await ana.until("owner.changed")
        assert [frame["type"] for frame in ana.seen][-3:-1] == ["welcome", "snapshot"]
        assert told["conversationId"] == visitor.conversation
        assert told["owner"]["kind"] == ("human" if kind == "owner.take" else "ai")


async def test_taking_twice_changes_nothing_and_tells_how_things_stand(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as ana:
        await visitor.say("hello")
        await ana.hello(tokens.user("ana", "commercial"))
        await watched(ana, visitor.conversation)
        await ana.send("owner.take")
        first = await ana.until("owner.changed")
        await ana.send("owner.take")
        assert await ana.until("owner.changed") == first

        # Nor is it told before what came first, where that has not been told yet.
        gateway.gateway.chat.recovery.pause_all()
        said = await visitor.say("one more thing")
        await ana.send("owner.release")
        await ana.send("owner.release")
        await ana.until("message.created", lambda frame: frame["message"]["seq"] == said["seq"])
        assert (await ana.until("owner.changed"))["owner"] == {"kind": "ai"}
        assert [frame["type"] for frame in ana.seen].count("owner.changed") == 3


async def test_a_colleague_may_take_over_from_a_human_agent_whom_they_have_seen(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        seen = (await visitor.say("hello"))["seq"]
        for name in ("ana", "ben"):
            async with ChatClient(gateway.url) as agent:
                await agent.hello(tokens.user(name, "commercial"), locale="es")
                await watched(agent, visitor.conversation)
                if name == "ben":  # as who took it in the same moment
                    await agent.send("owner.take", seenSeq=seen)
                    refused = await agent.until("error")
                    assert (refused["code"], refused["message"]) == ("CONFLICT", "ana acaba de tomar la conversación")
                await agent.send("owner.take")
                assert (await visitor.until("owner.changed"))["owner"]["operatorId"] == name


async def test_take_overs_hand_offs_and_answers_at_the_same_moment_all_get_their_place(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        await visitor.say("hello")
        agents = [ChatClient(gateway.url) for _ in range(6)]
        for number, agent in enumerate(agents):
            await agent.__aenter__()
            await agent.hello(tokens.user(f"a{number}", "commercial"))
            await watched(agent, visitor.conversation)
        await asyncio.gather(*(agent.send("owner.take") for agent in agents))
        for number, agent in enumerate(agents):
            await agent.until("owner.changed", lambda f, me=f"a{number}": f["owner"]["operatorId"] == me)
        for agent in agents:
            await agent.socket.close()
    log = ConversationLog(nats_client)
    snapshot = await log.snapshot("acme", visitor.conversation)
    stored = await log.read("acme", visitor.conversation, 0, snapshot.seq)
    owners = [orjson.loads(one.event)["data"]["owner"]["operatorId"] for one in stored if "owner" in one.subject]
    assert sorted(owners) == [f"a{number}" for number in range(6)]


async def test_asking_for_a_person_makes_the_conversation_wait_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async def summarised(request: SummaryRequest) -> SummaryReply:
        return SummaryReply(summary=[f"Asked in {request.locale}: «hello»"])

    await RpcServer(nats_client).serve(SUMMARY, summarised)
    async with ChatClient(gateway.url) as visitor:
        mine = await visitor.hello(tokens.visitor("v1"), locale="en-GB")
        await visitor.send("handoff.request")
        first = await visitor.until("owner.changed")
        assert first["owner"] == {"kind": "waiting"}
        snapshot = await ConversationLog(nats_client).snapshot("acme", mine["conversationId"])
        asked = snapshot.last[ChatKind.OWNER].data
        assert (asked["language"], asked["summary"]) == ("en", ["Asked in en: «hello»"])
        await visitor.send("handoff.request")
        assert await visitor.until("owner.changed") == first
    async with ChatClient(gateway.url) as visitor:
        again = await visitor.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
        assert again["owner"] == {"kind": "waiting"}


async def test_outside_office_hours_the_button_leaves_a_message_once_and_the_ai_stays(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> None:
    memory.add_company("closed", aiAutoResponseEnabled=True, officeHours=closed_for_days())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1", company="closed")) as visitor:
        await visitor.send("handoff.request")
        first = await visitor.until("owner.changed")
        assert (first["owner"], first["reason"]) == ({"kind": "ai"}, "asked")
        assert datetime.fromisoformat(first["opensAt"]) > datetime.now(UTC)
        await visitor.send("handoff.request")
        assert await visitor.until("owner.changed") == first
    snapshot = await ConversationLog(nats_client).snapshot("closed", visitor.conversation)
    assert snapshot.last[ChatKind.OWNER].seq == first["seq"]


async def test_stopping_a_running_answer_settles_its_message(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        ack = await visitor.say("tell me everything")
        turn = turn_id("acme", visitor.conversation, ack["seq"])
        await visitor.send("run.cancel", turnId=turn)
        stopped = await visitor.until("run.cancelled")
        assert (stopped["turnId"], stopped["reason"]) == (turn, "user")
        data = await last_of(nats_client, visitor.conversation, ChatKind.CANCEL)
        assert (data["turnId"], data["basis"], data["by"]) == (turn, ack["seq"], "v1")
        await visitor.send("run.cancel", turnId=turn)
        await visitor.send("ping")
        await visitor.until("pong")
        assert len([frame for frame in visitor.seen if frame["type"] == "run.cancelled"]) == 1


async def test_nothing_of_a_stopped_answer_is_told_any_more_but_the_next_one_is(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with being_answered(gateway, tokens, nats_client) as (visitor, agent, _):
        await visitor.until("run.started")
        await visitor.send("run.cancel", turnId=agent.turn)
        await visitor.until("run.cancelled")
        # The agent has not heard of it yet.
        await agent.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Price")
        await agent.delta(0, "Every")
        agent.begin((await visitor.say("something else"))["seq"])
        await agent.live(LiveTurnKind.RUN_STARTED)
        await visitor.until("run.started")
    told = [frame["type"] for frame in visitor.seen]
    assert "tool.started" not in told
    assert "message.delta" not in told


async def test_a_run_that_was_given_up_is_told_once_and_adds_nothing_until_it_is_driven_anew(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with being_answered(gateway, tokens, nats_client) as (visitor, agent, asked):
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="taken_over")
        agent.begin((await visitor.say("or something"))["seq"])
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="superseded")
        # Its driver hears of it after whoever took its place has said so, and after the next one's end too.
        agent.begin(asked)
        await agent.delta(0, "Every")
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="taken_over")
        await agent.live(LiveTurnKind.RUN_STARTED)
        await agent.delta(0, "thing")
        await visitor.until("message.delta")
    signs = [frame["type"] for frame in visitor.seen if frame["type"].startswith(("run.", "message.delta"))]
    assert signs == ["run.started", "run.cancelled", "run.cancelled", "run.started", "message.delta"]
    assert visitor.seen[-1]["delta"] == "thing"


async def test_of_a_turn_that_has_its_final_message_only_the_end_is_told(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with being_answered(gateway, tokens, nats_client) as (visitor, agent, asked):
        await agent.answer(asked, "Everything.")
        # Another driver of the turn, which does not know yet.
        await agent.live(LiveTurnKind.RUN_STARTED)
        await agent.delta(0, "Every")
        await agent.live(LiveTurnKind.RUN_CANCELLED, reason="superseded")
        await agent.live(LiveTurnKind.RUN_FINISHED, usage={"promptTokens": 1, "completionTokens": 2})
        await visitor.until("run.finished")
    told = [frame["type"] for frame in visitor.seen if frame["type"].startswith(("run.", "message.delta"))]
    assert told == ["run.started", "run.finished"]


async def test_a_turn_that_answers_an_earlier_message_of_several_can_be_stopped_too(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        first = await visitor.say("one")
        await visitor.say("two")
        turn = turn_id("acme", visitor.conversation, first["seq"])
        await visitor.send("run.cancel", turnId=turn)
        await visitor.until("run.cancelled")
        data = await last_of(nats_client, visitor.conversation, ChatKind.CANCEL)
        assert data["basis"] == first["seq"]


async def test_a_turn_that_is_not_running_is_not_found(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        await visitor.send("run.cancel", turnId="nothing")
        assert (await visitor.until("error"))["code"] == "NOT_FOUND"
        ack = await visitor.say("hello")
        agent = AgentStandIn(nats_client, "acme", visitor.conversation)
        await agent.answer(ack["seq"], "hello")
        await visitor.send("run.cancel", turnId=agent.turn)
        error = await visitor.until("error")
        assert (error["code"], error["ref"]) == ("NOT_FOUND", agent.turn)


async def test_typing_and_receipts_reach_the_others_but_not_oneself(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as ana:
        ack = await visitor.say("hello")
        await ana.hello(tokens.user("ana", "commercial"))
        await watched(ana, visitor.conversation)
        await visitor.send("typing")
        typing = await ana.until("typing")
        assert (typing["actor"], typing["expiresInMs"]) == ("visitor", 5000)
        await ana.send("receipt", upToSeq=ack["seq"])
        receipt = await visitor.until("receipt")
        assert (receipt["actor"], receipt["upToSeq"]) == ("operator", ack["seq"])
        await ana.send("typing")
        await visitor.until("typing")
        assert [frame["type"] for frame in visitor.seen].count("typing") == 1
        assert not [frame for frame in ana.seen if frame["type"] == "receipt"]


async def test_a_message_of_a_human_agent_sent_twice_is_stored_once(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    identity = str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as ana:
        await visitor.say("hello")
        await ana.hello(tokens.user("ana", "commercial"))
        await watched(ana, visitor.conversation)
        first = await ana.say("I am Ana", clientMessageId=identity)
        again = await ana.say("I am Ana", clientMessageId=identity)
        late = await ana.say("I am Ana", clientMessageId=identity, retry=True)
    assert first["duplicate"] is False
    assert again == late == first | {"duplicate": True}


async def test_memory_hears_of_human_agents_who_read_or_type_and_of_nobody_else(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url) as visitor, ChatClient(gateway.url) as ana, ChatClient(gateway.url) as ben:
        mine = await visitor.hello(tokens.visitor("v1"))
        conversation = mine["conversationId"]
        ack = await visitor.say("hello")
        for name, agent in (("ana", ana), ("ben", ben)):
            await agent.hello(tokens.user(name, "commercial"))
            await watched(agent, conversation)
        # To have it open is not to read it, and what visitors do is theirs.
        await visitor.send("typing")
        await visitor.send("receipt", upToSeq=ack["seq"])
        for _ in range(5):
            await ana.send("receipt", conversationId=conversation, upToSeq=ack["seq"])
        await ben.send("typing", conversationId=conversation)
        await eventually(lambda: len(memory.owner_sightings) >= 2)
        await ana.send("ping")
        await ana.until("pong")
        assert sorted(memory.owner_sightings) == [(conversation, "ana"), (conversation, "ben")]
        assert memory.read_positions == {(conversation, "ana"): ack["seq"], (conversation, "ben"): None}
        # Whoever has read further says so at once, however short ago they looked.
        await ana.send("receipt", conversationId=conversation, upToSeq=ack["seq"] + 1)
        await eventually(lambda: memory.read_positions[conversation, "ana"] == ack["seq"] + 1)
