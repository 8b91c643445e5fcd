"""Ranking of passages: BM25 over stems (`postings`), and what a conversation adds to it.

- A message is understood from those around it: "yes, the blue one" answers a question that contains the words. Each
  word of a question counts for a message as much as the nearest message with that word gives (`AROUND`), so that a word
  said twice nearby does not count twice; and a little for every message of the same day of the conversation.
- The speaker named in the question ("what did I say", a name) is preferred; what is asked for is rarely itself a
  question.
- Of two similar passages the newer one comes first, more so if the question asks for the newest.
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

from memory.domain.recall.lexicon import MONTHS, QUESTION_WORDS, RECENCY_WORDS, SPEAKER_WORDS
from memory.domain.recall.postings import Postings
from memory.domain.recall.words import STOP, QueryTerm, folded, query_terms, stems, words

WORD_WEIGHTS = ((0, 1.0), (1, 0.7), (-1, 0.4), (2, 0.35), (-2, 0.2), (3, 0.2), (-3, 0.1))
"""The weight of a word for the message this many places after (+) or before (-) the one that contains it."""
MEANING_WEIGHTS = ((1, 0.5), (-1, 0.5), (2, 0.25), (-2, 0.25))
"""The weight that the meaning of the message this many places after (+) or before (-) a message has for it (decision
0158)."""
MAX_GAP = timedelta(hours=6)
"""Messages further apart than this do not influence each other."""
MAX_GAP_SECONDS = MAX_GAP.total_seconds()
MAX_CANDIDATES = 500
"""Once the rarer words of a question have found this many messages, its commoner words only rank these; and one word
finds its best and newest messages, at most this many. A search in fewer messages is not affected."""
SAME_DAY_WEIGHT = 0.2
BEST_DAYS = 5
"""Days of conversations whose messages are all considered, whether or not they contain a word of the question."""
SPEAKER_BONUS = 0.3
QUESTION_FACTOR = 0.8
MISSPELLING_WEIGHT = 0.6
RECENCY_BONUS = 0.05
ASKED_RECENCY_BONUS = 0.5
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
        """Returns the passage with this id; raises KeyError."""
        return self._passages[self._ids[passage_id]]

    def around(self, passage: IndexedMessage) -> tuple[IndexedMessage | None, IndexedMessage | None]:
        """Returns the messages before and after it, if they are near in time."""
        positions = self._by_conversation[passage.conversation]
        index = bisect_left(positions, (passage.order,))
        before = self._passages[positions[index - 1][1]] if index else None
        after = self._passages[positions[index + 1][1]] if index + 1 < len(positions) else None
        return _if_near(before, passage), _if_near(after, passage)

    def nearby(self, message_id: str) -> list[tuple[str, float]]:
        """Returns the ids of the messages near one, with the weight that their meaning has for it."""
        passage = self.passage(message_id)
        positions = self._by_conversation[passage.conversation]
        index = bisect_left(positions, (passage.order,))
        neighbours = [
            (index + offset, weight) for offset, weight in MEANING_WEIGHTS if 0 <= index + offset < len(positions)
        ]
        near = [(_if_near(self._passages[positions[position][1]], passage), weight) for position, weight in neighbours]
        return [(neighbour.id, weight) for neighbour, weight in near if neighbour is not None]

    def newest(self, conversation: str, count: int) -> frozenset[str]:
        """Returns the ids of a conversation's newest messages."""
        return frozenset(
            self._passages[number].id for _, number in self._by_conversation.get(conversation, [])[-count:]
        )

    def between(self, conversation: str, first: object, last: object) -> frozenset[str]:
        """Returns the ids of a conversation's messages between two positions, both included."""
        positions = self._by_conversation.get(conversation, [])
        return frozenset(self._passages[number].id for order, number in positions if first <= order <= last)

    def search(self, question: str, limit: int, now: datetime, without: Collection[str] = ()) -> list[RankedMessage]:
        """Returns the best passages, best first. `now`: for recency; `without`: ids to leave out."""
        question_words = set(words(question))
        speakers = self._named(question_words)
        speaker_words = {name for speaker in speakers for name in words(speaker)}
        scores = self._scores(
            (term for term in query_terms(question) if term.word not in speaker_words), question_words
        )
        if not scores and question_words <= STOP | speaker_words:
            # "What did I say last?" names only a speaker and a time.
            scores = {
                number: 1.0 for number, term in enumerate(self._passages) if not speakers or term.speaker in speakers
            }
        asks_for_questions = not question_words.isdisjoint(QUESTION_WORDS)
        recency_bonus = ASKED_RECENCY_BONUS if question_words & RECENCY_WORDS else RECENCY_BONUS
        ranked: list[tuple[float, int]] = []
        best = heapq.nlargest(limit + len(without), scores.values())
        min_score = best[-1] * QUESTION_FACTOR / ((1 + SPEAKER_BONUS) * (1 + recency_bonus)) if best else 0.0
        for number, score in scores.items():
            if score < min_score:
                continue  # even with every bonus it would not be among the best
            passage = self._passages[number]
            if passage.id in without:
                continue
            if passage.speaker in speakers:
                score *= 1 + SPEAKER_BONUS
            if not asks_for_questions and self._asks[number]:
                score *= QUESTION_FACTOR
            age = max((now - passage.at) / HALF_LIFE, 0.0)
            ranked.append((score * (1 + recency_bonus * 0.5 ** min(age, 60.0)), number))
        ranked.sort(reverse=True)
        return [RankedMessage(self._passages[number], score) for score, number in ranked[:limit]]

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
        positions = self._by_conversation[passage.conversation]
        self._place.append(len(positions))
        if not positions or positions[-1][0] < passage.order:
            positions.append((passage.order, number))
        else:
            insort(positions, (passage.order, number))
            for position, (_, other) in enumerate(positions):
                self._place[other] = position

    def _named(self, question_words: set[str]) -> set[str]:
        """Returns the speakers that a question names; none if it names all of them."""
        speakers = {
            speaker
            for speaker, name in self._speakers.items()
            if question_words & (SPEAKER_WORDS[speaker] if speaker in SPEAKER_WORDS else set(words(name)))
        }
        return set() if len(speakers) == len(self._speakers) else speakers

    def _scores(self, terms: Iterable[QueryTerm], question_words: set[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        day_scores: defaultdict[int, float] = defaultdict(float)
        neighbours_of: dict[int, list[tuple[int, float]]] = {}
        for term_scores in sorted(map(self._held, terms), key=len):
            if len(scores) < MAX_CANDIDATES:
                counted = term_scores
                if len(term_scores) > MAX_CANDIDATES:
                    counted = dict(heapq.nlargest(MAX_CANDIDATES, reversed(term_scores.items()), key=itemgetter(1)))
                spread = _with_neighbours(counted, self._reached)
            else:
                neighbours_of = neighbours_of or self._reaching(
                    heapq.nlargest(MAX_CANDIDATES, scores, key=scores.__getitem__)
                )
                counted = {number: term_scores[number] for number in term_scores.keys() & neighbours_of.keys()}
                spread = _with_neighbours(counted, neighbours_of.__getitem__)
            for number, value in spread.items():
                scores[number] = scores.get(number, 0.0) + value
            best_of_day: dict[int, float] = {}
            for number, value in counted.items():
                day = self._day[number]
                if value > best_of_day.get(day, 0.0):
                    best_of_day[day] = value
            for day, value in best_of_day.items():
                day_scores[day] += value
        for day in heapq.nlargest(BEST_DAYS, day_scores, key=day_scores.__getitem__):
            for number in self._days[day]:
                scores.setdefault(number, 0.0)
        months = {MONTHS[word] for word in question_words if word in MONTHS}
        years = {int(word) for word in question_words if len(word) == 4 and word.isdigit()}
        for number in scores:
            scores[number] += SAME_DAY_WEIGHT * day_scores.get(self._day[number], 0.0)
            if months or years:
                time = self._passages[number].at
                scores[number] *= 1 + 0.3 * (time.month in months) + 0.2 * (time.year in years)
        return scores

    def _held(self, term: QueryTerm) -> dict[int, float]:
        """Returns the BM25 score of each passage that contains the word or a synonym."""
        weights = {stem: weight for stem, weight in term.stems if stem in self._postings}
        if not weights:
            weights = dict.fromkeys(self._postings.misspelt(term.word), MISSPELLING_WEIGHT)
        scores: dict[int, float] = {}
        for stem, weight in weights.items():
            for number, value in self._postings.bm25(stem).items():
                if value * weight > scores.get(number, 0.0):
                    scores[number] = value * weight
        return scores

    def _reached(self, number: int, direction: int = 1) -> list[tuple[int, float]]:
        """Returns the passages for which this passage's words count too, with their share; `direction` -1: those whose
        words count for it."""
        positions, position = self._by_conversation[self._passages[number].conversation], self._place[number]
        seconds, time, end = self._seconds, self._seconds[number], len(positions)
        return [
            (other, share)
            for offset, share in WORD_WEIGHTS
            if 0 <= (other_position := position + direction * offset) < end
            and -MAX_GAP_SECONDS <= seconds[other := positions[other_position][1]] - time <= MAX_GAP_SECONDS
        ]

    def _reaching(self, numbers: Iterable[int]) -> dict[int, list[tuple[int, float]]]:
        """Maps each passage whose words count for some of these to those passages, with their share."""
        reached: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for number in numbers:
            for other, share in self._reached(number, -1):
                reached[other].append((number, share))
        return reached


def _with_neighbours(
    scores: Mapping[int, float], neighbours_of: Callable[[int], list[tuple[int, float]]]
) -> dict[int, float]:
    """Returns a word's weight for each passage, including its neighbours'."""
    spread: dict[int, float] = {}
    for number, value in scores.items():
        for other, share in neighbours_of(number):
            weighted = value * share
            if weighted > spread.get(other, 0.0):
                spread[other] = weighted
    return spread


def _if_near(message: IndexedMessage | None, reference: IndexedMessage) -> IndexedMessage | None:
    return message if message is not None and abs(message.at - reference.at) <= MAX_GAP else None
