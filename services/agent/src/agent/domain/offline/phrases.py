"""Finds the phrase of the grammar that a message has, by its own words or after what was said before."""

import re
from collections.abc import Sequence
from functools import lru_cache

from agent.domain.offline import talk_words
from agent.domain.offline.calls import EFFECTS_ON_ONE_SYMBOL
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.grammar import TABLE, TAKES_BACK, UNDOES, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.nearest_readings import LOOK_UPS, asks_for_another_tool
from agent.domain.offline.order_words import AT_MARKET
from agent.domain.offline.previous_questions import MAX_MESSAGES_BACK
from agent.domain.offline.tool_words import MINE, personal_tool, share_tool
from agent.domain.offline.unread import EFFECTS
from agent.domain.text_features import plain, symbols_in, word_set
from contracts.expressions import expression

LISTED_BY = {
    **dict.fromkeys(("create_alert", "delete_alert", "list_alerts"), "list_alerts"),
    **dict.fromkeys(
        ("create_paper_order", "cancel_paper_order", "get_pending_orders", "get_portfolio"), "get_portfolio"
    ),
    **dict.fromkeys(("add_to_watchlist", "remove_from_watchlist", "get_watchlist"), "get_watchlist"),
}
"""By the tool mentioned last: the tool that shows the current state."""

LIST_TOOL = "get_watchlist"
_CONJUNCTIONS = expression(r"^\W*(?:(?:and|but|y|pero)\b\W*)+")
_QUOTED = expression(r"[\"“«][^\"”»]*[\"”»]")
LOOKED_UP = word_set("get_price get_indicators get_fundamentals fundamentals_events get_news market_snapshot")


def own_phrase(text: str, normalized: str, *, effects: bool) -> ToolPhrase | None:
    """The phrase of the grammar that a text itself has; None if its words ask for something else."""
    row = personal_tool(text, plain(text)) or matching_phrase(normalized, effects=effects)
    if row is None or (row.tool == "get_price" and not row.way):
        row = share_tool(text) or row  # a price is what is meant where nothing else is named
    without_quotes = _QUOTED.sub(" ", text)
    if row is not None and row.tool in EFFECTS_ON_ONE_SYMBOL and significant_words(without_quotes):
        row = matching_phrase(with_known_spelling(without_quotes))  # what somebody else said orders nothing
    is_share_look_up = row is not None and row.about and row.tool in (*LOOK_UPS, "get_price") and row.way != "if_moved"
    if is_share_look_up and not symbols_in(text) and MINE.search(normalized):
        row = matching_phrase(normalized, alone=True) or row  # what my portfolio is worth is no share's price
    return None if row is not None and asks_for_another_tool(row, text) else row


def only_states(text: str, normalized: str, row: ToolPhrase | None) -> bool:
    """Whether a text with the words of a look-up corrects something, or says something about oneself."""
    is_look_up = row is not None and row.tool in (*LOOKED_UP, "get_ohlcv", "get_portfolio")
    if row is None or not is_look_up or "?" in text:
        return False
    says_of_oneself = talk_words.OF_ONESELF.match(normalized) or talk_words.STATED.search(normalized)
    return talk_words.MISTAKEN.match(normalized) is not None or bool(row.about and says_of_oneself)


def phrase_in_context(
    text: str, normalized: str, row: ToolPhrase | None, before: Sequence[str], *, short: bool
) -> ToolPhrase | None:
    """The phrase that a text means after what was said before: taking something back, or asking how it stands."""
    may_take_back = row is None or (row.way == "sell" and listed_by(before) not in (None, "get_portfolio"))
    if may_take_back and TAKES_BACK.search(normalized) and not AT_MARKET.search(normalized):
        phrases = (matching_phrase(with_known_spelling(message)) for message in reversed(before[-MAX_MESSAGES_BACK:]))
        undoing_way = next((UNDOES[phrase.tool] for phrase in phrases if phrase and phrase.tool in UNDOES), None)
        row = next((phrase for phrase in TABLE if undoing_way and undoing_way in (phrase.way, phrase.tool)), None)
    if row is None and symbols_in(text) and talk_words.DROPS.match(normalized) and listed_by(before) == LIST_TOOL:
        row = phrase_for("remove_from_watchlist")
    asks_overall = short and talk_words.OVERALL.fullmatch(normalized)
    if (row is None or row.tool == "market_snapshot") and asks_overall and _mentions_portfolio(before[-2:]):
        row = phrase_for("get_portfolio")
    is_look_up = row is not None and row.tool in ("get_price", "market_snapshot") and not symbols_in(text)
    if is_look_up and short and talk_words.THEY.search(normalized) and listed_by(before) == LIST_TOOL:
        row = phrase_for(LIST_TOOL)
    may_be_other = row is None or row.tool in ("get_portfolio", "market_snapshot")
    if may_be_other and short and any(map(talk_words.IS_DONE.search, (normalized, plain(text)))):
        row = phrase_for(listed_by(before)) or row
    is_figure = row is not None and row.tool in ("get_price", "market_snapshot") and "?" not in text
    if is_figure and talk_words.CHANGES_IT.search(normalized) and re.search(r"\d", normalized):
        row = None  # "move it up to 190"
    is_price = row is not None and row.tool == "get_price" and not symbols_in(text)
    changes = any(words.search(normalized) for words in (talk_words.YES_BUT, talk_words.CORRECTS, talk_words.AMENDS))
    is_count = is_price and talk_words.COUNTED.search(normalized) and changes and "?" not in text
    return None if is_count else row  # so many of what was ordered


def listed_by(before: Sequence[str]) -> str | None:
    """The tool that lists the alerts, orders or watchlist last mentioned; None if none was."""
    phrases = (matching_phrase(with_known_spelling(phrase)) for phrase in reversed(before[-MAX_MESSAGES_BACK:]))
    return next((LISTED_BY[phrase.tool] for phrase in phrases if phrase and phrase.tool in LISTED_BY), None)


def _mentions_portfolio(before: Sequence[str]) -> bool:
    """Whether one of these messages was about the portfolio."""
    rows = (matching_phrase(with_known_spelling(text), alone=MINE.search(plain(text)) is not None) for text in before)
    return any(row is not None and row.tool == "get_portfolio" for row in rows)


_ASKS_STATE = expression(
    r"^\W*(?:(?:and|so|but|y|e|pero)\W+)*(?:(?:is|are|was|were)(?! it (?:possible|ok|okay|fine|allowed)\b)|am i|do i|"
    r"does|did|has|have (?:i|you|we)|esta|estan|hay|tengo|sigo)\b"
)
"""Asks how something stands, and for nothing to be done: "is MSFT on it?"."""


def list_asked_about(text: str, before: Sequence[str]) -> str | None:
    """The list that a question about the state of what was spoken of asks for; None for other texts."""
    return listed_by(before) if _ASKS_STATE.match(plain(text)) else None


def phrase_for(tool: str | None) -> ToolPhrase | None:
    """The first phrase of the grammar for a tool."""
    return next((row for row in TABLE if row.tool == tool), None)


@lru_cache(maxsize=512)
def matching_phrase(normalized: str, *, alone: bool = False, effects: bool = True) -> ToolPhrase | None:
    """The first phrase that matches; with `alone` of those that are about no symbol, without `effects` of those that
    change nothing."""
    text = _CONJUNCTIONS.sub("", normalized)
    fitting = (row for row in TABLE if row.asks.match(text) and not (row.unless and row.unless.search(text)))
    return next((row for row in fitting if not ((alone and row.about) or (not effects and row.tool in EFFECTS))), None)
