"""Decides, from one snapshot of the log, what happens when nobody takes a waiting conversation, or its owner leaves."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.errors import HANDOFF_WAITING, OFFICE_CLOSED, OWNER_IDLE, SystemCode
from contracts.events.chat import OwnerKind
from contracts.ids import derive_id
from contracts.languages import language_of_tags
from contracts.office_hours import OfficeHours, away_notice, next_closing, next_opening, time_in_words
from contracts.text import Text
from memory.domain.keys import LogPosition
from memory.texts import TEXTS

ROLL_CALL = timedelta(seconds=2)
"""Seconds after which a waiting conversation is assigned and its visitor told who is there: open consoles have
reported it by then."""
BY = "memory"
TIMEOUT = "handoff_timeout"
IDLE = "owner_idle"
REASONS = frozenset({TIMEOUT, IDLE})
"""The reasons with which this service changes an owner; each is followed by a notice to the people in the
conversation."""

SAID_BY_THE_AI = frozenset({"asked", "missed", "rule"})
"""The reason with which the agent hands over by its tool; outside office hours its own answer says that nobody is
there."""

_CODES = {TIMEOUT: SystemCode.HANDOFF_TIMEOUT, IDLE: OWNER_IDLE}


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The place of somebody who waits for a person, from 1. `usual`: the usual wait; None: too few have waited.
    `staffed`: whether a human agent is at the desk; None: not known yet, so nothing is told."""

    place: int
    usual: timedelta | None = None
    staffed: bool | None = True

    def in_words(self, language: str) -> str:
        """The place in a sentence or two."""
        place = TEXTS["queue.first"] if self.place <= 1 else TEXTS["queue.place"].format(place=self.place)
        usual = TEXTS["queue.usual"].format(usual=_spell(self.usual)).in_language(language) if self.usual else ""
        return f"{place.in_language(language)} {usual}".rstrip()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a company lets a visitor wait for a person, and who gets the conversation of an owner who has left.
    `ai`: the assistant answers; if it is off, nothing is given back to it or promised."""

    handoff: timedelta
    idle: timedelta
    idle_to: OwnerKind = OwnerKind.WAITING
    hours: OfficeHours | None = None
    ai: bool = True


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A conversation in one era of the log."""

    company: str
    conversation: str
    era: int

    def event_id(self, fact: Fact, reason: str, what: str) -> str:
        """The id of what follows from a fact: the same for every replica and repeat."""
        return derive_id(self.company, self.conversation, reason, what, str(LogPosition(self.era, fact.seq)))


@dataclass(frozen=True, slots=True)
class Absence:
    """What the snapshot does not say about a human owner: since when a visitor has waited for them, and when they last
    looked."""

    waiting_since: datetime
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Append owner.changed; `event_id` is the same for every replica and repeat. `language`: for the notice, from
    the change before it; None: unknown."""

    event_id: str
    to: OwnerKind
    reason: str
    opens_at: datetime | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Notify:
    """Append the notice. `basis` is the snapshot's: unanswered messages stay unanswered, and the AI answers them."""

    event_id: str
    basis: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """Nothing is due, now or later."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """Due later."""

    at: datetime


Decision = GiveBack | Notify | NothingToDo | NotYet


def decide(
    snapshot: Snapshot,
    place: LogPlace,
    patience: Patience,
    now: datetime,
    absence: Absence | None = None,
    standing: QueuePlace | None = None,
) -> Decision:
    """Decides what to append to a conversation.

    Args:
        snapshot: of the log.
        place: the conversation, and the era of the log.
        patience: the company's.
        now: by the log's clock, like the facts' times: this machine's may be wrong.
        absence: of a human owner; None: no visitor waits for one.
        standing: the place in the queue; None: not to be told.
    """
    owner = snapshot.last.get(ChatKind.OWNER)
    if owner is None:
        return NothingToDo()
    if (notice := _untold(snapshot, place, owner, patience, now, standing)) is not None:
        return notice
    match snapshot.owner:
        case OwnerKind.WAITING:
            due, to, reason = owner.stored_at + patience.handoff, OwnerKind.AI, TIMEOUT
        case OwnerKind.HUMAN if absence is not None:
            present = max(owner.stored_at, absence.waiting_since, absence.looked_at or owner.stored_at)
            due, to, reason = present + patience.idle, patience.idle_to, IDLE
        case _:
            return NothingToDo()
    if now >= due:
        # Nobody would come before the office opens: the AI goes on, and the message waits for them.
        to = to if patience.ai else OwnerKind.WAITING
        opens = next_opening(patience.hours, now) if reason == TIMEOUT or to is OwnerKind.WAITING else None
        if to is snapshot.owner and opens is None:
            return _nobody_came(snapshot, place, owner, patience.hours, now)
        told = owner.data.get("language")
        return GiveBack(place.event_id(owner, reason, "owner"), OwnerKind.AI if opens else to, reason, opens, told)
    if (notice := _waiting(snapshot, place, owner, patience, now, standing)) is not None:
        return notice
    # Whether somebody is at the desk is known soon.
    unknown = standing is not None and standing.staffed is None
    return NotYet(min(due, owner.stored_at + ROLL_CALL) if unknown else due)


def _nobody_came(
    snapshot: Snapshot, place: LogPlace, owner: Fact, hours: OfficeHours | None, now: datetime
) -> Decision:
    """The visitor keeps waiting, since there is no assistant to go back to: they are told once."""
    system = snapshot.last.get(ChatKind.SYSTEM)
    if system is not None and system.seq > owner.seq and system.data.get("code") == _CODES[TIMEOUT]:
        # When the office closes, the message is taken.
        closes = next_closing(hours, now)
        return NotYet(closes) if closes else NothingToDo()
    text = TEXTS["queue.notices.handoff_timeout_waiting"].in_language(language(snapshot))
    return Notify(place.event_id(owner, TIMEOUT, "notice"), snapshot.basis, _CODES[TIMEOUT], text)


def ai_tells_itself(by: object, reason: object) -> bool:
    """Whether the AI's own answer tells the visitor that a message was taken outside office hours."""
    return by == "agent" and reason in SAID_BY_THE_AI


def _untold(
    snapshot: Snapshot, place: LogPlace, owner: Fact, patience: Patience, now: datetime, standing: QueuePlace | None
) -> Notify | None:
    """The notice that is due after a change of owner by this service, or after a message was taken."""
    by, reason = owner.data.get("by"), owner.data.get("reason")
    if (opens := _opens_at(owner)) is not None:
        if ai_tells_itself(by, reason) or is_superseded_notice(snapshot, owner):
            return None
        text = away_notice(patience.hours, opens, now, language(snapshot), ai=patience.ai)
        return Notify(place.event_id(owner, OFFICE_CLOSED, "notice"), snapshot.basis, OFFICE_CLOSED, text)
    if by != BY or reason not in REASONS or is_superseded_notice(snapshot, owner):
        return None
    spoken = language(snapshot)
    text = TEXTS[f"queue.notices.{reason}_{snapshot.owner}"].in_language(spoken)
    if standing is not None and snapshot.owner is OwnerKind.WAITING:
        text = f"{text} {standing.in_words(spoken)}"
    return Notify(place.event_id(owner, reason, "notice"), snapshot.basis, _CODES[reason], text)


def _waiting(
    snapshot: Snapshot, place: LogPlace, owner: Fact, patience: Patience, now: datetime, standing: QueuePlace | None
) -> Notify | None:
    """The notice to somebody who has begun to wait: their place in the queue."""
    if standing is None or standing.staffed is None or snapshot.owner is not OwnerKind.WAITING:
        return None
    if is_superseded_notice(snapshot, owner):
        return None
    spoken = language(snapshot)
    told = standing.in_words(spoken)
    if (until := next_closing(patience.hours, now)) is not None:
        end = time_in_words(patience.hours, until, now, spoken)
        told += " " + TEXTS["queue.until"].in_language(spoken).format(until=end)
    back = TEXTS["queue.back"].format(patience=_spell(patience.handoff)) if patience.ai else ""
    text = TEXTS["queue.waiting"] if standing.staffed else TEXTS["queue.nobody"]
    said = text.format(place=told, back=back).in_language(spoken)
    return Notify(place.event_id(owner, HANDOFF_WAITING, "notice"), snapshot.basis, HANDOFF_WAITING, said)


def _opens_at(owner: Fact) -> datetime | None:
    told = owner.data.get("opensAt")
    return datetime.fromisoformat(told) if owner.owner is OwnerKind.AI and isinstance(told, str) else None


def is_superseded_notice(snapshot: Snapshot, owner: Fact) -> bool:
    """Whether the notice is unnecessary because of a later one: the snapshot holds only one, and a second would
    repeat it."""
    system = snapshot.last.get(ChatKind.SYSTEM)
    return system is not None and system.seq > owner.seq


def _spell(time: timedelta) -> Text:
    """A duration in words: seconds below two minutes, minutes from there."""
    seconds = max(round(time.total_seconds()), 1)
    number, unit = (seconds, "second") if seconds < 120 else (round(seconds / 60), "minute")
    return TEXTS[f"queue.units.{unit if number == 1 else unit + 's'}"].format(number=number)


def unreplied(snapshot: Snapshot) -> tuple[int, int] | None:
    """The range of visitor messages without a reply, if a human owner has any: after the first sequence, up to the
    second."""
    if snapshot.owner is not OwnerKind.HUMAN or snapshot.newest_visitor <= snapshot.replied:
        return None
    return snapshot.replied, snapshot.newest_visitor


def language(snapshot: Snapshot) -> str:
    """The language given with the AI's hand-over, or the newest visitor message's: es or en."""
    visitor, owner = snapshot.last.get(ChatKind.VISITOR), snapshot.last.get(ChatKind.OWNER)
    told = owner.data.get("language") if owner else None
    locale = told or (visitor.data.get("locale") if visitor else None)
    return language_of_tags(locale)
