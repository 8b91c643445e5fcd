"""Reads orders for several shares in one text, and alerts at several prices.

"buy 3 MSFT and 2 AAPL" is two orders. "buy MSFT and AAPL" makes the assistant ask how many. "alert above 35 or below
28" is two alerts.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.domain.number_words import in_figures
from agent.domain.offline import talk_words
from agent.domain.offline.changes import change_in
from agent.domain.offline.order_words import SAYS_SIDE
from agent.domain.offline.slots import ParsedText, Schema, arguments_for
from agent.domain.offline.wishes import Calls, Intent, Wish
from agent.domain.text_features import language_of, number_of, numbers_in
from agent.domain.tool_cues import NAMING
from agent.texts import TEXTS

_EACH = re.compile(r",(?!\d)|;|\b(?:and|plus|y|mas|más)\b", re.IGNORECASE)
"""What stands between the orders of one text."""
_EITHER = re.compile(r"\b(?:or|and|o|y)\b", re.IGNORECASE)
"""What stands between the prices of one."""
_ORDERS_ONE = re.compile(rf"^\W*\d|{SAYS_SIDE.pattern}")


_PROTECTED = re.compile(
    r"^(?P<order>.*\b(?:buy|compr)\w*\b.*?),?\s+(?:(?:and|y)\s+(?:then\s+|luego\s+)?(?:put|set|place|add|pon(?:le|me|er)?)?|"
    r"with|con)\s*(?:it\s+)?(?:an?|una?|the|el|my|mi)?\s*stop(?:[ -]?loss)?\b\D{0,12}(?P<price>\d[\d.,]*\b)(?!\s?%)",
    re.IGNORECASE,
)


def protected(text: str) -> tuple[str, float] | None:
    """The order and the price of the stop that is to protect what it buys: "buy 5 IBM and put a stop at 190"."""
    match = _PROTECTED.match(text)
    return (match["order"], number_of(match["price"])) if match else None


def orders_of_each(text: str, tool: str, schema: Schema) -> Wish:
    """An order for each share that a text names; how many is asked where it does not say so of each in its own part."""
    whole = ParsedText.of(text)
    side = arguments_for(tool, schema, whole).get("side")
    if side is None:
        return Wish(Intent.TOOL, ((tool, {"symbol": whole.symbols[0]}),), ("side",))
    calls: list[tuple[str, dict[str, Any]]] = []
    for part in filter(str.strip, _EACH.split(text)):
        said = ParsedText.of(part)
        if not said.symbols and not re.search(r"\d", part):
            continue  # "fine, buy 2 IBM and 3 MSFT"
        found = {"side": side, **arguments_for(tool, schema, said)}
        side = found["side"]
        if len(said.symbols) != 1 or "quantity" not in found or not _ORDERS_ONE.search(in_figures(said.plain)):
            return Wish(Intent.TOOL, ((tool, {"side": side, "symbol": whole.symbols[0]}),), ("quantity",))
        calls.append((tool, found))
    return Wish(Intent.TOOL, tuple(calls))


def alerts_at_each(text: str, tool: str, schema: Schema, about: Sequence[str]) -> Calls:
    """An alert for each price that a text names: above this or below that of one share, or one for each of several."""
    parts = [ParsedText.of(part, about if len(about) == 1 else ()) for part in _EITHER.split(text)]
    found = [arguments_for(tool, schema, part) for part in parts]
    alerts = tuple((tool, one) for one in found if {"price", "symbol"} <= one.keys())
    return alerts if len(alerts) >= len(about) else ()


def one_of_several(earlier: Wish, own: Sequence[str], said: str) -> Wish | None:
    """The order of several of one message that a text changes, or the end of the others: "just the IBM"; which one is
    asked where it changes something of none. None: there was one order, or the text changes nothing."""
    orders = [one for one in earlier.calls if one[0] == "create_paper_order"]
    symbols = [one.get("symbol") for _, one in orders]
    if len(orders) < 2 or earlier.way or len(set(symbols)) < len(orders):
        return None
    if len(own) == 1 and own[0] in symbols and talk_words.ONLY.search(said) and not numbers_in(said):
        others = tuple(("cancel_paper_order", {"symbol": one}) for one in symbols if one != own[0])
        return Wish(Intent.TOOL, others, way="cancel") if len(others) == 1 else Wish(Intent.UNREAD, shown=said.strip())
    if len(own) == 1 and own[0] in symbols:
        return replace(earlier, calls=(orders[symbols.index(own[0])],))
    changes = change_in(said) is not None or talk_words.AMENDS.search(said) or talk_words.YES_BUT.search(said)
    return Wish(Intent.TOOL, ((orders[0][0], {}),), ("symbol",)) if changes and not own else None


def is_purchase(wish: Wish | None) -> bool:
    """Whether it buys, and not at a stop."""
    order = wish.calls[0][1] if wish is not None else {}
    return order.get("side") == "buy" and "stop_price" not in order


def alert_instead(said: str, earlier: Wish) -> Wish | None:
    """An alert at the price that the order before waits for: "better just tell me". The order is withdrawn next."""
    tool, order = earlier.calls[0]
    name = next((name for name in ("limit_price", "stop_price") if name in order), None)
    if name is None or tool != "create_paper_order" or numbers_in(said) or not NAMING["create_alert"].search(said):
        return None
    falls = (name == "limit_price") == (order.get("side") == "buy")
    alert = {"symbol": order.get("symbol"), "condition": "<=" if falls else ">=", "price": order[name]}
    language = language_of(said, "en")
    return Wish(Intent.TOOL, (("create_alert", alert),), later=TEXTS["offline.cancel_it"].in_language(language))
