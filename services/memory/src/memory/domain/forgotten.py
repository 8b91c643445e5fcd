"""Keeps forgotten facts from being found again, by digests of their words.

A text is about a forgotten fact if it contains every significant word of it. Words are stored as digests of their
concepts, so that the store has no readable list of what was forgotten.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memory.domain.long_term.concepts import concepts_of

MOST = 200
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+")
_NOT_TELLING = frozenset(("be", "have"))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A forgotten fact's words, as digests, and when it was forgotten."""

    words: frozenset[str]
    at: datetime


def forgotten(text: str, at: datetime, besides: frozenset[str] = frozenset()) -> Forgotten | None:
    """The digests of a text's words; None: it has no significant words. `besides`: the concepts of what stays of it."""
    telling = concepts_of(text) - _NOT_TELLING - besides
    return Forgotten(frozenset(map(_digest, telling)), at) if telling else None


def is_forgotten(text: str, gone: Sequence[Forgotten], said_at: datetime | None = None) -> bool:
    """Whether a text, said at a time (None: unknown), says something that was forgotten later."""
    if not gone:
        return False
    held = _digests(text)
    return any(one.words <= held and (said_at is None or said_at <= one.at) for one in gone)


def without_forgotten(text: str, gone: Sequence[Forgotten]) -> str:
    """A text without the sentences about forgotten facts."""
    if not is_forgotten(text, gone):
        return text
    return " ".join(one for one in _SENTENCE.split(text) if not is_forgotten(one, gone))


def remembered_again(gone: Iterable[Forgotten], text: str) -> tuple[Forgotten, ...]:
    """What stays forgotten when the user wants a text remembered again."""
    held = _digests(text)
    return tuple(one for one in gone if not one.words <= held)


def _digests(text: str) -> frozenset[str]:
    return frozenset(map(_digest, concepts_of(text)))


@lru_cache(maxsize=20_000)
def _digest(word: str) -> str:
    return hashlib.blake2b(word.encode(), digest_size=8).hexdigest()
