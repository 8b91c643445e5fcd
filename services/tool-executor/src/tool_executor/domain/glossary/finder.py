"""Finds the concept that a text names: exactly, inside a question, or misspelled.

A wrong explanation is worse than none, so each step accepts only what is certain:

1. The text, or what is left of it without "what is a …?", is a name or synonym.
2. All of it is a misspelling of one concept, closer than to any other.
3. The text contains the name of exactly one concept, which is more than half of what the text is about.
4. Without "my portfolio", "of the market" and the like, it is a misspelling.
"""

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from tool_executor.domain.glossary.concept import Concept, NotFound
from tool_executor.domain.glossary.misspellings import Misspellings, NameKey, acronyms_of
from tool_executor.domain.glossary.name_keys import key_of, stems_of, unordered_key_of, words_of
from tool_executor.domain.glossary.questions import is_filler, is_subject, without_fillers

MOST_SUGGESTIONS = 3
_LONGEST_TEXT = 300
_NEAR_ENOUGH_TO_SUGGEST = 75


class Finder:
    """The index of a glossary whose names are known to be distinct."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._named: dict[str, Concept] = {}
        self._phrases: list[str] = []
        self._concept_of_phrase: list[Concept] = []
        self._lookalikes: set[str] = set()
        self._most_words = 1
        keys: list[NameKey] = []
        for concept in concepts:
            self._lookalikes |= {key_of(words_of(word)) for word in concept.lookalikes}
            for phrase in concept.phrases():
                words = words_of(phrase)
                self._most_words = max(self._most_words, len(words))
                self._phrases.append(" ".join(stems_of(words)))
                self._concept_of_phrase.append(concept)
                for key in {key_of(words), unordered_key_of(words)}:
                    self._named[key] = concept
                    keys.append(NameKey(key, acronyms_of(words), concept))
        self._misspellings = Misspellings(keys)

    def find(self, text: str) -> Concept | NotFound:
        """The concept that the text names beyond doubt, or what comes near. Reads the first 300 characters."""
        # A misspelling accounts for all that was asked, so it goes before a name that accounts for a part: in
        # "exponental moving average" the moving average is not meant, nor the revenue in "revene trading".
        peeled = list(without_fillers(words_of(text[:_LONGEST_TEXT])))
        for asked in peeled:
            if concept := self._exactly(asked):
                return concept
        misspelled: list[Concept] = []
        for asked in peeled:
            if misspelled := self._misspelled(asked):
                break
        if len(misspelled) == 1:
            return misspelled[0]
        asked = peeled[-1]
        mentioned, covered = self._mentions(asked)
        if len(mentioned) == 1 and 2 * covered > sum(map(is_subject, asked)):
            return mentioned[0]
        misspelled += self._misspelled(tuple(filter(is_subject, asked)))
        if len(misspelled) == 1 and not mentioned:
            return misspelled[0]
        near = {concept.id: concept for concept in [*mentioned, *misspelled] or self._near(asked)}
        return NotFound(tuple(near.values())[:MOST_SUGGESTIONS])

    def _exactly(self, words: tuple[str, ...]) -> Concept | None:
        if not words:
            return None
        return self._named.get(key_of(words)) or self._named.get(unordered_key_of(words))

    def _mentions(self, words: tuple[str, ...]) -> tuple[list[Concept], int]:
        """The concepts named inside the text, longest names first taken, and how many of its subjects they cover."""
        found: dict[str, Concept] = {}
        covered = start = 0
        while start < len(words):
            for end in range(min(len(words), start + self._most_words), start, -1):
                window = words[start:end]
                if is_filler(window[0]) or is_filler(window[-1]):
                    continue
                if concept := self._exactly(window):
                    found[concept.id] = concept
                    covered += sum(map(is_subject, window))
                    start = end - 1
                    break
            start += 1
        return list(found.values()), covered

    def _misspelled(self, words: tuple[str, ...]) -> list[Concept]:
        if not words or key_of(words) in self._lookalikes:
            return []
        return self._misspellings.nearest(words)

    def _near(self, words: tuple[str, ...]) -> list[Concept]:
        """Concepts with a name that shares words or most letters with the text: the nearest, and shortest, first."""
        near = process.extract(
            " ".join(stems_of(words)),
            self._phrases,
            scorer=fuzz.token_set_ratio,
            score_cutoff=_NEAR_ENOUGH_TO_SUGGEST,
            limit=None,
        )
        near.sort(key=lambda match: (-match[1], len(match[0])))
        return [self._concept_of_phrase[position] for _, _, position in near]
