"""Spells chat shorthand out before anything is read: "q significa macd", "do u ship"."""

import re

from contracts.languages import Language

_SPELLED: dict[Language, dict[str, str]] = {
    "es": {"q": "que", "k": "que", "ke": "que", "xq": "por que", "pq": "por que", "tb": "también", "tmb": "también"},
    "en": {"u": "you", "ur": "your", "r": "are", "pls": "please", "plz": "please", "wat": "what"},
}
_WORD = {
    # A capital is a ticker, and the k of "20 k" a thousand.
    language: re.compile(rf"(?<![\w$€'’/])(?<!\d )(?:{'|'.join(words)})(?![\w'’/])")
    for language, words in _SPELLED.items()
}


def spelled_out(text: str, language: Language) -> str:
    """The text with its shorthand written as words."""
    return _WORD[language].sub(lambda match: _SPELLED[language][match[0]], text)
