"""Ranks a company's passages for a question.

BM25 over stems (memory.domain.recall.postings), in which words of title and headings weigh more. A passage that
contains more of the question's words comes before one that repeats a single word; one in the question's language before
its translation; of two equal ones the newer first. Words that most passages contain are only scored for passages that
also contain a rarer one: alone they do not select, and scoring all their passages would be slow.
"""

import heapq
import math
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from contracts.knowledge import INDEX_PAGE, Passage, PassageSection
from memory.domain.recall.postings import Postings
from memory.embeddings.fusion import fused
from memory.knowledge.passages import HeadingPosition, split_sections
from memory.knowledge.question import MIN_WORDS, KnowledgeQuestion, QueryWord, TextProfile, text_profile
from memory.knowledge.texts import StemmedDocument, StemmedPassage

MAX_COMPANY_PASSAGES = 20_000
"""The most passages of one company."""
MISSPELLING_WEIGHT = 0.6
COMMON_WORD_PASSAGES = 1_500
"""If at least this many passages contain a word, it is scored only for existing candidates."""
MIN_CANDIDATES = 50
MAX_CANDIDATES = 300
"""The best candidates so far, for which such a word is scored."""
MAX_COMPARED = 60
"""Candidates for which the coverage of the question is computed."""
MAX_WORDS = 16
"""Words of a question that are searched for: the rarest, so that a long message costs no more than a question."""
LANGUAGE_FACTOR = 1.2
MIN_QUESTION_OVERLAP = 0.75
"""Share that two questions must have in common for the answer of one to answer the other."""

KnownWord = tuple[QueryWord, dict[str, float]]
"""A word of a question, with those of its stems, or of similar ones, that passages contain, each with its weight."""


@dataclass(slots=True)
class _IndexedDocument:
    """A document with passages in the index."""

    document: StemmedDocument
    numbers: range
    telling: tuple[TextProfile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    indexed: _IndexedDocument
    place: int
    packed: bytes
    sections: tuple[HeadingPosition, ...]

    @property
    def document(self) -> StemmedDocument:
        return self.indexed.document


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. `score` 0 to 1: the share of the question's weight that it covers; `place`: its number
    in its document; `section`: the best match of its `sections`; `near`: how near in meaning each of them is, if known.
    """

    document: StemmedDocument
    place: int
    text: str
    section: HeadingPosition
    sections: tuple[HeadingPosition, ...]
    score: float
    exact: bool = False
    near: tuple[float, ...] = ()


class CompanyIndex:
    """All passages of one company. A replaced passage keeps its number until the index is rebuilt (`needs_rebuild`)."""

    def __init__(self) -> None:
        self._postings = Postings()
        self._entries: list[_Entry | None] = []
        self._documents: dict[str, _IndexedDocument] = {}
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

    def passage_count(self, document: str) -> int:
        entry = self._documents.get(document)
        return len(entry.numbers) if entry else 0

    def version(self, document: str) -> StemmedDocument | None:
        entry = self._documents.get(document)
        return entry.document if entry else None

    def names(self) -> frozenset[str]:
        return frozenset(self._documents)

    def put(self, document: StemmedDocument, texts: Iterable[StemmedPassage]) -> None:
        """Adds a document, replacing the one with its id."""
        self.drop(document.id)
        start = len(self._entries)
        profiles = tuple(text_profile(question) for question in document.questions)
        entry = self._documents[document.id] = _IndexedDocument(document, range(start, start), profiles)
        for place, text in enumerate(texts):
            self._postings.add(text.counts, text.length)
            self._entries.append(_Entry(entry, place, zlib.compress(text.text.encode(), 1), text.sections))
        entry.numbers = range(start, len(self._entries))
        for stem in {stem for profile in profiles for stem in profile.stems}:
            self._pairs[stem].add(document.id)

    def describe(self, document: StemmedDocument) -> None:
        """Updates a document's description; its texts are unchanged."""
        if entry := self._documents.get(document.id):
            entry.document = document

    def drop(self, document: str) -> None:
        entry = self._documents.pop(document, None)
        if entry is None:
            return
        for number in entry.numbers:
            self._entries[number] = None
        self._gone += len(entry.numbers)
        for stem in {stem for profile in entry.telling for stem in profile.stems}:
            self._pairs[stem].discard(document)

    def search(
        self,
        question: KnowledgeQuestion,
        question_text: str,
        limit: int,
        nearest: Mapping[tuple[str, int], float] | None = None,
    ) -> list[Hit]:
        """Returns the best passages, best first; the answer of a pair that asks the same comes first. `nearest`: the
        nearest by meaning, as nearness by document and place."""
        question = self._with_rarest_words(question)
        exact = self._same_question(question_text)
        hits = [exact] if exact else []
        taken_pairs = {exact.document.id} if exact else set[str]()
        words = [(word, self._known(word)) for word in question.query_words]
        for score, number in self._ranked(question, words, nearest or {}):
            entry = self._entries[number]
            if entry is None or (entry.document.questions and entry.document.id in taken_pairs):
                continue
            text = zlib.decompress(entry.packed).decode()
            if any(hit.text == text for hit in hits):
                continue
            section = self._best_matching_section(entry.sections, text, words)
            hits.append(Hit(entry.document, entry.place, text, section, entry.sections, round(score, 4)))
            if len(hits) >= limit:
                break
        is_vague = sum(word.weight == 1.0 for word in question.query_words) < MIN_WORDS
        home_hit = self._home_page_hit(question.language) if is_vague else None
        if home_hit and all((hit.document.id, hit.place) != (home_hit.document.id, home_hit.place) for hit in hits):
            # "What is this?" contains no word of the page that answers it; what words have found comes first.
            hits = [*hits[: max(limit - 1, 1)], home_hit]
        return hits[:limit]

    def pages(self, limit: int) -> list[StemmedDocument]:
        """Returns pages of the site, shortest addresses first."""
        pages = (
            page.document for page in self._documents.values() if page.document.source == "site" and page.document.url
        )
        return heapq.nsmallest(limit, pages, key=lambda page: (len(page.url or ""), page.url))

    def _with_rarest_words(self, question: KnowledgeQuestion) -> KnowledgeQuestion:
        """Returns the question with the rarest of its words; those that no passage contains come last."""
        words = question.query_words
        if len(words) <= MAX_WORDS:
            return question

        def passages_with(word: QueryWord) -> float:
            return max(map(self._postings.holders, word.stems), default=0) or math.inf

        rarest = heapq.nsmallest(MAX_WORDS, words, key=passages_with)
        return replace(question, query_words=tuple(rarest))

    def _home_page_hit(self, language: str | None) -> Hit | None:
        """Returns the first passage of the site's home page, which is the page with the shortest address, in this
        language if there is one."""
        pages = (
            indexed for indexed in self._documents.values() if indexed.document.source == "site" and indexed.numbers
        )

        def order(page: _IndexedDocument) -> tuple[bool, int]:
            return page.document.language != language, len(INDEX_PAGE.sub("", page.document.url or ""))

        home = min(pages, key=order, default=None)
        entry = self._entries[home.numbers[0]] if home else None
        if entry is None:
            return None
        return Hit(entry.document, 0, zlib.decompress(entry.packed).decode(), entry.sections[0], entry.sections, 0.0)

    def _ranked(
        self, question: KnowledgeQuestion, words: Sequence[KnownWord], nearest: Mapping[tuple[str, int], float]
    ) -> list[tuple[float, int]]:
        """Returns the coverage of the question and the passage's number, best first."""
        # A word that no passage contains counts as much as the rarest: what is asked for is missing.
        rarities = [self._rarity(stems) * word.weight for word, stems in words]
        total = sum(weight for (word, _), weight in zip(words, rarities, strict=True) if word.weight == 1.0) or sum(
            rarities
        )
        if not total:
            return []
        scores: dict[int, float] = {}
        for (word, stems), _ in sorted(zip(words, rarities, strict=True), key=lambda candidate: -candidate[1]):
            if not stems:
                continue
            if len(scores) >= MIN_CANDIDATES and sum(map(self._postings.holders, stems)) > COMMON_WORD_PASSAGES:
                if len(scores) > MAX_CANDIDATES:
                    scores = {
                        candidate: scores[candidate]
                        for candidate in heapq.nlargest(MAX_CANDIDATES, scores, key=scores.__getitem__)
                    }
                for number in scores:
                    scores[number] += word.weight * self._bm25_of(stems, number)
            else:
                for number, score in self._bm25(stems).items():
                    scores[number] = scores.get(number, 0.0) + word.weight * score
        ranked: list[tuple[float, float, float, int]] = []
        nearness = self._nearness_by_number(nearest)
        for number in {*heapq.nlargest(MAX_COMPARED, scores, key=scores.__getitem__), *nearness}:
            entry = self._entries[number]
            if entry is None:
                continue
            coverage = sum(
                weight
                * max(
                    (stem_weight for stem, stem_weight in stems.items() if self._postings.bm25_of(stem, number)),
                    default=0.0,
                )
                for (_, stems), weight in zip(words, rarities, strict=True)
            )
            coverage = min(coverage / total, 1.0)
            language_factor = (
                LANGUAGE_FACTOR if question.language and entry.document.language == question.language else 1.0
            )
            rank = scores.get(number, 0.0) * language_factor * (0.4 + 0.6 * coverage)
            ranked.append((round(rank, 3), entry.document.read_at.timestamp(), coverage, number))
        if nearness:
            fused_scores = dict(fused([(word[3], word[0]) for word in ranked], nearness))
            ranked = [
                (round(fused_scores[number], 4), read_at, coverage, number) for _, read_at, coverage, number in ranked
            ]
        ranked.sort(reverse=True)
        return [(coverage, number) for _, _, coverage, number in ranked]

    def _best_matching_section(
        self, sections: tuple[HeadingPosition, ...], text: str, words: Sequence[KnownWord]
    ) -> HeadingPosition:
        """Returns the section of a passage that matches the question best, weighed as in the ranking; of equal ones,
        the one whose headings match best."""
        if len(sections) == 1:
            return sections[0]
        rarities = [(word.weight * self._rarity(stems), stems) for word, stems in words]

        def coverage(section_text: str) -> float:
            text_stems = text_profile(section_text).stems
            return sum(
                rarity * max((stem_weight for stem, stem_weight in stems.items() if stem in text_stems), default=0.0)
                for rarity, stems in rarities
            )

        titled_sections = [
            (" ".join(section.headings), section_text) for section, section_text in split_sections(text, sections)
        ]
        shares = [
            (coverage(f"{heading} {section_text}"), coverage(heading)) for heading, section_text in titled_sections
        ]
        return sections[shares.index(max(shares))]

    def _nearness_by_number(self, nearest: Mapping[tuple[str, int], float]) -> dict[int, float]:
        by_number: dict[int, float] = {}
        for (document, place), nearness in nearest.items():
            entry = self._documents.get(document)
            if nearness and entry is not None and place < len(entry.numbers):
                by_number[entry.numbers[place]] = nearness
        return by_number

    def _known(self, query_word: QueryWord) -> dict[str, float]:
        stems = {stem: weight for stem, weight in query_word.stems.items() if stem in self._postings}
        return stems or dict.fromkeys(self._postings.misspelt(query_word.word), MISSPELLING_WEIGHT)

    def _rarity(self, stems: dict[str, float]) -> float:
        return self._postings.idf(max((self._postings.holders(stem) for stem in stems), default=0))

    def _bm25(self, stems: dict[str, float]) -> dict[int, float]:
        """Returns the best score of a word's stems for each passage."""
        if len(stems) == 1:
            ((stem, weight),) = stems.items()
            scores = self._postings.bm25(stem)
            return scores if weight == 1.0 else {number: score * weight for number, score in scores.items()}
        scores: dict[int, float] = {}
        for stem, weight in stems.items():
            for number, score in self._postings.bm25(stem).items():
                if score * weight > scores.get(number, 0.0):
                    scores[number] = score * weight
        return scores

    def _bm25_of(self, stems: dict[str, float], number: int) -> float:
        return max(self._postings.bm25_of(stem, number) * weight for stem, weight in stems.items())

    def _same_question(self, question: str) -> Hit | None:
        """Returns the pair that asks the same; if there are several, the most similar one."""
        profile = text_profile(question)
        best: tuple[float, str] | None = None
        for name in {name for stem in profile.stems for name in self._pairs.get(stem, ())}:
            share = max(self._share(profile, other) for other in self._documents[name].telling)
            if share >= MIN_QUESTION_OVERLAP and (best is None or (share, name) > best):
                best = share, name
        if best is None:
            return None
        entry_of_pair = self._documents[best[1]]
        entry = self._entries[entry_of_pair.numbers[0]] if entry_of_pair.numbers else None
        if entry is None:
            return None
        text = zlib.decompress(entry.packed).decode()
        return Hit(entry.document, 0, text, entry.sections[0], entry.sections, round(best[0], 4), exact=True)

    def _share(self, profile: TextProfile, other: TextProfile) -> float:
        """Returns how much two questions have in common, weighed by how rare each word is."""
        if not profile.words or not other.words or profile.numbers != other.numbers:
            return 0.0
        shared = self._weight(profile.shared(other))
        all_weight = self._weight(profile.words) + self._weight(other.words) - shared
        return min(shared / all_weight, 1.0)

    def _weight(self, words: Iterable[tuple[str, str]]) -> float:
        """Returns the total weight of words: rarer ones weigh more."""
        postings = self._postings
        return sum(1.0 + 0.2 * postings.idf(max(map(postings.holders, word))) for word in words)


def passage(hit: Hit) -> Passage:
    document, section = hit.document, hit.section
    sections = [
        PassageSection(start=part.start, heading=list(part.headings), url=_url(document, part)) for part in hit.sections
    ]
    return Passage(
        id=f"{document.id.replace('-', '')}-{hit.place}",
        document_id=document.id,
        source=document.source,  # pyright: ignore[reportArgumentType] - an open list
        title=document.title,
        url=_url(document, section),
        heading=list(section.headings),
        anchor=section.anchor,
        language=document.language,
        text=hit.text,
        score=hit.score,
        read_at=document.read_at,
        hash=document.hash,
        exact=hit.exact,
        sections=sections if len(sections) > 1 else None,
        near=list(hit.near) or None,
    )


def _url(document: StemmedDocument, section: HeadingPosition) -> str | None:
    if document.url and section.anchor and document.source == "site":
        return f"{document.url}#{section.anchor}"
    return document.url
