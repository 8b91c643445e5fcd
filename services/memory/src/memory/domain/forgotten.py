"""Keeps forgotten facts from being found again, by digests of their words.

A text is about a forgotten fact if it contains every significant word of it. Words are stored as digests of their
concepts, so that the store contains no readable list of what was forgotten.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memory.domain.long_term.concepts import concepts_of

MAX_FORGOTTEN = 200
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+")
_NOT_TELLING = frozenset(("be", "have"))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A forgotten fact's words, as digests, and when it was forgotten."""

    words: frozenset[str]
    at: datetime


def forgotten(text: str, at: datetime, besides: frozenset[str] = frozenset()) -> Forgotten | None:
    """Returns the digests of a text's words; None if it has no significant words. `besides`: the concepts of the
    remainder that is not forgotten."""
    significant = concepts_of(text) - _NOT_TELLING - besides
    return Forgotten(frozenset(map(_digest, significant)), at) if significant else None


def is_forgotten(text: str, forgotten_facts: Sequence[Forgotten], said_at: datetime | None = None) -> bool:
    """Whether a text, said at a time (None: unknown), says something that was forgotten later."""
    if not forgotten_facts:
        return False
    digests = _digests(text)
    return any(fact.words <= digests and (said_at is None or said_at <= fact.at) for fact in forgotten_facts)


def without_forgotten(text: str, forgotten_facts: Sequence[Forgotten]) -> str:
    """Returns a text without its sentences about forgotten facts."""
    if not is_forgotten(text, forgotten_facts):
        return text
    return " ".join(sentence for sentence in _SENTENCE.split(text) if not is_forgotten(sentence, forgotten_facts))


def remembered_again(forgotten_facts: Iterable[Forgotten], text: str) -> tuple[Forgotten, ...]:
    """Returns the facts that stay forgotten when the user wants a text remembered again."""
    digests = _digests(text)
    return tuple(fact for fact in forgotten_facts if not fact.words <= digests)


def _digests(text: str) -> frozenset[str]:
    return frozenset(map(_digest, concepts_of(text)))


@lru_cache(maxsize=20_000)
def _digest(word: str) -> str:
    return hashlib.blake2b(word.encode(), digest_size=8).hexdigest()
