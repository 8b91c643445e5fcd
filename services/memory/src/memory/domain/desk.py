"""Desk changes of a conversation, folded from its updates.

Updates are stored once, at their earliest position, and folded anew whenever one comes, so they may come in any order
and more than once. Their order relative to the conversation's own facts, which are in another stream, is in each
update: `basis` is the newest fact known when it was made.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from contracts.desk_rpc import NoteView
from contracts.events.desk import ConversationUpdated, NoteAdded, Status
from memory.domain.keys import LogPosition, moment

OPEN: Final = "open"
SNOOZED: Final = "snoozed"
RESOLVED: Final = "resolved"
CONFIRMED: Final = "confirmed"
SILENCE: Final = "silence"
WOKE: Final = "woke"
IN_TURN: Final = "in_turn"
BY = "memory"
_NAMED = re.compile(r"(?<![\w@.])@([\w][\w.-]{0,62}[\w]|[\w])")
MOST_MENTIONS = 50


@dataclass(frozen=True, slots=True)
class Update:
    """One update. `place` is the time at which FACTS stored it (ms since the epoch) and its sequence there."""

    id: str
    place: LogPosition
    data: ConversationUpdated

    @property
    def at(self) -> datetime:
        return stored_at(self.place)


@dataclass(frozen=True, slots=True)
class UpdatePlace:
    """An update's place among the conversation's facts: after `basis`, or, if that is unknown, after `at`."""

    basis: LogPosition | None
    at: datetime

    def before(self, position: LogPosition, stored_at: datetime | None) -> bool:
        """Whether a fact came after it."""
        if self.basis is not None:
            return position > self.basis
        return stored_at is not None and stored_at > self.at


@dataclass(frozen=True, slots=True)
class DeskState:
    """The result of the updates. An `assignee` of None is nobody."""

    state: Status = OPEN
    state_since: UpdatePlace | None = None
    snoozed_until: datetime | None = None
    state_by: str = ""
    state_reason: str | None = None
    assignee: str | None = None
    assignee_name: str | None = None
    assigned: UpdatePlace | None = None
    labels: tuple[str, ...] = ()
    topic: str | None = None
    previous: str | None = None
    person: str | None = None
    signed_in: bool = False
    """Whether the person proved this themselves, by signing in where they had been this visitor."""


def stored_at(place: LogPosition) -> datetime:
    """The time at which FACTS stored the update at this position, to the millisecond."""
    return moment(place.era)


def note_view(place: LogPosition, note: NoteAdded) -> NoteView:
    """A note as human agents see it."""
    return NoteView.model_validate({**dict(note), "id": note.note_id, "created_at": stored_at(place)})


def fold_updates(updates: Iterable[Update], era: int) -> DeskState:
    """The result of the updates, in whatever order they are given.

    Args:
        era: the current era of the conversations' log; an older update's sequence belongs to another log.
    """
    desk = DeskState()
    for update in sorted(updates, key=lambda one: one.place):
        desk = _after(desk, update, era)
    return desk


def _after(desk: DeskState, update: Update, era: int) -> DeskState:
    data = update.data
    known = data.basis is not None and update.place.era >= era
    since = UpdatePlace(LogPosition(era, data.basis or 0) if known else None, update.at)
    if data.state is not None:
        desk = replace(
            desk,
            state=data.state if data.state in {SNOOZED, RESOLVED} else OPEN,
            state_since=since,
            snoozed_until=data.snoozed_until if data.state == SNOOZED else None,
            state_by=data.by,
            state_reason=data.reason,
        )
    if data.assignee is not None:
        desk = replace(
            desk,
            assignee=data.assignee or None,
            assignee_name=data.assignee_name if data.assignee else None,
            assigned=since,
        )
    if data.labels is not None:
        desk = replace(desk, labels=tuple(dict.fromkeys(data.labels)))
    if data.topic is not None:
        desk = replace(desk, topic=data.topic or None)
    if data.person is not None:
        desk = replace(desk, person=data.person or None, signed_in=data.person == data.by)
    if data.previous is not None:
        desk = replace(desk, previous=data.previous)
    return desk


def called(operator: str, name: str | None) -> tuple[str, ...]:
    """The names by which colleagues may mention a human agent after @: the id, the first name, and the whole name
    joined in the usual ways, in the stored form of @names."""
    words = re.findall(r"\w+", name or "")
    whole = [between.join(words) for between in ("", ".", "-", "_")] if words else []
    return tuple(dict.fromkeys(map(folded, [operator, *words[:1], *whole])))


def mentionable(people: Mapping[str, str | None]) -> dict[str, str]:
    """An unambiguous @name for each of these human agents ({id: name}): first name, whole name, or id."""
    names = Counter(name for one, whole in people.items() for name in called(one, whole))

    def best(one: str, name: str | None) -> str:
        words = re.findall(r"\w+", name or "")
        choices = [*words[:1], ".".join(words)] if words else []
        return next((choice for choice in choices if names[folded(choice)] == 1), one)

    return {one: best(one, name) for one, name in people.items()}


def folded(name: str) -> str:
    """An @name without accents and in lower case: @jose is José."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def mentions(text: str) -> list[str]:
    """The @names in a note, each once, in order; an e-mail address is none."""
    return list(dict.fromkeys(_NAMED.findall(text)))[:MOST_MENTIONS]
