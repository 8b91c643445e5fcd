"""Which passages are no longer true, by what the person said later and what is remembered of them."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from contracts.memory_rpc import LongTermMemory
from memory.domain.claims import Claims, claims, replaces
from memory.domain.lesson import style_in
from memory.domain.recall.index import IndexedMessage
from memory.domain.statements import notes_in, preferences_in

USER = "user"


@dataclass(frozen=True, slots=True)
class OutdatedSince:
    """Since when a passage is outdated, and what replaced it (None: nothing)."""

    until: datetime
    by: str | None


@dataclass(frozen=True, slots=True, order=True)
class _Said:
    at: datetime
    id: str
    passage: IndexedMessage = field(compare=False)
    claims: Claims = field(compare=False)


class OutdatedClaims:
    """One person's claims by subject, oldest first."""

    def __init__(self) -> None:
        self._made: defaultdict[str, list[_Said]] = defaultdict(list)
        self._ended: defaultdict[str, list[_Said]] = defaultdict(list)

    def add(self, passages: Iterable[IndexedMessage]) -> None:
        for passage in passages:
            if passage.speaker != USER:
                continue
            said = _Said(passage.at, passage.id, passage, claims(passage.text))
            for attribute in {value.attribute for value in said.claims.made}:
                insort(self._made[attribute], said)
            for word in _ended(said.claims):
                insort(self._ended[word], said)

    def of(self, passage: IndexedMessage, memory: LongTermMemory) -> OutdatedSince | None:
        """Why this passage is outdated; None: it may still be true."""
        if passage.speaker != USER:
            return None
        mine = claims(passage.text)
        later = [said for value in mine.made for said in self._made.get(value.attribute, ())]
        later += [said for word in mine.words for said in self._ended.get(word, ())]
        newest = max((said for said in later if said.at > passage.at and replaces(said.claims, mine)), default=None)
        if newest is not None:
            return OutdatedSince(newest.at, newest.passage.text)
        return _remembered_past(passage, memory)


def _ended(said: Claims) -> frozenset[str]:
    """Concepts of which a statement must contain one to be ended or denied by this one."""
    found = {word for ending in said.ended for word in (ending.what or ending.among)}
    if said.denied:
        found |= said.words
    return frozenset(found - {"be", "have"} or found)


def _remembered_past(passage: IndexedMessage, memory: LongTermMemory) -> OutdatedSince | None:
    stated = {
        "tradingStyle": [style for style in (style_in(passage.text),) if style != memory.trading_style],
        "userNotes": notes_in(passage.text),
        "preferences": preferences_in(passage.text),
    }
    values = {name: {value.casefold() for value in found if value} for name, found in stated.items()}
    for past in memory.superseded:
        if passage.at < past.until and past.value.casefold() in values.get(past.field, ()):
            return OutdatedSince(past.until, past.by)
    return None
