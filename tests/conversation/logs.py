"""Lawful logs of a conversation, made at random: every kind of fact, each as a service would have written it."""

from datetime import UTC, datetime, timedelta

import orjson
from hypothesis import strategies as st

from contracts.channels import ChatAddress, ChatKind
from contracts.conversation import ChatData, Fact, Snapshot, snapshot_of
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    Action,
    ActionState,
    AssistantMessage,
    CancelReason,
    Chart,
    ChartPoint,
    Citation,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    Page,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)

ADDRESS = ("acme", "c1")
START = datetime(2026, 5, 1, 12, tzinfo=UTC)
CODES = ("DEADLINE", "HANDOFF_TIMEOUT", "OWNER_IDLE", "NOTE")


def at(seq: int) -> datetime:
    """When the fact at a sequence was written and stored."""
    return START + timedelta(seconds=seq, microseconds=seq)


def data_of(kind: ChatKind, seq: int, variant: int, now: Snapshot) -> ChatData:
    """What is published next in a conversation that stands at `now`: no basis is lower than the snapshot's."""
    settles = now.newest_visitor if variant % 2 else now.basis
    match kind:
        case ChatKind.VISITOR:
            page = Page(url="https://acme.example/", title="Acme") if variant % 2 else None
            role = "user" if variant % 3 else "visitor"
            return VisitorMessage(
                message_id=f"m{seq}",
                client_message_id=f"k{seq}",
                text="¿qué tal? 😀",
                role=role,
                page=page,
                principal="p.q.r",
            )
        case ChatKind.ASSISTANT:
            rich = variant % 2 == 1
            summary = Action(
                id=f"a{seq}", kind="order", state=ActionState.PENDING, summary="10 AAPL", expires_at=at(seq + 60)
            )
            chart = Chart(kind="line", symbol="AAPL", series=[ChartPoint(time="2026-05-01", close=101.25)])
            return AssistantMessage(
                message_id=f"m{seq}",
                turn_id=f"t{seq}",
                basis=max(now.newest_visitor, 1),
                text="an answer",
                citations=[Citation(url="https://acme.example/", title="Acme")] if rich else [],
                actions=[summary] if rich else [],
                charts=[chart] if rich else [],
                model="m",
                config_version=1,
            )
        case ChatKind.OPERATOR:
            name = "Ana" if variant % 2 else None
            return OperatorMessage(
                message_id=f"m{seq}", client_message_id=f"k{seq}", text="I am here", operator_id="op1", name=name
            )
        case ChatKind.SYSTEM:
            turn = f"t{seq}" if variant % 2 else None
            return SystemMessage(
                message_id=f"m{seq}", text="a notice", code=CODES[variant % len(CODES)], basis=settles, turn_id=turn
            )
        case ChatKind.OWNER:
            kinds = tuple(OwnerKind)
            owner = kinds[variant % len(kinds)]
            named = {"operator_id": "op1", "name": "Ana"} if owner is OwnerKind.HUMAN else {}
            return OwnerChanged(owner=Owner(kind=owner, **named), by="op1")
        case ChatKind.CANCEL:
            return RunCancelled(turn_id=f"t{seq}", basis=max(settles, 1), by="v1", reason=CancelReason.USER)


def published(kind: ChatKind, seq: int, data: ChatData) -> bytes:
    """The event as it travels."""
    event = CloudEvent(
        id=f"e{seq}", source="/tests", type=kind.event_type, time=at(seq), subject="/".join(ADDRESS), data=data
    )
    return event.to_json()


def log_of(kinds: list[tuple[ChatKind, int]]) -> list[tuple[ChatAddress, int, bytes]]:
    """A log: address, sequence and event of each fact. Sequences have gaps, as those of one conversation do."""
    log: list[tuple[ChatAddress, int, bytes]] = []
    facts: list[Fact] = []
    for number, (kind, variant) in enumerate(kinds, start=1):
        seq = 3 * number
        raw = published(kind, seq, data_of(kind, seq, variant, snapshot_of(facts)))
        facts.append(Fact.of(kind, seq, orjson.loads(raw), at(seq).timestamp()))
        log.append((ChatAddress(*ADDRESS, kind), seq, raw))
    return log


KINDS = st.lists(st.tuples(st.sampled_from(ChatKind), st.integers(0, 11)), max_size=14)
LOGS = KINDS.map(log_of)
EVERY_KIND = [(kind, variant) for variant in range(4) for kind in ChatKind]
"""Each kind of fact after each other, in several forms."""
