"""Finds the concept that a text names: exactly, inside a question, or misspelled.

A wrong explanation is worse than none, so each step accepts only certain matches:

1. The text, with or without "what is a …?", is a name or synonym.
2. The whole text is a misspelling of one concept, with fewer mistakes than for any other.
3. The text contains the name of exactly one concept, which covers more than half of its subject words.
4. Without "my portfolio", "of the market" and the like, the text is a misspelling of one concept.
"""

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from tool_executor.domain.glossary.concept import Concept, NotFound
from tool_executor.domain.glossary.misspellings import Misspellings, NameKey, acronyms_of
from tool_executor.domain.glossary.name_keys import key_of, stems_of, unordered_key_of, words_of
from tool_executor.domain.glossary.questions import is_filler, is_subject, without_fillers

MAX_SUGGESTIONS = 3
_MAX_TEXT_CHARS = 300
_MIN_SIMILARITY = 75
"""The least similarity of a suggestion, in per cent (RapidFuzz token_set_ratio)."""


class Finder:
    """An index of a glossary. Two concepts may not share a name; the loader checks this."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concept_of_key: dict[str, Concept] = {}
        self._phrases: list[str] = []
        self._concept_of_phrase: list[Concept] = []
        self._lookalikes: set[str] = set()
        self._max_words = 1
        keys: list[NameKey] = []
        for concept in concepts:
            self._lookalikes |= {key_of(words_of(word)) for word in concept.lookalikes}
            for phrase in concept.phrases():
                words = words_of(phrase)
                self._max_words = max(self._max_words, len(words))
                self._phrases.append(" ".join(stems_of(words)))
                self._concept_of_phrase.append(concept)
                for key in {key_of(words), unordered_key_of(words)}:
                    self._concept_of_key[key] = concept
                    keys.append(NameKey(key, acronyms_of(words), concept))
        self._misspellings = Misspellings(keys)

    def find(self, text: str) -> Concept | NotFound:
        """Returns the concept that the text names for certain, else similar ones. Reads the first 300 characters."""
        # A misspelling explains the whole text, so it is tried before a name that explains a part of it:
        # "exponental moving average" does not mean the moving average, nor "revene trading" revenue.
        candidates = list(without_fillers(words_of(text[:_MAX_TEXT_CHARS])))
        for words in candidates:
            if concept := self._named_by(words):
                return concept
        misspelled: list[Concept] = []
        for words in candidates:
            if misspelled := self._misspelled_by(words):
                break
        if len(misspelled) == 1:
            return misspelled[0]
        words = candidates[-1]
        mentioned, covered = self._mentioned_in(words)
        if len(mentioned) == 1 and 2 * covered > sum(map(is_subject, words)):
            return mentioned[0]
        misspelled += self._misspelled_by(tuple(filter(is_subject, words)))
        if len(misspelled) == 1 and not mentioned:
            return misspelled[0]
        suggestions = {concept.id: concept for concept in [*mentioned, *misspelled] or self._similar_to(words)}
        return NotFound(tuple(suggestions.values())[:MAX_SUGGESTIONS])

    def _named_by(self, words: tuple[str, ...]) -> Concept | None:
        if not words:
            return None
        return self._concept_of_key.get(key_of(words)) or self._concept_of_key.get(unordered_key_of(words))

    def _mentioned_in(self, words: tuple[str, ...]) -> tuple[list[Concept], int]:
        """Returns the concepts named in the text, preferring long names, and the number of subject words they cover."""
        concepts: dict[str, Concept] = {}
        covered = start = 0
        while start < len(words):
            for end in range(min(len(words), start + self._max_words), start, -1):
                window = words[start:end]
                if is_filler(window[0]) or is_filler(window[-1]):
                    continue
                if concept := self._named_by(window):
                    concepts[concept.id] = concept
                    covered += sum(map(is_subject, window))
                    start = end - 1
                    break
            start += 1
        return list(concepts.values()), covered

    def _misspelled_by(self, words: tuple[str, ...]) -> list[Concept]:
        if not words or key_of(words) in self._lookalikes:
            return []
        return self._misspellings.nearest(words)

    def _similar_to(self, words: tuple[str, ...]) -> list[Concept]:
        """Returns concepts with a name that shares words or most letters with the text, in order of similarity, then
        of length."""
        matches = process.extract(
            " ".join(stems_of(words)),
            self._phrases,
            scorer=fuzz.token_set_ratio,
            score_cutoff=_MIN_SIMILARITY,
            limit=None,
        )
        matches.sort(key=lambda match: (-match[1], len(match[0])))
        return [self._concept_of_phrase[position] for _, _, position in matches]
