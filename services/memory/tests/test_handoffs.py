"""Conversations that wait for a person in vain."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage, VisitorMessage
from contracts.rpc import COMPANY_CREATE, CompanyCreateRequest
from memory.domain.facts import ChatData, Fact
from memory.domain.handoff import GiveBack, Nothing, Notify, NotYet, decide, notice_text
from memory.domain.keys import Position
from memory.testing import Replica, Servers, Writer, replica
from runtime.conversation_log import ConversationLog
from runtime.direct import StoredFact
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


async def test_many_replicas_give_a_conversation_back_exactly_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        replicas = [await stack.enter_async_context(replica(servers, handoff_sweep=0.02)) for _ in range(3)]
        one = replicas[0]
        config = {"companyId": "acme", "handoffTimeoutSeconds": 10}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config))
        writers = [Writer(one.client) for _ in range(5)]
        for writer in writers:
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
        await writers[4].owner(OwnerKind.HUMAN, "op1")

        async def told() -> bool:
            return [len(await facts_of(one, writer)) for writer in writers[:4]] == [4] * 4

        await eventually(told, 20)
        # A human's message is projected behind everything before it, and so every sweep has seen the end.
        for writer in writers[:4]:
            await writer.operator("here I am")
            facts = await facts_of(one, writer)
            assert kinds(facts) == [
                "message.visitor.v1",
                "owner.changed.v1",
                "owner.changed.v1",
                "message.system.v1",
                "message.operator.v1",
            ]
            back = CloudEvent[OwnerChanged].model_validate_json(facts[2].event).data
            notice = CloudEvent[SystemMessage].model_validate_json(facts[3].event).data
            assert (back.owner.kind, back.by) == (OwnerKind.AI, "memory")
            assert (notice.code, notice.basis) == ("HANDOFF_TIMEOUT", 0)
        assert kinds(await facts_of(one, writers[4])) == ["message.visitor.v1", "owner.changed.v1", "owner.changed.v1"]
