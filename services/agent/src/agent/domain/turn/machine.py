"""The state machine that handles one delivery, in pure steps. The shell performs its effects and feeds back events.

    ReadConversation ─► ConversationRead ─► decide: Ack | Retry | Probe | Save
    Saved ─► CallModel ─► ModelReplied ─► Save          until there is an answer, or a failure to report
         ├─► RunCalls ─► ToolsFinished ─► Save
         └─► Append ─► Stored ─► Ack
                    └► refused or unknown ─► ReadConversation

Decision, prompt and fence all come from one reading of the log; two readings are never mixed. After a refused append,
or one with an unknown outcome, the log is read again and the decision made anew.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from agent.domain.turn import effects
from agent.domain.turn.journal import (
    Journal,
    open_journal,
    with_failure,
    with_pause,
    with_reply,
    with_results,
    with_stop,
)
from agent.domain.turn.policy import AnswerPolicy, StopReason, due_at
from contracts.conversation import Snapshot
from contracts.ids import turn_id

MAX_ROUNDS = 6
"""Decisions in one delivery; then it is returned, so that no handler spins on a busy conversation."""
MAX_ATTEMPTS = 8
"""Times that a turn is opened. A turn that kills its agent each time ends in a visible error."""
MAX_FAILURES = 3
"""Rounds in which no provider answered; then the visitor gets an error."""
RETRY_SECONDS = 0.3
"""Seconds after which a delivery that lost a race is delivered again."""
DUE_TOLERANCE_SECONDS = 0.02
"""Seconds before it is due that a message may be handled: a returned delivery takes about as long to come again, and
the bus's clock is only known to within the round trip."""
MAX_WAIT_SECONDS = 60.0
"""Seconds of the longest single wait of a delivery, whatever a clock says."""


class Phase(Enum):
    """What the turn machine is doing or waiting for."""

    DECIDING = auto()
    PROBING = auto()
    DRIVING = auto()
    STOPPING = auto()
    PAUSING = auto()
    APPENDING = auto()
    CHECKING = auto()
    REPORTING = auto()


@dataclass(frozen=True, slots=True)
class DeliveryState:
    """One delivery that is being handled. `newest_seq`: the newest sequence known to exist, which every later snapshot
    must include."""

    trigger: effects.Trigger
    company: str
    conversation: str
    time_limit: float
    newest_seq: int
    phase: Phase = Phase.DECIDING
    rounds: int = 0
    view: Snapshot | None = None
    journal: Journal | None = None
    revision: int = 0


def begin(
    trigger: effects.Trigger, company: str, conversation: str, *, time_limit: float
) -> tuple[DeliveryState, effects.Effect]:
    """Returns the initial state and effect of a delivery. `time_limit`: seconds that a turn may take."""
    state = DeliveryState(trigger, company, conversation, time_limit, newest_seq=trigger.seq)
    return state, effects.ReadConversation(trigger.seq)


def advance(
    state: DeliveryState, event: effects.Event, policy: AnswerPolicy, now: float
) -> tuple[DeliveryState, effects.Effect]:
    """Returns the next state and effect. `policy` and `now` (the bus's clock): of this moment, not of the turn's
    start."""
    match event:
        case effects.ConversationRead():
            return _decide(state, event, policy, now)
        case effects.DriverProbed(driven=True):
            return _retry(state, RETRY_SECONDS, "driven elsewhere")
        case effects.DriverProbed():
            return _open_turn(state, policy, now)
        case effects.Saved(revision=revision):
            return _after_save(state, revision, policy, now)
        case effects.SaveRefused():
            return _retry(state, RETRY_SECONDS, "another agent drives")
        case effects.ModelReplied(reply=reply):
            journal = _journal(state)
            last = journal.iterations >= policy.max_iterations
            return _save(state, with_reply(journal, reply, last=last), Phase.DRIVING, policy)
        case effects.ToolsFinished(results=results, seq=seq) if seq:
            # A person was asked for: the log as it is now decides whether the turn continues.
            handed = with_stop(with_results(_journal(state), results), StopReason.TAKEN_OVER)
            return _save(replace(state, newest_seq=max(state.newest_seq, seq)), handed, Phase.STOPPING, policy)
        case effects.ToolsFinished(results=results):
            return _save(state, with_results(_journal(state), results), Phase.DRIVING, policy)
        case effects.Interrupted(reason=reason, seq=seq):
            stopped = with_stop(_journal(state), reason)
            return _save(replace(state, newest_seq=max(state.newest_seq, seq)), stopped, Phase.STOPPING, policy)
        case effects.AskFailed(code=code, detail=detail, final=final):
            journal = _journal(state)
            if final or journal.failures + 1 >= MAX_FAILURES:
                return _save(state, with_failure(journal, code, detail), Phase.DRIVING, policy)
            return _save(state, with_pause(journal), Phase.PAUSING, policy)
        case effects.Stored():
            journal = _journal(state)
            if journal.failure is not None:
                return replace(state, phase=Phase.REPORTING), effects.ReportFailure(journal)
            return state, effects.Ack("answered")
        case effects.AppendRefused() | effects.AppendUnknown():
            # It may be somebody else's fact, or our answer whose acknowledgement was lost: only the log can tell.
            reported_seq = event.seq if isinstance(event, effects.AppendRefused) else 0
            newest_seq = max(state.newest_seq, _snapshot(state).seq, reported_seq)
            return replace(state, phase=Phase.CHECKING, newest_seq=newest_seq), effects.ReadConversation(newest_seq)
        case effects.Reported():
            # A company's limit is no fault: it wakes nobody.
            return state, effects.Ack("budget spent" if _journal(state).failure == "BUDGET_SPENT" else "failed")


def _decide(
    state: DeliveryState, event: effects.ConversationRead, policy: AnswerPolicy, now: float
) -> tuple[DeliveryState, effects.Effect]:
    view, stored = event.view, event.journal
    if view.seq < state.newest_seq:
        return state, effects.ReadConversation(state.newest_seq)
    if state.rounds >= MAX_ROUNDS:
        return _retry(state, RETRY_SECONDS, "busy conversation")
    own_journal = state.journal if state.phase is Phase.CHECKING else None
    if own_journal is not None and own_journal.forced and policy.answers(view.owner) and view.basis < own_journal.basis:
        state = replace(state, phase=Phase.APPENDING, rounds=state.rounds + 1, newest_seq=view.seq, view=view)
        return state, effects.Append(own_journal, view.seq)
    state = replace(
        state,
        phase=Phase.DECIDING,
        rounds=state.rounds + 1,
        newest_seq=view.seq,
        view=view,
        journal=stored,
        revision=event.revision,
    )
    settled = view.basis >= (state.trigger.seq if state.trigger.visitor else view.newest_visitor)
    if settled:
        if stored is not None and stored.failure is not None and stored.basis == view.basis:
            # The agent may have died between the visible message and the report.
            return replace(state, phase=Phase.REPORTING), effects.ReportFailure(stored)
        return state, effects.Ack("settled")
    if state.trigger.visitor and view.newest_visitor > state.trigger.seq:
        return state, effects.Ack("the newest message's handler owns the turn")
    if not policy.answers(view.owner):
        return state, effects.Ack("not ours to answer")
    if stored is not None and _is_copy(stored, view):
        return state, effects.Ack("a copy of what was answered")
    remaining = due_at(view, policy) - now
    if remaining > DUE_TOLERANCE_SECONDS:
        return _retry(state, min(remaining, MAX_WAIT_SECONDS), "not due")
    if (
        stored is not None
        and not stored.released
        and stored.basis >= view.unanswered_from
        and _is_left_to_driver(stored, view)
    ):
        # Taking a turn from a living driver would pay the model twice, or let a typist starve a forced answer.
        return replace(state, phase=Phase.PROBING), effects.Probe(stored.turn_id)
    return _open_turn(state, policy, now)


def _is_copy(stored: Journal, view: Snapshot) -> bool:
    """Whether the only unanswered message is a later copy of an answered one, whose publisher was not sure that it had
    arrived. A message whose turn failed is published again to be answered after all."""
    is_only_message = view.first_unanswered == view.newest_visitor and view.basis >= stored.basis
    return is_only_message and view.newest_message in stored.has_answered


def _is_left_to_driver(stored: Journal, view: Snapshot) -> bool:
    """Whether an open turn is left to its driver, if that is alive. Any agent may append a prepared answer to the
    newest message; a forced answer to an earlier one is appended by its driver, whatever was written since."""
    return stored.forced if stored.basis != view.newest_visitor else not stored.ended


def _open_turn(state: DeliveryState, policy: AnswerPolicy, now: float) -> tuple[DeliveryState, effects.Effect]:
    view = _snapshot(state)
    turn = turn_id(state.company, state.conversation, view.newest_visitor)
    journal = open_journal(state.journal, view, turn_id=turn, now=now, time_limit=state.time_limit)
    if journal.ended:
        return replace(state, journal=journal, phase=Phase.APPENDING), effects.Append(journal, view.seq)
    if journal.attempts > MAX_ATTEMPTS:
        journal = with_failure(journal, "INTERNAL", f"given up after {MAX_ATTEMPTS} attempts")
    return _save(state, journal, Phase.DRIVING, policy)


def _after_save(
    state: DeliveryState, revision: int, policy: AnswerPolicy, now: float
) -> tuple[DeliveryState, effects.Effect]:
    journal, view = _journal(state), _snapshot(state)
    if journal.ended and state.phase is Phase.DRIVING and policy.answers(view.owner):
        return replace(state, revision=revision, phase=Phase.APPENDING), effects.Append(journal, view.seq)
    state = replace(state, revision=revision)
    match state.phase:
        case Phase.STOPPING:
            return replace(state, phase=Phase.DECIDING), effects.ReadConversation(state.newest_seq)
        case Phase.PAUSING:
            return _retry(state, float(2 ** (journal.failures - 1)), "no provider answers")
        case _:
            pass
    if not policy.answers(view.owner):
        return replace(state, phase=Phase.DECIDING), effects.ReadConversation(state.newest_seq)
    if now >= journal.deadline:
        return _save(state, with_failure(journal, "DEADLINE", "the turn's time is over"), Phase.DRIVING, policy)
    if journal.unsettled:
        return state, effects.RunCalls(journal, view)
    return state, _call_model(journal, view, policy)


def _save(
    state: DeliveryState, journal: Journal, phase: Phase, policy: AnswerPolicy
) -> tuple[DeliveryState, effects.Effect]:
    asks = phase is Phase.DRIVING and not journal.ended and not journal.unsettled
    then = _call_model(journal, _snapshot(state), policy) if asks else None
    return replace(state, journal=journal, phase=phase), effects.Save(journal, state.revision, then)


def _call_model(journal: Journal, view: Snapshot, policy: AnswerPolicy) -> effects.CallModel:
    return effects.CallModel(journal, view, last=journal.iterations >= policy.max_iterations)


def _retry(state: DeliveryState, seconds: float, why: str) -> tuple[DeliveryState, effects.Effect]:
    return state, effects.Retry(seconds, why)


def _snapshot(state: DeliveryState) -> Snapshot:
    if state.view is None:
        raise RuntimeError("no snapshot yet: ReadConversation comes first")
    return state.view


def _journal(state: DeliveryState) -> Journal:
    if state.journal is None:
        raise RuntimeError("no journal is open yet: Save comes first")
    return state.journal
