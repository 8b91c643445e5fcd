"""The parts of a question about tickers: its period, its figures, its tickers, and the words beside them."""

import re
from collections.abc import Sequence
from itertools import repeat

from agent.domain.analysis import follow_up_patterns as patterns
from agent.domain.analysis.amounts import amount_in
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_patterns import AVERAGES, EXTREME
from agent.domain.analysis.stretches import BLANK, UnreadText, main_period, take_periods
from agent.domain.claims.lexer import folded
from agent.domain.tickers import tickers_in

_MAX_UNREAD_RUNS, _MAX_UNREAD_WORDS = 2, 5
"""Maximum parts, and words, of a message that no rule reads, if it goes on with a question."""


def period_of(text: str, *, has_lengths: bool = True) -> str:
    """The period that a text names, in words; empty if none. `has_lengths`: also lengths up to now."""
    text = normalize(text).text
    first, last = (str(main_period(text).arguments.get(name, "")) for name in ("start", "end"))
    if first:
        is_invested = amount_in(UnreadText(folded(text))) is not None
        last = "" if first == last and is_invested else last  # what became of it since that day
        return f"on {first}" if first == last else f"{first} to {last}" if last else f"since {first}"
    if not has_lengths:
        return ""
    others_taken = folded(text)
    for pattern in (AVERAGES, EXTREME):  # whose lengths are no periods
        others_taken = pattern.sub(lambda match: " " * len(match[0]), others_taken)
    unread = UnreadText(others_taken)
    take_periods(unread)
    return words_left(text, unread, taken=True)


def figures_of(question: str) -> list[str]:
    return read_question(question, tuple(tickers_in(question))).figures


def is_mostly_read(unread: Sequence[str]) -> bool:
    """Whether few words were left unread, which the report then names."""
    return len(unread) <= _MAX_UNREAD_RUNS and sum(len(words.split()) for words in unread) <= _MAX_UNREAD_WORDS


def has_words(unread: UnreadText) -> bool:
    """Whether words are left that say more than that something goes on."""
    return bool(patterns.WORD.search(patterns.FILLERS.sub(" ", unread.text)))


def words_left(text: str, unread: UnreadText, *, taken: bool = False) -> str:
    """The words of a text that no pattern has taken, or those that one has. What a pattern has replaced by a shorter
    text is not left."""
    characters = (
        character if (remaining == BLANK if taken else remaining not in (BLANK, " ")) else " "
        for character, remaining in zip(text, unread.text, strict=False)
    )
    return " ".join("".join(characters).strip(" ?!.").split())


def with_tickers_as(replacement: str, text: str, tickers: Sequence[str] = (), *, first_only: bool = False) -> str:
    """The text with another word for each ticker or company's name, or for these alone; with `first_only`, for the
    first, and without the others."""
    replacements = iter([replacement]) if first_only else repeat(replacement)

    def other(word: re.Match[str]) -> str:
        named = tickers_in(word[0])
        return next(replacements, "") if named and (not tickers or named == list(tickers)) else word[0]

    return patterns.WORD.sub(other, normalize(text).text)


def last_several(earlier_messages: Sequence[str]) -> list[str]:
    """The tickers of the last message that names several."""
    named = (tickers_in(normalize(earlier).text) for earlier in reversed(earlier_messages))
    return next((tickers for tickers in named if len(tickers) > 1), list[str]())


def last_two(earlier_messages: Sequence[str]) -> list[str]:
    """The two tickers named last."""
    messages = (tickers_in(normalize(earlier).text) for earlier in reversed(earlier_messages))
    return list(dict.fromkeys(ticker for tickers in messages for ticker in reversed(tickers)))[1::-1]
