"""Reads what to cancel, delete or sell: "cancel my AAPL order", "delete alert 2", "sell half of it", "a stop 5 %
below".

The thing itself is looked up first (`steps`), in the list of orders or alerts, or in the portfolio. The text only gives
how to find it: its symbol, price or place, and how much of it.
"""

import re
from typing import Any

from agent.domain.offline.changes import ALL_BUT, kept_in, percent_in, share_in
from agent.domain.offline.conditions import at_distance, distance_in
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.order_words import TAKES_PROFIT, order_named
from agent.domain.offline.slots import ParsedText, Schema, arguments_for
from agent.domain.offline.wishes import Intent, Way, Wish
from agent.domain.text_features import numbers_in, symbols_in, word_set
from contracts.expressions import expression

_BOTH = expression(r"\b(?:both|l[oa]s dos|amb[oa]s)\b")
PAID = expression(r"\b(?:paid|bought|entry|cost|pagu?[eo]|pagado|compr[eo]|comprado|entrada|coste?)\b")
_LISTED = word_set("alert alerta alarm alarma aviso order orden pedido")


def cancellation(way: Way, tool: str, schema: Schema, parsed: ParsedText) -> Wish:
    """The order to cancel or the alert to delete, by its symbol, price or place; or all of them."""
    arguments = arguments_for(tool, schema, parsed)
    place = ordinal_in(parsed.plain, *_LISTED)
    is_all = share_in(parsed.plain) == 1 or _BOTH.search(parsed.plain) is not None
    if way == "delete_alert" and place is None and (level := numbers_in(parsed.plain)):
        arguments["price"] = level[-1][1]
    # If it is given by price, by place or as all, it may be of any share.
    symbols = symbols_in(parsed.text) if is_all or place is not None or "price" in arguments else parsed.symbols
    arguments |= {"symbol": symbols[0]} if symbols else {}
    arguments |= {"place": place} if place is not None else {}
    arguments |= {"share": 1.0} if is_all else {}
    arguments |= order_named(parsed.plain) if way == "cancel" else {}
    if spared := _excluded_symbols(parsed):
        arguments = {"share": 1.0, "spared": spared}
    return Wish(Intent.TOOL, ((tool, arguments),), way=way)


def sale(way: Way, tool: str, schema: Schema, parsed: ParsedText) -> Wish:
    """How much of a holding to sell, now or at a stop: a number, a share ("half"), or all but some."""
    arguments: dict[str, Any] = arguments_for(tool, schema, parsed)
    if way == "stop" and "quantity" in arguments and not arguments.keys() & {"stop_price", "side"}:
        arguments["stop_price"] = arguments.pop("quantity")
    percent = percent_in(parsed.plain)
    takes_profit = TAKES_PROFIT.search(parsed.plain) is not None
    if way == "stop" and takes_profit and percent is None:
        level = numbers_in(parsed.plain)[-1][1]
        quantity_argument = (
            {"quantity": arguments["quantity"]} if arguments.get("quantity") not in (None, level) else {}
        )
        arguments = {**quantity_argument, "order_type": "limit", "limit_price": level}
    arguments |= {"symbol": parsed.symbols[0]} if parsed.symbols else {}
    if (
        "quantity" in arguments
        and "side" in arguments
        and (waits := at_distance(tool, arguments, parsed.plain)) is not None
    ):
        return waits
    if way == "stop" and (distance := distance_in(parsed.plain)) is not None:
        names = [name for name in ("stop_price", "limit_price", "quantity") if arguments.get(name) == abs(distance)]
        others = {name: value for name, value in arguments.items() if name not in names[:1]}
        reference = f"from_{'average_price' if PAID.search(parsed.plain) else 'price'}"
        kind = "limit" if takes_profit else "stop"
        return Wish(
            Intent.TOOL, ((tool, {**others, "order_type": kind, "side": "sell", reference: distance}),), way=way
        )
    if spared := _excluded_symbols(parsed):
        return Wish(
            Intent.TOOL, ((tool, {"side": "sell", "order_type": "market", "share": 1.0, "spared": spared}),), way=way
        )
    kept_amount = kept_in(parsed.plain)
    # For a stop, per cent are the distance below the price.
    part = None if percent is not None and way == "stop" else share_in(parsed.plain)
    # A quantity may stand beside a percentage of the price; the three of "three quarters" is not one.
    quantity_argument = "quantity" in arguments and kept_amount is None and (percent is not None or part in (None, 1.0))
    needed_argument = "quantity" if way == "sell" else "stop_price"
    if (
        percent is not None
        and part is None
        and not quantity_argument
        and arguments.get(needed_argument) in (None, percent)
    ):
        arguments.pop(needed_argument, None)
        if way == "stop":  # a distance from the current price or the one that was paid, which the position shows
            reference = f"of_{'average_price' if PAID.search(parsed.plain) else 'price'}"
            kind, share_argument = ("limit", 1 + percent / 100) if takes_profit else ("stop", 1 - percent / 100)
            arguments = {**arguments, "order_type": kind, "side": "sell", reference: share_argument}
            return Wish(Intent.TOOL, ((tool, arguments),), way=way)
        return Wish(Intent.TOOL, ((tool, {**arguments, "side": "sell"}),), (needed_argument,))
    share_argument = (
        {"share": 1.0 if quantity_argument or part is None else part} if kept_amount is None else {"kept": kept_amount}
    )
    arguments = {name: value for name, value in arguments.items() if quantity_argument or name != "quantity"}
    return Wish(Intent.TOOL, ((tool, {**arguments, "side": "sell", **share_argument}),), way=way)


def _excluded_symbols(parsed: ParsedText) -> list[str]:
    """The shares that are excluded: IBM in "sell everything but my IBM"."""
    match = ALL_BUT.search(parsed.plain)
    if match is None or re.search(r"\d", match["spared"]):
        return []
    # Short names are only read in capitals, which the normalized text lacks.
    is_aligned = len(parsed.text) == len(parsed.plain)
    return symbols_in(parsed.text[match.start("spared") :] if is_aligned else match["spared"])
