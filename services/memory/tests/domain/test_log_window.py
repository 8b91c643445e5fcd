"""What of a conversation's log may go."""

import json

import pytest

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    VisitorMessage,
)
from memory.domain.log_window import MIN_AGE_SECONDS, LogCut, cuts, kept_seconds

Data = VisitorMessage | AssistantMessage | OperatorMessage | OwnerChanged


def fact(kind: ChatKind, seq: int, data: Data) -> Fact:
    event = CloudEvent(id=f"e{seq}", source="/test", type=kind.event_type, data=data)
    return Fact.of(kind, seq, json.loads(event.to_json()))


def visitor(seq: int) -> Fact:
    return fact(ChatKind.VISITOR, seq, VisitorMessage(message_id=f"m{seq}", client_message_id=f"c{seq}", text="?"))


def answer(seq: int, basis: int) -> Fact:
    data = AssistantMessage(message_id=f"a{seq}", turn_id="t", basis=basis, text="!", model="m", config_version=1)
    return fact(ChatKind.ASSISTANT, seq, data)


def owner(seq: int, kind: OwnerKind) -> Fact:
    return fact(ChatKind.OWNER, seq, OwnerChanged(owner=Owner(kind=kind), by="op"))


def operator(seq: int) -> Fact:
    return fact(ChatKind.OPERATOR, seq, OperatorMessage(message_id=f"o{seq}", text=".", operator_id="op"))


def snapshot(*facts: Fact) -> Snapshot:
    return snapshot_of(facts)


def test_a_conversation_that_lies_still_goes_as_a_whole() -> None:
    still = snapshot(visitor(5), answer(6, 5))
    assert not still.unanswered
    assert cuts(still, None, 100) == [LogCut(None, 100)]
    given_back = snapshot(visitor(5), answer(6, 5), owner(8, OwnerKind.AI))
    assert cuts(given_back, None, 100) == [LogCut(None, 100)]


def test_a_humans_conversation_keeps_its_snapshot() -> None:
    theirs = snapshot(visitor(5), answer(6, 5), owner(7, OwnerKind.HUMAN), operator(8))
    kept = {(cut.kind, cut.before) for cut in cuts(theirs, None, 100)}
    assert kept == {
        (ChatKind.VISITOR, 5),
        (ChatKind.ASSISTANT, 6),
        (ChatKind.OWNER, 7),
        (ChatKind.OPERATOR, 8),
    }


def test_what_waits_stays_from_its_first_message_on() -> None:
    waiting = snapshot(visitor(9), answer(3, 2))
    assert waiting.unanswered
    assert set(cuts(waiting, 5, 100)) == {LogCut(ChatKind.VISITOR, 5), LogCut(ChatKind.ASSISTANT, 3)}


def test_a_conversation_that_goes_on_keeps_its_snapshot_and_what_is_young() -> None:
    going_on = snapshot(visitor(150), answer(160, 150))
    assert set(cuts(going_on, None, 100)) == {LogCut(ChatKind.VISITOR, 100), LogCut(ChatKind.ASSISTANT, 100)}


def test_a_fact_of_an_unknown_kind_at_its_end_keeps_the_snapshot() -> None:
    assert LogCut(None, 100) not in cuts(snapshot_of([visitor(5), answer(6, 5)], 120), None, 100)


@pytest.mark.parametrize(("fill", "days"), [(0.1, 30), (0.6, 1)])
def test_a_log_that_fills_keeps_less(fill: float, days: int) -> None:
    assert kept_seconds(30 * MIN_AGE_SECONDS, fill) == days * MIN_AGE_SECONDS
