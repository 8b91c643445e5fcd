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

from memory.domain.recall.lexicon import (
    ENGLISH_BASE,
    ENGLISH_HINTS,
    ENGLISH_STOP,
    SAME,
    SPANISH_BASE,
    SPANISH_HINTS,
    SPANISH_STOP,
)

STOP = ENGLISH_STOP | SPANISH_STOP
SYNONYM = 0.5
"""The weight of a synonym, compared with the word itself."""
LONGEST = 40
"""Characters of a word; anything longer is not a word."""

OTHER_VOWELS = 0.8
"""The weight of a form of which it is only likely that it is one of the same verb."""

_BROKEN = re.compile(r"(?<![qg])ue|ie")
_LAST_VOWEL = re.compile(r"([^\W\d]+?)([eo])([^\W\daeiou]{1,3})")
_ACCENTED = (("ia", "ía"), ("ias", "ías"), ("ian", "ían"), ("io", "ió"), ("cion", "ción"), ("sion", "sión"),
             ("ais", "áis"), ("eis", "éis"))  # fmt: skip
_WORD = re.compile(r"\d+(?:[.,]\d+)*k?(?![^\W_])|[^\W_]+")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


class _Stemmers(threading.local):
    """Stemmers of one thread: a stemmer keeps state, and documents are split in threads."""

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
    """The text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).lower())
    return "".join(one for one in plain if not unicodedata.combining(one))


def words(text: str) -> list[str]:
    """All words in order, folded; a number is one word however its thousands are written."""
    return [
        _number(word) if word[0].isdigit() else word for word in _WORD.findall(folded(text)) if len(word) <= LONGEST
    ]


def stems(text: str) -> list[str]:
    """The stems by which a passage is found; those of both languages if its language is unclear."""
    every = words(text)
    told = _language(every)
    found: list[str] = []
    for word in every:
        if word in STOP:
            continue
        if told != "es":
            found.append(english(word))
        if told == "es" or (told is None and spanish(word) != english(word)):
            found.append(spanish(word))
    return found


def sought(text: str) -> list[QueryTerm]:
    """The words that a question asks by, each once."""
    telling = [word for word in dict.fromkeys(words(text)) if word not in STOP]
    found: list[QueryTerm] = []
    for word in telling:
        weights = dict.fromkeys((english(word), spanish(word)), 1.0)
        weights |= dict.fromkeys(_other_vowels(spanish(word)), OTHER_VOWELS)
        base = ENGLISH_BASE.get(word) or SPANISH_BASE.get(word) or word
        for other in {*SAME.get(word, ()), *SAME.get(base, ())}:
            for stem in (english(other), spanish(other)):
                weights.setdefault(stem, SYNONYM)
        found.append(QueryTerm(word, tuple(weights.items())))
    return found


def _other_vowels(stem: str) -> list[str]:
    """What a Spanish stem is in other forms of the verb, if its vowel breaks up: cierr of cerrar, dorm of duerme."""
    if whole := _BROKEN.search(stem):
        return [f"{stem[: whole.start()]}{'e' if whole[0] == 'ie' else 'o'}{stem[whole.end() :]}"]
    if single := _LAST_VOWEL.fullmatch(stem):
        return [f"{single[1]}{'ie' if single[2] == 'e' else 'ue'}{single[3]}"]
    return []


@functools.lru_cache(maxsize=50_000)
def english(word: str) -> str:
    return _STEMMERS.english(ENGLISH_BASE.get(word, word))


@functools.lru_cache(maxsize=50_000)
def spanish(word: str) -> str:
    """The stem of a Spanish word that may have lost its accents, which the stemmer needs to recognise endings."""
    base = SPANISH_BASE.get(word, word)
    accented = next((base.removesuffix(bare) + full for bare, full in _ACCENTED if base.endswith(bare)), base)
    return folded(_STEMMERS.spanish(accented))


def near(word: str, vocabulary: Iterable[str]) -> list[str]:
    """The terms that `word` may be a misspelling of: one letter apart (two from eight letters on), same beginning."""
    if len(word) < 5 or word[0].isdigit():
        return []
    most = 2 if len(word) >= 8 else 1
    start = word[:2]
    close = (term for term in vocabulary if term.startswith(start) and abs(len(term) - len(word)) <= most)
    return [term for term in close if _apart(word, term, most) <= most][:5]


def _apart(one: str, other: str, most: int) -> int:
    """Levenshtein's distance, or any number above `most`."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for at, mine in enumerate(other, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != mine))
        if min(row) > most:
            return most + 1
    return row[-1]


def language_of(text: str) -> str | None:
    """es or en, by typical words; None: undecided."""
    return _language(words(text))


def _language(every: list[str]) -> str | None:
    english_hints = sum(word in ENGLISH_HINTS for word in every)
    spanish_hints = sum(word in SPANISH_HINTS for word in every)
    if english_hints == spanish_hints:
        return None
    return "en" if english_hints > spanish_hints else "es"


def _number(word: str) -> str:
    if word.endswith("k"):
        return _number(word[:-1]) + "000" if "." not in word and "," not in word else word
    if _GROUPED.fullmatch(word):
        return word.replace(".", "").replace(",", "")
    return word.replace(",", ".")
