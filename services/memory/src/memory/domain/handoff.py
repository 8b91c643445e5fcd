"""When nobody takes a waiting conversation, or its owner goes away: who is told what, from one snapshot of the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.channels import ChatKind
from contracts.errors import OWNER_IDLE, SystemCode
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    OwnerKind,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.ids import derive_id
from memory.domain.facts import Fact

BY = "memory"
TIMEOUT = "handoff_timeout"
IDLE = "owner_idle"
REASONS = frozenset({TIMEOUT, IDLE})
"""With which this service changes an owner; each is followed by a notice to the people in the conversation."""

_CODES = {TIMEOUT: SystemCode.HANDOFF_TIMEOUT, IDLE: OWNER_IDLE}
_NOTICES = {
    (TIMEOUT, OwnerKind.AI): {
        "es": "Ahora mismo no hay nadie del equipo disponible, así que sigo contigo yo, el asistente automático. "
        "Puedes volver a pedir una persona cuando quieras.",
        "en": "Nobody from the team is available right now, so I, the automatic assistant, am back with you. "
        "You can ask for a person again at any time.",
    },
    (IDLE, OwnerKind.WAITING): {
        "es": "La persona que te atendía lleva un rato sin responder. He avisado al equipo para que siga contigo otra; "
        "puedes seguir escribiendo mientras tanto.",
        "en": "The person who was helping you has not answered for a while. I have asked the team for somebody else; "
        "you can go on writing meanwhile.",
    },
    (IDLE, OwnerKind.AI): {
        "es": "La persona que te atendía lleva un rato sin responder, así que sigo contigo yo, el asistente "
        "automático. Puedes volver a pedir una persona cuando quieras.",
        "en": "The person who was helping you has not answered for a while, so I, the automatic assistant, am back "
        "with you. You can ask for a person again at any time.",
    },
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a company lets a visitor wait for a person, and to whom a conversation goes whose owner has gone."""

    handoff: timedelta
    idle: timedelta
    idle_to: OwnerKind = OwnerKind.WAITING


@dataclass(frozen=True, slots=True)
class Absence:
    """What the snapshot does not tell of a human owner: since when a visitor waits for them, and their last look."""

    waiting_since: datetime
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Append owner.changed; `event_id` is the same whoever appends it, and however often."""

    event_id: str
    to: OwnerKind
    reason: str


@dataclass(frozen=True, slots=True)
class Notify:
    """Append the notice. `basis` is the snapshot's: what nobody answered stays unanswered, and the AI turns to it."""

    event_id: str
    basis: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing to do any more."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """Due later."""

    at: datetime


Decision = GiveBack | Notify | Nothing | NotYet


def decide(
    snapshot: Mapping[ChatKind, Fact], patience: Patience, now: datetime, absence: Absence | None = None
) -> Decision:
    """What to append to a conversation.

    Args:
        snapshot: the newest fact of each kind, from one view of the log.
        patience: the company's.
        now: by the log's clock, as the facts' stamps are: this machine's may be wrong.
        absence: of a human owner; None: no visitor waits for one.
    """
    owner = snapshot.get(ChatKind.OWNER)
    if owner is None or not isinstance(owner.data, OwnerChanged):
        return Nothing()
    if (notice := _untold(snapshot, owner, owner.data)) is not None:
        return notice
    match owner.data.owner.kind:
        case OwnerKind.WAITING:
            due = owner.stored_at + patience.handoff
            return NotYet(due) if now < due else GiveBack(_event_id(owner, TIMEOUT, "owner"), OwnerKind.AI, TIMEOUT)
        case OwnerKind.HUMAN if absence is not None:
            due = max(owner.stored_at, absence.waiting_since, absence.looked_at or owner.stored_at) + patience.idle
            return NotYet(due) if now < due else GiveBack(_event_id(owner, IDLE, "owner"), patience.idle_to, IDLE)
        case _:
            return Nothing()


def _untold(snapshot: Mapping[ChatKind, Fact], owner: Fact, data: OwnerChanged) -> Notify | None:
    """The notice that is due after a change of owner by this service."""
    if data.by != BY or data.reason not in REASONS:
        return None
    system = snapshot.get(ChatKind.SYSTEM)
    # Any later notice will do: the snapshot holds one, and two in a row would only repeat who answers now.
    if system is not None and system.seq > owner.seq:
        return None
    text = _NOTICES[data.reason, data.owner.kind][language(snapshot)]
    return Notify(_event_id(owner, data.reason, "notice"), basis(snapshot), _CODES[data.reason], text)


def unreplied(snapshot: Mapping[ChatKind, Fact]) -> tuple[int, int] | None:
    """Where visitor messages lie that have no reply, if a human owner has any: after the first, up to the second
    sequence. A cancelled run is no reply, whatever it settles: it was cancelled because a person took over.
    """
    owner, visitor = snapshot.get(ChatKind.OWNER), snapshot.get(ChatKind.VISITOR)
    if owner is None or visitor is None:
        return None
    if not isinstance(owner.data, OwnerChanged) or owner.data.owner.kind != OwnerKind.HUMAN:
        return None
    replied = basis({kind: fact for kind, fact in snapshot.items() if kind is not ChatKind.CANCEL})
    return (replied, visitor.seq) if visitor.seq > replied else None


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


def _event_id(fact: Fact, reason: str, what: str) -> str:
    return derive_id(fact.company, fact.conversation, reason, what, str(fact.position))
