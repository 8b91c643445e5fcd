"""Conversations that wait for a person in vain."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY
from pymongo import AsyncMongoClient
from redis.asyncio import Redis

from contracts.channels import ChatKind
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.conversation import ChatData, Fact, Snapshot, snapshot_of
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    CancelReason,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.office_hours import DAYS, OfficeHours
from contracts.owner_rpc import OWNER_SEEN, OwnerSeenRequest
from contracts.rpc import CONVERSATIONS, ConversationsRequest, ConversationState
from contracts.testing import closed_for_days
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo import asked
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.redis_looks import RedisLooks
from memory.application.handoffs import Handoffs
from memory.domain.handoff import (
    IDLE,
    Absence,
    Decision,
    GiveBack,
    LogPlace,
    NothingToDo,
    Notify,
    NotYet,
    Patience,
    QueuePlace,
    decide,
    unreplied,
)
from memory.ports import LogClock
from memory.testing import Replica, Servers, Writer, replica
from runtime.connection import connect
from runtime.conversation import ConversationLog
from runtime.direct import StoredFact
from runtime.mongo import Document
from runtime.publisher import Publisher
from runtime.settings import NatsSettings
from runtime.testing import eventually

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TIMEOUT = Patience(handoff=timedelta(seconds=120), idle=timedelta(minutes=15))
WAITING = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1")
GIVEN_BACK = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="memory", reason="handoff_timeout")


HERE = LogPlace("acme", "c1", 1)


def fact(kind: ChatKind, seq: int, data: ChatData, age: float = 0) -> Fact:
    event = CloudEvent(id=f"e{seq}", source="/test", type=kind.event_type, data=data)
    return Fact.of(kind, seq, json.loads(event.to_json()), NOW.timestamp() - age)


def visitor(seq: int, locale: str | None = None) -> Fact:
    data = VisitorMessage(message_id=f"m{seq}", client_message_id="c", text="a person, please", locale=locale)
    return fact(ChatKind.VISITOR, seq, data)


def test_a_conversation_is_given_back_when_its_time_is_over_and_not_before() -> None:
    for age, expected in ((0, NotYet), (119.9, NotYet), (120, GiveBack), (9_000, GiveBack)):
        decision = decide(snapshot_of([fact(ChatKind.OWNER, 7, WAITING, age)]), HERE, TIMEOUT, NOW)
        assert isinstance(decision, expected)


def test_nothing_is_due_where_somebody_has_come_or_nobody_was_asked_for() -> None:
    for owner in (OwnerKind.HUMAN, OwnerKind.AI):
        data = OwnerChanged(owner=Owner(kind=owner, operator_id="op1"), by="op1")
        assert decide(snapshot_of([fact(ChatKind.OWNER, 7, data, 999)]), HERE, TIMEOUT, NOW) == NothingToDo()
    assert decide(snapshot_of([visitor(3)]), HERE, TIMEOUT, NOW) == NothingToDo()
    assert decide(Snapshot(), HERE, TIMEOUT, NOW) == NothingToDo()


def test_the_notice_follows_with_the_snapshots_basis_so_that_what_is_unanswered_stays_due() -> None:
    old = fact(ChatKind.SYSTEM, 3, SystemMessage(message_id="s", text="x", code="INTERNAL", basis=2))
    facts = [visitor(5), old, fact(ChatKind.OWNER, 7, GIVEN_BACK)]
    snapshot = snapshot_of(facts)
    decision = decide(snapshot, HERE, TIMEOUT, NOW)
    assert isinstance(decision, Notify)
    assert decision.basis == 2
    notice = SystemMessage(message_id="n", text="x", code="HANDOFF_TIMEOUT", basis=2)
    snapshot = snapshot_of([*facts, fact(ChatKind.SYSTEM, 8, notice)])
    assert decide(snapshot, HERE, TIMEOUT, NOW) == NothingToDo()


def test_the_notice_speaks_the_visitors_language() -> None:
    for locale, words in ((None, "asistente automático"), ("es-MX", "asistente"), ("en-US", "automatic assistant")):
        snapshot = snapshot_of([visitor(1, locale), fact(ChatKind.OWNER, 7, GIVEN_BACK)])
        decision = decide(snapshot, HERE, TIMEOUT, NOW)
        assert isinstance(decision, Notify)
        assert words in decision.text


TAKEN = OwnerChanged(owner=Owner(kind=OwnerKind.HUMAN, operator_id="op1"), by="op1")
MINUTE = 60.0


def test_an_owner_loses_a_visitor_who_has_waited_all_the_while_that_they_did_not_look() -> None:
    def decided(taken: float, waits: float, looked: float | None) -> Decision:
        snapshot = snapshot_of([fact(ChatKind.OWNER, 7, TAKEN, taken * MINUTE)])
        at = NOW - timedelta(minutes=looked) if looked is not None else None
        return decide(snapshot, HERE, TIMEOUT, NOW, Absence(NOW - timedelta(minutes=waits), at))

    assert isinstance(decided(60, 16, None), GiveBack)
    assert isinstance(decided(60, 16, 30), GiveBack)
    # Has just taken it, the visitor has only just written, or it was read a moment ago.
    for present in ((14, 16, None), (60, 14, None), (60, 30, 14)):
        assert isinstance(decided(*present), NotYet)
    assert decide(snapshot_of([fact(ChatKind.OWNER, 7, TAKEN, 9e9)]), HERE, TIMEOUT, NOW, None) == NothingToDo()


def test_a_reply_is_an_answer_and_not_a_run_that_was_cancelled_for_the_person() -> None:
    taken = [fact(ChatKind.OWNER, 4, TAKEN), visitor(3)]
    assert unreplied(snapshot_of(taken)) == (0, 3)
    cancelled = RunCancelled(turn_id="t", basis=3, by="agent", reason=CancelReason.TAKEN_OVER)
    assert unreplied(snapshot_of([*taken, fact(ChatKind.CANCEL, 5, cancelled)])) == (0, 3)
    wrote = OperatorMessage(message_id="o", text="hello", operator_id="op1")
    assert unreplied(snapshot_of([*taken, fact(ChatKind.OPERATOR, 5, wrote)])) is None
    beside = AssistantMessage(message_id="a", turn_id="t", basis=3, text="x", model="m", config_version=1)
    assert unreplied(snapshot_of([*taken, fact(ChatKind.ASSISTANT, 5, beside)])) is None
    assert unreplied(snapshot_of([visitor(3)])) is None


CLOSED = replace(TIMEOUT, hours=OfficeHours.model_validate(closed_for_days()))


def test_outside_office_hours_a_wait_ends_in_a_message_for_the_team_and_not_in_nothing() -> None:
    now = datetime.now(UTC)
    waits = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="agent", reason="asked", language="en")
    snapshot = snapshot_of([visitor(3), Fact.of(ChatKind.OWNER, 7, _event(waits), now.timestamp() - 121)])
    decision = decide(snapshot, HERE, CLOSED, now)
    assert isinstance(decision, GiveBack)
    assert (decision.to, decision.reason) == (OwnerKind.AI, "handoff_timeout")
    assert decision.opens_at is not None
    assert decision.opens_at > now


@pytest.mark.parametrize(
    ("by", "reason", "told"),
    [("v1", "asked", True), ("agent", "budget_spent", True), ("memory", "owner_idle", True), ("agent", "asked", False)],
)
def test_a_message_taken_is_told_once_by_whoever_does_not_speak_itself(by: str, reason: str, told: bool) -> None:
    opens = NOW + timedelta(hours=9)
    data = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by=by, reason=reason, opens_at=opens)
    facts = [visitor(3, "en"), fact(ChatKind.OWNER, 7, data)]
    decision = decide(snapshot_of(facts), HERE, CLOSED, NOW)
    if not told:
        assert decision == NothingToDo()
        return
    assert isinstance(decision, Notify)
    assert (decision.code, decision.basis) == ("OFFICE_CLOSED", 0)
    assert "today at 21:00 (UTC time)" in decision.text
    notice = SystemMessage(message_id="n", text="x", code="OFFICE_CLOSED")
    assert decide(snapshot_of([*facts, fact(ChatKind.SYSTEM, 8, notice)]), HERE, CLOSED, NOW) == NothingToDo()


def _event(data: ChatData) -> dict[str, Any]:
    return json.loads(CloudEvent(id="e7", source="/test", type=ChatKind.OWNER.event_type, data=data).to_json())


async def test_a_message_taken_stays_with_those_who_wait_until_a_person_comes(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=0.1))
        config = {"companyId": "acme", "officeHours": closed_for_days()}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.visitor("a person, please", locale="en")
        asked = OwnerChanged(
            owner=Owner(kind=OwnerKind.AI), by="v1", reason="asked", opens_at=datetime.now(UTC) + timedelta(days=3)
        )
        await writer.put(ChatKind.OWNER, asked, "asked-1")

        async def told() -> bool:
            return kinds(await facts_of(one, writer))[-1] == "message.system.v1"

        await eventually(told, 20)
        await writer.visitor("are you still there?", locale="en")
        await writer.assistant("I am", 4)
        await writer.visitor("thanks", locale="en")

        async def listed(state: ConversationState) -> list[tuple[str, str, str | None]]:
            request = ConversationsRequest(company_id=writer.company, state=state)
            reply = await one.rpc.call(CONVERSATIONS, request, deadline=20)
            return [(v.state, v.owner.kind, v.hand_over.reason if v.hand_over else None) for v in reply.items]

        assert await listed("needs_human") == [("needs_human", "ai", "asked")]
        assert await listed("ai") == []
        await writer.owner(OwnerKind.HUMAN, "op1")
        assert await listed("needs_human") == []
        await writer.owner(OwnerKind.AI)
        assert await listed("needs_human") == []
        assert len([kind for kind in kinds(await facts_of(one, writer)) if kind == "message.system.v1"]) == 1


def test_who_waits_within_the_hours_is_told_until_when_somebody_is_there() -> None:
    hours = OfficeHours.model_validate(
        {"timezone": "America/Bogota", "hours": [{"days": list(DAYS), "opens": "06:00", "closes": "18:30"}]}
    )
    snapshot = snapshot_of([visitor(3, "es"), fact(ChatKind.OWNER, 7, WAITING, 1)])
    decision = decide(snapshot, HERE, replace(TIMEOUT, hours=hours), NOW, standing=QueuePlace(2, timedelta(minutes=4)))
    assert isinstance(decision, Notify)
    for words in ("número 2", "esperar 4 minutos", "hasta hoy a las 18:30 (hora de Bogota)"):
        assert words in decision.text


async def facts_of(on: Replica, writer: Writer) -> list[StoredFact]:
    log = ConversationLog(on.client)
    return await log.read(writer.company, writer.conversation, 0, (await log.bounds()).last_seq)


def kinds(facts: Sequence[StoredFact]) -> list[str]:
    return [fact.subject.split(".", 3)[3] for fact in facts]


class In:
    """The log's clock in a while."""

    def __init__(self, ahead: timedelta) -> None:
        self.ahead = ahead

    async def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


async def nobody_knows(company: str) -> None:
    """Nobody has waited in this company yet."""


async def sweepers(
    stack: AsyncExitStack, servers: Servers, count: int, clock: LogClock | None = None
) -> list[Handoffs]:
    """As many sweeps as there would be replicas, each with connections of its own, ten minutes ahead."""
    found: list[Handoffs] = []
    clock = clock or In(timedelta(minutes=10))
    for _ in range(count):
        client = await connect(NatsSettings(url=servers.nats), name="sweeper")
        stack.push_async_callback(client.close)
        redis: Redis = Redis.from_url(servers.redis)  # pyright: ignore[reportUnknownMemberType]
        stack.push_async_callback(redis.aclose)
        mongo = await stack.enter_async_context(AsyncMongoClient[Document](servers.mongo))
        database = asked(mongo[servers.database])
        log = StreamLog(ConversationLog(client), Publisher(client))
        await log.refresh()
        found.append(
            Handoffs(
                conversations=MongoConversations(database["conversations"]),
                companies=MongoCompanies(database["companies"]),
                log=log,
                looks=RedisLooks(redis),
                clock=clock,
                usual=nobody_knows,
            )
        )
    return found


async def test_many_replicas_give_a_conversation_back_exactly_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=3600))
        writers = [Writer(one.client) for _ in range(30)]
        for writer in writers:
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
        taken = writers.pop()
        await taken.owner(OwnerKind.HUMAN, "op1")
        sweeps = await sweepers(stack, servers, 4)
        total = 0

        async def counted() -> bool:
            await sweeps[0].due()
            return REGISTRY.get_sample_value("nexus_handovers_waiting") == len(writers)

        await eventually(counted, 60)
        assert (REGISTRY.get_sample_value("nexus_handover_oldest_seconds") or 0) > 0

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


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


async def owners(on: Replica, writer: Writer) -> list[OwnerKind]:
    return [
        CloudEvent[OwnerChanged].model_validate_json(each.event).data.owner.kind
        for each in await facts_of(on, writer)
        if each.subject.endswith(ChatKind.OWNER)
    ]


async def swept(sweeps: Sequence[Handoffs], writer: Writer) -> int:
    """What the replicas append once the projection has the conversation on its list."""
    total = 0

    async def seen() -> bool:
        nonlocal total
        listed = await asyncio.gather(*(each.due() for each in sweeps))
        found = all(any(conversation == writer.conversation for _, conversation, _ in due) for due in listed)
        total += sum(await asyncio.gather(*(each.sweep() for each in sweeps)))
        return found or total > 0

    await eventually(seen, 60)
    return total


async def test_an_owner_who_goes_away_loses_the_visitor_once_and_both_are_told(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        # Long enough that the waiting which follows is not over in the same sweep.
        config = {"companyId": "acme", "handoffTimeoutSeconds": 3600}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.owner(OwnerKind.HUMAN, "op1")
        await writer.operator("how can I help?")
        await writer.visitor("my invoice is wrong")
        await writer.visitor("hello?")
        sweeps = await sweepers(stack, servers, 3, In(minutes(20)))
        assert await swept(sweeps, writer) == 2
        facts = await facts_of(one, writer)
        changed = CloudEvent[OwnerChanged].model_validate_json(facts[-2].event).data
        assert (changed.owner.kind, changed.by, changed.reason) == (OwnerKind.WAITING, "memory", IDLE)
        notice = CloudEvent[SystemMessage].model_validate_json(facts[-1].event).data
        assert notice.code == "OWNER_IDLE"
        # What nobody answered stays due: the operator's message alone has settled anything.
        assert notice.basis == facts[1].seq

        async def waits() -> bool:
            request = ConversationsRequest(company_id=writer.company, state="needs_human")
            reply = await one.rpc.call(CONVERSATIONS, request, deadline=20)
            return [(view.id, view.waiting_since is not None) for view in reply.items] == [(writer.conversation, True)]

        await eventually(waits, 20)
        # Nobody comes either: the AI takes it.
        later = await sweepers(stack, servers, 2, In(minutes(65)))
        assert await swept(later, writer) == 2
        assert await owners(one, writer) == [OwnerKind.HUMAN, OwnerKind.WAITING, OwnerKind.AI]


async def test_the_ai_takes_over_at_once_where_the_company_says_so(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        config = {"companyId": "acme", "ownerIdleAction": "ai", "ownerIdleMinutes": 5}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.visitor("my invoice is wrong")
        await writer.owner(OwnerKind.HUMAN, "op1")
        sweeps = await sweepers(stack, servers, 2, In(minutes(6)))
        assert await swept(sweeps, writer) == 2
        assert await owners(one, writer) == [OwnerKind.HUMAN, OwnerKind.AI]


async def test_an_owner_who_reads_or_has_nobody_waiting_keeps_the_conversation(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        read, answered = Writer(one.client), Writer(one.client)
        for writer in (read, answered):
            await writer.visitor("my invoice is wrong")
            await writer.owner(OwnerKind.HUMAN, "op1")
        await answered.operator("I have looked: it is right")
        (sweep,) = await sweepers(stack, servers, 1, In(minutes(20)))
        patience = Patience(handoff=minutes(90), idle=minutes(15))
        looks = sweep._looks  # pyright: ignore[reportPrivateUsage]
        # Somebody else's look does not count; the owner's does, as another replica has noted it.
        await looks.note("acme", read.conversation, "op2", datetime.now(UTC) + minutes(10))
        seen = OwnerSeenRequest(company_id="acme", conversation_id=answered.conversation, operator_id="op1")
        await one.rpc.call(OWNER_SEEN, seen, deadline=20)
        assert await looks.last("acme", answered.conversation, "op1") is not None
        await looks.note("acme", read.conversation, "op1", datetime.now(UTC) + minutes(10))
        for writer in (read, answered):
            assert await sweep.settle(writer.company, writer.conversation, patience) == 0
        later = await sweepers(stack, servers, 1, In(minutes(26)))
        assert await later[0].settle(read.company, read.conversation, patience) == 2
        assert await later[0].settle(answered.company, answered.conversation, patience) == 0


async def test_looks_go_with_the_visitor_who_is_deleted(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        redis: Redis = Redis.from_url(servers.redis)  # pyright: ignore[reportUnknownMemberType]
        stack.push_async_callback(redis.aclose)
        client = await connect(NatsSettings(url=servers.nats), name="eraser")
        stack.push_async_callback(client.close)
        looks, now = RedisLooks(redis), datetime.now(UTC)
        for conversation in ("c1", "c2"):
            await looks.note("acme", conversation, "op1", now)
        await CacheErasure(client, redis, ()).erase("acme", "v1", ["c1"])
        assert await looks.last("acme", "c1", "op1") is None
        assert await looks.last("acme", "c2", "op1") == now


def test_who_begins_to_wait_is_told_their_place_once_and_not_when_their_time_is_over() -> None:
    for place, locale, words in ((1, "en", "nobody before you"), (3, "en", "number 3"), (2, "es", "número 2")):
        facts = [visitor(3, locale), fact(ChatKind.OWNER, 7, WAITING, 1)]
        decision = decide(snapshot_of(facts), HERE, TIMEOUT, NOW, standing=QueuePlace(place))
        assert isinstance(decision, Notify)
        assert (decision.code, decision.basis) == ("HANDOFF_WAITING", 0)
        assert words in decision.text
        assert "2 minut" in decision.text
        notice = SystemMessage(message_id="n", text="x", code="HANDOFF_WAITING")
        told = snapshot_of([*facts, fact(ChatKind.SYSTEM, 8, notice)])
        assert isinstance(decide(told, HERE, TIMEOUT, NOW, standing=QueuePlace(place)), NotYet)
    late = snapshot_of([visitor(3), fact(ChatKind.OWNER, 7, WAITING, 121)])
    assert isinstance(decide(late, HERE, TIMEOUT, NOW, standing=QueuePlace(1)), GiveBack)


def test_the_language_of_the_hand_over_is_that_of_its_notice() -> None:
    asked = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="agent", reason="asked", language="en")
    snapshot = snapshot_of([visitor(3, "es"), fact(ChatKind.OWNER, 7, asked)])
    decision = decide(snapshot, HERE, TIMEOUT, NOW, standing=QueuePlace(1))
    assert isinstance(decision, Notify)
    assert "nobody before you" in decision.text
