"""Carries out requests that need several calls: selling half of a holding, replacing an order, finding the alert that
is meant.

Each wish of this kind names its way. "sell half of my MSFT" looks up the portfolio first, works the number out, and
then prepares the order; where several things may be meant, the assistant asks which.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, cast

from agent.domain.offline.answers import (
    answer_from,
    bought,
    cash_left,
    if_all_moved,
    if_moved,
    information_needed,
    multiplied,
    stop_later,
)
from agent.domain.offline.conditions import at_a_price
from agent.domain.offline.position_size import with_prices
from agent.domain.offline.wishes import Calls, Wish
from agent.domain.text_features import number_of
from contracts.languages import Language

Result = tuple[str, dict[str, Any], dict[str, Any]]
_FIRST = {
    "sell": "get_portfolio",
    "resell": "get_portfolio",
    "stop": "get_portfolio",
    "replace": "get_pending_orders",
    "cancel": "get_pending_orders",
    "delete_alert": "list_alerts",
    "replace_listed": "list_alerts",
}
"""What is looked up, by the way that leads to the call."""
_WATCHED = 5
"""Of the own list, how many are looked up."""
_ENDED = 20
"""Orders or alerts that are ended by one message."""
_SAME_ORDER = ("symbol", "side", "quantity", "limit_price", "stop_price")
"""What an order that is replaced is found by."""
_NAMED = {"cancel": ("orders", "order_id"), "delete_alert": ("alerts", "alert_id")}


@dataclass(frozen=True, slots=True)
class SayText:
    """The answer."""

    text: str


@dataclass(frozen=True, slots=True)
class UseTools:
    """Tool calls, by name with arguments."""

    calls: Calls


def step_of(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The next step of a wish that takes two: look up, then do."""
    tool, arguments = wish.calls[0]
    if wish.way == "portfolio":
        return _portfolio(results, language)
    if wish.way == "stop_later":
        if not results:
            return UseTools(wish.calls)
        told = [answer_from(*one, "", language) for one in results]
        done = all("error" not in body for _, _, body in results)
        return SayText("\n".join([*told, *([stop_later(float(wish.shown), language)] if done else [])]))
    if wish.way == "as_many":
        figured = next((body for done, _, body in results if done != tool), None)
        if figured is None:
            return UseTools(wish.calls[1:])
        if len(results) > 1 or not figured.get("quantity"):
            return SayText(answer_from(*results[-1], "", language))
        return UseTools(((tool, {**arguments, "quantity": float(figured["quantity"]) * float(wish.shown) // 1}),))
    if wish.way in ("part", "affordable", "means", "left"):
        return _with_price(wish, results, language)
    if wish.way == "if_moved":
        return _if_moved(wish, results, language)
    if wish.way == "grown":
        return _grown(wish, results, language)
    if wish.way == "watched":
        return _watched(wish, results, language)
    if wish.way == "share_of_cash":
        return _share_of_cash(wish, results, language)
    if wish.way in ("from_now", "at_level", "sized", "spend"):
        return _at_price_of_now(wish, results, language)
    looked = _FIRST["replace" if wish.way == "replace_listed" and tool == "create_paper_order" else wish.way]
    waits: list[dict[str, Any]] = []
    if wish.way == "resell":
        # Two are looked up: what is held, and what waits and is made anew.
        if not results:
            return UseTools(((looked, {}), ("get_pending_orders", {})))
        waits = [one for tool, _, body in results if tool == "get_pending_orders" for one in _of(body, "orders")]
        results = [one for one in results if one[0] != "get_pending_orders"]
    done = [one for one in results if one[0] != looked]
    if done and (done[-1][0] == tool or "error" in done[-1][2]):
        return SayText("\n".join(answer_from(*one, "", language) for one in done))
    if wish.way in _NAMED and _NAMED[wish.way][1] in arguments:
        name = _NAMED[wish.way][1]
        return UseTools(((tool, {name: arguments[name]}),))
    if not results:
        return UseTools(((looked, {}),))
    body = results[0][2]
    if "error" in body:
        return SayText(answer_from(*results[0], "", language))
    if wish.way in ("sell", "stop", "resell"):
        found = _sell(tool, arguments | ({"symbol": wish.shown} if wish.shown else {}), body, language)
        if wish.way == "resell" and isinstance(found, UseTools):
            return _instead(_ended(wish, waits), found.calls, done)
        return found
    if wish.way == "replace":
        return _instead(_ended(wish, _of(body, "orders")), ((tool, arguments),), done)
    if wish.way == "replace_listed":
        before = wish.calls[1][1]
        kind, name = _NAMED["cancel" if tool == "create_paper_order" else "delete_alert"]
        old = [one for one in _of(body, kind)
               if all(before.get(name) in (None, one.get(name)) for name in ("symbol", "price", "side"))
               and before.get("order_type", "") in str(one.get("order_type") or "")]  # fmt: skip
        if kind == "orders" or "condition" not in arguments:  # it is as it was, but for one figure
            at = before.get("place", 0)
            old = old[at : at + 1 or None] if "place" in before else old
            if len(old) != 1:
                return SayText(_several(looked, kind, old, body, language))
            arguments = _as_it_was(old[0], arguments)
        ends = tuple((wish.calls[1][0], {name: one[name]}) for one in old[-1:])
        return _instead(ends, ((tool, arguments),), done)
    kind, name = _NAMED[wish.way]
    fitting: list[dict[str, Any]] = [
        one
        for one in _of(body, kind)
        if all(arguments.get(name) in (None, one.get(name)) for name in ("symbol", "price", "side"))
        and one["symbol"] not in arguments.get("spared", ())
        and arguments.get("order_type", "") in str(one.get("order_type") or "")
        and (not wish.shown or wish.shown in answer_from(looked, {}, {kind: [one]}, "", language).splitlines())
    ]  # fmt: skip
    number = arguments.get("price", 0.0)
    if not fitting and number in range(1, len(_of(body, kind)) + 1):
        fitting = [_of(body, kind)[int(number) - 1]]  # "alert 2" is the second
    at = arguments.get("place", 0)
    if wish.shown:
        fitting = fitting[:1]  # those that read alike are alike
    elif "place" in arguments and -len(fitting) <= at < len(fitting):
        fitting = [fitting[at]]
    if arguments.get("share") == 1 and 0 < len(fitting) <= _ENDED:
        return UseTools(tuple((tool, {name: one[name]}) for one in fitting))
    if len(fitting) != 1:
        return SayText(_several(looked, kind, fitting, body, language))
    return UseTools(((tool, {name: fitting[0][name]}),))


def _several(
    looked: str, kind: str, fitting: Sequence[dict[str, Any]], body: dict[str, Any], language: Language
) -> str:
    """That it is not clear which one is meant, with those that may be; or that there is none."""
    told = answer_from(looked, {}, {kind: fitting}, "", language)
    if not fitting:
        return information_needed("none", language) if _of(body, kind) else told
    return f"{information_needed('several', language)}\n{told}"


def _as_it_was(old: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """The arguments that make an alert or order anew with another figure: the quantity that was told, or the price,
    which is a quantity where nothing has a price."""
    names = ("symbol", "condition", "price", "side", "quantity", "order_type", "limit_price", "stop_price")
    kept = {name: old[name] for name in names if old.get(name) is not None}
    prices = [name for name in kept if name.endswith("price")]
    if "quantity" in changed:
        return {**kept, "quantity": float(changed["quantity"])}
    return {**kept, (prices[-1] if prices else "quantity"): float(changed["price"])}


def _instead(ends: Calls, made: Calls, done: Sequence[Result]) -> UseTools:
    """What replaces an order names it, so that it waits until the yes; an alert is deleted first."""
    if ends and ends[0][0] == "cancel_paper_order":
        (tool, arguments), *others = made
        return UseTools(((tool, {**arguments, "replaces": ends[0][1]["order_id"]}), *others))
    return UseTools(ends if ends and not done else made)


def _ended(wish: Wish, orders: Sequence[dict[str, Any]]) -> Calls:
    """The end of the order that waits and is made anew."""
    before = wish.calls[1][1]
    waiting = [one for one in orders if one["status"] in ("pending_confirmation", "open")
               and all(before.get(name) in (None, one.get(name)) for name in _SAME_ORDER)]  # fmt: skip
    return tuple(("cancel_paper_order", {"order_id": one["order_id"]}) for one in waiting[-1:])


def _watched(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What the shares of the own list cost."""
    symbols: list[str] = results[0][2].get("symbols") or [] if results else []
    if not results or (symbols and len(results) == 1):
        return UseTools(tuple(("get_price", {"symbol": one}) for one in symbols[:_WATCHED]) or wish.calls)
    return SayText("\n".join(answer_from(*one, "", language) for one in results[1:] or results))


def _with_price(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """A price, and so many times as much; or how many that much money buys, or all the cash."""
    if not results:
        return UseTools((*wish.calls, *([("get_portfolio", {})] if wish.way in ("means", "left") else [])))
    told = [answer_from(*one, "", language) for one in results if "cash" not in one[2]]
    figure, _, each = wish.shown.partition("@")
    cash = next((float(body["cash"]) for _, _, body in results if "cash" in body), None)
    for price in [float(each or body["price"]) for _, _, body in results if body.get("price") is not None]:
        if figure and wish.way != "affordable":
            told.append(multiplied(price, number_of(figure), language))
        if wish.way == "left":
            told += [cash_left(cash - price * number_of(figure), language)] if cash is not None else []
        elif (budget := number_of(figure) if wish.way == "affordable" else cash) is not None:
            told.append(bought(price, budget, language))
    return SayText("\n".join(told))


def _if_moved(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What a share, and what is held of it, would be worth at so many times the price of now."""
    if not results:
        return UseTools(wish.calls)
    quote = results[0][2]
    if wish.calls[0][0] == "get_portfolio":
        held_worth = sum(float(one["value"]) for one in _of(quote, "positions"))
        if quote.get("equity") is None or not held_worth:
            return SayText(answer_from(*results[0], "", language))
        return SayText(if_all_moved(held_worth, float(wish.shown), float(quote["equity"]), language))
    if quote.get("price") is None:
        return SayText(answer_from(*results[0], "", language))
    held = [one for _, _, body in results[1:] for one in _of(body, "positions") if one["symbol"] == quote["symbol"]]
    equity = next((float(body["equity"]) for _, _, body in results[1:] if body.get("equity") is not None), None)
    factor = float(wish.shown)
    return SayText(if_moved(quote, factor, sum(float(one["quantity"]) for one in held), equity, language))


def _grown(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What a sum that was put into a share earlier is now."""
    if not results:
        return UseTools(wish.calls)
    returns = [one["value"] for one in _of(results[0][2], "figures") if one["figure"] == "return"]
    told = [answer_from(*results[0], "", language)]
    return SayText("\n".join([*told, *(multiplied(float(wish.shown), 1 + one, language) for one in returns)]))


def _at_price_of_now(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """An alert or order at so much of the price of now, a position's size at it, or what a sum buys at it."""
    tool, arguments = wish.calls[0]
    replaces = len(wish.calls) > 1
    if not results:
        look_up = ("get_price", {"symbol": arguments["symbol"]})
        return UseTools(((_FIRST["replace"], {}), look_up) if replaces else (look_up,))
    looked, done = results[: 1 + replaces], results[1 + replaces :]
    body = looked[-1][2]
    if body.get("price") is None or (done and (done[-1][0] == tool or "error" in done[-1][2])):
        return SayText("\n".join(answer_from(*one, "", language) for one in done or looked[-1:]))
    price, distance = float(body["price"]), float(wish.shown)
    ended = _ended(wish, _of(looked[0][2], "orders")) if replaces else ()
    if wish.way == "spend":
        price = float(arguments.get("limit_price", price))
        number = float(distance // price)
        if not number:
            return SayText(bought(price, distance, language))
        return _instead(ended, ((tool, {**arguments, "quantity": number}),), done)
    if wish.way == "sized":
        return UseTools(((tool, with_prices(arguments, price, distance)),))
    if wish.way == "at_level":
        order, name = at_a_price(arguments, ">=" if distance > price else "<=")
        return _instead(ended, ((tool, {**order, name: distance}),), done)
    name = f"{arguments['order_type']}_price" if "order_type" in arguments else "price"
    price = price + distance if wish.shown[0] in "+-" else price * distance
    return UseTools(((tool, {**arguments, name: round(price, 2)}),))


def _share_of_cash(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """An order for what a share of the cash buys: the cash is looked up first, then it is an order for that sum."""
    if not results:
        looked_up = _at_price_of_now(replace(wish, way="spend"), [], language)
        return UseTools((("get_portfolio", {}), *looked_up.calls)) if isinstance(looked_up, UseTools) else looked_up
    portfolio, *rest = results
    if (cash := portfolio[2].get("cash")) is None:
        return SayText(answer_from(*portfolio, "", language))
    return _at_price_of_now(replace(wish, way="spend", shown=str(float(cash) * float(wish.shown))), rest, language)


def _portfolio(results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What is held, and what waits: an order that is not filled yet is in no position."""
    if not results:
        return UseTools((("get_portfolio", {}), ("get_pending_orders", {})))
    waiting = [
        one for one in results if one[0] == "get_pending_orders" and ("error" in one[2] or _of(one[2], "orders"))
    ]
    held = [one for one in results if one[0] != "get_pending_orders"]
    return SayText("\n".join(answer_from(*one, "", language) for one in [*held, *waiting]))


_DISTANCES = {"of_price": "price", "of_average_price": "average_price"}
"""What share of a position's price a stop or a target is, and of which."""


def _sell(tool: str, arguments: dict[str, Any], body: dict[str, Any], language: Language) -> SayText | UseTools:
    held = [one for one in _of(body, "positions") if arguments.get("symbol") in (None, one["symbol"])]
    if spared := arguments.get("spared"):
        order = {name: one for name, one in arguments.items() if name not in ("share", "spared")}
        calls = tuple((tool, {**order, "symbol": one["symbol"], "quantity": one["quantity"]})
                      for one in held if one["symbol"] not in spared)  # fmt: skip
        return UseTools(calls) if calls else SayText(information_needed("position", language))
    if not held:
        later = f" {stop_later(float(arguments['stop_price']), language)}" if "stop_price" in arguments else ""
        return SayText(information_needed("position", language) + later)
    if len(held) > 1:
        return SayText(information_needed("positions", language, names=", ".join(str(one["symbol"]) for one in held)))
    call = {name: value for name, value in arguments.items() if name not in ("share", "kept", *_DISTANCES)}
    for name, price in _DISTANCES.items():
        if name in arguments:
            at = float(held[0][price]) * float(arguments[name])
            call[f"{arguments['order_type']}_price"] = round(at, 2)
    call["symbol"] = held[0]["symbol"]
    amount = round(float(held[0]["quantity"]) * float(arguments.get("share", 1)) - float(arguments.get("kept", 0)), 6)
    if amount <= 0:
        return SayText(information_needed("fewer", language))
    call.setdefault("quantity", floor(amount) if amount >= 1 else amount)
    return UseTools(((tool, call),))


def _of(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", body.get(name) or [])
