"""Spells chat shorthand and mistyped names of shares out before anything is read: "q significa macd", "microsft"."""

import re
from functools import lru_cache

from agent.domain.text_features import one_apart, swapped
from agent.domain.tickers import NAMES
from contracts.languages import Language

_SPELLED: dict[Language, dict[str, str]] = {
    "es": {
        "kiero": "quiero",
        "q": "que",
        "k": "que",
        "ke": "que",
        "xq": "por que",
        "pq": "por que",
        "tb": "también",
        "tmb": "también",
    },
    "en": {"u": "you", "ur": "your", "r": "are", "pls": "please", "plz": "please", "wat": "what", "n": "and"},
}
_WORD = {
    # A capital is a ticker, and the k of "20 k" a thousand.
    language: re.compile(rf"(?<![\w$€'’/])(?<!\d )(?:{'|'.join(words)})(?![\w'’/])")
    for language, words in _SPELLED.items()
}


_NAMED = tuple(name for name in NAMES if name.isalpha() and len(name) > 4)
_LONG = 7
"""Letters from which on a name may have a wrong one; a shorter one may only lack or double one, or have two swapped."""
_LETTERS = re.compile(r"(?<![\w$])[A-Za-z]{4,}(?!\w)")


def spelled_out(text: str, language: Language) -> str:
    """The text with its shorthand written as words."""
    said = _WORD[language].sub(lambda match: _SPELLED[language][match[0]], text)
    return _LETTERS.sub(lambda match: _name(match[0]), said)


@lru_cache(maxsize=8_192)
def _name(word: str) -> str:
    low = word.lower()
    if low in NAMES or low.endswith("s"):
        return word
    near = (name for name in _NAMED if one_apart(low, name)
            and (len(name) >= _LONG or len(name) != len(low) or swapped(low, name)))  # fmt: skip
    return next(near, word)
