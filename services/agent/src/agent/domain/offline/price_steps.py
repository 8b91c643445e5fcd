"""Computes orders and alerts from the current price or from what is held: at a distance from a price, for a sum of
money, for a share of the cash."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offline.answers import bought, say
from agent.domain.offline.conditions import as_waiting
from agent.domain.offline.position_size import with_prices
from agent.domain.offline.step_results import (
    Body,
    Result,
    SayText,
    UseTools,
    cancellation_of,
    replacing_calls,
    results_in_words,
    rows,
)
from agent.domain.offline.wishes import OF_AVERAGE_PRICE, Wish
from contracts.languages import Language


def at_price_of_now(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """An alert or order at a multiple of the current price, a position's size at it, or what a sum buys at it."""
    tool, arguments = wish.calls[0]
    replaces, of_holding = len(wish.calls) > 1, wish.words == OF_AVERAGE_PRICE
    if not results:
        look_up: tuple[str, Body] = (
            ("get_portfolio", {}) if of_holding else ("get_price", {"symbol": arguments["symbol"]})
        )
        listing = "list_alerts" if tool == "create_alert" else "get_pending_orders"
        return UseTools(((listing, {}), look_up) if replaces else (look_up,))
    lookups, finished = results[: 1 + replaces], results[1 + replaces :]
    body: Body = lookups[-1][2]
    if of_holding and "error" not in body:
        held = (position for position in rows(body, "positions") if position["symbol"] == arguments["symbol"])
        body = {"price": next((position["average_price"] for position in held), None)}
        if body["price"] is None:
            return SayText(say("which.position", language))
    if body.get("price") is None or (finished and (finished[-1][0] == tool or "error" in finished[-1][2])):
        return results_in_words(finished or lookups[-1:], language)
    price = float(body["price"])
    cancellations = cancellation_of(wish, lookups[0][2]) if replaces else ()
    if wish.way == "spend":
        price = float(arguments.get("limit_price", price))
        number = float(wish.amount // price)
        if not number:
            return SayText(bought(price, wish.amount, language))
        return replacing_calls(cancellations, ((tool, {**arguments, "quantity": number}),), finished)
    if wish.way == "sized":
        return UseTools(((tool, with_prices(arguments, price, wish.amount)),))
    if wish.way == "at_level":
        order, name = as_waiting(arguments, ">=" if wish.amount > price else "<=")
        return replacing_calls(cancellations, ((tool, {**order, name: wish.amount}),), finished)
    name = f"{arguments['order_type']}_price" if "order_type" in arguments else "price"
    price = price + wish.amount if wish.way == "at_distance" else price * wish.amount
    return replacing_calls(cancellations, ((tool, {**arguments, name: round(price, 2)}),), finished)


def on_either_side(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """Alerts at a share above and below the current price, for "when it moves 5 %"."""
    tool, arguments = wish.calls[0]
    if not results:
        return UseTools((("get_price", {"symbol": arguments["symbol"]}),))
    [(_, _, body), *alerts] = results
    if alerts or body.get("price") is None:
        return results_in_words(alerts or results, language)
    prices = {">=": body["price"] * (1 + wish.amount), "<=": body["price"] * (1 - wish.amount)}
    return UseTools(
        tuple((tool, {**arguments, "condition": side, "price": round(price, 2)}) for side, price in prices.items())
    )


def share_of_cash(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """An order for what a share of the cash buys: the cash is looked up first, then it is an order for that sum."""
    if not results:
        step = at_price_of_now(replace(wish, way="spend"), [], language)
        return UseTools((("get_portfolio", {}), *step.calls)) if isinstance(step, UseTools) else step
    portfolio, *other_results = results
    if (cash := portfolio[2].get("cash")) is None:
        return results_in_words([portfolio], language)
    return at_price_of_now(replace(wish, way="spend", amount=float(cash) * wish.amount), other_results, language)
