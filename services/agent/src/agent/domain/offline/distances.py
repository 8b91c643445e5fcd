"""Changes how far from a price an alert or order is: "make it 8" after "drops 5 %" is 8 %, after "2 dollars below" it
is 8 dollars.

A change keeps the unit and the reference of what it changes, unless it names others.
"""

from dataclasses import replace
from typing import Any

from agent.domain.offline import talk_words
from agent.domain.offline.changed_arguments import ORDER
from agent.domain.offline.changes import percent_in
from agent.domain.offline.conditions import MONEY, at_distance, at_share, away, distance_in
from agent.domain.offline.follow_up import FollowUp
from agent.domain.offline.order_words import condition_in
from agent.domain.offline.wishes import RELATIVE_WAYS, Intent, Wish
from agent.domain.text_features import numbers_in
from contracts.expressions import expression

_FROM_PRICE = expression(
    r"\b(?:to|a|al) (?:an? |un |el )?[\d.,]+ ?(?:%|per ?cent|por ?ciento)|\b(?:price|market|precio|mercado|now|ahora)\b"
)
"""Matches a percentage that is counted from the current price, and not from the alert's level."""
_ANOTHER = expression(r"\b(?:another|otr[oa])\b")
_ON_CONDITION = expression(r"^\W*(?:(?:and|y|also|tambien|one|un[oa]|me)\W+)+(?:if|when|si|cuando)\b")
_AT_LEVEL = expression(r"(?:\bat|@) ?[$€]?\d")
_AMOUNT = expression(rf"\d{MONEY}|[$€] ?\d")
_MAX_PERCENT = 100
"""A figure of at least this many is a price, not a percentage."""
_MAX_TIMES = 8
"""A figure of more than so many times the earlier distance is a price."""


def another_alert(follow_up: FollowUp) -> Wish | None:
    """One more alert: "and AAPL above 150", "another at 700", "and one if it climbs 10 %". None if the text asks for
    none."""
    normalized, arguments = follow_up.normalized, follow_up.arguments
    is_alert = follow_up.tool == "create_alert" and bool(follow_up.symbols or not follow_up.earlier.missing)
    another, on_condition = _ANOTHER.search(normalized), _ON_CONDITION.match(normalized)
    goes_on = follow_up.symbols and talk_words.GOING_ON.search(normalized)
    goes_on = goes_on and not talk_words.CHANGES_IT.search(normalized)
    if not is_alert or follow_up.phrase is not None or not (another or on_condition or goes_on):
        return None
    symbol, side = follow_up.symbols[0] if follow_up.symbols else arguments.get("symbol"), condition_in(normalized)
    if percent_in(normalized) is not None or distance_in(normalized) is not None:
        return at_distance(follow_up.tool, {"symbol": symbol, "condition": side}, normalized) if symbol else None
    if (figure := _in_same_unit(follow_up)) and side != "==":
        return _at(follow_up, {"symbol": symbol, "condition": side}, figure, side)
    if "price" not in follow_up.new_arguments or not (another or goes_on):
        return None
    turns = talk_words.TURNS.search(normalized) or another
    condition = (follow_up.new_arguments | ({} if turns else arguments))["condition"]
    alert = {"symbol": arguments.get("symbol"), **follow_up.new_arguments, "condition": condition}
    return Wish(Intent.TOOL, ((follow_up.tool, alert),))


def at_other_distance(follow_up: FollowUp) -> Wish | None:
    """The alert or order at another distance from the current price; or the order at the same distance with another
    quantity."""
    if follow_up.earlier.missing or "?" in follow_up.text:
        return None
    if follow_up.symbols:
        return _of_one_named(follow_up)
    if follow_up.phrase is not None and follow_up.phrase.tool not in (follow_up.tool, "get_price"):
        return None
    percent, distance = percent_in(follow_up.normalized), distance_in(follow_up.normalized)
    if percent is not None:
        return _at_other_share(follow_up, percent) if follow_up.is_correction else None
    if follow_up.earlier.way not in RELATIVE_WAYS or not follow_up.is_short:
        return None
    arguments = dict(follow_up.arguments)
    if distance is not None and len(numbers_in(follow_up.normalized)) == 1:
        if follow_up.tool == ORDER and (distance < 0) != _is_below(follow_up.earlier):
            return None
        in_percent = follow_up.earlier.way == "at_share" and not _AMOUNT.search(follow_up.normalized)
        side = "<=" if distance < 0 else ">="
        changed = arguments if follow_up.tool == ORDER else {**arguments, "condition": side}
        other = at_share(follow_up.tool, changed, abs(distance), side) if in_percent else away(
            follow_up.tool, changed, distance
        )  # fmt: skip
        return _replacing(follow_up, other)
    if not follow_up.is_correction:
        return None
    if follow_up.tool == ORDER:
        quantity = follow_up.new_arguments.get("quantity", follow_up.amount)
        is_money = _AMOUNT.search(follow_up.normalized) or _AT_LEVEL.search(follow_up.normalized)
        figure, way = _in_same_unit(follow_up), follow_up.earlier.way
        if figure and _AMOUNT.search(follow_up.normalized) and way == "at_distance":
            signed = -figure if _is_below(follow_up.earlier) else figure
            return _replacing(follow_up, away(ORDER, arguments, signed))
        if quantity is None or is_money or follow_up.change is not None:
            return None
        return _replacing(
            follow_up, replace(follow_up.earlier, calls=((ORDER, {**arguments, "quantity": float(quantity)}),))
        )
    figure, side = _in_same_unit(follow_up), "<=" if _is_below(follow_up.earlier) else ">="
    return _replacing(follow_up, _at(follow_up, arguments, figure, side)) if figure else None


def _of_one_named(follow_up: FollowUp) -> Wish | None:
    """The alert of the share that the text names, at another distance: "make the MSFT one 8"."""
    normalized, arguments = follow_up.normalized, {**follow_up.arguments, "symbol": follow_up.symbols[0]}
    is_named = len(follow_up.symbols) == 1 and talk_words.ONE_NAMED.search(normalized)
    if follow_up.tool != "create_alert" or not is_named or follow_up.earlier.way not in RELATIVE_WAYS:
        return None
    figure, side = _in_same_unit(follow_up), "<=" if _is_below(follow_up.earlier) else ">="
    return _replacing(follow_up, _at(follow_up, arguments, figure, side), arguments) if figure else None


def _in_same_unit(follow_up: FollowUp) -> float | None:
    """The only figure of a text, if it can be one in the unit of the earlier distance; None if it is a price."""
    figure, way = follow_up.amount, follow_up.earlier.way
    if figure is None or way not in RELATIVE_WAYS or _AT_LEVEL.search(follow_up.normalized):
        return None
    if way == "at_share":
        is_price = figure >= _MAX_PERCENT or _AMOUNT.search(follow_up.normalized)
    else:
        is_price = figure > _MAX_TIMES * abs(follow_up.earlier.amount)
    return None if is_price or figure <= 0 else figure


def _at(follow_up: FollowUp, arguments: dict[str, Any], figure: float, side: str) -> Wish:
    """The alert at a figure in the unit of the earlier distance."""
    if follow_up.earlier.way == "at_share":
        return at_share(follow_up.tool, arguments, figure, side)
    return away(follow_up.tool, arguments, figure if side == ">=" else -figure)


def _is_below(earlier: Wish) -> bool:
    """Whether a distance is below the price."""
    return earlier.amount < (1 if earlier.way == "at_share" else 0)


def _replacing(follow_up: FollowUp, wish: Wish, ended: dict[str, Any] | None = None) -> Wish:
    """The wish, from the same price, with the call that ends the earlier alert or order, or the one that is `ended`."""
    cancelling_tool = "delete_alert" if follow_up.tool == "create_alert" else "cancel_paper_order"
    words = "" if _FROM_PRICE.search(follow_up.normalized) else follow_up.earlier.words
    return replace(wish, calls=(*wish.calls[:1], (cancelling_tool, ended or dict(follow_up.arguments))), words=words)


def _at_other_share(follow_up: FollowUp, percent: float) -> Wish | None:
    """The alert, or the order at a distance from the price, at another share of it: "change it to 4 %"."""
    normalized, earlier, arguments = follow_up.normalized, follow_up.earlier, dict(follow_up.arguments)
    changes_level = follow_up.change is not None and not _FROM_PRICE.search(normalized)
    has_level = follow_up.tool == "create_alert" and "condition" in arguments and not changes_level
    is_relative = earlier.way in RELATIVE_WAYS
    if not is_relative and not has_level:
        return None
    earlier_side = "<=" if _is_below(earlier) else ">="
    side = condition_in(normalized)
    if side == "==":
        side = earlier_side if is_relative else str(arguments["condition"])
    if follow_up.tool == "create_alert":
        arguments = {"symbol": arguments["symbol"], "condition": side}
    elif side != earlier_side:
        return None
    return _replacing(follow_up, at_share(follow_up.tool, arguments, percent, side))
