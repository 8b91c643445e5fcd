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
_LINKING = frozenset(["a", "an", "and", "con", "de", "del", "el", "en", "la", "of", "or", "the", "un", "una", "y"])
"""Words inside a name that may be left out: "ratio Sharpe", "buy hold". Not "los": "stop los" is short of an s."""
_PLURAL_FROM = 4
_SPANISH_PLURAL_FROM = 6


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, lower case, without accents, apostrophes and punctuation."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", text).casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return tuple(_WORD.findall(bare))


def singular(word: str) -> str:
    """The word without its plural ending, English or Spanish: puts → put, acciones → accion, indices → indic.

    A stem, not always a word. Words of three letters stay as they are: they are mostly acronyms.
    """
    if word.endswith("sses"):
        word = word[:-2]
    elif len(word) >= _PLURAL_FROM and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if len(word) >= _SPANISH_PLURAL_FROM and word.endswith("e"):
        word = word[:-1]
    if len(word) >= _PLURAL_FROM and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def stems_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words that count, without their plurals; all of them where none counts."""
    counting = tuple(word for word in words if word not in _LINKING)
    return tuple(singular(word) for word in counting or words)


def key_of(words: tuple[str, ...]) -> str:
    """The words that count, in their order, run together."""
    return _run_together(stems_of(words))


def unordered_key_of(words: tuple[str, ...]) -> str:
    """The words that count, in alphabetical order, run together."""
    return _run_together(sorted(stems_of(words)))


def _run_together(stems: Iterable[str]) -> str:
    """One word, which ends as it would had it been written as one: "z score" as "zscores"."""
    key = "".join(stems)
    return key.removesuffix("e") if len(key) >= _SPANISH_PLURAL_FROM else key
