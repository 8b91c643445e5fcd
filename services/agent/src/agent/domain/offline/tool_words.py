"""Tools that are asked for by their words alone, in any order: "anything pending?", "¿cómo va mi cuenta?".

If no phrase of the grammar matches, a question whose significant words all belong to one tool asks for that tool. With
one more significant word, it is about something else.
"""

import re

from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.lexicon import keys_of
from agent.domain.text_features import plain, symbols_in
from agent.domain.tool_cues import CUES, NAMING
from contracts.expressions import expression

_PERSONAL_TOOLS = ("get_pending_orders", "get_portfolio", "get_trade_history")
_SHARE_TOOLS = (
    "get_news", "fundamentals_events", "get_fundamentals", "get_ohlcv", "market_snapshot", "get_sentiment", "get_price",
)  # fmt: skip
"""Tools for a share that the text names."""
_BESIDE = "doing right left now today current overall total llevo queda ahora hoy actual"
"""Words that may be in a question for any of them."""
_IGNORED_WORDS = frozenset(_BESIDE.split())
MINE = expression(r"\b(?:my|mis?)\b")
OF_THE_PLAN = expression(r"\b(?:plans?|planes|upgrad\w+|downgrad\w+|subscri\w+|suscri\w+|premium|account|cuenta)\b")
"""Words for a subscription, which is not an order."""
OWN = expression(r"\b(?:pending|pendientes?|my|i|i ve|we|our|mis?|me|nuestr[oa]s?|tengo|llevo|he|hemos)\b|\bany")
_TELL_ME = expression(r"\b(?:me|nos) cuent\w+", re.IGNORECASE)
"""The Spanish verb for telling, which is not an account."""
_OTHER_QUESTION = expression(r"\b(?:can|could|puedo|podria|podemos|who\W?s?|whose|quien(?:es)?)\b")
"""Questions what could be done, or who somebody is, are not about what there is."""
_ASKS = expression(
    r"\?|^\W*(?:(?:and|so|hey|ok|y|pues|oye) )*(?:any\w*|what\W?s?|which|how\W?s?|when|where|why|who|if|show|see|list|"
    r"que|cual(?:es)?|como|"
    r"cuant[oa]s?|dime|ver|muestra\w*|ensena\w*|hay|algo)\b"
)


def is_question(text: str) -> bool:
    """Whether a text is a question, by its mark or by how it begins."""
    return bool(_ASKS.search(plain(text)))


def personal_tool(text: str, normalized: str) -> ToolPhrase | None:
    """The tool whose words a question about one's own things consists of; None if there is none."""
    words = [word for word in without_symbols(_TELL_ME.sub(" ", text)) if word not in _IGNORED_WORDS]
    if not words or not OWN.search(normalized) or not _ASKS.search(normalized) or _OTHER_QUESTION.search(normalized):
        return None
    tool = next((tool for tool in _PERSONAL_TOOLS if all(map(NAMING[tool].match, words))), None)
    return ToolPhrase(tool, _ASKS) if tool else None


def share_tool(text: str) -> ToolPhrase | None:
    """The look-up of a share to which all significant words of a text belong: "is there any gossip about IBM?"; None if
    there is none."""
    words = [word for word in without_symbols(text) if word != "its"]
    if not symbols_in(text):
        return None
    fitting = (tool for tool in _SHARE_TOOLS if any(map(NAMING[tool].match, words)))
    tool = next(
        (tool for tool in fitting if all(is_common(keys_of(word)) or CUES[tool].match(word) for word in words)), None
    )
    return ToolPhrase(tool, _ASKS, about=True) if tool else None


def without_symbols(text: str) -> list[str]:
    """The significant words of a text that name no share."""
    return [word for word in significant_words(text) if not symbols_in(word)]
