"""The state machine that handles one delivery, in pure steps. The shell performs its effects and feeds back events.

    ReadConversation ─► ConversationRead ─► decide: Ack | Retry | Probe | Save
    Saved ─► CallModel ─► ModelReplied ─► Save          until there is an answer, or a failure to report
         ├─► RunCalls ─► ToolsFinished ─► Save
         └─► Append ─► Stored ─► Ack
                    └► refused or unknown ─► ReadConversation

Decision, prompt and fence all come from one reading of the log; two are never mixed. After a refused append, or one
whose outcome is unknown, the log is read again and decided anew.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from agent.domain.turn.effects import (
    Ack,
    Append,
    AppendRefused,
    AppendUnknown,
    AskFailed,
    CallModel,
    ConversationRead,
    DriverProbed,
    Effect,
    Event,
    Interrupted,
    ModelReplied,
    Probe,
    ReadConversation,
    Reported,
    ReportFailure,
    Retry,
    RunCalls,
    Save,
    Saved,
    SaveRefused,
    Stored,
    ToolsFinished,
    Trigger,
)
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
"""Decisions in one delivery; then it is handed back, so that no handler spins on a busy conversation."""
MAX_ATTEMPTS = 8
"""Times that a turn is opened: one that kills its agent each time ends in a visible error."""
MAX_FAILURES = 3
"""Rounds in which no provider answered; then the visitor is told."""
SOON = 0.3
"""Seconds after which a delivery that lost a race comes again."""
EARLY = 0.02
"""Seconds before its time that a message is handled: a delivery handed back takes about as long to come again, and the
bus's clock is known no better than the way to it and back."""
LONGEST_WAIT = 60.0
"""The longest single wait of a delivery in seconds, whatever a clock says."""


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
    """One delivery that is being handled. `seen` is the newest sequence known to exist, which every further view must
    reach."""

    trigger: Trigger
    company: str
    conversation: str
    time_limit: float
    seen: int
    phase: Phase = Phase.DECIDING
    rounds: int = 0
    view: Snapshot | None = None
    journal: Journal | None = None
    revision: int = 0


def begin(trigger: Trigger, company: str, conversation: str, *, time_limit: float) -> tuple[DeliveryState, Effect]:
    """The start of every delivery. `time_limit`: seconds that a turn may take."""
    return DeliveryState(trigger, company, conversation, time_limit, seen=trigger.seq), ReadConversation(trigger.seq)


def advance(h: DeliveryState, event: Event, policy: AnswerPolicy, now: float) -> tuple[DeliveryState, Effect]:
    """The next effect. `policy` and `now` (the bus's clock) are those of this moment, not of the turn's start."""
    match event:
        case ConversationRead():
            return _looked(h, event, policy, now)
        case DriverProbed(driven=True):
            return _later(h, SOON, "driven elsewhere")
        case DriverProbed():
            return _open(h, policy, now)
        case Saved(revision=revision):
            return _saved(h, revision, policy, now)
        case SaveRefused():
            return _later(h, SOON, "another agent drives")
        case ModelReplied(reply=reply):
            journal = _driven(h)[0]
            last = journal.iterations >= policy.max_iterations
            return _save(h, with_reply(journal, reply, last=last), Phase.DRIVING, policy)
        case ToolsFinished(results=results, seq=seq) if seq:
            # A person was asked for: whether the turn goes on is for the log as it is now to say.
            handed = with_stop(with_results(_driven(h)[0], results), StopReason.TAKEN_OVER)
            return _save(replace(h, seen=max(h.seen, seq)), handed, Phase.STOPPING, policy)
        case ToolsFinished(results=results):
            return _save(h, with_results(_driven(h)[0], results), Phase.DRIVING, policy)
        case Interrupted(reason=reason, seq=seq):
            stopped = with_stop(_driven(h)[0], reason)
            return _save(replace(h, seen=max(h.seen, seq)), stopped, Phase.STOPPING, policy)
        case AskFailed(code=code, detail=detail, final=final):
            journal = _driven(h)[0]
            if final or journal.failures + 1 >= MAX_FAILURES:
                return _save(h, with_failure(journal, code, detail), Phase.DRIVING, policy)
            return _save(h, with_pause(journal), Phase.PAUSING, policy)
        case Stored():
            journal = _driven(h)[0]
            if journal.failure is not None:
                return replace(h, phase=Phase.REPORTING), ReportFailure(journal)
            return h, Ack("answered")
        case AppendRefused() | AppendUnknown():
            # It may be somebody else's fact or one's own answer whose acknowledgement was lost: only the log can tell.
            told = event.seq if isinstance(event, AppendRefused) else 0
            seen = max(h.seen, _driven(h)[1].seq, told)
            return replace(h, phase=Phase.CHECKING, seen=seen), ReadConversation(seen)
        case Reported():
            return h, Ack("failed")


def _looked(
    h: DeliveryState, event: ConversationRead, policy: AnswerPolicy, now: float
) -> tuple[DeliveryState, Effect]:
    view, found = event.view, event.journal
    if view.seq < h.seen:
        return h, ReadConversation(h.seen)
    if h.rounds >= MAX_ROUNDS:
        return _later(h, SOON, "busy conversation")
    mine = h.journal if h.phase is Phase.CHECKING else None
    if mine is not None and mine.forced and policy.answers(view.owner) and view.basis < mine.basis:
        h = replace(h, phase=Phase.APPENDING, rounds=h.rounds + 1, seen=view.seq, view=view)
        return h, Append(mine, view.seq)
    h = replace(
        h,
        phase=Phase.DECIDING,
        rounds=h.rounds + 1,
        seen=view.seq,
        view=view,
        journal=found,
        revision=event.revision,
    )
    settled = view.basis >= (h.trigger.seq if h.trigger.visitor else view.newest_visitor)
    if settled:
        if found is not None and found.failure is not None and found.basis == view.basis:
            # Its teller may have died between the visible message and the report.
            return replace(h, phase=Phase.REPORTING), ReportFailure(found)
        return h, Ack("settled")
    if h.trigger.visitor and view.newest_visitor > h.trigger.seq:
        return h, Ack("the newest message's handler owns the turn")
    if not policy.answers(view.owner):
        return h, Ack("not ours to answer")
    rest = due_at(view, policy) - now
    if rest > EARLY:
        return _later(h, min(rest, LONGEST_WAIT), "not due")
    if found is not None and not found.released and found.basis >= view.unanswered_from and _hands_off(found, view):
        # Taking a turn from a living driver would pay the model twice, or let a typist starve a forced answer.
        return replace(h, phase=Phase.PROBING), Probe(found.turn_id)
    return _open(h, policy, now)


def _hands_off(found: Journal, view: Snapshot) -> bool:
    """Whether an open turn is its driver's, if that lives: a prepared answer to the newest message may be appended by
    anybody, that of an earlier, forced turn is appended by its driver whatever was written since."""
    return found.forced if found.basis != view.newest_visitor else not found.ended


def _open(h: DeliveryState, policy: AnswerPolicy, now: float) -> tuple[DeliveryState, Effect]:
    view = _seen(h)
    turn = turn_id(h.company, h.conversation, view.newest_visitor)
    journal = open_journal(h.journal, view, turn_id=turn, now=now, time_limit=h.time_limit)
    if journal.ended:
        return replace(h, journal=journal, phase=Phase.APPENDING), Append(journal, view.seq)
    if journal.attempts > MAX_ATTEMPTS:
        journal = with_failure(journal, "INTERNAL", f"given up after {MAX_ATTEMPTS} attempts")
    return _save(h, journal, Phase.DRIVING, policy)


def _saved(h: DeliveryState, revision: int, policy: AnswerPolicy, now: float) -> tuple[DeliveryState, Effect]:
    journal, view = _driven(h)
    if journal.ended and h.phase is Phase.DRIVING and policy.answers(view.owner):
        return replace(h, revision=revision, phase=Phase.APPENDING), Append(journal, view.seq)
    h = replace(h, revision=revision)
    match h.phase:
        case Phase.STOPPING:
            return replace(h, phase=Phase.DECIDING), ReadConversation(h.seen)
        case Phase.PAUSING:
            return _later(h, float(2 ** (journal.failures - 1)), "no provider answers")
        case _:
            pass
    if not policy.answers(view.owner):
        return replace(h, phase=Phase.DECIDING), ReadConversation(h.seen)
    if now >= journal.deadline:
        return _save(h, with_failure(journal, "DEADLINE", "the turn's time is over"), Phase.DRIVING, policy)
    if journal.unsettled:
        return h, RunCalls(journal, view)
    return h, _ask(journal, view, policy)


def _save(h: DeliveryState, journal: Journal, phase: Phase, policy: AnswerPolicy) -> tuple[DeliveryState, Effect]:
    asks = phase is Phase.DRIVING and not journal.ended and not journal.unsettled
    then = _ask(journal, _seen(h), policy) if asks else None
    return replace(h, journal=journal, phase=phase), Save(journal, h.revision, then)


def _ask(journal: Journal, view: Snapshot, policy: AnswerPolicy) -> CallModel:
    return CallModel(journal, view, last=journal.iterations >= policy.max_iterations)


def _later(h: DeliveryState, seconds: float, why: str) -> tuple[DeliveryState, Effect]:
    return h, Retry(seconds, why)


def _seen(h: DeliveryState) -> Snapshot:
    if h.view is None:
        raise RuntimeError("a decision needs a view: Look comes first")
    return h.view


def _driven(h: DeliveryState) -> tuple[Journal, Snapshot]:
    if h.journal is None:
        raise RuntimeError("no journal is open: Save comes first")
    return h.journal, _seen(h)
