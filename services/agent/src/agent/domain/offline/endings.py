"""Reads what is to be ended or sold: "cancel my AAPL order", "delete alert 2", "sell half of it", "a stop 5 % below".

What is meant is looked up first (`steps`), in the list of orders or alerts, or in the portfolio; here the text says
only by what it is found: its symbol, price or place, and how much of it.
"""

import re
from typing import Any

from agent.domain.offline.changes import ALL_BUT, kept_in, percent_in, share_in
from agent.domain.offline.conditions import from_now
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.order_words import TAKES_PROFIT, order_named
from agent.domain.offline.slots import ParsedText, Schema, arguments_for
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import numbers_in, symbols_in, word_set

_BOTH = re.compile(r"\b(?:both|l[oa]s dos|amb[oa]s)\b")
_PAID = re.compile(r"\b(?:paid|bought|entry|cost|pagu?[eo]|pagado|compr[eo]|comprado|entrada|coste?)\b")
_LISTED = word_set("alert alerta alarm alarma aviso order orden pedido")


def cancellation(way: str, tool: str, schema: Schema, said: ParsedText) -> Wish:
    """The order to cancel or the alert to delete, by its symbol, price or place; or all of them."""
    found = arguments_for(tool, schema, said)
    at = ordinal_in(said.plain, *_LISTED)
    whole = share_in(said.plain) == 1 or _BOTH.search(said.plain) is not None
    if way == "delete_alert" and at is None and (level := numbers_in(said.plain)):
        found["price"] = level[-1][1]
    # One that is named by its price, its place or as all of them is of whatever share.
    symbols = symbols_in(said.text) if whole or at is not None or "price" in found else said.symbols
    found |= {"symbol": symbols[0]} if symbols else {}
    found |= {"place": at} if at is not None else {}
    found |= {"share": 1.0} if whole else {}
    found |= order_named(said.plain) if way == "cancel" else {}
    if spared := _spared(said):
        found = {"share": 1.0, "spared": spared}
    return Wish(Intent.TOOL, ((tool, found),), way=way)


def sale(way: str, tool: str, schema: Schema, said: ParsedText) -> Wish:
    """How much of a holding to sell, now or at a stop: a number, a share ("half"), or all but some."""
    found: dict[str, Any] = arguments_for(tool, schema, said)
    if way == "stop" and "quantity" in found and not found.keys() & {"stop_price", "side"}:
        found["stop_price"] = found.pop("quantity")
    percent = percent_in(said.plain)
    profit = TAKES_PROFIT.search(said.plain) is not None
    if way == "stop" and profit and percent is None:
        level = numbers_in(said.plain)[-1][1]
        counted = {"quantity": found["quantity"]} if found.get("quantity") not in (None, level) else {}
        found = {**counted, "order_type": "limit", "limit_price": level}
    found |= {"symbol": said.symbols[0]} if said.symbols else {}
    if "quantity" in found and "side" in found and (waits := from_now(tool, found, said.plain)) is not None:
        return waits
    if spared := _spared(said):
        return Wish(
            Intent.TOOL, ((tool, {"side": "sell", "order_type": "market", "share": 1.0, "spared": spared}),), way=way
        )
    kept = kept_in(said.plain)
    # Of a stop, per cent say how far below the price it is.
    part = None if percent is not None and way == "stop" else share_in(said.plain)
    # How many is said beside a price's per cent; the three of "three quarters" count no shares.
    counted = "quantity" in found and kept is None and (percent is not None or part in (None, 1.0))
    asked = "quantity" if way == "sell" else "stop_price"
    if percent is not None and part is None and not counted and found.get(asked) in (None, percent):
        found.pop(asked, None)
        if way == "stop":  # so far from the price of now or the one that was paid, which the position tells
            of = f"of_{'average_price' if _PAID.search(said.plain) else 'price'}"
            kind, share = ("limit", 1 + percent / 100) if profit else ("stop", 1 - percent / 100)
            found = {**found, "order_type": kind, "side": "sell", of: share}
            return Wish(Intent.TOOL, ((tool, found),), way=way)
        return Wish(Intent.TOOL, ((tool, {**found, "side": "sell"}),), (asked,))
    share = {"share": 1.0 if counted or part is None else part} if kept is None else {"kept": kept}
    found = {name: one for name, one in found.items() if counted or name != "quantity"}
    return Wish(Intent.TOOL, ((tool, {**found, "side": "sell", **share}),), way=way)


def _spared(said: ParsedText) -> list[str]:
    """The shares that are left out of all: IBM in "sell everything but my IBM"."""
    match = ALL_BUT.search(said.plain)
    return symbols_in(match["spared"]) if match and not re.search(r"\d", match["spared"]) else []
