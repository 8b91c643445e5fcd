"""Indexes a company's conversations by their words; a match contains all words of a query, and newest activity comes
first.

Words are stored folded, and a word of a query matches those that begin with it. A changed conversation gets a new
number and its old one is dead; the index is rebuilt when most numbers are dead.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.domain.recall.words import STOP, words

MAX_COMPLETIONS = 500
"""Words that a query's word may be completed to; a single letter matches only itself."""


@dataclass(frozen=True, slots=True)
class Findable:
    """A conversation's values by which it is found. `latest`: sorts by newest activity; `written`: ms since the
    epoch."""

    name: str
    latest: str
    state: str
    assignee: str | None
    person: str | None
    person_name: str | None
    labels: tuple[str, ...]
    topic: str | None
    last_message_at: datetime | None
    words: str
    written: int

    @property
    def every_word(self) -> frozenset[str]:
        """The words of its messages, people's names, labels and topic."""
        # The console names a visitor without a name by the end of their id.
        shown = self.person and self.person[-4:]
        other_text = " ".join(
            filter(None, (self.person, shown, self.person_name, self.assignee, self.topic, *self.labels))
        )
        return frozenset(self.words.split()) | frozenset(words(other_text))


@dataclass(frozen=True, slots=True)
class InboxQuery:
    """A query; None does not restrict. `unassigned`: open and without assignee."""

    query: str | None = None
    state: str | None = None
    assignee: str | None = None
    person: str | None = None
    unassigned: bool = False
    label: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def matches(self, conversation: Findable) -> bool:
        """Whether a conversation matches everything but the words."""
        is_open = conversation.state not in {"snoozed", "resolved"}
        return (
            (self.state is None or conversation.state == self.state)
            and (self.assignee is None or (is_open and conversation.assignee == self.assignee))
            and (not self.unassigned or (is_open and conversation.assignee is None))
            and (self.person is None or conversation.person == self.person)
            and (self.label is None or self.label in conversation.labels)
            and (
                self.since is None
                or (conversation.last_message_at is not None and conversation.last_message_at >= self.since)
            )
            and (
                self.until is None
                or (conversation.last_message_at is not None and conversation.last_message_at < self.until)
            )
        )


@dataclass(slots=True)
class InboxIndex:
    """The index of one company's inbox."""

    _rows: list[Findable | None] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _holding: "defaultdict[str, array[int]]" = field(default_factory=lambda: defaultdict(lambda: array("I")))
    _sorted: list[str] | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def put(self, rows: Iterable[Findable]) -> None:
        """Adds conversations, each replacing its earlier version."""
        for row in rows:
            self.drop(row.name)
            number = len(self._rows)
            self._numbers[row.name] = number
            for word in row.every_word:
                if word not in self._holding:
                    self._sorted = None
                self._holding[word].append(number)
            # Its words are in the lists already; keeping them twice would take the most memory.
            self._rows.append(replace(row, words=""))

    def drop(self, name: str) -> None:
        number = self._numbers.pop(name, None)
        if number is not None:
            self._rows[number] = None

    @property
    def needs_rebuild(self) -> bool:
        """Whether it should be rebuilt: most of it is dead."""
        return len(self._rows) > 1_000 and len(self._rows) > 2 * len(self._numbers)

    def find(self, query: InboxQuery) -> list[Findable]:
        """Returns all matches, newest activity first."""
        numbers = self._with_words(query.query) if query.query else self._numbers.values()
        rows = self._rows
        matches = [row for number in numbers if (row := rows[number]) is not None and query.matches(row)]
        matches.sort(key=lambda row: row.latest, reverse=True)
        return matches

    def _with_words(self, query: str) -> set[int]:
        query_words = words(query)
        # Stop words are left out ("the invoice"), unless the query has no other words ("what can you do").
        required = [word for word in query_words if word not in STOP] or query_words
        matches: set[int] | None = None
        for word in sorted(required, key=len, reverse=True):
            numbers = set[int]()
            for word_found in self._words_beginning_with(word):
                numbers.update(self._holding[word_found])
            matches = numbers if matches is None else matches & numbers
            if not matches:
                return set()
        return matches or set()

    def _words_beginning_with(self, word: str) -> list[str]:
        if len(word) < 2:
            return [word] if word in self._holding else []
        if self._sorted is None:
            self._sorted = sorted(self._holding)
        first = bisect_left(self._sorted, word)
        last = bisect_left(self._sorted, word + chr(0x10FFFF))
        return self._sorted[first : min(last, first + MAX_COMPLETIONS)]
