"""Reads orders for several shares in one text, and alerts at several prices.

"buy 3 MSFT and 2 AAPL" is two orders. For "buy MSFT and AAPL", the assistant asks how many. "alert above 35 or below
28" is two alerts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.domain.number_words import in_figures
from agent.domain.offline import talk_words
from agent.domain.offline.changes import change_in
from agent.domain.offline.conditions import distance_in
from agent.domain.offline.order_words import SAYS_SIDE, condition_in
from agent.domain.offline.slots import ParsedText, Schema, arguments_for
from agent.domain.offline.tool_words import without_symbols
from agent.domain.offline.wishes import Calls, Intent, Wish
from agent.domain.text_features import language_of, number_of, numbers_in, plain, symbols_in
from agent.domain.tool_cues import NAMING
from agent.texts import TEXTS
from contracts.expressions import expression

_ORDER_SEPARATOR = expression(r",(?!\d)|;|\b(?:and|plus|y|mas|más)\b", re.IGNORECASE)
"""Separators between the orders of one text."""
_PRICE_SEPARATOR = expression(r"\b(?:or|and|o|y)\b", re.IGNORECASE)
"""Separators between the prices of one text."""
_ORDERS_ONE = expression(
    rf"^\W*(?:(?:another|other|also|put|place|add|enter|otr[oa]s?|tambien|pon|mete|luego|then)\b\W*)*\d|"
    rf"{SAYS_SIDE.pattern}"
)


_PROTECTED = expression(
    r"^(?P<order>.*\b(?:buy|compr)\w*\b.*?),?\s+(?:(?:and|y)\s+(?:then\s+|luego\s+)?(?:put|set|place|add|pon(?:le|me|er)?)?|"
    r"with|con)\s*(?:it\s+)?(?:an?|una?|the|el|my|mi)?\s*stop(?:[ -]?loss)?\b\D{0,12}(?P<price>\d[\d.,]*\b)(?!\s?%)",
    re.IGNORECASE,
)


_SOLD_LATER = expression(
    r"^(?P<order>.*\b(?:buy|compr)\w*\b.*?),?\s+(?:and|y)\s+(?:then\s+|luego\s+)?(?:sell|v[eé]nd)\w*(?:\s+(?:it|them|those))?"
    r"\s+(?P<condition>(?:if|when|once|si|cuando|en cuanto|at|a)\b\D{0,25}(?P<price>\d[\d.,]*\b)(?!\s?%))\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SoldLater:
    """A purchase whose shares are to be sold at a price: on their fall to it (a stop) or on their rise. `others` is the
    text without the sale."""

    purchase: str
    price: float
    is_stop: bool
    others: str


def order_sold_later(text: str) -> SoldLater | None:
    """The purchase and the later sale in "buy 5 IBM and put a stop at 190", "compra 5 IBM y véndelas si llegan a 230";
    None if the text has no such sale."""
    match = _PROTECTED.match(text)
    is_stop = match is not None
    if match is None:
        match = _SOLD_LATER.match(text)
        if match is None:
            return None
        is_stop = condition_in(plain(match["condition"])) == "<="
    return SoldLater(match["order"], number_of(match["price"]), is_stop, f"{match['order']} {text[match.end() :]}")


def orders_by_symbol(text: str, tool: str, schema: Schema) -> Wish:
    """An order for each share that a text names. The quantity is missing if a part does not give its own."""
    parsed = ParsedText.of(text)
    side = arguments_for(tool, schema, parsed).get("side")
    if side is None:
        return Wish(Intent.TOOL, ((tool, {"symbol": parsed.symbols[0]}),), ("side",))
    calls: list[tuple[str, dict[str, Any]]] = []
    for part in filter(str.strip, _ORDER_SEPARATOR.split(text)):
        parsed_part = ParsedText.of(part)
        if distance_in(parsed_part.plain) is not None:
            return Wish(Intent.UNREAD, words=part.strip())
        if not parsed_part.symbols and not re.search(r"\d", part):
            continue  # "fine, buy 2 IBM and 3 MSFT"
        arguments = {"side": side, **arguments_for(tool, schema, parsed_part)}
        side = arguments["side"]
        if (
            len(parsed_part.symbols) != 1
            or "quantity" not in arguments
            or not _ORDERS_ONE.search(in_figures(parsed_part.plain))
        ):
            return Wish(Intent.TOOL, ((tool, {"side": side, "symbol": parsed.symbols[0]}),), ("quantity",))
        calls.append((tool, arguments))
    return Wish(Intent.TOOL, tuple(calls))


def alerts_by_price(text: str, tool: str, schema: Schema, symbols: Sequence[str]) -> Calls:
    """An alert for each price that a text names: several prices of one share, or one for each of several shares."""
    parts = [ParsedText.of(part, symbols if len(symbols) == 1 else ()) for part in _PRICE_SEPARATOR.split(text)]
    arguments_of_parts = [arguments_for(tool, schema, part) for part in parts]
    alerts = tuple((tool, arguments) for arguments in arguments_of_parts if {"price", "symbol"} <= arguments.keys())
    return alerts if len(alerts) >= len(symbols) else ()


def one_of_several(earlier: Wish, own: Sequence[str], normalized: str) -> Wish | None:
    """The one of several orders from one message that a text changes, or the cancellation of the others: "just the
    IBM". The symbol is missing if the text changes an order without naming it. None if there was one order, or the text
    changes nothing."""
    orders = [call for call in earlier.calls if call[0] == "create_paper_order"]
    order_symbols = [call.get("symbol") for _, call in orders]
    if len(orders) < 2 or earlier.way or len(set(order_symbols)) < len(orders):
        return None
    if len(own) == 1 and own[0] in order_symbols and talk_words.ONLY.search(normalized) and not numbers_in(normalized):
        others = tuple(("cancel_paper_order", {"symbol": symbol}) for symbol in order_symbols if symbol != own[0])
        if len(others) == 1:
            return Wish(Intent.TOOL, others, way="cancel")
        return Wish(Intent.UNREAD, words=normalized.strip())
    if len(own) == 1 and own[0] in order_symbols:
        return replace(earlier, calls=(orders[order_symbols.index(own[0])],))
    changes = (
        change_in(normalized) is not None
        or talk_words.AMENDS.search(normalized)
        or talk_words.YES_BUT.search(normalized)
    )
    return Wish(Intent.TOOL, ((orders[0][0], {}),), ("symbol",)) if changes and not own else None


def of_other_holding(text: str, previous: Wish | None) -> Wish | None:
    """The previous question about a position, for the share that the text names: "and on google?"."""
    if previous is None or previous.way != "portfolio" or not symbols_in(previous.words):
        return None
    return replace(previous, words=" ".join([*without_symbols(previous.words), text]))


def is_purchase(wish: Wish | None) -> bool:
    """Whether a wish buys, without a stop price."""
    order = wish.calls[0][1] if wish is not None else {}
    return order.get("side") == "buy" and "stop_price" not in order


def alert_instead(normalized: str, earlier: Wish) -> Wish | None:
    """An alert at the price that the earlier order waits for: "better just tell me". Cancelling the order is next."""
    tool, order = earlier.calls[0]
    name = next((name for name in ("limit_price", "stop_price") if name in order), None)
    if (
        name is None
        or tool != "create_paper_order"
        or numbers_in(normalized)
        or not NAMING["create_alert"].search(normalized)
    ):
        return None
    waits_for_fall = (name == "limit_price") == (order.get("side") == "buy")
    alert = {"symbol": order.get("symbol"), "condition": "<=" if waits_for_fall else ">=", "price": order[name]}
    language = language_of(normalized, "en")
    return Wish(Intent.TOOL, (("create_alert", alert),), later=TEXTS["offline.cancel_it"].in_language(language))
