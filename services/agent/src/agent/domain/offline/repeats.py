"""Recognises the same statement in other words, so that it is quoted once.

A page mentions its free trial at the top and again beside its prices.
"""

import re
from collections.abc import Sequence

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_of
from agent.domain.text_features import numbers_in, plain

_SHARED = 0.6
"""Of what a sentence tells, how much another one must tell too, with the same figures, to have said it already."""
_NAME = re.compile(r"(?<=[\w,;:] )[A-ZÁÉÍÓÚÑ]\w+")

_NOT = re.compile(
    r"\b(?:no|not|never|none|without|unless|except|less|more|only|cannot|\w+n.t|sin|nunca|ningun\w*|salvo|excepto|"
    r"menos|mas|solo)\b"
)
"""What turns the same words and figures into another thing."""


def without_repeats(passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Those that say something which none before them has said."""
    kept: list[Excerpt] = []
    for one in passages:
        if not any(_says_again(one, other) for other in kept):
            kept.append(one)
    return kept


def _says_again(one: Excerpt, other: Excerpt) -> bool:
    if one.text == other.text:
        return one.heading == other.heading or not one.row
    if one.row or other.row or set(_NAME.findall(one.text)) - set(_NAME.findall(other.text)):
        return False
    figures = _figures(one.text)
    if not figures or figures != _figures(other.text) or _denies(one.text) != _denies(other.text):
        return False
    said = frozenset(key for word in significant_words(f"{other.heading} {other.text}") for key in keys_of(word))
    words = [word for word in significant_words(one.text) if not word.isdigit()]
    return sum(bool(keys_of(word) & said) for word in words) >= _SHARED * len(words)


def _denies(text: str) -> bool:
    return bool(_NOT.search(plain(text)))


def _figures(text: str) -> frozenset[float]:
    return frozenset(value for _, value in numbers_in(text))
