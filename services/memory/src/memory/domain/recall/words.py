"""Splits a text into comparable units: words without accents, as stems of their language.

The stems are Snowball's (PyStemmer, https://snowballstem.org).
"""

import functools
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import Stemmer

from contracts.vocabulary import with_distinct_nouns
from memory.domain.recall.lexicon import (
    ENGLISH_BASE,
    ENGLISH_HINTS,
    ENGLISH_STOP,
    SPANISH_BASE,
    SPANISH_HINTS,
    SPANISH_STOP,
    SYNONYMS,
)

STOP = ENGLISH_STOP | SPANISH_STOP
SYNONYM_WEIGHT = 0.5
"""The weight of a synonym, compared with the word itself."""
MAX_WORD_LENGTH = 40
"""Characters that a word has at most; anything longer is ignored."""

OTHER_FORM_WEIGHT = 0.8
"""The weight of a form that probably, but not certainly, belongs to the same verb."""

_BROKEN = re.compile(r"(?<![qg])ue|ie")
_LAST_VOWEL = re.compile(r"([^\W\d]+?)([eo])([^\W\daeiou]{1,3})")
_ACCENTED = (("ia", "ía"), ("ias", "ías"), ("ian", "ían"), ("io", "ió"), ("cion", "ción"), ("sion", "sión"),
             ("ais", "áis"), ("eis", "éis"))  # fmt: skip
_WORD = re.compile(r"\d+(?:[.,]\d+)*k?(?![^\W_])|[^\W_]+")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


class _Stemmers(threading.local):
    """The stemmers of one thread: a stemmer keeps state, and documents are split in threads."""

    def __init__(self) -> None:
        made: Callable[[str, int], Any] = cast("Any", Stemmer).Stemmer  # the package has no types
        self.english: Callable[[str], str] = made("english", 0).stemWord  # 0: no cache beside ours
        self.spanish: Callable[[str], str] = made("spanish", 0).stemWord


_STEMMERS = _Stemmers()


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a question: its stems, each with a weight."""

    word: str
    stems: tuple[tuple[str, float], ...]


def folded(text: str) -> str:
    """Returns the text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words(text: str) -> list[str]:
    """Returns all words in order, folded; a number is one word however its thousands are written."""
    return [
        _number(word) if word[0].isdigit() else word
        for word in _WORD.findall(folded(with_distinct_nouns(text.lower())))
        if len(word) <= MAX_WORD_LENGTH
    ]


def stems(text: str) -> list[str]:
    """Returns the stems by which a passage is found; those of both languages if its language is unclear."""
    text_words = words(text)
    language = _language(text_words)
    stems_found: list[str] = []
    for word in text_words:
        if word in STOP:
            continue
        if language != "es":
            stems_found.append(english(word))
        if language == "es" or (language is None and spanish(word) != english(word)):
            stems_found.append(spanish(word))
    return stems_found


def query_terms(text: str) -> list[QueryTerm]:
    """Returns the significant words of a question, each once."""
    significant = [word for word in dict.fromkeys(words(text)) if word not in STOP]
    terms: list[QueryTerm] = []
    for word in significant:
        weights = dict.fromkeys((english(word), spanish(word)), 1.0)
        weights |= dict.fromkeys(_other_vowels(spanish(word)), OTHER_FORM_WEIGHT)
        base = ENGLISH_BASE.get(word) or SPANISH_BASE.get(word) or word
        for other in {*SYNONYMS.get(word, ()), *SYNONYMS.get(base, ())}:
            for stem in (english(other), spanish(other)):
                weights.setdefault(stem, SYNONYM_WEIGHT)
        terms.append(QueryTerm(word, tuple(weights.items())))
    return terms


def _other_vowels(stem: str) -> list[str]:
    """Returns the stem of a Spanish verb's other forms, if its vowel changes: cierr for cerrar, dorm for duerme."""
    if diphthong := _BROKEN.search(stem):
        return [f"{stem[: diphthong.start()]}{'e' if diphthong[0] == 'ie' else 'o'}{stem[diphthong.end() :]}"]
    if vowel := _LAST_VOWEL.fullmatch(stem):
        return [f"{vowel[1]}{'ie' if vowel[2] == 'e' else 'ue'}{vowel[3]}"]
    return []


@functools.lru_cache(maxsize=50_000)
def english(word: str) -> str:
    return _STEMMERS.english(ENGLISH_BASE.get(word, word))


@functools.lru_cache(maxsize=50_000)
def spanish(word: str) -> str:
    """Returns the stem of a Spanish word that may have lost its accents, which the stemmer needs to recognise
    endings."""
    base = SPANISH_BASE.get(word, word)
    accented = next(
        (
            base.removesuffix(bare_ending) + accented_ending
            for bare_ending, accented_ending in _ACCENTED
            if base.endswith(bare_ending)
        ),
        base,
    )
    return folded(_STEMMERS.spanish(accented))


def similar_terms(word: str, vocabulary: Iterable[str]) -> list[str]:
    """Returns the terms that `word` may be a misspelling of: one letter apart (two from eight letters on), same
    beginning."""
    if len(word) < 5 or word[0].isdigit():
        return []
    max_distance = 2 if len(word) >= 8 else 1
    beginning, letters = word[:2], set(word)
    candidates = (
        term
        for term in vocabulary
        if term.startswith(beginning)
        and abs(len(term) - len(word)) <= max_distance
        # A change of one letter removes one of the word's letters, and adds one, at most.
        and len(letters.symmetric_difference(term)) <= 2 * max_distance
    )
    return [term for term in candidates if _edit_distance(word, term, max_distance) <= max_distance][:5]


def _edit_distance(word: str, other: str, max_distance: int) -> int:
    """Returns the Levenshtein distance, or any number above `max_distance` if it is larger than that."""
    row = list(range(len(other) + 1))
    for index, letter in enumerate(word, 1):
        diagonal, row[0] = row[0], index
        for other_index, other_letter in enumerate(other, 1):
            diagonal, row[other_index] = (
                row[other_index],
                min(row[other_index] + 1, row[other_index - 1] + 1, diagonal + (letter != other_letter)),
            )
        if min(row) > max_distance:
            return max_distance + 1
    return row[-1]


def language_of(text: str) -> str | None:
    """Returns es or en, judged by typical words; None if undecided."""
    return _language(words(text))


def _language(text_words: list[str]) -> str | None:
    english_hints = sum(word in ENGLISH_HINTS for word in text_words)
    spanish_hints = sum(word in SPANISH_HINTS for word in text_words)
    if english_hints == spanish_hints:
        return None
    return "en" if english_hints > spanish_hints else "es"


def _number(word: str) -> str:
    if word.endswith("k"):
        return _number(word[:-1]) + "000" if "." not in word and "," not in word else word
    if _GROUPED.fullmatch(word):
        return word.replace(".", "").replace(",", "")
    return word.replace(",", ".")
