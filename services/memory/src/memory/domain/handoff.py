"""When nobody takes a waiting conversation, or its owner goes away: who is told what, from one snapshot of the log."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.errors import OWNER_IDLE, SystemCode
from contracts.events.chat import OwnerKind
from contracts.ids import derive_id
from memory.domain.keys import Position

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
class LogPlace:
    """A conversation in one incarnation of the log."""

    company: str
    conversation: str
    era: int

    def event_id(self, fact: Fact, reason: str, what: str) -> str:
        """The id of what follows from a fact: the same whoever appends it, and however often."""
        return derive_id(self.company, self.conversation, reason, what, str(Position(self.era, fact.seq)))


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
    snapshot: Snapshot, place: LogPlace, patience: Patience, now: datetime, absence: Absence | None = None
) -> Decision:
    """What to append to a conversation.

    Args:
        snapshot: of the log.
        place: the conversation, and the incarnation of the log.
        patience: the company's.
        now: by the log's clock, as the facts' stamps are: this machine's may be wrong.
        absence: of a human owner; None: no visitor waits for one.
    """
    owner = snapshot.last.get(ChatKind.OWNER)
    if owner is None:
        return Nothing()
    if (notice := _untold(snapshot, place, owner)) is not None:
        return notice
    match snapshot.owner:
        case OwnerKind.WAITING:
            due, to, reason = owner.stored_at + patience.handoff, OwnerKind.AI, TIMEOUT
        case OwnerKind.HUMAN if absence is not None:
            present = max(owner.stored_at, absence.waiting_since, absence.looked_at or owner.stored_at)
            due, to, reason = present + patience.idle, patience.idle_to, IDLE
        case _:
            return Nothing()
    return NotYet(due) if now < due else GiveBack(place.event_id(owner, reason, "owner"), to, reason)


def _untold(snapshot: Snapshot, place: LogPlace, owner: Fact) -> Notify | None:
    """The notice that is due after a change of owner by this service."""
    by, reason = owner.data.get("by"), owner.data.get("reason")
    if by != BY or reason not in REASONS:
        return None
    system = snapshot.last.get(ChatKind.SYSTEM)
    # Any later notice will do: the snapshot holds one, and two in a row would only repeat who answers now.
    if system is not None and system.seq > owner.seq:
        return None
    text = _NOTICES[reason, snapshot.owner][language(snapshot)]
    return Notify(place.event_id(owner, reason, "notice"), snapshot.basis, _CODES[reason], text)


def unreplied(snapshot: Snapshot) -> tuple[int, int] | None:
    """Where visitor messages lie that have no reply, if a human owner has any: after the first, up to the second
    sequence."""
    if snapshot.owner is not OwnerKind.HUMAN or snapshot.newest_visitor <= snapshot.replied:
        return None
    return snapshot.replied, snapshot.newest_visitor


def language(snapshot: Snapshot) -> str:
    """The language of the newest visitor message: es or en."""
    visitor = snapshot.last.get(ChatKind.VISITOR)
    locale = visitor.data.get("locale") if visitor else None
    return "en" if (locale or "").lower().startswith("en") else "es"
