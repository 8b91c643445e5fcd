"""Carries out requests that need several calls: selling half of a holding, replacing an order, finding an alert.

Each wish of this kind names its way. "sell half of my MSFT" looks up the portfolio first, computes the quantity, and
then prepares the order. If several things may be meant, the assistant asks which.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, floor
from typing import Any

from agent.domain.offline.account_size import sized_step
from agent.domain.offline.answers import (
    answer_from,
    bought,
    cash_left,
    if_all_moved,
    if_moved,
    multiplied,
    sale_later,
    say,
    stop_later,
    waiting_purchases,
)
from agent.domain.offline.holding_answers import holding_answer
from agent.domain.offline.position_distances import DISTANCES, price_at_distance
from agent.domain.offline.price_steps import at_price_of_now, on_either_side, share_of_cash
from agent.domain.offline.step_results import (
    Body,
    Result,
    SayText,
    UseTools,
    cancellation_of,
    matching_in,
    replacing_calls,
    results_in_words,
    rows,
)
from agent.domain.offline.wishes import RELATIVE_WAYS, Way, Wish
from agent.texts import TEXTS
from contracts.languages import Language

_LOOKUPS = {
    "sell": "get_portfolio",
    "resell": "get_portfolio",
    "stop": "get_portfolio",
    "replace": "get_pending_orders",
    "cancel": "get_pending_orders",
    "delete_alert": "list_alerts",
    "replace_listed": "list_alerts",
}
"""By way: the tool that is called first to look something up."""
_MAX_WATCHED = 5
"""Maximum shares of the watchlist whose prices are looked up."""
_MAX_CANCELLED = 20
"""Maximum orders or alerts that one message cancels or deletes."""
_MAX_TIMES_LOWER = 4
"""A figure so many times lower than an alert's price is no price."""
_RESULT_FIELDS = {"cancel": ("orders", "order_id"), "delete_alert": ("alerts", "alert_id")}


def next_step(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The next step of a wish that looks something up before it acts."""
    if wish.way in _COMPUTATIONS:
        return _COMPUTATIONS[wish.way](wish, results, language)
    tool, arguments = wish.calls[0]
    lookup = _LOOKUPS["replace" if wish.way == "replace_listed" and tool == "create_paper_order" else wish.way]
    if wish.way == "resell" and not results:
        return UseTools(((lookup, {}), ("get_pending_orders", {})))  # the waiting order is made anew
    orders_body = next((body for tool, _, body in results if tool == "get_pending_orders"), None)
    results = [result for result in results if result[0] in (lookup, tool) or result[0] != "get_pending_orders"]
    finished = [result for result in results if result[0] != lookup]
    if finished and (finished[-1][0] == tool or "error" in finished[-1][2]):
        return results_in_words(finished, language)
    if wish.way in _RESULT_FIELDS and (name := _RESULT_FIELDS[wish.way][1]) in arguments:
        return UseTools(((tool, {name: arguments[name]}),))
    if not results:
        return UseTools(((lookup, {}),))
    body = results[0][2]
    if "error" in body:
        return results_in_words(results[:1], language)
    if wish.way in _RESULT_FIELDS:
        return _ending(wish, lookup, body, language)
    if wish.way == "replace_listed":
        return _replacing_listed(wish, lookup, body, finished, language)
    if wish.way == "replace":
        return replacing_calls(cancellation_of(wish, body), ((tool, arguments),), finished)
    step = _sell(tool, arguments | ({"symbol": wish.words} if wish.words else {}), body, orders_body, language)
    if wish.way == "resell" and isinstance(step, UseTools):
        return replacing_calls(cancellation_of(wish, orders_body or {}), step.calls, finished)
    return step


def _ending(wish: Wish, lookup: str, body: dict[str, Any], language: Language) -> SayText | UseTools:
    """The cancellation or deletion of the order or alert that is meant, or of all; or the question which one."""
    tool, arguments = wish.calls[0]
    kind, name = _RESULT_FIELDS[wish.way]
    matching: list[dict[str, Any]] = [
        listed
        for listed in matching_in(rows(body, kind), arguments)
        if listed["symbol"] not in arguments.get("spared", ())
        and (not wish.words or wish.words in answer_from(lookup, {}, {kind: [listed]}, "", language).splitlines())
    ]
    number = arguments.get("price", 0.0)
    if not matching and number in range(1, len(rows(body, kind)) + 1):
        matching = [rows(body, kind)[int(number) - 1]]  # "alert 2" is the second
    place = arguments.get("place", 0)
    if wish.words:
        matching = matching[:1]  # equal lines are interchangeable
    elif "place" in arguments and -len(matching) <= place < len(matching):
        matching = [matching[place]]
    is_all = arguments.get("share") == 1 and 0 < len(matching) <= _MAX_CANCELLED
    if len(matching) != 1 and not is_all:
        return SayText(_ask_which(lookup, kind, matching, body, language))
    return UseTools(tuple((tool, {name: listed[name]}) for listed in matching))


def _replacing_listed(
    wish: Wish, lookup: str, body: dict[str, Any], finished: Sequence[Result], language: Language
) -> SayText | UseTools:
    """The calls that replace a listed order or alert; or the question which one. It stays as it was but for one figure,
    unless it is an alert with another condition."""
    (tool, arguments), (cancelling_tool, old_arguments) = wish.calls
    kind, name = _RESULT_FIELDS["cancel" if tool == "create_paper_order" else "delete_alert"]
    matching = matching_in(rows(body, kind), old_arguments)
    if kind == "orders" or "condition" not in arguments:
        place = old_arguments.get("place", 0)
        matching = matching[place : place + 1 or None] if "place" in old_arguments else matching
        if len(matching) != 1:
            return SayText(_ask_which(lookup, kind, matching, body, language))
        old_price = matching[0].get("price")
        arguments = _with_new_figure(matching[0], arguments)
        if old_price and arguments["price"] * _MAX_TIMES_LOWER < float(old_price):
            # "make it 5" of an alert that was for a move in per cent
            return SayText(
                say("exact_figure", language, parts=TEXTS.section("offline.parts")["price"].in_language(language))
            )
    cancellations = tuple((cancelling_tool, {name: listed[name]}) for listed in matching[-1:])
    return replacing_calls(cancellations, ((tool, arguments),), finished)


def _sold_later(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The purchase, with the remark that its stop or sale comes later."""
    if not results:
        return UseTools(wish.calls)
    results_text = results_in_words(results, language)
    is_done = all("error" not in body for _, _, body in results)
    later = stop_later if wish.way == "stop_later" else partial(sale_later, wish.calls[0][1])
    return SayText(f"{results_text.text}\n{later(wish.amount, language)}") if is_done else results_text


def _as_many(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The order for a share of the number that a calculation gives."""
    tool, arguments = wish.calls[0]
    calculation = next((body for finished, _, body in results if finished != tool), None)
    if calculation is None:
        return UseTools(wish.calls[1:])
    if len(results) > 1 or not calculation.get("quantity"):
        return results_in_words(results[-1:], language)
    return UseTools(((tool, {**arguments, "quantity": float(calculation["quantity"]) * wish.amount // 1}),))


def _ask_which(
    lookup: str, kind: str, matching: Sequence[dict[str, Any]], body: dict[str, Any], language: Language
) -> str:
    """The question which one is meant, with the candidates; or the remark that there is none."""
    lines = answer_from(lookup, {}, {kind: matching}, "", language)
    if not matching and rows(body, kind):
        return say("which.none", language)
    return f"{say('which.several', language)}\n{lines}" if matching else lines


def _with_new_figure(old: dict[str, Any], updates: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an alert or order made anew with another figure: the quantity if that is given, else its price,
    or the quantity if it has no price or one more than three times as high."""
    names = ("symbol", "condition", "price", "side", "quantity", "order_type", "limit_price", "stop_price")
    unchanged = {name: old[name] for name in names if old.get(name) is not None}
    prices = [name for name in unchanged if name.endswith("price")]
    if "quantity" in updates:
        return {**unchanged, "quantity": float(updates["quantity"])}
    figure = float(updates["price"])
    is_price = bool(prices) and ("quantity" not in old or figure > float(old[prices[-1]]) / 3)
    return {**unchanged, (prices[-1] if is_price else "quantity"): figure}


def _watched(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The prices of the watchlist's shares."""
    symbols: list[str] = results[0][2].get("symbols") or [] if results else []
    if not results or (symbols and len(results) == 1):
        return UseTools(tuple(("get_price", {"symbol": symbol}) for symbol in symbols[:_MAX_WATCHED]) or wish.calls)
    return results_in_words(results[1:] or results, language)


def _with_price(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """A price and its multiple; or how many shares an amount of money, or all cash, buys."""
    if not results:
        return UseTools((*wish.calls, *([("get_portfolio", {})] if wish.way in ("means", "left") else [])))
    sentences = [answer_from(*result, "", language) for result in results if "cash" not in result[2]]
    is_multiple = wish.way in ("part", "left") or (wish.way == "means" and wish.amount)
    cash = next((float(body["cash"]) for _, _, body in results if "cash" in body), None)
    for price in [float(wish.unit_price or body["price"]) for _, _, body in results if body.get("price") is not None]:
        if wish.way == "raised":
            sentences.append(multiplied(price, ceil(wish.amount / price), language))
        elif is_multiple:
            sentences.append(multiplied(price, wish.amount, language))
        if wish.way == "left":
            sentences += [cash_left(cash - price * wish.amount, language)] if cash is not None else []
        elif (budget := wish.amount if wish.way == "affordable" else cash) is not None:
            sentences.append(bought(price, budget, language))
    return SayText("\n".join(sentences))


def _if_moved(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What a share and its holding, or all positions, would be worth at a multiple of the current price."""
    if not results:
        return UseTools(wish.calls)
    quote = results[0][2]
    if wish.calls[0][0] == "get_portfolio":
        held_worth = sum(float(position["value"]) for position in rows(quote, "positions"))
        if quote.get("equity") is None or not held_worth:
            return results_in_words(results[:1], language)
        return SayText(if_all_moved(held_worth, wish.amount, float(quote["equity"]), language))
    if quote.get("price") is None:
        return results_in_words(results[:1], language)
    factor = wish.unit_price / float(quote["price"]) if wish.unit_price else wish.amount
    return SayText(if_moved(quote, factor, {k: v for *_, body in results for k, v in body.items()}, language))


def _grown(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What a sum that was invested earlier is worth now."""
    if not results:
        return UseTools(wish.calls)
    returns = [figure["value"] for figure in rows(results[0][2], "figures") if figure["figure"] == "return"]
    sentence = answer_from(*results[0], "", language)
    return SayText("\n".join([sentence, *(multiplied(wish.amount, 1 + value, language) for value in returns)]))


def _portfolio(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """What was asked of the positions, then all of them and the waiting orders: an order that is not filled yet is in
    no position."""
    if not results:
        return UseTools((*wish.calls, ("get_pending_orders", {})))
    waiting = [
        result
        for result in results
        if result[0] == "get_pending_orders" and ("error" in result[2] or rows(result[2], "orders"))
    ]
    other_results = [result for result in results if result[0] != "get_pending_orders"]
    results_text = results_in_words([*other_results, *waiting], language)
    body = other_results[0][2] if other_results else {}
    answer = holding_answer(wish.words, body, language)
    return SayText(f"{answer}\n{results_text.text}") if answer else results_text


def _sell(tool: str, arguments: Body, body: Body, orders: Body | None, language: Language) -> SayText | UseTools:
    """The order that sells of the position in `body`. Without one, the reason: `orders`, looked up then, may have a
    purchase that has not filled."""
    positions = [
        position for position in rows(body, "positions") if arguments.get("symbol") in (None, position["symbol"])
    ]
    if spared := arguments.get("spared"):
        order = {name: value for name, value in arguments.items() if name not in ("share", "spared")}
        calls = tuple((tool, {**order, "symbol": position["symbol"], "quantity": position["quantity"]})
                      for position in positions if position["symbol"] not in spared)  # fmt: skip
        return UseTools(calls) if calls else SayText(say("which.position", language))
    if not positions:
        if orders is None:
            return UseTools((("get_pending_orders", {}),))
        later = f" {stop_later(float(arguments['stop_price']), language)}" if "stop_price" in arguments else ""
        if waiting := waiting_purchases(orders, arguments.get("symbol")):
            order = answer_from("get_pending_orders", {}, {"orders": waiting}, "", language)
            return SayText(f"{say('which.unfilled', language)}{later}\n{order}")
        return SayText(say("which.position", language) + later)
    if len(positions) > 1:
        return SayText(
            say("which.positions", language, names=", ".join(str(position["symbol"]) for position in positions))
        )
    call = {name: value for name, value in arguments.items() if name not in ("share", "kept", *DISTANCES)}
    if (price := price_at_distance(arguments, positions[0])) is not None:
        call[f"{arguments['order_type']}_price"] = price
    call["symbol"] = positions[0]["symbol"]
    amount = round(
        float(positions[0]["quantity"]) * float(arguments.get("share", 1)) - float(arguments.get("kept", 0)), 6
    )
    if amount <= 0:
        return SayText(say("which.fewer", language))
    call.setdefault("quantity", floor(amount) if amount >= 1 else amount)
    return UseTools(((tool, call),))


_COMPUTATIONS: dict[Way, Callable[[Wish, Sequence[Result], Language], SayText | UseTools]] = {
    "sized_by_account": sized_step,
    "portfolio": _portfolio,
    "watched": _watched,
    **dict.fromkeys(("stop_later", "sold_later"), _sold_later),
    "as_many": _as_many,
    "if_moved": _if_moved,
    "grown": _grown,
    "share_of_cash": share_of_cash,
    **dict.fromkeys(("part", "affordable", "raised", "means", "left"), _with_price),
    "either_side": on_either_side,
    **dict.fromkeys((*RELATIVE_WAYS, "at_level", "sized", "spend"), at_price_of_now),
}
"""By way: what it computes from the results, without an order or alert to find first."""
