"""Recognises the same statement in other words, so that it is quoted once.

For example, a page mentions its free trial at the top and again beside its prices.
"""

from collections.abc import Sequence

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_of
from agent.domain.text_features import numbers_in, plain
from contracts.expressions import expression

_MIN_SHARED_WORDS = 0.6
"""Minimum share of a sentence's words that another one with the same figures must contain for the sentence to be a
repeat."""
_NAME = expression(r"(?<=[\w,;:] )[A-ZÁÉÍÓÚÑ]\w+")

_QUALIFIER = expression(
    r"\b(?:no|not|never|none|without|unless|except|less|more|only|cannot|\w+n.t|sin|nunca|ningun\w*|salvo|excepto|"
    r"menos|mas|solo)\b"
)
"""Words that change the meaning of the same words and figures."""


def without_repeats(passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The excerpts that say something not said by one before them."""
    distinct: list[Excerpt] = []
    for excerpt in passages:
        if not any(_repeats(excerpt, other) for other in distinct):
            distinct.append(excerpt)
    return distinct


def _repeats(excerpt: Excerpt, other: Excerpt) -> bool:
    if excerpt.text == other.text:
        return excerpt.heading == other.heading or not excerpt.row
    if excerpt.row or other.row or set(_NAME.findall(excerpt.text)) - set(_NAME.findall(other.text)):
        return False
    figures = _figures(excerpt.text)
    if not figures or figures != _figures(other.text) or _has_qualifier(excerpt.text) != _has_qualifier(other.text):
        return False
    other_keys = frozenset(key for word in significant_words(f"{other.heading} {other.text}") for key in keys_of(word))
    words = [word for word in significant_words(excerpt.text) if not word.isdigit()]
    return sum(bool(keys_of(word) & other_keys) for word in words) >= _MIN_SHARED_WORDS * len(words)


def _has_qualifier(text: str) -> bool:
    return bool(_QUALIFIER.search(plain(text)))


def _figures(text: str) -> frozenset[float]:
    return frozenset(value for _, value in numbers_in(text))
