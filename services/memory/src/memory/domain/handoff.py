"""Decides, from one snapshot of the log, what happens if nobody takes a waiting conversation or its owner leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.errors import HANDOFF_WAITING, OFFICE_CLOSED, OWNER_IDLE, SystemCode
from contracts.events.chat import OwnerKind, Wait
from contracts.ids import derive_id
from contracts.languages import language_of_tags
from contracts.office_hours import OfficeHours, away_notice, next_closing, next_opening, time_in_words
from contracts.text import Text
from memory.domain.keys import LogPosition
from memory.texts import TEXTS

ROLL_CALL = timedelta(seconds=2)
"""Time after which a waiting conversation is assigned and its visitor told who is there: open consoles have reported by
then."""
BY = "memory"
TIMEOUT = "handoff_timeout"
IDLE = "owner_idle"
LEFT = "owner_left"
"""An owner has left the team and no visitor waits for them. Nobody is told, as when they give a conversation back."""
REASONS = frozenset({TIMEOUT, IDLE})
"""The reasons for which this service changes an owner; each change is followed by a notice to the people in the
conversation."""

AI_ANNOUNCED_REASONS = frozenset({"asked", "missed", "rule"})
"""The reasons with which the agent hands over by its tool. Outside office hours its own answer then says that nobody is
there."""

_CODES = {TIMEOUT: SystemCode.HANDOFF_TIMEOUT, IDLE: OWNER_IDLE}


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The place of a visitor who waits for a person, from 1. `usual`: the usual wait; None if too few have waited.
    `staffed`: whether a human agent is at the desk; None if not known yet, and then no notice is sent."""

    place: int
    usual: timedelta | None = None
    staffed: bool | None = True

    def in_words(self, language: str) -> str:
        """Returns the place in one or two sentences."""
        place = TEXTS["queue.first"] if self.place <= 1 else TEXTS["queue.place"].format(place=self.place)
        usual = (
            TEXTS["queue.usual"].format(usual=_duration_text(self.usual)).in_language(language) if self.usual else ""
        )
        return f"{place.in_language(language)} {usual}".rstrip()


@dataclass(frozen=True, slots=True)
class HandoffPolicy:
    """How long a company lets a visitor wait for a person, and who gets the conversation of an owner who is away.
    `ai`: whether the assistant answers; if not, nothing is given back to it or promised. `left_at`: when people who are
    no longer in the team left it, by their ids: a visitor does not wait for them."""

    handoff: timedelta
    idle: timedelta
    idle_to: OwnerKind = OwnerKind.WAITING
    hours: OfficeHours | None = None
    ai: bool = True
    left_at: Mapping[str, datetime] = field(default_factory=dict[str, datetime])


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A conversation in one era of the log."""

    company: str
    conversation: str
    era: int

    def event_id(self, fact: Fact, reason: str, kind: str) -> str:
        """Returns the id of an event that follows from a fact: the same for every replica and repeat."""
        return derive_id(self.company, self.conversation, reason, kind, str(LogPosition(self.era, fact.seq)))


@dataclass(frozen=True, slots=True)
class Absence:
    """What the snapshot does not contain about a human owner: since when a visitor has waited for them, and when they
    last looked."""

    wait: Wait
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Append owner.changed; `event_id` is the same for every replica and repeat. `language`: of the notice, taken from
    the previous change of owner; None if unknown. `wait`: of a visitor whose owner was away."""

    event_id: str
    to: OwnerKind
    reason: str
    opens_at: datetime | None = None
    language: str | None = None
    wait: Wait | None = None


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
    policy: HandoffPolicy,
    now: datetime,
    absence: Absence | None = None,
    queue_place: QueuePlace | None = None,
) -> Decision:
    """Decides what to append to a conversation.

    Args:
        snapshot: of the log.
        place: the conversation, and the era of the log.
        policy: the company's.
        now: by the log's clock, like the times of facts: this machine's clock may be wrong.
        absence: of a human owner; None if no visitor waits for one.
        queue_place: the place in the queue; None if it is not announced.
    """
    owner = snapshot.last.get(ChatKind.OWNER)
    if owner is None:
        return NothingToDo()
    if (notice := _pending_notice(snapshot, place, owner, policy, now, queue_place)) is not None:
        return notice
    match snapshot.owner:
        case OwnerKind.WAITING:
            due, new_owner, reason = owner.stored_at + policy.handoff, OwnerKind.AI, TIMEOUT
        case OwnerKind.HUMAN if absence is not None:
            acted_at = max(owner.stored_at, absence.looked_at or owner.stored_at)
            left_at = policy.left_at.get(snapshot.owner_data.get("operatorId", ""))
            patience = timedelta() if left_at is not None and acted_at <= left_at else policy.idle
            due, new_owner, reason = max(acted_at, absence.wait.since) + patience, policy.idle_to, IDLE
        case _:
            return NothingToDo()
    if now >= due:
        # Nobody would come before the office opens: the AI continues, and the message waits for a person.
        new_owner = new_owner if policy.ai else OwnerKind.WAITING
        opens = next_opening(policy.hours, now) if reason == TIMEOUT or new_owner is OwnerKind.WAITING else None
        if new_owner is snapshot.owner and opens is None:
            return _nobody_came(snapshot, place, owner, policy.hours, now)
        return GiveBack(
            place.event_id(owner, reason, "owner"),
            OwnerKind.AI if opens else new_owner,
            reason,
            opens,
            language=owner.data.get("language"),
            wait=absence.wait if absence is not None else None,
        )
    if (notice := _queue_notice(snapshot, place, owner, policy, now, queue_place)) is not None:
        return notice
    # It will soon be known whether somebody is at the desk.
    unknown = queue_place is not None and queue_place.staffed is None
    return NotYet(min(due, owner.stored_at + ROLL_CALL) if unknown else due)


def _nobody_came(
    snapshot: Snapshot, place: LogPlace, owner: Fact, hours: OfficeHours | None, now: datetime
) -> Decision:
    """The visitor keeps waiting, since there is no assistant to go back to, and is told so once."""
    system = snapshot.last.get(ChatKind.SYSTEM)
    if system is not None and system.seq > owner.seq and system.data.get("code") == _CODES[TIMEOUT]:
        # When the office closes, a message is taken.
        closes = next_closing(hours, now)
        return NotYet(closes) if closes else NothingToDo()
    text = TEXTS["queue.notices.handoff_timeout_waiting"].in_language(language(snapshot))
    return Notify(place.event_id(owner, TIMEOUT, "notice"), snapshot.basis, _CODES[TIMEOUT], text)


def is_announced_by_ai(by: object, reason: object) -> bool:
    """Whether the AI's own answer tells the visitor that a message was taken outside office hours."""
    return by == "agent" and reason in AI_ANNOUNCED_REASONS


def _pending_notice(
    snapshot: Snapshot,
    place: LogPlace,
    owner: Fact,
    policy: HandoffPolicy,
    now: datetime,
    queue_place: QueuePlace | None,
) -> Notify | None:
    """Returns the notice that is due after this service has changed the owner, or after a message was taken."""
    by, reason = owner.data.get("by"), owner.data.get("reason")
    if (opens := _opens_at(owner)) is not None:
        if is_announced_by_ai(by, reason) or is_superseded_notice(snapshot, owner):
            return None
        text = away_notice(policy.hours, opens, now, language(snapshot), ai=policy.ai)
        return Notify(place.event_id(owner, OFFICE_CLOSED, "notice"), snapshot.basis, OFFICE_CLOSED, text)
    if by != BY or reason not in REASONS or is_superseded_notice(snapshot, owner):
        return None
    tag = language(snapshot)
    text = TEXTS[f"queue.notices.{reason}_{snapshot.owner}"].in_language(tag)
    if queue_place is not None and snapshot.owner is OwnerKind.WAITING:
        text = f"{text} {queue_place.in_words(tag)}"
    return Notify(place.event_id(owner, reason, "notice"), snapshot.basis, _CODES[reason], text)


def _queue_notice(
    snapshot: Snapshot,
    place: LogPlace,
    owner: Fact,
    policy: HandoffPolicy,
    now: datetime,
    queue_place: QueuePlace | None,
) -> Notify | None:
    """Returns the notice to a visitor who has begun to wait: their place in the queue."""
    if queue_place is None or queue_place.staffed is None or snapshot.owner is not OwnerKind.WAITING:
        return None
    if is_superseded_notice(snapshot, owner):
        return None
    tag = language(snapshot)
    place_text = queue_place.in_words(tag)
    if (closes := next_closing(policy.hours, now)) is not None:
        closing_time = time_in_words(policy.hours, closes, now, tag)
        place_text += " " + TEXTS["queue.until"].in_language(tag).format(until=closing_time)
    fallback = TEXTS["queue.back"].format(patience=_duration_text(policy.handoff)) if policy.ai else ""
    text = TEXTS["queue.waiting"] if queue_place.staffed else TEXTS["queue.nobody"]
    notice = text.format(place=place_text, back=fallback).in_language(tag)
    return Notify(place.event_id(owner, HANDOFF_WAITING, "notice"), snapshot.basis, HANDOFF_WAITING, notice)


def _opens_at(owner: Fact) -> datetime | None:
    opens = owner.data.get("opensAt")
    return datetime.fromisoformat(opens) if owner.owner is OwnerKind.AI and isinstance(opens, str) else None


def is_superseded_notice(snapshot: Snapshot, owner: Fact) -> bool:
    """Whether a notice is unnecessary because of a later one: the snapshot contains only one, and a second would repeat
    it."""
    system = snapshot.last.get(ChatKind.SYSTEM)
    return system is not None and system.seq > owner.seq


def _duration_text(duration: timedelta) -> Text:
    """Returns a duration in words: seconds below two minutes, otherwise minutes."""
    seconds = max(round(duration.total_seconds()), 1)
    number, unit = (seconds, "second") if seconds < 120 else (round(seconds / 60), "minute")
    return TEXTS[f"queue.units.{unit if number == 1 else unit + 's'}"].format(number=number)


def unreplied_range(snapshot: Snapshot) -> tuple[int, int] | None:
    """Returns the range of visitor messages without a reply by a human owner: after the first sequence, up to the
    second. None if there are none."""
    if snapshot.owner is not OwnerKind.HUMAN or snapshot.newest_visitor <= snapshot.replied:
        return None
    return snapshot.replied, snapshot.newest_visitor


def language(snapshot: Snapshot) -> str:
    """Returns the language given with the AI's hand-over, or else that of the newest visitor message: es or en."""
    visitor, owner = snapshot.last.get(ChatKind.VISITOR), snapshot.last.get(ChatKind.OWNER)
    owner_language = owner.data.get("language") if owner else None
    locale = owner_language or (visitor.data.get("locale") if visitor else None)
    return language_of_tags(locale)
