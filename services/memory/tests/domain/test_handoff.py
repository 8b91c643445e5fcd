"""When a conversation that waits for a person goes on without one, and what is said then."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.channels import ChatKind
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
    Wait,
)
from contracts.office_hours import DAYS, OfficeHours
from contracts.testing import closed_for_days
from memory.application.handoffs import fact_of
from memory.domain.handoff import (
    Absence,
    Decision,
    GiveBack,
    HandoffPolicy,
    LogPlace,
    NothingToDo,
    Notify,
    NotYet,
    QueuePlace,
    decide,
    unreplied_range,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TIMEOUT = HandoffPolicy(handoff=timedelta(seconds=120), idle=timedelta(minutes=15))
WAITING = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1")
GIVEN_BACK = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="memory", reason="handoff_timeout")


HERE = LogPlace("acme", "c1", 1)


def fact(kind: ChatKind, seq: int, data: ChatData, age: float = 0) -> Fact:
    event = CloudEvent(id=f"e{seq}", source="/test", type=kind.event_type, data=data)
    return Fact.of(kind, seq, json.loads(event.to_json()), NOW.timestamp() - age)


def _event(data: ChatData) -> dict[str, Any]:
    return json.loads(CloudEvent(id="e7", source="/test", type=ChatKind.OWNER.event_type, data=data).to_json())


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


def test_nothing_is_given_back_to_an_assistant_that_is_switched_off_nor_promised_of_it() -> None:
    off = replace(TIMEOUT, ai=False, idle_to=OwnerKind.AI)
    asked = [visitor(5, "en"), fact(ChatKind.OWNER, 7, WAITING, 9_000)]
    told = decide(snapshot_of(asked), HERE, off, NOW, queue_place=QueuePlace(1))
    assert isinstance(told, Notify)
    assert (told.code, "assistant" in told.text, "still in the queue" in told.text) == ("HANDOFF_TIMEOUT", False, True)
    notice = SystemMessage(message_id="n", text="x", code="HANDOFF_TIMEOUT", basis=0)
    assert decide(snapshot_of([*asked, fact(ChatKind.SYSTEM, 8, notice)]), HERE, off, NOW) == NothingToDo()
    # Until the office closes, when the message is taken.
    open_until = {"timezone": "UTC", "hours": [{"days": [*DAYS], "opens": "08:00", "closes": "18:00"}]}
    hours = replace(off, hours=OfficeHours.model_validate(open_until))
    told = snapshot_of([*asked, fact(ChatKind.SYSTEM, 8, notice)])
    assert decide(told, HERE, hours, NOW) == NotYet(NOW.replace(hour=18))
    taken = decide(told, HERE, hours, NOW.replace(hour=18))
    assert isinstance(taken, GiveBack)
    assert taken.opens_at == NOW.replace(day=2, hour=8)
    # Back to the assistant once it is switched on again, with the question still due.
    assert isinstance(decide(snapshot_of([*asked, fact(ChatKind.SYSTEM, 8, notice)]), HERE, TIMEOUT, NOW), GiveBack)
    # An owner who has gone is followed by another person.
    gone = snapshot_of([visitor(3), fact(ChatKind.OWNER, 7, TAKEN, 9_000)])
    back = decide(gone, HERE, off, NOW, Absence(Wait(seq=3, since=NOW - timedelta(hours=1))))
    assert isinstance(back, GiveBack)
    assert back.to is OwnerKind.WAITING


TAKEN = OwnerChanged(owner=Owner(kind=OwnerKind.HUMAN, operator_id="op1"), by="op1")
MINUTE = 60.0


def test_an_owner_loses_a_visitor_who_has_waited_all_the_while_that_they_did_not_look() -> None:
    def decided(taken: float, waits: float, looked: float | None) -> Decision:
        snapshot = snapshot_of([fact(ChatKind.OWNER, 7, TAKEN, taken * MINUTE)])
        at = NOW - timedelta(minutes=looked) if looked is not None else None
        return decide(snapshot, HERE, TIMEOUT, NOW, Absence(Wait(seq=3, since=NOW - timedelta(minutes=waits)), at))

    assert isinstance(decided(60, 16, None), GiveBack)
    assert isinstance(decided(60, 16, 30), GiveBack)
    # Has just taken it, the visitor has only just written, or it was read a moment ago.
    for present in ((14, 16, None), (60, 14, None), (60, 30, 14)):
        assert isinstance(decided(*present), NotYet)
    assert decide(snapshot_of([fact(ChatKind.OWNER, 7, TAKEN, 9e9)]), HERE, TIMEOUT, NOW, None) == NothingToDo()


@pytest.mark.parametrize(
    ("taken", "looked", "is_given_back"),
    [(10, None, True), (10, 6, True), (4, None, False), (10, 4, False)],
    ids=["left", "left after looking", "has come back to take it", "has come back to look"],
)
def test_no_visitor_waits_for_an_owner_who_has_left_the_team(
    taken: float, looked: float | None, is_given_back: bool
) -> None:
    policy = replace(TIMEOUT, left_at={"op1": NOW - timedelta(minutes=5)})
    snapshot = snapshot_of([fact(ChatKind.OWNER, 7, TAKEN, taken * MINUTE)])
    wait = Wait(seq=3, since=NOW - timedelta(minutes=1))
    absence = Absence(wait, NOW - timedelta(minutes=looked) if looked is not None else None)
    assert isinstance(decide(snapshot, HERE, policy, NOW, absence), GiveBack) == is_given_back
    others = replace(policy, left_at={"op2": NOW})
    assert isinstance(decide(snapshot, HERE, others, NOW, absence), NotYet)


def test_a_reply_is_an_answer_and_not_a_run_that_was_cancelled_for_the_person() -> None:
    taken = [fact(ChatKind.OWNER, 4, TAKEN), visitor(3)]
    assert unreplied_range(snapshot_of(taken)) == (0, 3)
    cancelled = RunCancelled(turn_id="t", basis=3, by="agent", reason=CancelReason.TAKEN_OVER)
    assert unreplied_range(snapshot_of([*taken, fact(ChatKind.CANCEL, 5, cancelled)])) == (0, 3)
    wrote = OperatorMessage(message_id="o", text="hello", operator_id="op1")
    assert unreplied_range(snapshot_of([*taken, fact(ChatKind.OPERATOR, 5, wrote)])) is None
    beside = AssistantMessage(message_id="a", turn_id="t", basis=3, text="x", model="m", config_version=1)
    assert unreplied_range(snapshot_of([*taken, fact(ChatKind.ASSISTANT, 5, beside)])) is None
    assert unreplied_range(snapshot_of([visitor(3)])) is None


CLOSED = replace(TIMEOUT, hours=OfficeHours.model_validate(closed_for_days()))


def test_who_waits_or_leaves_a_message_is_promised_nothing_of_an_assistant_that_is_off() -> None:
    taken = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="v1", opens_at=NOW + timedelta(days=1))
    for data, patience in ((WAITING, TIMEOUT), (taken, CLOSED)):
        for locale, promise in (("en", "I will"), ("es", " yo")):
            snapshot = snapshot_of([visitor(5, locale), fact(ChatKind.OWNER, 7, data)])
            for ai in (True, False):
                said = decide(snapshot, HERE, replace(patience, ai=ai), NOW, queue_place=QueuePlace(1))
                assert isinstance(said, Notify)
                assert (promise in said.text) is ai, said.text


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


def test_who_waits_within_the_hours_is_told_until_when_somebody_is_there() -> None:
    hours = OfficeHours.model_validate(
        {"timezone": "America/Bogota", "hours": [{"days": list(DAYS), "opens": "06:00", "closes": "18:30"}]}
    )
    snapshot = snapshot_of([visitor(3, "es"), fact(ChatKind.OWNER, 7, WAITING, 1)])
    decision = decide(
        snapshot, HERE, replace(TIMEOUT, hours=hours), NOW, queue_place=QueuePlace(2, timedelta(minutes=4))
    )
    assert isinstance(decision, Notify)
    for words in ("número 2", "esperar 4 minutos", "termina hoy a las 18:30 (hora de Bogotá)"):
        assert words in decision.text


def test_who_begins_to_wait_is_told_their_place_once_and_not_when_their_time_is_over() -> None:
    for place, locale, words in ((1, "en", "next in line"), (3, "en", "number 3"), (2, "es", "número 2")):
        facts = [visitor(3, locale), fact(ChatKind.OWNER, 7, WAITING, 1)]
        decision = decide(snapshot_of(facts), HERE, TIMEOUT, NOW, queue_place=QueuePlace(place))
        assert isinstance(decision, Notify)
        assert (decision.code, decision.basis) == ("HANDOFF_WAITING", 0)
        assert words in decision.text
        assert "2 minut" in decision.text
        notice = SystemMessage(message_id="n", text="x", code="HANDOFF_WAITING")
        told = snapshot_of([*facts, fact(ChatKind.SYSTEM, 8, notice)])
        assert isinstance(decide(told, HERE, TIMEOUT, NOW, queue_place=QueuePlace(place)), NotYet)
    late = snapshot_of([visitor(3), fact(ChatKind.OWNER, 7, WAITING, 121)])
    assert isinstance(decide(late, HERE, TIMEOUT, NOW, queue_place=QueuePlace(1)), GiveBack)


def test_the_language_of_the_hand_over_is_that_of_its_notice() -> None:
    asked = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="agent", reason="asked", language="en")
    snapshot = snapshot_of([visitor(3, "es"), fact(ChatKind.OWNER, 7, asked)])
    decision = decide(snapshot, HERE, TIMEOUT, NOW, queue_place=QueuePlace(1))
    assert isinstance(decision, Notify)
    assert "next in line" in decision.text


def test_who_asked_before_writing_a_word_hears_in_their_language_that_nobody_came() -> None:
    asked = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1", reason="asked", language="en")
    decision = decide(snapshot_of([fact(ChatKind.OWNER, 7, asked, 121)]), HERE, TIMEOUT, NOW)
    appended = fact_of(decision)
    assert appended is not None
    assert isinstance(appended.data, OwnerChanged)
    notice = decide(snapshot_of([fact(appended.kind, 8, appended.data)]), HERE, TIMEOUT, NOW)
    assert isinstance(notice, Notify)
    assert "automatic assistant" in notice.text
