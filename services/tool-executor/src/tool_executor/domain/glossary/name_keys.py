"""One key for all spellings of a phrase, whatever its case, accents, spaces, hyphens and plurals.

"Stop-Loss", "stop loss" and "STOPLOSS" share a key, and so do "acción" and "acciones", or "Sharpe ratio" and "ratio de
Sharpe". Both the question and the glossary are converted, so the rules need not be correct grammar: they only have to
map the forms of a word to the same key, and different words to different keys. The loader checks the latter.
"""

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['’‘`´]")
_LINKING_WORDS = frozenset(
    ["a", "an", "and", "con", "de", "del", "el", "en", "la", "of", "or", "the", "un", "una", "y"]
)
"""Words that may be missing from a name: "ratio Sharpe", "buy hold". Not "los": "stop los" is a misspelling."""
_MIN_PLURAL_LENGTH = 4
_MIN_SPANISH_PLURAL_LENGTH = 6


def words_of(text: str) -> tuple[str, ...]:
    """Returns the words of a text in lower case, without accents, apostrophes and punctuation."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", text).casefold())
    unaccented = "".join(char for char in decomposed if not unicodedata.combining(char))
    return tuple(_WORD.findall(unaccented))


def singular(word: str) -> str:
    """Returns a word without its English or Spanish plural ending: puts → put, acciones → accion, indices → indic.

    The stem is not always a word. Words of three letters stay as they are: they are mostly acronyms.
    """
    if word.endswith("sses"):
        word = word[:-2]
    elif len(word) >= _MIN_PLURAL_LENGTH and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if len(word) >= _MIN_SPANISH_PLURAL_LENGTH and word.endswith("e"):
        word = word[:-1]
    if len(word) >= _MIN_PLURAL_LENGTH and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def stems_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the stems of the significant words, or of all words if none is significant."""
    significant = tuple(word for word in words if word not in _LINKING_WORDS)
    return tuple(singular(word) for word in significant or words)


def key_of(words: tuple[str, ...]) -> str:
    """Returns the stems of the significant words, joined in their order."""
    return _run_together(stems_of(words))


def unordered_key_of(words: tuple[str, ...]) -> str:
    """Returns the stems of the significant words, joined in alphabetical order."""
    return _run_together(sorted(stems_of(words)))


def _run_together(stems: Iterable[str]) -> str:
    """Joins stems into the stem of the joined word: "z score" gets the key of "zscores"."""
    key = "".join(stems)
    return key.removesuffix("e") if len(key) >= _MIN_SPANISH_PLURAL_LENGTH else key
