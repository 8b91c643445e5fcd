"""Reads two requests of one message: "buy 5 AAPL and set an alert at 700"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offline.calls import OfferedTools
from agent.domain.offline.conditions import order_and_condition
from agent.domain.offline.grammar import TAKES_BACK
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.phrases import LIST_TOOL, listed_by, matching_phrase
from agent.domain.offline.several import order_sold_later
from agent.domain.offline.small_talk import MAX_TALK_CHARACTERS
from agent.domain.offline.tool_wishes import tool_wish
from agent.domain.offline.tool_words import personal_tool
from agent.domain.offline.unread import EFFECTS
from agent.domain.offline.wishes import Wish
from agent.domain.text_features import plain, symbols_in
from contracts.expressions import expression

_AND = expression(r"(?:,\s*|\s+)(?:and|y|e|then|luego)\s+(?:(?:then|also|luego|tambien|también)\s+)?", re.IGNORECASE)
_MAX_CUTS = 3
"""Maximum places at which a text is tried to be cut in two."""
_LIST_CHANGES = ("add_to_watchlist", "remove_from_watchlist")


def both_wishes(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """Two wishes of one text, at least one with effects, or each about shares of its own: "buy 5 AAPL and set an alert
    at 700", "the price of Apple and news of Google"."""
    if order_sold_later(text) or len(text) > MAX_TALK_CHARACTERS:
        return None
    is_conditional = order_and_condition(text) is not None
    for cut in list(_AND.finditer(text))[:_MAX_CUTS]:
        parts = text[: cut.start()], text[cut.end() :]
        rows = [personal_tool(part, plain(part)) or matching_phrase(with_known_spelling(part)) for part in parts]
        wish_row = next((row for row in rows if row), None)
        if None in rows and (wish_row.tool in _LIST_CHANGES if wish_row else listed_by(before) == LIST_TOOL):
            parts = tuple(part if row else f"{part} watchlist" for part, row in zip(parts, rows, strict=True))
            rows = [row or matching_phrase(with_known_spelling(part)) for part, row in zip(parts, rows, strict=True)]
        if rows[0] is None or (rows[1] is None and not TAKES_BACK.search(plain(parts[1]))):
            continue
        first, then = tool_wish(parts[0], schemas, before), tool_wish(parts[1], schemas, [*before, parts[0]])
        if first is None or then is None or not (first.calls and then.calls):
            continue
        tools = first.calls[0][0], then.calls[0][0]
        is_same = tools[0] == tools[1] and first.way == then.way
        names_no_effect = EFFECTS.isdisjoint(tools) and not all(symbols_in(part) for part in parts)
        if is_same or names_no_effect or (is_conditional and tools[1] != "create_alert"):
            continue
        if first.way or then.way or first.missing or then.missing:
            return replace(first, later=parts[1].strip())
        return replace(first, calls=(*first.calls, *then.calls))
    return None
