"""Names what a customer's message comes nearest to, where no rule reads it: a question with two ways to go on, and no
miss.

The words are those by which tools are chosen for models (`tool_cues`). Each reading is told as a sentence that the
grammar reads as that tool, so that it can be sent as it stands.
"""

from collections.abc import Collection

from agent.domain.offline.common_words import is_common, telling
from agent.domain.offline.grammar import TABLE
from agent.domain.offline.lexicon import keys_of
from agent.domain.offline.slots import SAYS_SIDE
from agent.domain.text_features import plain, symbols_in
from agent.domain.tool_cues import CUES
from agent.texts import TEXTS
from contracts.languages import Language

_MOST = 2


def nearest_readings(text: str, offered: Collection[str], language: Language, symbol: str = "") -> list[str]:
    """The sentences, at most two, that ask for what a text comes nearest to; none: it has no word of any tool.
    `symbol`: the share that it is about."""
    said = plain(text)
    sentences = {tool: one.said_in(language) for tool, one in TEXTS.section("offline.reading").items()}
    if not SAYS_SIDE.search(said):
        sentences.pop("create_paper_order")  # nobody who says neither buy nor sell is offered an order
    heard = {tool: len({match[0] for match in CUES[tool].finditer(said)}) for tool in sentences if tool in offered}
    told = [one for one in sorted(heard, key=lambda tool: -heard[tool]) if heard[one]]
    return [sentences[one].format(symbol=symbol) for one in told if symbol or "{symbol}" not in sentences[one]][:_MOST]


def unread_beside(tool: str, text: str) -> list[str]:
    """The words of a question for a tool that belong to another thing, and are no share, figure or courtesy."""
    rows = [row.asks for row in TABLE if row.tool == tool and tool != "get_price"]
    return [
        word
        for word in telling(text)
        if not symbols_in(word)
        and not is_common(keys_of(word))
        and not CUES[tool].search(word)
        and not any(row.match(word) for row in rows)
        and not any(letter.isdigit() for letter in word)
    ]
