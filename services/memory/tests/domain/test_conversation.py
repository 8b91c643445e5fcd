"""The fold: the same state whatever the order, however often a fact comes."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.channels import ChatKind
from contracts.conversation import ChatData
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    Page,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from memory.domain.conversation import InboxConversation, Person, fold
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition

START = datetime(2026, 5, 1, tzinfo=UTC)
NOWHERE = LogPosition(1, 0)
PEOPLE = {f"e{seq}": Person(f"person-{seq}", "visitor") for seq in range(1, 40, 3)}


def data_of(kind: ChatKind, seq: int, variant: int) -> ChatData:
    match kind:
        case ChatKind.VISITOR:
            page = Page(url=f"https://acme.example/{seq}") if variant % 2 else None
            return VisitorMessage(message_id=f"m{seq}", client_message_id=f"c{seq}", text=f"text {seq}", page=page)
        case ChatKind.ASSISTANT:
            return AssistantMessage(
                message_id=f"m{seq}", turn_id="t", basis=1, text=f"answer {seq}", model="m", config_version=1
            )
        case ChatKind.OPERATOR:
            return OperatorMessage(message_id=f"m{seq}", text="hello", operator_id="op1")
        case ChatKind.SYSTEM:
            return SystemMessage(
                message_id=f"m{seq}", text="x", code=("DEADLINE", "HANDOFF_TIMEOUT", "NOTE")[variant % 3]
            )
        case ChatKind.OWNER:
            owner = tuple(OwnerKind)[variant % 3]
            return OwnerChanged(owner=Owner(kind=owner, operator_id="op1"), by="op1")
        case ChatKind.CANCEL:
            return RunCancelled(turn_id="t", basis=1, by="v1")


def fact(kind: ChatKind, seq: int, variant: int = 0) -> LogFact:
    at = START + timedelta(minutes=seq)
    return LogFact("acme", "c1", kind, LogPosition(1, seq), f"e{seq}", at, at, data_of(kind, seq, variant), b"")


histories = st.lists(st.tuples(st.sampled_from(ChatKind), st.integers(0, 5)), min_size=1, max_size=30).map(
    lambda kinds: [fact(kind, seq, variant) for seq, (kind, variant) in enumerate(kinds, start=1)]
)


def at_rest(state: InboxConversation) -> InboxConversation:
    """The state once its projection has settled, so that only what it says is compared."""
    return fold(state, [], LogPosition(9, 0), {})


@settings(deadline=None)
@given(histories, st.integers(0, 2**32))
def test_order_does_not_matter_but_for_visits(facts: list[LogFact], seed: int) -> None:
    shuffled = list(facts)
    random.Random(seed).shuffle(shuffled)
    straight = at_rest(fold(InboxConversation("acme", "c1"), facts, NOWHERE, PEOPLE))
    mixed = at_rest(fold(InboxConversation("acme", "c1"), shuffled, NOWHERE, PEOPLE))
    compared = (
        "message_count",
        "person",
        "started_at",
        "latest",
        "last_message",
        "ownership",
        "state",
    )
    assert [getattr(mixed, name) for name in compared] == [getattr(straight, name) for name in compared]


@settings(deadline=None)
@given(histories, st.data())
def test_a_fact_that_comes_again_changes_nothing(facts: list[LogFact], data: st.DataObject) -> None:
    once = fold(InboxConversation("acme", "c1"), facts, NOWHERE, PEOPLE)
    again = data.draw(st.lists(st.sampled_from(facts)))
    assert fold(once, again, NOWHERE, PEOPLE) == once
    floor = LogPosition(1, data.draw(st.integers(0, len(facts))))
    assert at_rest(fold(fold(once, [], floor, {}), again, floor, PEOPLE)) == at_rest(once)


@settings(deadline=None)
@given(histories, st.integers(0, 29))
def test_what_is_remembered_of_taken_facts_ends_at_the_floor(facts: list[LogFact], floor: int) -> None:
    state = fold(InboxConversation("acme", "c1"), facts, LogPosition(1, floor), PEOPLE)
    assert all(position.seq > floor for position in state.taken)


def test_a_notice_of_failure_makes_it_stuck_until_somebody_answers() -> None:
    state = fold(InboxConversation("acme", "c1"), [fact(ChatKind.VISITOR, 1), fact(ChatKind.SYSTEM, 2)], NOWHERE, {})
    assert state.state == "stuck"
    assert fold(state, [fact(ChatKind.ASSISTANT, 3)], NOWHERE, {}).state == "ai"
    assert fold(state, [fact(ChatKind.OWNER, 3, 2)], NOWHERE, {}).state == "human"


def test_the_first_visitor_message_says_whose_conversation_it_is() -> None:
    facts = [fact(ChatKind.VISITOR, seq) for seq in (4, 1, 7)]
    assert fold(InboxConversation("acme", "c1"), facts, NOWHERE, PEOPLE).person == PEOPLE["e1"]


def test_silence_of_half_an_hour_begins_a_new_visit() -> None:
    facts = [fact(ChatKind.VISITOR, seq) for seq in (1, 2, 40, 50, 100)]
    assert fold(InboxConversation("acme", "c1"), facts, NOWHERE, {}).visitor_traits.profile.visits == 3


def test_a_log_made_anew_goes_on_counting() -> None:
    state = fold(InboxConversation("acme", "c1"), [fact(ChatKind.VISITOR, 9)], LogPosition(1, 9), {})
    anew = LogFact(
        "acme", "c1", ChatKind.VISITOR, LogPosition(2, 1), "other", START, START, data_of(ChatKind.VISITOR, 99, 0), b""
    )
    state = fold(state, [anew], LogPosition(2, 0), {})
    assert (state.message_count, state.last_position) == (2, LogPosition(2, 1))


def test_an_address_that_the_visitor_writes_is_where_they_can_be_answered() -> None:
    def said(seq: int, text: str) -> LogFact:
        told = fact(ChatKind.VISITOR, seq)
        assert isinstance(told.data, VisitorMessage)
        return replace(told, data=told.data.model_copy(update={"text": text}))

    facts = [said(1, "write to ana@acme.example"), said(2, "or rather to Ana.Roe+x@mail.acme.example."), said(3, "a@b")]
    for order in (facts, facts[::-1]):
        assert fold(InboxConversation("acme", "c1"), order, NOWHERE, {}).address == "Ana.Roe+x@mail.acme.example"
