"""Makes whole questions of messages that leave out what was spoken of: "sort them by volatility", "and in 2010?"."""

import re
from collections.abc import Sequence

from agent.domain.analysis.asked import is_about_all_tickers, is_analysis, language_in
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_patterns import unread_words
from agent.domain.analysis.stretches import BLANK, Unread, stretches_in, when_in
from agent.domain.claims.lexer import folded
from agent.domain.text_features import plain
from agent.domain.tickers import tickers_in

_RANKING_REQUEST = re.compile(
    r"\b(?:sort|rank|order)(?: all(?: of)?)? (?:them|these|those|all)\b|\b(?:ordena|clasifica)(?:me)?l[oa]s\b|"
    r"^\W*(?:(?:and|y|e|now|ahora)\b\W*)?(?:by|por) "
)
"""Matches a request for an order of what was spoken of."""
_MAX_MESSAGES_BACK = 6
"""Messages back that may name it."""
_MAX_PERIOD_WORDS = 8
"""Words of a message that only names another time."""


def complete_question(text: str, before: Sequence[str]) -> str | None:
    """The question that a message goes on with, in full; None: it goes on with none about several tickers. `before`:
    the messages before it, oldest first."""
    if tickers_in(text) or not before:
        return None
    return _complete_ranking(text, before) or _complete_period(text, before)


def _complete_ranking(text: str, before: Sequence[str]) -> str | None:
    """A request to sort what was spoken of, with its tickers and its days."""
    if not _RANKING_REQUEST.search(plain(text)) or not read_question(text, ()).figures:
        return None
    found: list[str] = []
    days = when_in(text).arguments
    for earlier in reversed(before[-_MAX_MESSAGES_BACK:]):
        days = days or when_in(earlier).arguments
        if not found and is_about_all_tickers(earlier):
            found = ["all", "stocks"] if language_in(text, "en") == "en" else ["todas las", "acciones"]
            break
        named = tickers_in(normalize(earlier).text)
        found = [*(one for one in named if one not in found), *found]
        if len(named) > 1:
            break
    if len(found) < 2:
        return None
    first, last = (str(days.get(name, "")) for name in ("start", "end"))
    stretch = f"{first} to {last}" if first and last else f"since {first}" if first else ""
    return " ".join(filter(None, [*found, stretch, text]))


def _complete_period(text: str, before: Sequence[str]) -> str | None:
    """The last question about several tickers, of the time that a message names."""
    unread = Unread(folded(text))
    names_time = (
        len(text.split()) <= _MAX_PERIOD_WORDS and bool(stretches_in(unread)) and not unread_words(unread.text, ())
    )
    if not names_time or read_question(text, ()).figures:
        return None
    asked = complete_question(before[-1], before[:-1]) or before[-1]
    if not (is_about_all_tickers(asked) or (is_analysis(asked) and len(tickers_in(asked)) > 1)):
        return None
    rest = Unread(folded(asked))
    stretches_in(rest)
    kept = "".join(" " if taken == BLANK else said for said, taken in zip(asked, rest.text, strict=False))
    return f"{' '.join(kept.strip(' ?!.').split())}: {text.strip('¿ ')}"
