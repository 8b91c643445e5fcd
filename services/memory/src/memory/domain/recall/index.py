"""Ranking of passages: BM25 over stems (`postings`), and what a conversation adds to it.

- A message is understood from those around it: "yes, the blue one" answers a question that holds the words. Each word
  of a question counts for a message as much as the nearest message that has it gives (`AROUND`), so that a word said
  twice nearby does not count twice; and a little for every message of the same day of the conversation.
- Who is named in the question ("what did I say", a name) spoke; what is asked for is rarely itself a question.
- Of two passages alike the newer one comes first, more so if the question asks for what is newest.
"""

import heapq
from array import array
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from memory.domain.recall.lexicon import ASKED, LATELY, MONTHS, SPEAKERS
from memory.domain.recall.postings import Postings
from memory.domain.recall.words import STOP, QueryTerm, folded, sought, stems, words

AROUND = ((0, 1.0), (1, 0.7), (-1, 0.4), (2, 0.35), (-2, 0.2), (3, 0.2), (-3, 0.1))
"""The weight of a word for the message this many places after (+) or before (-) the one that contains it."""
NEARBY = ((1, 0.5), (-1, 0.5), (2, 0.25), (-2, 0.25))
"""The weight for a message of the meaning of that this many places after (+) or before (-) it (decision 0158)."""
APART = timedelta(hours=6)
"""Messages further apart than this do not influence each other."""
WITHIN = APART.total_seconds()
ENOUGH = 500
"""Once the rarer words of a question have found this many messages, its commoner words only put these in order; and
one word finds its best and newest messages, at most this many. A search in fewer messages is not affected."""
SAME_DAY = 0.2
BEST_DAYS = 5
"""Days of conversations whose messages are all considered, whether or not they contain a word of the question."""
SPOKE = 0.3
A_QUESTION = 0.8
MISSPELT = 0.6
RECENT = 0.05
RECENT_ASKED = 0.5
HALF_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    """One message. `order` sorts the messages of a conversation; `speaker` is a role or a name."""

    id: str
    conversation: str
    order: Any
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A passage and its score, comparable within one search."""

    passage: IndexedMessage
    score: float


class RecallIndex:
    """The passages of one person. It is filled by `add`, during which it must not be searched."""

    def __init__(self) -> None:
        self._passages: list[IndexedMessage] = []
        self._ids: dict[str, int] = {}
        self._postings = Postings()
        self._by_conversation: defaultdict[str, list[tuple[Any, int]]] = defaultdict(list)
        self._place: array[int] = array("I")
        self._seconds: array[float] = array("d")
        self._asks: array[int] = array("B")
        self._day: array[int] = array("I")
        self._days: list[list[int]] = []
        self._day_numbers: dict[tuple[str, int], int] = {}
        self._speakers: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._passages)

    def __contains__(self, passage_id: str) -> bool:
        return passage_id in self._ids

    def add(self, passages: Iterable[IndexedMessage]) -> int:
        """Adds the messages that it does not have yet, in any order; returns how many."""
        before = len(self._passages)
        for passage in passages:
            if passage.id not in self._ids:
                self._take(passage)
        return len(self._passages) - before

    def passage(self, passage_id: str) -> IndexedMessage:
        """The passage of this id; raises KeyError."""
        return self._passages[self._ids[passage_id]]

    def around(self, passage: IndexedMessage) -> tuple[IndexedMessage | None, IndexedMessage | None]:
        """The messages before and after it, where they are near in time."""
        places = self._by_conversation[passage.conversation]
        place = bisect_left(places, (passage.order,))
        before = self._passages[places[place - 1][1]] if place else None
        after = self._passages[places[place + 1][1]] if place + 1 < len(places) else None
        return _if_near(before, passage), _if_near(after, passage)

    def nearby(self, name: str) -> list[tuple[str, float]]:
        """The ids of the messages near one, with the weight that their meaning has for it."""
        passage = self.passage(name)
        places = self._by_conversation[passage.conversation]
        place = bisect_left(places, (passage.order,))
        there = [(place + away, weight) for away, weight in NEARBY if 0 <= place + away < len(places)]
        found = [(_if_near(self._passages[places[at][1]], passage), weight) for at, weight in there]
        return [(one.id, weight) for one, weight in found if one is not None]

    def newest(self, conversation: str, count: int) -> frozenset[str]:
        """The ids of a conversation's newest messages."""
        return frozenset(
            self._passages[number].id for _, number in self._by_conversation.get(conversation, [])[-count:]
        )

    def between(self, conversation: str, first: object, last: object) -> frozenset[str]:
        """The ids of a conversation's messages between two positions, both included."""
        places = self._by_conversation.get(conversation, [])
        return frozenset(self._passages[number].id for order, number in places if first <= order <= last)

    def search(self, question: str, limit: int, now: datetime, without: Collection[str] = ()) -> list[RankedMessage]:
        """The best passages, best first. `now`: for recency; `without`: ids to leave out."""
        every = set(words(question))
        named = self._named(every)
        names = {name for speaker in named for name in words(speaker)}
        scores = self._scores((one for one in sought(question) if one.word not in names), every)
        if not scores and every <= STOP | names:
            # "What did I say last?" asks by nothing but who and when.
            scores = {number: 1.0 for number, one in enumerate(self._passages) if not named or one.speaker in named}
        after_questions = not every.isdisjoint(ASKED)
        lately = RECENT_ASKED if every & LATELY else RECENT
        found: list[tuple[float, int]] = []
        best = heapq.nlargest(limit + len(without), scores.values())
        least = best[-1] * A_QUESTION / ((1 + SPOKE) * (1 + lately)) if best else 0.0
        for number, score in scores.items():
            if score < least:
                continue  # what follows cannot bring it among the best
            passage = self._passages[number]
            if passage.id in without:
                continue
            if passage.speaker in named:
                score *= 1 + SPOKE
            if not after_questions and self._asks[number]:
                score *= A_QUESTION
            age = max((now - passage.at) / HALF_LIFE, 0.0)
            found.append((score * (1 + lately * 0.5 ** min(age, 60.0)), number))
        found.sort(reverse=True)
        return [RankedMessage(self._passages[number], score) for score, number in found[:limit]]

    def _take(self, passage: IndexedMessage) -> None:
        number = len(self._passages)
        self._passages.append(passage)
        self._ids[passage.id] = number
        if passage.speaker not in self._speakers:
            self._speakers[passage.speaker] = folded(passage.speaker)
        counts: dict[str, int] = {}
        for stem in stems(passage.text):
            counts[stem] = counts.get(stem, 0) + 1
        self._postings.add(counts)
        day = self._day_numbers.setdefault((passage.conversation, passage.at.toordinal()), len(self._days))
        if day == len(self._days):
            self._days.append([])
        self._days[day].append(number)
        self._day.append(day)
        self._seconds.append(passage.at.timestamp())
        self._asks.append(passage.text.rstrip().endswith("?"))
        places = self._by_conversation[passage.conversation]
        self._place.append(len(places))
        if not places or places[-1][0] < passage.order:
            places.append((passage.order, number))
        else:
            insort(places, (passage.order, number))
            for place, (_, moved) in enumerate(places):
                self._place[moved] = place

    def _named(self, every: set[str]) -> set[str]:
        """The speakers that a question names; none if it names all of them."""
        named = {
            speaker
            for speaker, name in self._speakers.items()
            if every & (SPEAKERS[speaker] if speaker in SPEAKERS else set(words(name)))
        }
        return set() if len(named) == len(self._speakers) else named

    def _scores(self, asked: Iterable[QueryTerm], every: set[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        days: defaultdict[int, float] = defaultdict(float)
        near: dict[int, list[tuple[int, float]]] = {}
        for held in sorted(map(self._held, asked), key=len):
            if len(scores) < ENOUGH:
                best = held
                if len(held) > ENOUGH:
                    best = dict(heapq.nlargest(ENOUGH, reversed(held.items()), key=itemgetter(1)))
                found = _spread(best, self._reached)
            else:
                near = near or self._reaching(heapq.nlargest(ENOUGH, scores, key=scores.__getitem__))
                best = {number: held[number] for number in held.keys() & near.keys()}
                found = _spread(best, near.__getitem__)
            for number, value in found.items():
                scores[number] = scores.get(number, 0.0) + value
            best_of_day: dict[int, float] = {}
            for number, value in best.items():
                day = self._day[number]
                if value > best_of_day.get(day, 0.0):
                    best_of_day[day] = value
            for day, value in best_of_day.items():
                days[day] += value
        for day in heapq.nlargest(BEST_DAYS, days, key=days.__getitem__):
            for number in self._days[day]:
                scores.setdefault(number, 0.0)
        months = {MONTHS[word] for word in every if word in MONTHS}
        years = {int(word) for word in every if len(word) == 4 and word.isdigit()}
        for number in scores:
            scores[number] += SAME_DAY * days.get(self._day[number], 0.0)
            if months or years:
                at = self._passages[number].at
                scores[number] *= 1 + 0.3 * (at.month in months) + 0.2 * (at.year in years)
        return scores

    def _held(self, one: QueryTerm) -> dict[int, float]:
        """The BM25 of each passage that contains the word or a synonym."""
        known = {stem: weight for stem, weight in one.stems if stem in self._postings}
        if not known:
            known = dict.fromkeys(self._postings.misspelt(one.word), MISSPELT)
        found: dict[int, float] = {}
        for stem, weight in known.items():
            for number, value in self._postings.bm25(stem).items():
                if value * weight > found.get(number, 0.0):
                    found[number] = value * weight
        return found

    def _reached(self, number: int, way: int = 1) -> list[tuple[int, float]]:
        """The passages for which one's words count too, with their share; `way` -1: those whose words count for it."""
        places, place = self._by_conversation[self._passages[number].conversation], self._place[number]
        seconds, at, last = self._seconds, self._seconds[number], len(places)
        return [
            (other, share)
            for offset, share in AROUND
            if 0 <= (there := place + way * offset) < last
            and -WITHIN <= seconds[other := places[there][1]] - at <= WITHIN
        ]

    def _reaching(self, numbers: Iterable[int]) -> dict[int, list[tuple[int, float]]]:
        """Of each passage whose words count for some of these: for which, with their share."""
        found: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for number in numbers:
            for other, share in self._reached(number, -1):
                found[other].append((number, share))
        return found


def _spread(held: Mapping[int, float], reached: Callable[[int], list[tuple[int, float]]]) -> dict[int, float]:
    """A word's weight for each passage, including its neighbours'."""
    found: dict[int, float] = {}
    for number, value in held.items():
        for other, share in reached(number):
            given = value * share
            if given > found.get(other, 0.0):
                found[other] = given
    return found


def _if_near(one: IndexedMessage | None, other: IndexedMessage) -> IndexedMessage | None:
    return one if one is not None and abs(one.at - other.at) <= APART else None
