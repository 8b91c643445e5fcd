"""Conversations that wait for a person in vain."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from pymongo import AsyncMongoClient

from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage, VisitorMessage
from memory.adapters.chat_log import ChatLog
from memory.adapters.mongo import Document
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.application.handoffs import Handoffs
from memory.domain.facts import ChatData, Fact
from memory.domain.handoff import GiveBack, Nothing, Notify, NotYet, decide, notice_text
from memory.domain.keys import Position
from memory.testing import Replica, Servers, Writer, replica
from runtime.connection import connect
from runtime.conversation_log import ConversationLog
from runtime.direct import StoredFact
from runtime.publishing import Publisher
from runtime.settings import NatsSettings
from runtime.testing import eventually

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TIMEOUT = timedelta(seconds=120)
WAITING = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1")
GIVEN_BACK = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="memory", reason="handoff_timeout")


def fact(kind: ChatKind, seq: int, data: ChatData, age: float = 0) -> Fact:
    at = NOW - timedelta(seconds=age)
    return Fact("acme", "c1", kind, Position(1, seq), f"e{seq}", at, at, data, b"")


def visitor(seq: int, locale: str | None = None) -> Fact:
    data = VisitorMessage(message_id=f"m{seq}", client_message_id="c", text="a person, please", locale=locale)
    return fact(ChatKind.VISITOR, seq, data)


def test_a_conversation_is_given_back_when_its_time_is_over_and_not_before() -> None:
    for age, expected in ((0, NotYet), (119.9, NotYet), (120, GiveBack), (9_000, GiveBack)):
        decision = decide({ChatKind.OWNER: fact(ChatKind.OWNER, 7, WAITING, age)}, TIMEOUT, NOW)
        assert isinstance(decision, expected)


def test_nothing_is_due_where_somebody_has_come_or_nobody_was_asked_for() -> None:
    for owner in (OwnerKind.HUMAN, OwnerKind.AI):
        data = OwnerChanged(owner=Owner(kind=owner, operator_id="op1"), by="op1")
        assert decide({ChatKind.OWNER: fact(ChatKind.OWNER, 7, data, 999)}, TIMEOUT, NOW) == Nothing()
    assert decide({ChatKind.VISITOR: visitor(3)}, TIMEOUT, NOW) == Nothing()
    assert decide({}, TIMEOUT, NOW) == Nothing()


def test_the_notice_follows_with_the_snapshots_basis_so_that_what_is_unanswered_stays_due() -> None:
    old = fact(ChatKind.SYSTEM, 3, SystemMessage(message_id="s", text="x", code="INTERNAL", basis=2))
    snapshot = {
        ChatKind.VISITOR: visitor(5),
        ChatKind.SYSTEM: old,
        ChatKind.OWNER: fact(ChatKind.OWNER, 7, GIVEN_BACK),
    }
    decision = decide(snapshot, TIMEOUT, NOW)
    assert isinstance(decision, Notify)
    assert decision.basis == 2
    notice = SystemMessage(message_id="n", text="x", code="HANDOFF_TIMEOUT", basis=2)
    snapshot[ChatKind.SYSTEM] = fact(ChatKind.SYSTEM, 8, notice)
    assert decide(snapshot, TIMEOUT, NOW) == Nothing()


def test_the_notice_speaks_the_visitors_language() -> None:
    assert "asistente automático" in notice_text({ChatKind.VISITOR: visitor(1)})
    assert "asistente automático" in notice_text({ChatKind.VISITOR: visitor(1, "es-MX")})
    assert "automatic assistant" in notice_text({ChatKind.VISITOR: visitor(1, "en-US")})


async def facts_of(on: Replica, writer: Writer) -> list[StoredFact]:
    log = ConversationLog(on.client)
    return await log.read(writer.company, writer.conversation, 0, (await log.bounds()).last_seq)


def kinds(facts: Sequence[StoredFact]) -> list[str]:
    return [fact.subject.split(".", 3)[3] for fact in facts]


class InAnHour:
    """The log's clock when everybody has waited long enough."""

    async def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(hours=1)


async def sweepers(stack: AsyncExitStack, servers: Servers, count: int) -> list[Handoffs]:
    """As many sweeps as there would be replicas, each with connections of its own, an hour ahead."""
    found: list[Handoffs] = []
    for _ in range(count):
        client = await connect(NatsSettings(url=servers.nats), name="sweeper")
        stack.push_async_callback(client.close)
        database = (await stack.enter_async_context(AsyncMongoClient[Document](servers.mongo)))[servers.database]
        log = ChatLog(ConversationLog(client), Publisher(client))
        await log.refresh()
        found.append(
            Handoffs(
                conversations=MongoConversations(database["conversations"]),
                companies=MongoCompanies(database["companies"]),
                log=log,
                clock=InAnHour(),
            )
        )
    return found


async def test_many_replicas_give_a_conversation_back_exactly_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        writers = [Writer(one.client) for _ in range(30)]
        for writer in writers:
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
        taken = writers.pop()
        await taken.owner(OwnerKind.HUMAN, "op1")
        sweeps = await sweepers(stack, servers, 4)
        total = 0

        async def all_told() -> bool:
            nonlocal total
            total += sum(await asyncio.gather(*(each.sweep() for each in sweeps)))
            return total >= 2 * len(writers) and not await sweeps[0].due()

        await eventually(all_told, 60)
        assert total == 2 * len(writers)
        for writer in writers:
            facts = await facts_of(one, writer)
            assert kinds(facts)[1:] == ["owner.changed.v1", "owner.changed.v1", "message.system.v1"]
            back = CloudEvent[OwnerChanged].model_validate_json(facts[2].event).data
            notice = CloudEvent[SystemMessage].model_validate_json(facts[3].event).data
            assert (back.owner.kind, back.by) == (OwnerKind.AI, "memory")
            assert (notice.code, notice.basis) == ("HANDOFF_TIMEOUT", 0)
        assert kinds(await facts_of(one, taken)) == ["message.visitor.v1", "owner.changed.v1", "owner.changed.v1"]


async def test_a_person_who_comes_in_the_same_moment_keeps_the_conversation(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        (sweep,) = await sweepers(stack, servers, 1)
        for _ in range(30):
            writer = Writer(one.client)
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
            await asyncio.gather(
                sweep.settle(writer.company, writer.conversation, TIMEOUT), writer.owner(OwnerKind.HUMAN, "op1")
            )
            facts = await facts_of(one, writer)
            owners = [
                CloudEvent[OwnerChanged].model_validate_json(each.event).data.owner.kind
                for each in facts
                if each.subject.endswith(ChatKind.OWNER)
            ]
            # Either nobody had come yet when it was given back, and the person took it after that; or it was not.
            assert owners in ([OwnerKind.WAITING, OwnerKind.HUMAN], [OwnerKind.WAITING, OwnerKind.AI, OwnerKind.HUMAN])
