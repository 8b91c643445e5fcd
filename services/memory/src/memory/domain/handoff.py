"""When nobody takes a waiting conversation: who is to be told what, decided from one snapshot of the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.channels import ChatKind
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.ids import derive_id
from memory.domain.facts import Fact

BY = "memory"
REASON = "handoff_timeout"

_NOTICE = {
    "es": "Ahora mismo no hay nadie del equipo disponible, así que sigo contigo yo, el asistente automático. "
    "Puedes volver a pedir una persona cuando quieras.",
    "en": "Nobody from the team is available right now, so I, the automatic assistant, am back with you. "
    "You can ask for a person again at any time.",
}


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Append owner.changed to the AI; `event_id` is the same whoever appends it, and however often."""

    event_id: str


@dataclass(frozen=True, slots=True)
class Notify:
    """Append the notice. `basis` is the snapshot's: what nobody answered stays unanswered, and the AI turns to it."""

    event_id: str
    basis: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing to do any more."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """Due later."""

    at: datetime


Decision = GiveBack | Notify | Nothing | NotYet


def decide(snapshot: Mapping[ChatKind, Fact], timeout: timedelta, now: datetime) -> Decision:
    """What to append to a conversation.

    Args:
        snapshot: the newest fact of each kind, from one view of the log.
        timeout: the company's handoffTimeoutSeconds.
        now: by the log's clock, as the facts' stamps are: this machine's may be wrong.
    """
    match snapshot.get(ChatKind.OWNER):
        case Fact(data=OwnerChanged(owner=Owner(kind=OwnerKind.WAITING))) as waiting:
            due = waiting.stored_at + timeout
            return NotYet(due) if now < due else GiveBack(_event_id(waiting, "owner"))
        case Fact(data=OwnerChanged(by=by, reason=reason)) as given_back if (by, reason) == (BY, REASON):
            notice = _event_id(given_back, "notice")
            system = snapshot.get(ChatKind.SYSTEM)
            # Any later notice will do: the snapshot holds one, and two in a row would only repeat that the AI is back.
            done = system is not None and system.seq > given_back.seq
            return Nothing() if done else Notify(notice, basis(snapshot))
        case _:
            return Nothing()


def basis(snapshot: Mapping[ChatKind, Fact]) -> int:
    """The sequence up to which visitor messages are settled: the greatest of what answers, notices and cancels name,
    and of the newest operator message's own."""
    settled = [0]
    for fact in snapshot.values():
        match fact.data:
            case AssistantMessage() | SystemMessage() | RunCancelled():
                settled.append(fact.data.basis)
            case OperatorMessage():
                settled.append(fact.seq)
            case _:
                pass
    return max(settled)


def language(snapshot: Mapping[ChatKind, Fact]) -> str:
    """The language of the newest visitor message: es or en."""
    visitor = snapshot.get(ChatKind.VISITOR)
    locale = visitor.data.locale if visitor and isinstance(visitor.data, VisitorMessage) else None
    return "en" if (locale or "").lower().startswith("en") else "es"


def notice_text(snapshot: Mapping[ChatKind, Fact]) -> str:
    """What the people in the conversation are told, in its language."""
    return _NOTICE[language(snapshot)]


def _event_id(fact: Fact, what: str) -> str:
    return derive_id(fact.company, fact.conversation, REASON, what, str(fact.position))
