"""Names what a customer's message comes nearest to, where no rule reads it: a question with two ways to go on, and no
miss.

The words are those by which tools are chosen for models (`tool_cues`). Each reading is told as a sentence that the
grammar reads as that tool, so that it can be sent as it stands.
"""

import re
from collections.abc import Collection

from agent.domain.analysis.stretches import Unread, stretches_in
from agent.domain.claims.lexer import folded
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.grammar import TABLE, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.offline.market_words import GROUP
from agent.domain.offline.order_words import SAYS_SIDE
from agent.domain.offline.tool_words import MINE, OWN
from agent.domain.text_features import plain, symbols_in, word_set
from agent.domain.tool_cues import CUES
from agent.texts import TEXTS
from contracts.languages import Language

_MOST = 2
_BESIDE = word_set(
    "its their doing left now today current overall total last latest recent past far share shares stock stocks month "
    "months year years week weeks day days price account trading trades usd dollars euros percent worth standing "
    "higher lower bigger smaller up down ratio max maximum money su sus mayor menor llevo queda ahora hoy actual "
    "ultimo ultima ultimos ultimas accion acciones mes meses ano anos semana semanas dia dias precio cuenta dolares "
    "ciento ha he hizo hicieron anterior activa activas activo activos active had smallest biggest "
    "highest lowest largest greatest"
)
"""Said of any look-up."""
LOOK_UPS = word_set(
    "get_news get_sentiment get_fundamentals fundamentals_events get_indicators get_trade_history get_pending_orders "
    "list_alerts get_portfolio get_watchlist market_snapshot get_performance get_ohlcv get_correlation"
)
"""Requests that may have asked for something else, or less."""
_OF_A_STRETCH = ("market_snapshot", "get_performance", "get_ohlcv")
"""Tools that tell of a stretch of time: the words of one ask for another of them too."""


def nearest_readings(text: str, offered: Collection[str], language: Language, symbol: str = "") -> list[str]:
    """The sentences, at most two, that ask for what a text comes nearest to; none: it has no word of any tool.
    `symbol`: the share that it is about."""
    said = plain(text)
    sentences = {tool: one.in_language(language) for tool, one in TEXTS.section("offline.reading").items()}
    if not SAYS_SIDE.search(said):
        sentences.pop("create_paper_order")  # nobody who says neither buy nor sell is offered an order
    heard = {tool: len({match[0] for match in CUES[tool].finditer(said)}) for tool in sentences if tool in offered}
    told = [one for one in sorted(heard, key=lambda tool: -heard[tool]) if heard[one]]
    return [sentences[one].format(symbol=symbol) for one in told if symbol or "{symbol}" not in sentences[one]][:_MOST]


def is_of_another(row: ToolPhrase, text: str) -> bool:
    """Whether a look-up of what was spoken of before, or of oneself, has words that ask for something else: several
    that it has no place for, or one of another tool."""
    own = symbols_in(text) or MINE.search(plain(text)) if row.about else OWN.search(plain(text))
    if row.tool not in LOOK_UPS or own or GROUP.search(plain(text)):
        return False
    unread = unread_beside(row.tool, text)
    return len(unread) > 1 or any(one.search(word) for word in unread for one in CUES.values())


def covers_question(question: str, answer: str) -> bool:
    """Whether an answer from pages has most telling words of the question, beside those that it names as not found."""
    words = [word for word in significant_words(question) if not is_common(keys_of(word))]
    quoted = re.sub(r"[“«][^”»]*[”»]", " ", answer)
    has = {key for word in words_of(plain(quoted)) for key in keys_of(word)}
    return not words or 2 * sum(1 for word in words if not has.isdisjoint(keys_of(word))) > len(words)


def unread_beside(tool: str, text: str) -> list[str]:
    """The words of a question for a tool that belong to another thing, and are no share, figure, time or courtesy."""
    said, tools = with_known_spelling(text), _OF_A_STRETCH if tool in _OF_A_STRETCH else (tool,)
    rows = [row.asks for row in TABLE if row.tool in tools and tool != "get_price"]
    reads = next((row for row in rows if row.match(said)), None)
    untimed = Unread(folded(text))
    for _ in stretches_in(untimed) if tool in (*_OF_A_STRETCH, "get_correlation", "get_price") else ():
        pass
    rest = with_known_spelling(untimed.text)
    for one in tools:
        rest = re.sub(rf"(?:{CUES[one].pattern})\w*", " ", rest)
    return [
        word
        for word in significant_words(said)
        if re.search(rf"\b{word}\b", rest)
        and word not in _BESIDE
        and not symbols_in(word)
        and not is_common(keys_of(word))
        and not any(row.match(word) for row in rows)
        and (reads is None or reads.match(re.sub(rf"\b{word}\b", " ", said)))
        and not any(letter.isdigit() for letter in word)
    ]
