"""A conversation's desk state, folded from its updates.

Updates are stored once, at their earliest position, and folded anew whenever one arrives, so they may arrive in any
order and more than once. Their order relative to the conversation's own facts, which are in another stream, is in each
update: `basis` is the newest fact known when it was made.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from contracts.desk_rpc import ConversationUpdate, NoteView
from contracts.errors import FieldFault
from contracts.events.desk import MAX_LABELS, ConversationUpdated, NoteAdded, Status
from memory.domain.keys import LogPosition, moment
from memory.errors import BadFieldsError

OPEN: Final = "open"
SNOOZED: Final = "snoozed"
RESOLVED: Final = "resolved"
CONFIRMED: Final = "confirmed"
SILENCE: Final = "silence"
WOKE: Final = "woke"
IN_TURN: Final = "in_turn"
LEFT: Final = "left"
BY = "memory"
_MENTION = re.compile(r"(?<![\w@.])@([\w][\w.-]{0,62}[\w]|[\w])")
MAX_MENTIONS = 50


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
    """An update's place among the conversation's facts: after `basis`, or, if that is unknown, after the time `at`."""

    basis: LogPosition | None
    at: datetime

    def before(self, position: LogPosition, stored_at: datetime | None) -> bool:
        """Whether a fact is later than the update."""
        if self.basis is not None:
            return position > self.basis
        return stored_at is not None and stored_at > self.at


@dataclass(frozen=True, slots=True)
class DeskState:
    """The result of the updates. `assignee` None: nobody."""

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
    person_name: str | None = None
    signed_in: bool = False
    """Whether the person proved this themselves, by signing in where they had been this visitor."""


def stored_at(place: LogPosition) -> datetime:
    """The time at which FACTS stored the update at this position, to the millisecond."""
    return moment(place.era)


def note_view(place: LogPosition, note: NoteAdded) -> NoteView:
    """A note as human agents see it."""
    return NoteView.model_validate({**dict(note), "id": note.note_id, "created_at": stored_at(place)})


def fold_updates(updates: Iterable[Update], era: int) -> DeskState:
    """Returns the result of the updates, given in any order.

    Args:
        era: the current era of the conversations' log; an older update's sequence belongs to another log.
    """
    desk = DeskState()
    for update in sorted(updates, key=lambda update: update.place):
        desk = _after(desk, update, era)
    return desk


def _after(desk: DeskState, update: Update, era: int) -> DeskState:
    data = update.data
    is_known = data.basis is not None and update.place.era >= era
    since = UpdatePlace(LogPosition(era, data.basis or 0) if is_known else None, update.at)
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
        desk = replace(
            desk,
            person=data.person or None,
            person_name=data.person_name if data.person else None,
            signed_in=data.person == data.by,
        )
    if data.previous is not None:
        desk = replace(desk, previous=data.previous)
    return desk


def changed_labels(labels: tuple[str, ...], change: ConversationUpdate) -> list[str] | None:
    """Returns all labels after a change; None if it does not concern them. Raises BadFieldsError: too many."""
    if change.labels is None and not change.add_labels and not change.remove_labels:
        return None
    before = labels if change.labels is None else change.labels
    kept = [label for label in before if label not in change.remove_labels]
    changed = list(dict.fromkeys([*kept, *change.add_labels]))
    if len(changed) > MAX_LABELS:
        raise BadFieldsError([FieldFault(field="addLabels", message=f"at most {MAX_LABELS} labels")])
    return changed


def mention_names(operator: str, name: str | None) -> tuple[str, ...]:
    """Returns the names by which colleagues may mention a human agent after @: the id, the first name, and the full
    name joined in the usual ways, in the stored form of @names."""
    words = re.findall(r"\w+", name or "")
    full_names = [joint.join(words) for joint in ("", ".", "-", "_")] if words else []
    return tuple(dict.fromkeys(map(folded, [operator, *words[:1], *full_names])))


def mention_name_by_id(people: Mapping[str, str | None]) -> dict[str, str]:
    """Returns an unambiguous @name for each of these human agents ({id: name}): first name, full name, or id."""
    names = Counter(name for operator, full_name in people.items() for name in mention_names(operator, full_name))

    def best(operator: str, name: str | None) -> str:
        words = re.findall(r"\w+", name or "")
        choices = [*words[:1], ".".join(words)] if words else []
        return next((choice for choice in choices if names[folded(choice)] == 1), operator)

    return {operator: best(operator, name) for operator, name in people.items()}


def folded(name: str) -> str:
    """Returns an @name without accents and in lower case: @jose is José."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def mentions(text: str) -> list[str]:
    """Returns the @names in a note, each once, in order; e-mail addresses do not count."""
    return list(dict.fromkeys(_MENTION.findall(text)))[:MAX_MENTIONS]
