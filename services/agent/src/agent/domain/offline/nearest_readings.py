"""The requests that a customer's message comes nearest to, if no rule reads it: a question with two ways to continue.

The words are those by which tools are chosen for models (`tool_cues`). Each reading is a sentence that the grammar
reads as that tool, so that it can be sent as it is.
"""

import re
from collections.abc import Collection
from datetime import date

from agent.domain.analysis.relative_days import with_past_days
from agent.domain.analysis.stretches import UnreadText, take_periods
from agent.domain.claims.lexer import folded
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.grammar import TABLE, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.offline.market_words import GROUP
from agent.domain.offline.order_words import SAYS_SIDE
from agent.domain.offline.tool_words import MINE, OWN
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import plain, symbols_in, word_set
from agent.domain.tool_cues import CUES
from agent.texts import TEXTS
from contracts.languages import Language

_MAX_READINGS = 2
"""Maximum readings offered."""
_LOOK_UP_WORDS = word_set(
    "its their doing left now today current overall total last latest recent past far share shares stock stocks month "
    "months year years week weeks day days price account trading trades usd dollars euros percent worth standing "
    "higher lower bigger smaller up down ratio max maximum money su sus mayor menor llevo queda ahora hoy actual "
    "ultimo ultima ultimos ultimas accion acciones mes meses ano anos semana semanas dia dias precio cuenta dolares "
    "ciento ha he hubo hizo hicieron anterior activa activas activo activos active had smallest biggest "
    "highest lowest largest greatest grande grandes pequena pequeno pequenas pequenos alto alta altos altas bajo baja "
    "bajos bajas pay pays paga pagan porcentaje percentage"
)
"""Words that are part of any look-up."""
LOOK_UPS = word_set(
    "get_news get_sentiment get_fundamentals fundamentals_events get_indicators get_trade_history get_pending_orders "
    "list_alerts get_portfolio get_watchlist market_snapshot get_performance get_ohlcv get_correlation"
)
"""Tools whose requests may have asked for something else, or for less."""
_PERIOD_TOOLS = ("market_snapshot", "get_performance", "get_ohlcv")
"""Tools for a period: the words of one may ask for another of them."""


def nearest_readings(text: str, offered: Collection[str], language: Language, symbol: str = "") -> list[str]:
    """At most two sentences that ask for what a text comes nearest to, most likely first; empty if it has no tool's
    words. `symbol` is the share that it is about."""
    normalized = plain(text)
    sentences = {tool: text_.in_language(language) for tool, text_ in TEXTS.section("offline.reading").items()}
    if not SAYS_SIDE.search(normalized):
        sentences.pop("create_paper_order")  # an order is offered only to somebody who says buy or sell
    cue_counts = {
        tool: len({match[0] for match in CUES[tool].finditer(normalized) if significant_words(match[0])})
        for tool in sentences
        if tool in offered
    }
    tools = [tool for tool in sorted(cue_counts, key=lambda tool: -cue_counts[tool]) if cue_counts[tool]]
    return [sentences[tool].format(symbol=symbol) for tool in tools if symbol or "{symbol}" not in sentences[tool]][
        :_MAX_READINGS
    ]


def asks_for_another_tool(phrase: ToolPhrase, text: str) -> bool:
    """Whether a look-up without a symbol or an owner has words that ask for something else: several that do not belong
    to it, or one that belongs to another tool."""
    names_owner = symbols_in(text) or MINE.search(plain(text)) if phrase.about else OWN.search(plain(text))
    if phrase.tool not in LOOK_UPS or names_owner or GROUP.search(plain(text)):
        return False
    unread_words = foreign_words(phrase.tool, text)
    return len(unread_words) > 1 or any(cue.search(word) for word in unread_words for cue in CUES.values())


def covers_question(question: str, answer: str, previous_question: str = "") -> bool:
    """Whether an answer from pages has more than half of the question's specific words, apart from those that it quotes
    as not found. A question without any is about those of the previous one."""
    words_of_both = ([word for word in significant_words(text) if not is_common(keys_of(word))]
                     for text in (question, previous_question))  # fmt: skip
    words = next(filter(None, words_of_both), list[str]())
    quoted = re.sub(r"[“«][^”»]*[”»]", " ", answer)
    answer_keys = {key for word in words_of(plain(quoted)) for key in keys_of(word)}
    return not words or 2 * sum(1 for word in words if not answer_keys.isdisjoint(keys_of(word))) > len(words)


def foreign_words(tool: str, text: str) -> list[str]:
    """The words of a question for a tool that belong to something else, and are no share, figure, time or courtesy.
    A plain yes or no has none."""
    if decision_in(text) is not None:
        return []
    normalized, tools = with_known_spelling(text), _PERIOD_TOOLS if tool in _PERIOD_TOOLS else (tool,)
    patterns = [pattern.asks for pattern in TABLE if pattern.tool in tools and tool != "get_price"]
    matching = next((pattern for pattern in patterns if pattern.match(normalized)), None)
    untimed = UnreadText(folded(with_past_days(text, date.min.replace(year=2000))))
    if tool in (*_PERIOD_TOOLS, "get_correlation", "get_price", "get_news", "get_sentiment"):
        take_periods(untimed)
    remainder = with_known_spelling(untimed.text)
    for cue_tool in tools:
        remainder = re.sub(rf"(?:{CUES[cue_tool].pattern})\w*", " ", remainder)
    return [
        word
        for word in significant_words(normalized)
        if re.search(rf"\b{word}\b", remainder)
        and word not in _LOOK_UP_WORDS
        and not symbols_in(word)
        and not is_common(keys_of(word))
        and not any(pattern.match(word) for pattern in patterns)
        and (matching is None or matching.match(re.sub(rf"\b{word}\b", " ", normalized)))
        and not any(letter.isdigit() for letter in word)
    ]
