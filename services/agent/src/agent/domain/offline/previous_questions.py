"""Finds the tickers that a follow-up is about among those mentioned before: "and its RSI?", "the other one"."""

import re
from collections.abc import Sequence

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import AGE
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.shapes import ASKS_WHICH
from agent.domain.offline.talk_words import GOING_ON, THE_OTHER
from agent.domain.offline.tool_words import without_symbols
from agent.domain.text_features import plain, symbols_before, symbols_in
from contracts.expressions import expression

_PREPOSITIONAL = expression(
    rf"\W*(?:con|sin|para|por|en|al|hasta|desde|with|without|for|on|in|at|per|until|from)"
    rf"(?: (?!{ASKS_WHICH.pattern})\w+){{1,3}}\W*"
)
MAX_MESSAGES_BACK = 6
"""How many messages back a follow-up may refer to."""

_MAX_SAME_WORDS = 4
"""Maximum words of a message that asks for the same for another share: "and AAPL too"."""


def asks_the_same(text: str, normalized: str) -> bool:
    """Whether a text that names a share says no more than that the same is meant for it."""
    is_short = len(normalized.split()) <= _MAX_SAME_WORDS
    goes_on = is_short and GOING_ON.search(normalized) is not None and re.search(r"\d", normalized) is None
    return goes_on or not without_symbols(text)


def symbols_mentioned(texts: Sequence[str], limit: int = 2) -> list[str]:
    """The last `limit` tickers mentioned, in order of mention; more if the last text compares more."""
    limit = max(limit, len(symbols_in(texts[-1]) if texts else ()))
    symbols = dict.fromkeys(
        symbol for text in reversed(texts[-MAX_MESSAGES_BACK:]) for symbol in reversed(symbols_in(text))
    )
    return list(reversed(list(symbols)[:limit]))


def symbol_mentioned(normalized: str, texts: Sequence[str]) -> list[str]:
    """The ticker mentioned last; or the first, second or other one if the normalized text says so. At most one."""
    position, symbols = ordinal_in(normalized), symbols_mentioned(texts, MAX_MESSAGES_BACK)
    if position is None and THE_OTHER.search(normalized) and len(symbols) == 2:
        # Of two, it is the one that was not chosen by its place, and where it stands is not known here.
        return [] if ordinal_in(plain(texts[-1])) is not None else symbols[:1]
    if position is None or len(symbols) < 2:
        return symbols_before(texts[-MAX_MESSAGES_BACK:])[:1]
    return [symbols[position]] if position < len(symbols) else []


def is_follow_up(text: str, max_words: int = 2) -> bool:
    """Whether a question refers to the previous one: it begins like a continuation and has at most `max_words`
    significant words, or is a few words after a preposition ("with breakfast")."""
    normalized = plain(text)
    goes_on = GOING_ON.search(normalized) or _PREPOSITIONAL.fullmatch(normalized)
    return bool(goes_on) and len(significant_words(AGE.sub(" ", normalized))) <= max_words
