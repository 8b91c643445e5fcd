"""The layer under the doors, over a real log: one exchange from its message to its end, and again from a name alone."""

import asyncio

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import ws
from contracts.agent_rpc import TurnState
from contracts.channels import ChatKind, LiveTurnKind, PresenceKind
from contracts.conversation import AnswerRules, Snapshot
from contracts.events import turn
from contracts.events.chat import OperatorMessage, Owner, OwnerChanged, OwnerKind, SystemMessage
from contracts.ids import answer_id, turn_id
from gateway.chat.exchange import Ended, Event, Exchange, ExchangeEnd
from gateway.chat.frames import FrameQueue
from gateway.chat.hub import Attachment, EpochSnapshot, Hub
from gateway.chat.sent_messages import SentMessage
from gateway.chat.thread import Thread
from gateway.chat.threads import Threads
from gateway.errors import RefusedError, UnavailableError
from gateway.ports import TokenCaller, Unsubscribe
from gateway.testing.harness import AgentStandIn, GatewayUnderTest, MemoryStandIn
from runtime.bus.connection import listen, subscribe
from runtime.bus.publisher import Appended
from runtime.testing.servers import eventually

ANA = TokenCaller("ana", "user", "acme", "free", 4e9)
BOB = TokenCaller("bob", "user", "acme", "free", 4e9)
HOME = "127.0.0.1"


@pytest.fixture
async def threads(gateway: GatewayUnderTest, memory: MemoryStandIn) -> Threads:
    return gateway.gateway.threads


async def _all(thread: Thread, asked: int) -> list[Event]:
    async with asyncio.timeout(20):
        thread.follow(asked)
        events: list[Event] = []
        while told := await thread.next_events():
            events += told
        return events


async def _agent(client: Client, conversation: str) -> AgentStandIn:
    agent = AgentStandIn(client, "acme", conversation)
    await agent.start()
    return agent


async def test_an_exchange_is_told_in_order_to_its_end(threads: Threads, nats_client: Client) -> None:
    conversation = await threads.conversation_named(ANA, "test", "thread 1")
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        stored = await thread.send(SentMessage("m1", "hello"))
        telling = asyncio.create_task(_all(thread, stored.seq))
        agent.begin(stored.seq)
        await agent.live(LiveTurnKind.RUN_STARTED)
        await agent.live(LiveTurnKind.TOOL_STARTED, callId="c", tool="get_price", label="…")
        await agent.live(LiveTurnKind.TOOL_FINISHED, callId="c", tool="get_price", success=True)
        await agent.delta(0, "Hel")
        await agent.delta(1, "lo")
        await nats_client.flush()
        await agent.answer(stored.seq, "Hello")
        told = await telling
    kinds = [type(event) for event in told]
    assert kinds == [turn.RunStarted, turn.ToolStarted, turn.ToolFinished, turn.MessageDelta, turn.MessageDelta, Ended]
    end = told[-1]
    assert isinstance(end, Ended)
    assert end.message is not None
    assert (end.outcome, end.message.text) == (ExchangeEnd.ANSWERED, "Hello")


async def test_the_same_message_again_is_not_sent_and_shows_the_same_answer(
    threads: Threads, nats_client: Client
) -> None:
    conversation = await threads.conversation_named(ANA, "test", "again")
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        first = await thread.send(SentMessage("m1", "hello"))
    await agent.answer(first.seq, "Hello")
    async with threads.open(ANA, conversation, address=HOME) as thread:
        again = await thread.send(SentMessage("m1", "hello"))
        (end,) = await _all(thread, again.seq)
    assert (again.seq, again.duplicate) == (first.seq, True)
    assert isinstance(end, Ended)
    assert end.message is not None
    assert end.message.text == "Hello"


async def test_while_a_conversation_is_young_its_log_knows_what_comes_again(
    threads: Threads, memory: MemoryStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await threads.conversation_named(ANA, "test", "young")

    async def say(name: str) -> Appended:
        async with threads.open(ANA, conversation, address=HOME) as thread:
            return await thread.send(SentMessage(name, "hello"))

    first, second, again = await say("m1"), await say("m2"), await say("m1")
    assert (again.seq, again.duplicate, second.duplicate) == (first.seq, True, False)
    assert memory.requested_methods.count("message") == 0
    monkeypatch.setattr("gateway.chat.thread.YOUNG_SECONDS", 0.0)
    assert (await say("m1")).seq == first.seq
    assert memory.requested_methods.count("message") == 1


async def test_what_comes_again_is_not_refused_for_being_too_much(threads: Threads, gateway: GatewayUnderTest) -> None:
    conversation = await threads.conversation_named(ANA, "test", "insistent")
    found: set[int] = set()
    for _ in range(gateway.gateway.chat.limits.settings.messages_per_visitor + 2):
        async with threads.open(ANA, conversation, address=HOME) as thread:
            found.add((await thread.send(SentMessage("m1", "hello"))).seq)
    assert len(found) == 1


async def test_who_comes_in_mid_answer_hears_the_text_so_far_and_the_rest(
    threads: Threads, nats_client: Client
) -> None:
    conversation = await threads.conversation_named(ANA, "test", "resumed")
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        asked = (await thread.send(SentMessage("m1", "hello"))).seq
    running = agent.begin(asked)
    agent.state = TurnState(turn_id=running, message_id=answer_id(running), text_so_far="Hel", delta_seq=0)
    async with threads.open(ANA, conversation, address=HOME, after=asked) as thread:
        thread.follow(asked)
        texts: list[str] = []
        async with asyncio.timeout(20):
            while told := await thread.next_events():
                for event in told:
                    if not isinstance(event, turn.MessageDelta):
                        continue
                    texts.append(event.delta)
                    if len(texts) == 1:
                        await agent.delta(1, "lo")
                    else:
                        await agent.answer(asked, "Hello")
    assert texts == ["Hel", "lo"]


def test_pieces_of_a_text_whose_beginning_nobody_tells_are_not_shown() -> None:
    """As when no agent says in time what the text is so far: live signs may be lost."""
    exchange = Exchange("acme", "c1", 7, AnswerRules(enabled=True))
    run = {"v": 1, "conversationId": "c1", "turnId": turn_id("acme", "c1", 7), "messageId": "m1"}
    told: list[Event] = []
    for number, text in ((1, "lo"), (None, ""), (0, "Hel"), (1, "lo"), (3, "!")):
        kind = (
            {"type": "run.started"} if number is None else {"type": "message.delta", "deltaSeq": number, "delta": text}
        )
        told += exchange.read({**run, **kind})
    assert [event.delta for event in told if isinstance(event, turn.MessageDelta)] == ["Hel", "lo"]


async def _begun(threads: Threads, name: str) -> tuple[str, int]:
    conversation = await threads.conversation_named(ANA, "test", name)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        return conversation, (await thread.send(SentMessage("m1", "hello"))).seq


async def _end(threads: Threads, conversation: str, asked: int) -> Ended:
    async with threads.open(ANA, conversation, address=HOME, after=asked) as thread:
        end = (await _all(thread, asked))[-1]
        assert isinstance(end, Ended)
        return end


async def test_each_way_to_end_is_told(threads: Threads, nats_client: Client) -> None:
    conversation, asked = await _begun(threads, "notice")
    agent = await _agent(nats_client, conversation)
    notice = SystemMessage(message_id="s", text="sorry", code="DEADLINE", turn_id=agent.begin(asked), basis=asked)
    await agent.append(ChatKind.SYSTEM, notice, "s")
    end = await _end(threads, conversation, asked)
    assert end.message is not None
    assert (end.outcome, end.message.code) == (ExchangeEnd.NOTICE, "DEADLINE")

    conversation, asked = await _begun(threads, "stopped")
    async with threads.open(ANA, conversation, address=HOME, after=asked) as thread:
        await thread.cancel(asked)
    assert (await _end(threads, conversation, asked)).outcome is ExchangeEnd.CANCELLED

    conversation, asked = await _begun(threads, "people")
    agent = await _agent(nats_client, conversation)
    person = Owner(kind=OwnerKind.HUMAN, operator_id="olga", name="Olga")
    await agent.append(ChatKind.OWNER, OwnerChanged(owner=person, by="olga"), "o")
    end = await _end(threads, conversation, asked)
    assert (end.outcome, end.owner) == (ExchangeEnd.HANDED_OFF, person)
    spoken = OperatorMessage(message_id="p", client_message_id="p", text="I am here", operator_id="olga", name="Olga")
    await agent.append(ChatKind.OPERATOR, spoken, "p")
    end = await _end(threads, conversation, asked)
    assert end.message is not None
    assert (end.outcome, end.message.text) == (ExchangeEnd.PERSON_REPLIED, "I am here")


async def test_a_newer_message_of_the_same_person_brings_the_answer_of_both(
    threads: Threads, nats_client: Client
) -> None:
    conversation, asked = await _begun(threads, "burst")
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        second = await thread.send(SentMessage("m2", "and this"))
    await agent.answer(second.seq, "Both")
    end = await _end(threads, conversation, asked)
    assert end.message is not None
    assert (end.outcome, end.message.text) == (ExchangeEnd.ANSWERED, "Both")


async def test_an_answer_to_an_older_message_does_not_end_it(threads: Threads, nats_client: Client) -> None:
    conversation, first = await _begun(threads, "late")
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        second = await thread.send(SentMessage("m2", "and this"))
        telling = asyncio.create_task(_all(thread, second.seq))
        await agent.answer(first, "the first")
        await agent.answer(second.seq, "the second")
        told = await telling
    texts = [event.message.text for event in told if isinstance(event, ws.MessageFrame | Ended) and event.message]
    assert texts == ["the first", "the second"]
    assert isinstance(told[-1], Ended)


async def test_names_belong_to_their_user_and_company(threads: Threads, gateway: GatewayUnderTest) -> None:
    other = TokenCaller("ana", "user", "globex", "free", 4e9)
    names = {await threads.conversation_named(who, door, "1") for who in (ANA, BOB, other) for door in ("a", "b")}
    assert len(names) == 6
    conversation, _ = await _begun(threads, "mine")
    issued = gateway.gateway.chat.access.new_conversation(ANA)
    for mine in (conversation, issued):
        assert await threads.conversation_named(ANA, "x", mine) == mine
        for stranger in (BOB, other):
            with pytest.raises(RefusedError):
                await threads.conversation_named(stranger, "x", mine)
            with pytest.raises(RefusedError):
                await threads.own_conversation(stranger, mine)
    for bad in ("*", "a.b", "", "x" * 65):
        with pytest.raises(RefusedError):
            await threads.own_conversation(ANA, bad)


async def test_nothing_stays_open_and_a_gateway_that_goes_says_so(threads: Threads, gateway: GatewayUnderTest) -> None:
    conversation, asked = await _begun(threads, "drained")
    async with threads.open(ANA, conversation, address=HOME, after=asked) as thread:
        telling = asyncio.create_task(_all(thread, asked))
        await eventually(lambda: gateway.gateway.chat.hub.conversations == 1)
        threads.drain()
        with pytest.raises(UnavailableError):
            await telling
    assert gateway.gateway.chat.hub.conversations == 0


async def test_a_message_reads_its_conversation_once(threads: Threads, nats_client: Client) -> None:
    conversation = await threads.conversation_named(ANA, "test", "read once")
    asked: list[bytes] = []

    async def count(message: Msg) -> None:
        asked.append(message.data)

    await subscribe(nats_client, "$JS.API.DIRECT.GET.CHAT", count)
    await nats_client.flush()
    async with threads.open(ANA, conversation, address=HOME) as thread:
        stored = await thread.send(SentMessage("m1", "hello"))
        agent = await _agent(nats_client, conversation)
        await agent.answer(stored.seq, "Hello")
        await _all(thread, stored.seq)
    assert len([one for one in asked if conversation.encode() in one]) == 1


async def test_the_next_request_in_a_conversation_finds_it_open_and_as_it_stands(
    threads: Threads, nats_client: Client, gateway: GatewayUnderTest
) -> None:
    conversation, hub = await threads.conversation_named(ANA, "test", "again"), gateway.gateway.chat.hub
    agent = await _agent(nats_client, conversation)
    async with threads.open(ANA, conversation, address=HOME) as thread:
        asked = (await thread.send(SentMessage("m1", "hello"))).seq
    assert (hub.conversations, hub.is_open("acme", conversation)) == (0, True)
    answered = (await agent.answer(asked, "Hello")).seq

    def heard() -> bool:
        standing = hub.log_state("acme", conversation)
        return standing is not None and standing.snapshot.basis == asked

    await eventually(heard)
    read: list[bytes] = []
    await listen(nats_client, "$JS.API.DIRECT.GET.>", lambda message: read.append(message.data))
    await nats_client.flush()
    async with threads.open(ANA, await threads.own_conversation(ANA, conversation), address=HOME) as thread:
        assert (thread.seq, hub.conversations) == (answered, 1)
        asked = (await thread.send(SentMessage("m2", "and now?"))).seq
        await agent.answer(asked, "Again")
        assert isinstance((await _all(thread, asked))[-1], Ended)
    await nats_client.flush()
    assert not [one for one in read if conversation.encode() in one]
    assert threads.was_just_sent(ANA, conversation, asked)
    assert not threads.was_just_sent(BOB, conversation, asked)
    with pytest.raises(RefusedError):
        await threads.own_conversation(BOB, conversation)
    read_elsewhere = turn.Receipt(actor="user", up_to_seq=asked)
    await gateway.gateway.chat.bus.publish_presence(
        "acme", conversation, PresenceKind.RECEIPT, read_elsewhere, "elsewhere"
    )
    await eventually(lambda: not threads.was_just_sent(ANA, conversation, asked))
    gateway.gateway.chat.recovery.pause_all()
    assert hub.log_state("acme", conversation) is None


async def test_a_conversation_that_lingers_is_let_go() -> None:
    closed: list[str] = []

    async def follow(company: str, conversation: str) -> Unsubscribe:
        async def unsubscribe() -> None:
            closed.append(f"{company}/{conversation}")

        return unsubscribe

    hub = Hub(follow, linger=0.01)
    for conversation, linger in (("known", True), ("unknown", True), ("socket", False)):
        attachment = Attachment(FrameQueue(), "acme", conversation)
        await hub.join(attachment)
        if conversation != "unknown":
            hub.keep_state("acme", conversation, EpochSnapshot(Snapshot(), "e"))
        await hub.leave(attachment, linger=linger)
    assert closed == ["acme/unknown", "acme/socket"]
    await eventually(lambda: "acme/known" in closed)
    assert not hub.is_open("acme", "known")
