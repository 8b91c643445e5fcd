"""Finds the tickers that a follow-up is about among those mentioned before: "and its RSI?", "the other one"."""

from collections.abc import Sequence

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import AGE
from agent.domain.offline.kinds import place_in
from agent.domain.offline.talk_words import GOING_ON, THE_OTHER
from agent.domain.text_features import plain, symbols_before, symbols_in

FAR = 6
"""Messages back that a follow-up may be about."""


def both_before(before: Sequence[str], most: int = 2) -> list[str]:
    """The last two that were spoken of, in the order in which they were, or all that one text compared."""
    most = max(most, len(symbols_in(before[-1]) if before else ()))
    found = dict.fromkeys(one for text in reversed(before[-FAR:]) for one in reversed(symbols_in(text)))
    return list(reversed(list(found)[:most]))


def one_before(said: str, before: Sequence[str]) -> list[str]:
    """The one that was spoken of last, or the first or second of them where that is said."""
    at, spoken = place_in(said), both_before(before, FAR)
    if at is None and THE_OTHER.search(said) and len(spoken) == 2:
        return spoken[:1]
    if at is None or len(spoken) < 2:
        return symbols_before(before[-FAR:])[:1]
    return [spoken[at]] if at < len(spoken) else []


def is_follow_up(text: str, words: int = 2) -> bool:
    """Whether a question of so many telling words leans on the last."""
    said = plain(text)
    return bool(GOING_ON.search(said)) and len(significant_words(AGE.sub(" ", said))) <= words
