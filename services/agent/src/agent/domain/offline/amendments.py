"""Applies a follow-up to the previous request: another quantity, price, symbol or timeframe, or a missing figure.

After "buy 3 MSFT", "make it 5" replaces the order and "same for AAPL" prepares one more. After "How many shares?", "5"
completes it. A follow-up about something else amends nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.number_words import in_figures
from agent.domain.offline import conditions, order_words, slots, talk_words
from agent.domain.offline.account_size import resized
from agent.domain.offline.amended_look_ups import (
    for_another_time,
    for_other_shares,
    in_timeframe,
    multiple,
    on_day,
    prediction_details,
)
from agent.domain.offline.changed_arguments import FIGURES, ORDER, new_level, with_change, with_figures
from agent.domain.offline.changes import OF_THAT, change_in, spent_in
from agent.domain.offline.conditions import condition_after, wants_change
from agent.domain.offline.distances import another_alert, at_other_distance
from agent.domain.offline.follow_up import LATER_TIME, REPLACING_WAYS, FollowUp
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.position_size import AWAY, distances_from_entry, with_prices
from agent.domain.offline.slots import Schema, missing_arguments, only_figures
from agent.domain.offline.small_talk import small_talk_in
from agent.domain.offline.wishes import RELATIVE_WAYS, Intent, Way, Wish
from agent.domain.text_features import number_of
from contracts.expressions import expression

_ADDITIONAL = expression(r"\b(?:also|too|tambien|another|otr[oa]s?)\b")
_FOLLOW_UP_START = expression(
    r"^\W*(?:(?:and|y|but|pero)\b\W*)?(?:(?:what |and )?if (?:it|i|they) (?:were|was|buy|bought|got)\b|(?:what|how) "
    r"about\b|"
    r"si (?:fuer[ao]n?|fuesen?|son|compr[oa]\w*)\b)?(?:\W*(?:only|just|solo)\b)?"
)
_ORDERS = expression(r"\b(?:limit(?:e|ada)?|orders?|orden|market|mercado)\b")
_OF_CAPITAL = expression(r"\b(?:capital|account|cuenta|have|had|tengo|tuviera|with|con)\b")
_AT_RISK = expression(r"\b(?:risk|arriesg)")
_COMPUTED_ARGUMENTS = {"spend": "quantity", "share_of_cash": "quantity", "at_level": "price"}
"""By way: the argument of an order that is computed from the current price."""
AMENDABLE_WAYS = (
    "", "sell", "stop", "resell", *RELATIVE_WAYS, "sized", "spend", "stop_later", "sold_later", "affordable", "means",
    "as_many", "at_level", "sized_by_account", "part", "share_of_cash", *REPLACING_WAYS.values(),
)  # fmt: skip
"""Ways whose requests a follow-up can change or complete."""


def amended(
    text: str,
    normalized: str,
    earlier: Wish,
    schemas: Mapping[str, Schema],
    symbols: Sequence[str],
    phrase: ToolPhrase | None,
) -> Wish | None:
    """Return the earlier request with what this text changes or adds; None if the text is about something else.
    `symbols` are those that the text names, `phrase` the tool request that it was read as by itself."""
    follow_up = FollowUp(text, normalized, earlier, schemas, symbols, phrase)
    tool, arguments, is_order = follow_up.tool, follow_up.arguments, follow_up.tool == ORDER
    if wish := resized(follow_up) or another_alert(follow_up) or at_other_distance(follow_up):
        return wish
    if tool in REPLACING_WAYS and ordinal_in(normalized) is not None and talk_words.CHANGES_IT.search(normalized):
        return None  # it refers to one of several
    if other := _other_amount(follow_up) or _with_entry(follow_up):
        return other
    is_listed_order = is_order and earlier.way == "replace_listed" and "side" not in arguments
    if earlier.way in (*RELATIVE_WAYS, "share_of_cash") or (is_listed_order and "symbol" in arguments):
        return None  # its price is not known yet, so nothing of it can be changed
    if (
        is_order
        and earlier.missing
        and phrase is not None
        and symbols
        and arguments.get("symbol") not in (None, symbols[0])
    ):
        return None  # a new order, not the answer to "how many?"
    if quantity := _given_quantity(follow_up):
        return quantity
    if is_order and phrase is None and talk_words.LATER.search(normalized) and follow_up.is_short:
        return replace(earlier, missing=LATER_TIME)
    if earlier.missing == LATER_TIME and follow_up.is_same_tool:
        return _at_another_time(follow_up)
    if changed := _with_changed_figure(follow_up) or _turned_alert(follow_up):
        return changed
    if earlier.missing:
        return _completed(follow_up)
    return next(filter(None, (rule(follow_up) for rule in _RULES)), None)


def _other_amount(follow_up: FollowUp) -> Wish | None:
    """A computation with a price for another count, sum or share of the cash."""
    earlier, amount, share = follow_up.earlier, follow_up.amount, follow_up.share
    lone_figure = slots.FIGURE_ALONE.fullmatch(_FOLLOW_UP_START.sub("", in_figures(follow_up.normalized), count=1))
    is_count = earlier.way == "part" or (follow_up.tool == "get_price" and not earlier.way)
    if lone_figure is not None and follow_up.is_bare and is_count and (earlier.way or lone_figure["of"]):
        return replace(earlier, way="part", amount=number_of(lone_figure["figure"]))
    is_sum = earlier.way in ("affordable", "grown")
    if lone_figure is not None and not follow_up.symbols and is_sum and amount is not None:
        return replace(earlier, amount=amount)
    if earlier.way == "share_of_cash" and follow_up.is_bare and follow_up.is_short and share is not None:
        share *= earlier.amount if OF_THAT.search(follow_up.normalized) else 1
        return replace(_with_arguments(earlier, follow_up.arguments), amount=share)
    if (
        earlier.way == "share_of_cash"
        and follow_up.phrase is None
        and len(follow_up.symbols) == 1
        and share is not None
    ):
        calls = ((ORDER, {**follow_up.arguments, "symbol": follow_up.symbols[0]}),)
        return replace(earlier, calls=calls, amount=share)
    return None


def _with_entry(follow_up: FollowUp) -> Wish | None:
    """The calculation at an entry that is told, or with other distances from it; it was to be the current price."""
    entry = follow_up.new_arguments.get("entry_price")
    if follow_up.earlier.way != "sized":
        return None
    if distances := distances_from_entry(follow_up.normalized):
        updates = {f"{name}{AWAY}": distance for name, distance in distances.items()}
        return replace(follow_up.earlier, calls=((follow_up.tool, {**follow_up.arguments, **updates}),))
    if entry is None:
        return None
    arguments = {**follow_up.arguments, **follow_up.new_arguments}
    return Wish(Intent.TOOL, ((follow_up.tool, with_prices(arguments, entry, follow_up.earlier.amount)),))


def _given_quantity(follow_up: FollowUp) -> Wish | None:
    """The order whose quantity was asked for, and is given as a share of the holding or as a sum of money."""
    earlier, arguments = follow_up.earlier, follow_up.arguments
    if "quantity" not in earlier.missing or not follow_up.is_same_tool:
        return None
    if arguments.get("side") == "sell" and follow_up.share is not None and follow_up.is_short:
        return Wish(Intent.TOOL, ((follow_up.tool, {**arguments, "share": follow_up.share}),), way="sell")
    money = spent_in(follow_up.normalized)
    if earlier.missing == ("quantity",) and not follow_up.symbols and money is not None:
        return replace(earlier, missing=(), way="spend", amount=money)
    return None


def _with_changed_figure(follow_up: FollowUp) -> Wish | None:
    """The request with a figure changed by so much: half of it, 5 higher."""
    earlier, tool, arguments = follow_up.earlier, follow_up.tool, follow_up.arguments
    is_other_figure = follow_up.is_same_tool and tool != ORDER
    if not (follow_up.phrase is None or is_other_figure or talk_words.AMENDS.search(follow_up.normalized)):
        return None
    has_other_symbol = any(symbol != arguments.get("symbol", symbol) for symbol in follow_up.symbols)
    merged = with_change(follow_up.normalized, tool, arguments)
    if merged is not None and not earlier.missing and not has_other_symbol:
        return _with_arguments(earlier, merged, tuple(name for name in arguments if name not in merged))
    change = change_in(follow_up.normalized)
    if earlier.way == "spend" and change is not None and change.factor is not None:
        return replace(_with_arguments(earlier, arguments), amount=earlier.amount * change.factor)
    return None


def _turned_alert(follow_up: FollowUp) -> Wish | None:
    """The alert at another price and in the other direction: "and if it falls to 150"."""
    is_alert = follow_up.tool == "create_alert" and follow_up.is_bare and "price" in follow_up.new_arguments
    goes_on = talk_words.GOING_ON.search(follow_up.normalized)
    if (
        is_alert
        and (goes_on or only_figures(follow_up.normalized, follow_up.schema))
        and talk_words.TURNS.search(follow_up.normalized)
        and follow_up.change is None
    ):
        level = {name: follow_up.new_arguments[name] for name in ("condition", "price")}
        alert = {**follow_up.arguments, **level}
        return Wish(Intent.TOOL, ((follow_up.tool, alert),), missing_arguments(follow_up.schema, alert))
    return None


def _completed(follow_up: FollowUp) -> Wish | None:
    """The request with what was missing; None if the text does not give it."""
    earlier, tool, arguments = follow_up.earlier, follow_up.tool, follow_up.arguments
    new_arguments, symbols = follow_up.new_arguments, follow_up.symbols
    is_another = follow_up.phrase is not None and symbols and arguments.get("symbol") not in (None, *symbols)
    if not follow_up.is_same_tool or is_another:
        return None
    if earlier.missing == ("symbol",) and symbols and "tickers" in follow_up.schema["properties"]:
        return replace(earlier, calls=((tool, {**arguments, "tickers": list(symbols)}),), missing=())
    if earlier.missing == ("symbol",) and len(symbols) > 1:
        return replace(earlier, calls=tuple((tool, {**arguments, "symbol": symbol}) for symbol in symbols), missing=())
    updates = {
        name: new
        for name, new in new_arguments.items()
        if name in earlier.missing or name.endswith("_price") or (name == "condition" and new != "==")
    }
    may_complete = "?" not in follow_up.text or earlier.missing == tuple(new_arguments)
    if not updates or not may_complete or small_talk_in(follow_up.normalized) is not None:
        return None
    merged = {**new_arguments, **arguments, **updates}
    awaited_prices = (name for name in earlier.missing if name.endswith("_price") and name not in merged)
    missing = dict.fromkeys([*missing_arguments(follow_up.schema, merged), *awaited_prices])
    missing.pop(_COMPUTED_ARGUMENTS.get(earlier.way, ""), None)
    return replace(earlier, calls=((tool, merged), *earlier.calls[1:]), missing=tuple(missing))


def _other_figures(follow_up: FollowUp) -> Wish | None:
    """The calculation with other figures."""
    normalized, arguments = follow_up.normalized, follow_up.arguments
    is_calculation = follow_up.tool in FIGURES and follow_up.is_same_tool
    is_new = follow_up.phrase is not None and follow_up.symbols  # with other shares, nothing of the last one holds
    if not is_calculation or is_new or small_talk_in(normalized) is not None or _ORDERS.search(normalized):
        return None
    updates = {
        name: value
        for name, value in follow_up.new_arguments.items()
        if name != "capital" or _OF_CAPITAL.search(normalized)
    }
    at_risk = spent_in(normalized) if "capital" in arguments and _AT_RISK.search(normalized) else None
    if at_risk and "risk_percent" not in updates:
        updates = {"risk_percent": at_risk / float(arguments["capital"])}
    return replace(follow_up.earlier, calls=((follow_up.tool, {**arguments, **updates}),)) if updates else None


def _on_condition(follow_up: FollowUp) -> Wish | None:
    """The order on a condition that the text adds: "yes, but only if it falls to 28"."""
    if follow_up.tool != ORDER or not follow_up.is_bare or "?" in follow_up.text:
        return None
    if not (condition := condition_after(follow_up.text)):
        return None
    unconditional = Wish(Intent.TOOL, ((ORDER, conditions.without_condition(follow_up.arguments)),))
    order = conditions.with_condition(unconditional, condition)
    if order.way or order.missing or "quantity" not in follow_up.arguments:
        return Wish(Intent.UNREAD, words=condition)
    return _with_arguments(follow_up.earlier, order.calls[0][1])


def _corrected_order(follow_up: FollowUp) -> Wish | None:
    """The order or alert with the figures that a correction gives, at the market, or for a sum instead of a count."""
    earlier, normalized, arguments = follow_up.earlier, follow_up.normalized, follow_up.arguments
    at_market = (
        follow_up.tool == ORDER
        and follow_up.is_bare
        and bool(order_words.AT_MARKET.search(normalized))
        and follow_up.is_short
    )
    may_change = follow_up.is_same_tool and wants_change(follow_up.text, normalized)
    if follow_up.tool not in REPLACING_WAYS or not may_change or not (follow_up.is_correction or at_market):
        return None
    has_price = any(name.endswith("_price") for name in arguments)
    money = spent_in(normalized) if follow_up.tool == ORDER and "quantity" in arguments and not has_price else None
    if money is not None and follow_up.is_correction and not follow_up.symbols:
        unchanged = {name: value for name, value in arguments.items() if name != "quantity"}
        calls = ((ORDER, unchanged), ("cancel_paper_order", arguments))
        return Wish(Intent.TOOL, calls, way="spend", amount=money)
    if follow_up.change is not None:
        return None
    if earlier.way in _COMPUTED_ARGUMENTS and (level := new_level(normalized, earlier, follow_up.new_arguments)):
        return replace(_with_arguments(earlier, arguments), amount=level)
    merged = with_figures(normalized, follow_up.tool, arguments, follow_up.new_arguments, follow_up.symbols)
    merged = merged or (arguments if at_market else None)
    if merged is not None and earlier.way == "as_many" and "quantity" not in merged:
        return Wish(Intent.UNREAD, words=normalized)  # the quantity was computed and is not known here
    return _with_arguments(earlier, merged) if merged is not None else None


def _another_order(follow_up: FollowUp) -> Wish | None:
    """One more order of the same side ("and 3 AAPL"), or the same order for another share."""
    arguments, normalized, symbols = follow_up.arguments, follow_up.normalized, follow_up.symbols
    if follow_up.tool != ORDER or follow_up.phrase is not None:
        return None
    wants_more = symbols or (
        _ADDITIONAL.search(normalized)
        and "limit_price" in follow_up.new_arguments
        and "symbol" in arguments
        and "?" not in follow_up.text
    )
    if wants_more and talk_words.GOING_ON.search(normalized) and "quantity" in follow_up.new_arguments:
        order_arguments = {"symbol": arguments.get("symbol"), **follow_up.new_arguments}
        required = follow_up.schema["required"]
        figures = {
            name: order_arguments[name] for name in order_arguments if name in required or name.endswith("_price")
        }
        return Wish(Intent.TOOL, ((ORDER, {"side": arguments["side"], **figures}),))
    computing_way = follow_up.earlier.way if follow_up.earlier.way in _COMPUTED_ARGUMENTS else ""
    if symbols and talk_words.SAME.search(normalized) and (computing_way or "quantity" in arguments):
        unchanged = {name: value for name, value in arguments.items() if not name.endswith("_price")}
        prices = tuple(name for name in arguments if name not in unchanged)
        calls = ((ORDER, {**unchanged, "symbol": symbols[0]}),)
        return replace(follow_up.earlier, calls=calls, missing=prices, way=computing_way)
    return None


def _at_another_time(follow_up: FollowUp) -> Wish | None:
    """The order that was for a later time: now, or at a price. With only another figure, it stays for later."""
    (tool, arguments), *others = follow_up.earlier.calls
    normalized, new_arguments = follow_up.normalized, follow_up.new_arguments
    has_price = any(name.endswith("_price") for name in new_arguments)
    is_due = has_price or talk_words.AT_ONCE.search(normalized) or order_words.AT_MARKET.search(normalized)
    if has_price or talk_words.AMENDS.search(normalized):
        arguments = with_figures(normalized, tool, arguments, new_arguments, follow_up.symbols) or arguments
    elif not is_due:
        return None
    missing = () if is_due and "?" not in follow_up.text else LATER_TIME
    return replace(follow_up.earlier, calls=((tool, arguments), *others), missing=missing)


def _with_arguments(earlier: Wish, arguments: dict[str, Any], missing: tuple[str, ...] = ()) -> Wish:
    """The call with other arguments. An order or alert that exists already is cancelled first."""
    (tool, old_arguments), way = earlier.calls[0], earlier.way
    if tool not in REPLACING_WAYS:
        return Wish(Intent.TOOL, ((tool, arguments),), missing)
    cancelling_tool = "delete_alert" if tool == "create_alert" else "cancel_paper_order"
    has_figure = "quantity" in arguments if way == "spend" else any(name.endswith("_price") for name in arguments)
    if way in _COMPUTED_ARGUMENTS and not has_figure:
        return replace(earlier, calls=((tool, arguments), (cancelling_tool, old_arguments)))
    ways: dict[Way, Way] = {"sell": "resell", "stop": "resell", "resell": "resell"}
    return Wish(
        Intent.TOOL,
        ((tool, arguments), (cancelling_tool, old_arguments)),
        missing,
        way=ways.get(way, REPLACING_WAYS[tool]),
    )


_RULES: tuple[Callable[[FollowUp], Wish | None], ...] = (
    _other_figures, for_another_time, multiple, prediction_details, _on_condition, _corrected_order, _another_order,
    on_day, in_timeframe, for_other_shares,
)  # fmt: skip
"""What a follow-up of a complete request may be, the first that fits."""
