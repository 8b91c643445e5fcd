"""Ranks a company's passages for a question.

BM25 over stems (memory.domain.recall.postings), in which words of title and headings weigh more. A passage that
contains more of the question's words goes before one that repeats a single word; one in the question's language before
its translation; of two equal ones the newer. Words that most passages contain are only scored for passages that also
contain a rarer one: they select nothing by themselves, and going through all their passages would be slow.
"""

import heapq
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contracts.knowledge import INDEX_PAGE
from memory.domain.recall.postings import Postings
from memory.embeddings.fusion import fused
from memory.knowledge.passages import Section, parted
from memory.knowledge.question import SAYS_LITTLE, KnowledgeQuestion, QueryWord, TextProfile, text_profile
from memory.knowledge.texts import StemmedDocument, StemmedPassage

MOST_PASSAGES = 20_000
"""The most passages of one company."""
MISSPELT = 0.6
MANY = 1_500
"""From this many passages on, a word is scored only for existing candidates."""
CANDIDATES = 50
FURTHER = 300
"""The best candidates so far, for which such a word is scored."""
LOOKED_AT = 60
"""Candidates for which the share of the question is computed."""
OWN_LANGUAGE = 1.2
SAME_QUESTION = 0.75
"""How much two questions must have in common for one's answer to answer the other."""


@dataclass(slots=True)
class _HeldDocument:
    """A document of which passages are in the index."""

    document: StemmedDocument
    numbers: range
    telling: tuple[TextProfile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    held: _HeldDocument
    place: int
    packed: bytes
    sections: tuple[Section, ...]

    @property
    def document(self) -> StemmedDocument:
        return self.held.document


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. `score` 0 to 1: the share of the question's weight that it covers; `place`: its
    number in its document; `section`: the best match of its `sections`; `near`: how near in meaning each of them is,
    where that is known."""

    document: StemmedDocument
    place: int
    text: str
    section: Section
    sections: tuple[Section, ...]
    score: float
    exact: bool = False
    near: tuple[float, ...] = ()


class CompanyIndex:
    """All passages of one company. A replaced passage keeps its number until the index is rebuilt (`needs_rebuild`)."""

    def __init__(self) -> None:
        self._postings = Postings()
        self._entries: list[_Entry | None] = []
        self._documents: dict[str, _HeldDocument] = {}
        self._gone = 0
        self._pairs: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._entries) - self._gone

    @property
    def documents(self) -> int:
        return len(self._documents)

    @property
    def needs_rebuild(self) -> bool:
        """Whether so much of it is outdated that it should be rebuilt."""
        return self._gone > 1_000 and self._gone > len(self)

    def of(self, document: str) -> int:
        held = self._documents.get(document)
        return len(held.numbers) if held else 0

    def version(self, document: str) -> StemmedDocument | None:
        held = self._documents.get(document)
        return held.document if held else None

    def names(self) -> frozenset[str]:
        return frozenset(self._documents)

    def put(self, document: StemmedDocument, texts: Iterable[StemmedPassage]) -> None:
        """Adds a document, replacing the one under its id."""
        self.drop(document.id)
        start = len(self._entries)
        asked = tuple(text_profile(question) for question in document.questions)
        held = self._documents[document.id] = _HeldDocument(document, range(start, start), asked)
        for place, text in enumerate(texts):
            self._postings.add(text.counts, text.length)
            self._entries.append(_Entry(held, place, zlib.compress(text.text.encode(), 1), text.sections))
        held.numbers = range(start, len(self._entries))
        for stem in {stem for one in asked for stem in one.stems}:
            self._pairs[stem].add(document.id)

    def describe(self, document: StemmedDocument) -> None:
        """Updates a document's description; its texts are unchanged."""
        if held := self._documents.get(document.id):
            held.document = document

    def drop(self, document: str) -> None:
        held = self._documents.pop(document, None)
        if held is None:
            return
        for number in held.numbers:
            self._entries[number] = None
        self._gone += len(held.numbers)
        for stem in {stem for one in held.telling for stem in one.stems}:
            self._pairs[stem].discard(document)

    def search(
        self, question: KnowledgeQuestion, asked: str, limit: int, near: Mapping[tuple[str, int], float] | None = None
    ) -> list[Hit]:
        """The best passages, best first; the answer of a pair that asks the same comes first. `near`: the nearest by
        meaning, by document and place, with their nearness."""
        exact = self._same_question(asked)
        hits = [exact] if exact else []
        taken = {exact.document.id} if exact else set[str]()
        for score, number in self._ranked(question, near or {}):
            entry = self._entries[number]
            if entry is None or (entry.document.questions and entry.document.id in taken):
                continue
            text = zlib.decompress(entry.packed).decode()
            if any(hit.text == text for hit in hits):
                continue
            section = self._best_section(entry.sections, text, question)
            hits.append(Hit(entry.document, entry.place, text, section, entry.sections, round(score, 4)))
            if len(hits) >= limit:
                break
        says_little = sum(one.weight == 1.0 for one in question.asked) < SAYS_LITTLE
        first = self._beginning(question.language) if says_little else None
        if first and all((one.document.id, one.place) != (first.document.id, first.place) for one in hits):
            # "What is this?" has no word that finds the page which says it; what a word has found goes before.
            hits = [*hits[: max(limit - 1, 1)], first]
        return hits[:limit]

    def pages(self, most: int) -> list[StemmedDocument]:
        """Pages of the site, shortest addresses first."""
        found = (one.document for one in self._documents.values() if one.document.source == "site" and one.document.url)
        return heapq.nsmallest(most, found, key=lambda one: (len(one.url or ""), one.url))

    def _beginning(self, language: str | None) -> Hit | None:
        """The first passage of the site's first page, which has the shortest address, in this language if there is
        one."""
        pages = (one for one in self._documents.values() if one.document.source == "site" and one.numbers)

        def order(held: _HeldDocument) -> tuple[bool, int]:
            return held.document.language != language, len(INDEX_PAGE.sub("", held.document.url or ""))

        first = min(pages, key=order, default=None)
        entry = self._entries[first.numbers[0]] if first else None
        if entry is None:
            return None
        return Hit(entry.document, 0, zlib.decompress(entry.packed).decode(), entry.sections[0], entry.sections, 0.0)

    def _ranked(self, question: KnowledgeQuestion, near: Mapping[tuple[str, int], float]) -> list[tuple[float, int]]:
        """The share of the question and the passage's number, best first."""
        words = [(one, self._known(one)) for one in question.asked]
        # A word that nobody holds counts as much as the rarest: what is asked for is not there.
        worth = [self._worth(stems) * one.weight for one, stems in words]
        total = sum(weight for (one, _), weight in zip(words, worth, strict=True) if one.weight == 1.0) or sum(worth)
        if not total:
            return []
        scores: dict[int, float] = {}
        for (one, stems), _ in sorted(zip(words, worth, strict=True), key=lambda each: -each[1]):
            if not stems:
                continue
            if len(scores) >= CANDIDATES and sum(map(self._postings.holders, stems)) > MANY:
                if len(scores) > FURTHER:
                    scores = {each: scores[each] for each in heapq.nlargest(FURTHER, scores, key=scores.__getitem__)}
                for number in scores:
                    scores[number] += one.weight * self._bm25_of(stems, number)
            else:
                for number, score in self._bm25(stems).items():
                    scores[number] = scores.get(number, 0.0) + one.weight * score
        ranked: list[tuple[float, float, float, int]] = []
        meant = self._numbered(near)
        for number in {*heapq.nlargest(LOOKED_AT, scores, key=scores.__getitem__), *meant}:
            entry = self._entries[number]
            if entry is None:
                continue
            share = sum(
                weight
                * max((held for stem, held in stems.items() if self._postings.bm25_of(stem, number)), default=0.0)
                for (_, stems), weight in zip(words, worth, strict=True)
            )
            share = min(share / total, 1.0)
            own = OWN_LANGUAGE if question.language and entry.document.language == question.language else 1.0
            rank = scores.get(number, 0.0) * own * (0.4 + 0.6 * share)
            ranked.append((round(rank, 3), entry.document.read_at.timestamp(), share, number))
        if meant:
            together = dict(fused([(one[3], one[0]) for one in ranked], meant))
            ranked = [(round(together[number], 4), at, share, number) for _, at, share, number in ranked]
        ranked.sort(reverse=True)
        return [(share, number) for _, _, share, number in ranked]

    def _best_section(self, sections: tuple[Section, ...], text: str, question: KnowledgeQuestion) -> Section:
        """The section of a passage that matches the question best, weighed as in the ranking; of equal ones, the one
        whose headings do."""
        if len(sections) == 1:
            return sections[0]
        known = [(one.weight, self._known(one)) for one in question.asked]
        words = [(weight * self._worth(stems), stems) for weight, stems in known]

        def held(said: str) -> float:
            told = text_profile(said).stems
            return sum(
                worth * max((part for stem, part in stems.items() if stem in told), default=0.0)
                for worth, stems in words
            )

        headings = [(" ".join(section.headings), said) for section, said in parted(text, sections)]
        shares = [(held(f"{heading} {said}"), held(heading)) for heading, said in headings]
        return sections[shares.index(max(shares))]

    def _numbered(self, near: Mapping[tuple[str, int], float]) -> dict[int, float]:
        found: dict[int, float] = {}
        for (document, place), share in near.items():
            held = self._documents.get(document)
            if share and held is not None and place < len(held.numbers):
                found[held.numbers[place]] = share
        return found

    def _known(self, asked: QueryWord) -> dict[str, float]:
        known = {stem: weight for stem, weight in asked.stems.items() if stem in self._postings}
        return known or dict.fromkeys(self._postings.misspelt(asked.word), MISSPELT)

    def _worth(self, stems: dict[str, float]) -> float:
        return self._postings.idf(max((self._postings.holders(stem) for stem in stems), default=0))

    def _bm25(self, stems: dict[str, float]) -> dict[int, float]:
        """For each passage, the best score of a word's stems."""
        if len(stems) == 1:
            ((stem, weight),) = stems.items()
            found = self._postings.bm25(stem)
            return found if weight == 1.0 else {number: score * weight for number, score in found.items()}
        found: dict[int, float] = {}
        for stem, weight in stems.items():
            for number, score in self._postings.bm25(stem).items():
                if score * weight > found.get(number, 0.0):
                    found[number] = score * weight
        return found

    def _bm25_of(self, stems: dict[str, float], number: int) -> float:
        return max(self._postings.bm25_of(stem, number) * weight for stem, weight in stems.items())

    def _same_question(self, asked: str) -> Hit | None:
        """The pair that asks the same; of several the most similar one."""
        told = text_profile(asked)
        best: tuple[float, str] | None = None
        for name in {name for stem in told.stems for name in self._pairs.get(stem, ())}:
            share = max(self._share(told, other) for other in self._documents[name].telling)
            if share >= SAME_QUESTION and (best is None or (share, name) > best):
                best = share, name
        if best is None:
            return None
        held = self._documents[best[1]]
        entry = self._entries[held.numbers[0]] if held.numbers else None
        if entry is None:
            return None
        text = zlib.decompress(entry.packed).decode()
        return Hit(entry.document, 0, text, entry.sections[0], entry.sections, round(best[0], 4), exact=True)

    def _share(self, one: TextProfile, other: TextProfile) -> float:
        """How much two questions have in common, weighed by how rare each word is."""
        if not one.words or not other.words or one.numbers != other.numbers:
            return 0.0
        shared = self._weight(one.shared(other))
        every = self._weight(one.words) + self._weight(other.words) - shared
        return min(shared / every, 1.0)

    def _weight(self, words: Iterable[tuple[str, str]]) -> float:
        """Weights of words: rarer ones weigh more."""
        postings = self._postings
        return sum(1.0 + 0.2 * postings.idf(max(map(postings.holders, word))) for word in words)
