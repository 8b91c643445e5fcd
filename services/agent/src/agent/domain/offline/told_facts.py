"""Answers a question about oneself from what one has told: "where do I live?" from "I live in Leeds".

Only facts that share most of the question's words are told, in the user's own words.
"""

import re
from collections.abc import Sequence

from agent.domain.offline.common_words import telling
from agent.domain.text_features import plain, stem

_OWN = re.compile(r"\b(?:my|our|i|me|we|mis?|nuestr[oa]s?|yo|vivo|trabajo|tengo|soy)\b")
"""Speaks of who asks."""
_I_WORK = re.compile(r"\b(?:i|we) work\b")
"""Of a site's pages it is a word like any other: how does it work?"""


def asked_of(question: str, facts: Sequence[str], *, whole: bool = False) -> list[str]:
    """The facts that answer a question about oneself: those that have most of its words, or the `whole` of them."""
    if not _OWN.search(plain(question)):
        return []
    asked = _beginnings(question)
    facts = [one for one in facts if not whole or asked <= _beginnings(one)]
    shared = [len(asked & _beginnings(one)) for one in facts]
    most = max(shared, default=0)
    return [one for one, number in zip(facts, shared, strict=True) if number == most > 0]


def _beginnings(text: str) -> frozenset[str]:
    """Of each word that tells something, as many letters as its forms have in common."""
    told = {stem(word)[:5] for word in telling(text) if len(word) > 2}
    return frozenset(told | {"work"} if _I_WORK.search(plain(text)) else told)
