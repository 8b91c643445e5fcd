"""Single decisions of the state machine: when a message is due, what is forced, who yields to whom, when it ends."""

from dataclasses import replace

import orjson
import pytest

from agent.domain.turn import effects
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall, TokenCount, TurnCall, TurnStep, open_journal
from agent.domain.turn.journal_wire import journal_from_wire, journal_to_wire
from agent.domain.turn.machine import MAX_ATTEMPTS, DeliveryState, advance, begin
from agent.domain.turn.policy import AnswerPolicy, StopReason, due_at, stop_reason
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.events.chat import OwnerKind
from contracts.events.turn import TurnJournal
from contracts.ids import turn_id

NOW = 1_000.0
POLICY = AnswerPolicy(enabled=True, delay=1.0, max_iterations=2)
WRITTEN = Snapshot(1, 1, NOW - 2, basis=0, owner=OwnerKind.AI, first_unanswered_at=NOW - 2)
JOURNAL = Journal(turn_id("c", "c1", 1), basis=1, started_at=NOW - 2, deadline=NOW + 100, attempts=1)


def looked(
    view: Snapshot = WRITTEN,
    journal: Journal | None = None,
    *,
    trigger: effects.Trigger | None = None,
    now: float = NOW,
) -> tuple[DeliveryState, effects.Effect]:
    """What is decided from a first look."""
    handling, effect = begin(trigger or effects.Trigger(1, visitor=True), "c", "c1", time_limit=120.0)
    assert effect == effects.ReadConversation(handling.trigger.seq)
    return advance(handling, effects.ConversationRead(view, journal, 5 if journal else 0), POLICY, now)


@pytest.mark.parametrize(
    ("newest_at", "first_at", "delay", "due"),
    [
        (100.0, 100.0, 1.0, 101.0),
        (107.5, 100.0, 1.0, 108.0),  # the burst has lasted long enough
        (100.0, 100.0, 30.0, 130.0),
        (125.0, 100.0, 30.0, 130.0),
        (100.0, 100.0, 0.0, 100.0),
    ],
)
def test_a_message_is_due_after_the_delay_but_a_burst_does_not_wait_for_ever(
    newest_at: float, first_at: float, delay: float, due: float
) -> None:
    view = Snapshot(3, 3, newest_at, 0, OwnerKind.AI, first_at)
    assert due_at(view, AnswerPolicy(enabled=True, delay=delay)) == due


def test_what_is_not_due_comes_again_after_the_rest() -> None:
    _, effect = looked(replace(WRITTEN, newest_visitor_at=NOW - 0.25, first_unanswered_at=NOW - 0.25))
    assert effect == effects.Retry(0.75, "not due")


@pytest.mark.parametrize(("early", "handed_back"), [(0.01, False), (0.03, True)])
def test_what_is_due_in_a_moment_is_handled_now(early: float, handed_back: bool) -> None:
    at = NOW - POLICY.delay + early
    _, effect = looked(replace(WRITTEN, newest_visitor_at=at, first_unanswered_at=at))
    assert isinstance(effect, effects.Retry) is handed_back


def test_a_clock_that_is_an_hour_behind_makes_nobody_wait_an_hour() -> None:
    _, effect = looked(replace(WRITTEN, newest_visitor_at=NOW + 3600, first_unanswered_at=NOW + 3600))
    assert isinstance(effect, effects.Retry)
    assert effect.seconds <= 60


@pytest.mark.parametrize(
    ("enabled", "owner", "beside", "answers"),
    [
        (False, OwnerKind.AI, True, False),
        (True, OwnerKind.AI, False, True),
        (True, OwnerKind.HUMAN, True, True),
        (True, OwnerKind.HUMAN, False, False),
        (True, OwnerKind.WAITING, False, False),
    ],
)
def test_when_it_answers(enabled: bool, owner: OwnerKind, beside: bool, answers: bool) -> None:
    assert AnswerPolicy(enabled=enabled, beside_human=beside).answers(owner) is answers


def written(seq: int, message: str, *, basis: int) -> Snapshot:
    """A conversation whose newest visitor message is the only one that waits."""
    visitor = Fact(ChatKind.VISITOR, seq, NOW - 60, event={"data": {"messageId": message}})
    answer = Fact(ChatKind.ASSISTANT, 2, NOW - 90, basis=basis)
    return replace(snapshot_of([answer, visitor]), first_unanswered=seq, first_unanswered_at=NOW - 60)


ANSWERED = replace(JOURNAL, answer="29 USD.", message="m1")


@pytest.mark.parametrize("journal", [ANSWERED, replace(ANSWERED, message="m2", answered=("m0", "m1"))])
def test_a_late_copy_of_what_was_answered_is_not_answered_again(journal: Journal) -> None:
    _, effect = looked(written(3, "m1", basis=1), journal, trigger=effects.Trigger(3, visitor=True))
    assert effect == effects.Ack("a copy of what was answered")


def test_the_journal_remembers_the_last_answered_messages() -> None:
    journal = None
    for number in range(12):
        view = written(3 * number + 3, f"m{number}", basis=max(3 * number, 1))
        journal = open_journal(journal, view, turn_id=f"t{number}", now=NOW, time_limit=9.0)
        journal = replace(journal, answer=None if number == 10 else "29 USD.")
    assert journal is not None
    assert journal_from_wire(journal_to_wire(journal)).has_answered == (*(f"m{n}" for n in range(3, 10)), "m11")


@pytest.mark.parametrize(
    ("view", "journal"),
    [
        (written(3, "m2", basis=1), ANSWERED),
        (replace(written(4, "m1", basis=1), first_unanswered=3), ANSWERED),
        (written(3, "m1", basis=1), replace(ANSWERED, answer=None, failure="LLM_UNAVAILABLE")),
        (written(3, "m1", basis=1), replace(ANSWERED, message=None)),
    ],
    ids=["another message", "another waits before it", "its turn failed", "an older journal"],
)
def test_whatever_else_waits_is_answered(view: Snapshot, journal: Journal) -> None:
    _, effect = looked(view, journal, trigger=effects.Trigger(view.newest_visitor, visitor=True))
    assert isinstance(effect, effects.Save)
    assert effect.journal.message == view.newest_message


def test_an_older_message_leaves_the_turn_to_the_newest_ones_handler() -> None:
    _, effect = looked(replace(WRITTEN, seq=2, newest_visitor=2))
    assert isinstance(effect, effects.Ack)


def test_the_turn_is_journalled_before_the_model_is_called() -> None:
    handling, effect = looked()
    assert isinstance(effect, effects.Save)
    assert (effect.journal.basis, effect.journal.attempts, effect.revision) == (1, 1, 0)
    handling, effect = advance(handling, effects.Saved(6), POLICY, NOW)
    assert isinstance(effect, effects.CallModel)
    assert not effect.last
    assert handling.revision == 6


def test_a_tool_call_is_journalled_with_its_derived_id_before_it_goes_out() -> None:
    handling, _ = looked()
    handling, _ = advance(handling, effects.Saved(6), POLICY, NOW)
    reply = ModelAnswer(calls=(RequestedCall("look", "{}"), RequestedCall("look", '{"a":1}')), usage=TokenCount(5, 2))
    handling, effect = advance(handling, effects.ModelReplied(reply), POLICY, NOW)
    assert isinstance(effect, effects.Save)
    turn = turn_id("c", "c1", 1)
    assert [call.call_id for call in effect.journal.calls] == [f"{turn}-0-0", f"{turn}-0-1"]
    handling, effect = advance(handling, effects.Saved(7), POLICY, NOW)
    assert isinstance(effect, effects.RunCalls)
    handling, effect = advance(handling, effects.ToolsFinished({f"{turn}-0-0": "1", f"{turn}-0-1": "2"}), POLICY, NOW)
    assert isinstance(effect, effects.Save)
    assert effect.journal.unsettled == ()
    assert effect.journal.usage == TokenCount(5, 2)


def test_an_answer_that_is_journalled_needs_no_model() -> None:
    _, effect = looked(journal=replace(JOURNAL, answer="Hello."))
    assert effect == effects.Append(replace(JOURNAL, answer="Hello.", attempts=2), fence=1)


def test_a_living_driver_keeps_its_turn_and_a_dead_one_loses_it() -> None:
    handling, effect = looked(journal=JOURNAL)
    assert effect == effects.Probe(JOURNAL.turn_id)
    assert isinstance(advance(handling, effects.DriverProbed(True), POLICY, NOW)[1], effects.Retry)
    assert isinstance(advance(handling, effects.DriverProbed(False), POLICY, NOW)[1], effects.Save)


def test_a_newer_message_waits_for_a_forced_turn_that_is_driven() -> None:
    view = replace(WRITTEN, seq=3, newest_visitor=3)
    _, effect = looked(view, replace(JOURNAL, forced=True), trigger=effects.Trigger(3, visitor=True))
    assert isinstance(effect, effects.Probe)
    _, effect = looked(view, JOURNAL, trigger=effects.Trigger(3, visitor=True))
    assert isinstance(effect, effects.Save)


def test_a_successor_counts_the_cancellation_once() -> None:
    view = replace(WRITTEN, seq=3, newest_visitor=3)
    for journal in (replace(JOURNAL, cancels=1, released=True), JOURNAL):
        _, effect = looked(view, journal, trigger=effects.Trigger(3, visitor=True))
        assert isinstance(effect, effects.Save)
        assert effect.journal.cancels == 1
        assert not effect.journal.forced


@pytest.mark.parametrize("why", ["cancelled twice", "waited long"])
def test_a_turn_is_forced_after_two_cancellations_or_eight_seconds(why: str) -> None:
    view = replace(WRITTEN, first_unanswered_at=NOW - (9 if why == "waited long" else 2))
    journal = replace(JOURNAL, cancels=2, released=True) if why == "cancelled twice" else None
    _, effect = looked(view, journal)
    assert isinstance(effect, effects.Save)
    assert effect.journal.forced


def test_a_forced_turn_yields_to_vetoes_alone() -> None:
    def reason(fact: Fact, *, forced: bool) -> StopReason | None:
        return stop_reason(fact, basis=1, forced=forced, policy=POLICY)

    visitor, human = Fact(ChatKind.VISITOR, 2), Fact(ChatKind.OWNER, 2, owner=OwnerKind.HUMAN)
    assert reason(visitor, forced=False) is StopReason.SUPERSEDED
    assert reason(visitor, forced=True) is None
    assert reason(human, forced=True) is StopReason.TAKEN_OVER
    assert reason(Fact(ChatKind.OWNER, 2), forced=False) is None
    assert reason(Fact(ChatKind.CANCEL, 2, basis=1), forced=True) is StopReason.USER
    assert reason(Fact(ChatKind.CANCEL, 2, basis=0), forced=True) is None


def test_what_interrupts_must_be_in_the_next_view() -> None:
    handling, _ = looked()
    handling, _ = advance(handling, effects.Saved(6), POLICY, NOW)
    handling, effect = advance(handling, effects.Interrupted(StopReason.TAKEN_OVER, 9), POLICY, NOW)
    assert isinstance(effect, effects.Save)
    assert effect.journal.released
    assert effect.journal.cancels == 0
    _, effect = advance(handling, effects.Saved(7), POLICY, NOW)
    assert effect == effects.ReadConversation(9)


def test_a_refused_journal_means_that_another_agent_drives() -> None:
    handling, _ = looked()
    assert isinstance(advance(handling, effects.SaveRefused(), POLICY, NOW)[1], effects.Retry)


def test_at_its_deadline_a_turn_ends_in_a_system_message_that_is_reported() -> None:
    handling, effect = looked(journal=replace(JOURNAL, deadline=NOW - 1, released=True))
    assert isinstance(effect, effects.Save)
    handling, effect = advance(handling, effects.Saved(6), POLICY, NOW)
    assert isinstance(effect, effects.Save)
    assert effect.journal.failure == "DEADLINE"
    handling, effect = advance(handling, effects.Saved(7), POLICY, NOW)
    assert isinstance(effect, effects.Append)
    handling, effect = advance(handling, effects.Stored(2), POLICY, NOW)
    assert isinstance(effect, effects.ReportFailure)
    assert advance(handling, effects.Reported(), POLICY, NOW)[1] == effects.Ack("failed")


def test_a_spent_budget_does_not_count_as_a_failed_turn() -> None:
    handling, _ = looked(journal=replace(JOURNAL, failure="BUDGET_SPENT"))
    handling, effect = advance(handling, effects.Stored(2), POLICY, NOW)
    assert isinstance(effect, effects.ReportFailure)
    assert advance(handling, effects.Reported(), POLICY, NOW)[1] == effects.Ack("budget spent")


def test_a_conversation_given_back_has_its_whole_time_again() -> None:
    old = replace(JOURNAL, deadline=NOW - 500, released=True, attempts=5)
    _, effect = looked(replace(WRITTEN, seq=4, owner_seq=4), old, trigger=effects.Trigger(4, visitor=False))
    assert isinstance(effect, effects.Save)
    assert effect.journal.deadline == NOW + 120
    assert effect.journal.attempts == 1


def test_a_turn_that_kills_its_agents_is_given_up() -> None:
    _, effect = looked(journal=replace(JOURNAL, attempts=MAX_ATTEMPTS, released=True))
    assert isinstance(effect, effects.Save)
    assert effect.journal.failure == "INTERNAL"


def test_without_a_model_it_waits_longer_each_time_and_then_says_so() -> None:
    journal: Journal | None = None
    waits: list[effects.Effect] = []
    for _ in range(3):
        handling, effect = looked(journal=journal)
        handling, effect = advance(handling, effects.Saved(6), POLICY, NOW)
        handling, effect = advance(handling, effects.AskFailed("LLM_UNAVAILABLE", "down"), POLICY, NOW)
        assert isinstance(effect, effects.Save)
        journal = effect.journal
        handling, effect = advance(handling, effects.Saved(7), POLICY, NOW)
        waits.append(effect)
    assert waits[:2] == [effects.Retry(1.0, "no provider answers"), effects.Retry(2.0, "no provider answers")]
    assert isinstance(waits[2], effects.Append)


def test_the_basis_is_the_greatest_of_all_that_settles() -> None:
    facts = [
        Fact(ChatKind.VISITOR, 9),
        Fact(ChatKind.ASSISTANT, 5, basis=3),
        Fact(ChatKind.SYSTEM, 6, basis=4),
        Fact(ChatKind.OPERATOR, 8),
        Fact(ChatKind.CANCEL, 7, basis=2),
    ]
    assert snapshot_of(facts).basis == 8
    assert snapshot_of(facts[:2]).basis == 3
    assert snapshot_of(facts).unanswered


def test_a_journal_survives_the_wire_and_keeps_its_contract() -> None:
    call = TurnCall("t-0-0", "look", '{"a":1}', "call_0", '{"success":true,"data":{}}')
    step = TurnStep(1, "Let me see.", (call,), TokenCount(3, 1), "m", "groq")
    journal = replace(
        JOURNAL, steps=(step,), usage=TokenCount(3, 1), model="m", provider="groq", answer="Ok.", forced=True
    )
    wire = TurnJournal.model_validate_json(orjson.dumps(journal_to_wire(journal)))
    assert journal_from_wire(wire.to_wire()) == journal


@pytest.mark.parametrize(("before", "inherited"), [(1, False), (90, True)], ids=["settled", "unanswered"])
def test_in_a_trimmed_log_a_successor_inherits_only_what_is_unanswered(before: int, inherited: bool) -> None:
    """What has settled message 1 is gone with it: the basis is 0, and the first message that waits is 90."""
    view = Snapshot(100, 100, NOW, basis=0, owner=OwnerKind.AI, first_unanswered_at=NOW - 1, first_unanswered=90)
    order = TurnStep(before, "", (TurnCall("t-0-0", "create_order", "{}", result="{}"),))
    previous = Journal("t", before, started_at=NOW - 9, deadline=NOW, steps=(order,), released=True)
    opened = open_journal(previous, view, turn_id="u", now=NOW, time_limit=120.0)
    assert (opened.steps == (order,)) is inherited
