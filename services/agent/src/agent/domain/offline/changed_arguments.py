"""Changes the arguments of an order or alert by a follow-up: a figure changed, or new values."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.offline import order_words, slots, talk_words
from agent.domain.offline.changes import (
    argument_to_change,
    change_in,
    is_like_price,
    kept_in,
    percent_in,
    share_in,
    spent_in,
)
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.position_distances import at_other_distance_of_position
from agent.domain.offline.wishes import RELATIVE_WAYS, Wish
from agent.domain.text_features import numbers_in
from contracts.expressions import expression

ORDER = "create_paper_order"
FIGURES = ("calculate_risk_reward", "calculate_position_size")
_SAYS_CONDITION = expression(rf"\b(?:if|when|once|si|cuando)\b|{order_words.ABOVE.pattern}|{order_words.BELOW.pattern}")
"""Names the side of a price, unlike an imperative: "lower it to 30" moves an alert and does not turn it."""
_TO_FIGURE = expression(r"\ba [$€]?\d[\d.,]*\W*$")


def with_change(normalized: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with one figure changed, or without that figure if the text does not say by how much; None if it
    changes none."""
    change = change_in(normalized)
    name = (
        argument_to_change(normalized, arguments, slots.MAIN_ARGUMENTS.get(tool) if tool not in FIGURES else None)
        if change is not None
        else None
    )
    if change is None or name is None:
        return None
    figure = change.of(float(arguments[name]))
    other_arguments = {key: value for key, value in arguments.items() if key != name}
    return other_arguments if figure is None else {**other_arguments, name: figure}


def with_figures(
    normalized: str, tool: str, arguments: Mapping[str, Any], new_arguments: Mapping[str, Any], symbols: Sequence[str]
) -> dict[str, Any] | None:
    """The arguments of an order or alert with the text's new values; None if it has none."""
    figures = numbers_in(normalized) if not talk_words.COUNTED.search(normalized) else []
    if figures and (at_other := at_other_distance_of_position(arguments, figures[-1][1], normalized)) is not None:
        return at_other
    changes = _by_argument(normalized, arguments, new_arguments)
    names = ("quantity", "limit_price", "stop_price", "price", "side")
    updates = {name: changes[name] for name in names if name in changes}
    if new_arguments.get("condition", "==") != "==" and _SAYS_CONDITION.search(normalized):
        updates["condition"] = new_arguments["condition"]
    other_symbols = [symbol for symbol in symbols if symbol != arguments.get("symbol")]
    updates |= {"symbol": other_symbols[0]} if other_symbols else {}
    if "side" in arguments and not order_words.SAYS_SIDE.search(normalized):
        updates.pop("side", None)
    if arguments.keys() & {"share", "kept"} and (kept_amount := kept_in(normalized)):
        arguments = {name: value for name, value in arguments.items() if name not in ("share", "quantity")}
        updates = {"kept": kept_amount}
    elif arguments.keys() & {"share", "kept"} and (share := share_in(normalized)):
        arguments, updates = {name: value for name, value in arguments.items() if name != "kept"}, {"share": share}
    merged = {**arguments, **updates}
    if tool == ORDER:
        for kind, other_kind in (("stop", "limit"), ("limit", "stop")):
            is_named = re.search(rf"\b{kind} order\b|\borden (?:de )?{kind}", normalized)
            if is_named and not re.search(rf"\b{other_kind}", normalized):
                merged.pop(f"{other_kind}_price", None)
        if order_words.AT_MARKET.search(normalized):
            merged = {name: value for name, value in merged.items() if not name.endswith("_price")}
        merged["order_type"] = "_".join(kind for kind in ("stop", "limit") if f"{kind}_price" in merged) or "market"
    return merged if merged != arguments else None


def _by_argument(normalized: str, arguments: Mapping[str, Any], new_arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The new values by the argument that each changes: a number without words beside it was read as the quantity, and
    one after "a" as the limit."""
    changes, prices = dict(new_arguments), [name for name in arguments if name in ("limit_price", "stop_price")]
    moves = slots.MOVES.search(normalized)
    if len(prices) == 1 and "quantity" in changes:
        is_price = is_like_price(changes["quantity"], arguments) and not talk_words.COUNTED.search(normalized)
        if moves or is_price:  # "raise it to 30", or "no, 185" after a stop at 180
            changes[prices[0]] = changes.pop("quantity")
    elif len(prices) == 1 and "quantity" in arguments and "limit_price" in changes and _TO_FIGURE.search(normalized):
        if not is_like_price(changes["limit_price"], arguments):
            # "cámbiala a 5" after a limit of 500: "a" is "to", not "at"
            changes["quantity"] = changes.pop("limit_price")
    elif not prices and "limit_price" in changes and moves:
        changes["quantity"] = changes.pop("limit_price")  # "raise it to 20" without a price to raise
    return changes


def new_level(normalized: str, earlier: Wish, new_arguments: Mapping[str, Any]) -> float:
    """The new amount or price of an order that is computed from it; 0 if the text has none."""
    if earlier.way == "at_level" and "limit_price" in new_arguments:
        return float(new_arguments["limit_price"])
    if order_words.SAYS_SIDE.search(normalized):
        return 0.0  # it is another order
    figure = spent_in(normalized) or float(new_arguments.get("quantity", 0))
    if earlier.way == "at_level":
        is_plausible = is_like_price(figure, {**earlier.calls[0][1], "limit_price": earlier.amount})
    else:
        is_plausible = figure > earlier.amount / 5  # a figure of this size is money, and not a quantity
    return figure if is_plausible else 0.0


def changes_listed(
    normalized: str, phrase: ToolPhrase | None, earlier: Wish | None, listed_by: str | None
) -> tuple[str, str] | None:
    """The tools that create and end what is to be changed, if it was not created just now: "move it to 720" after the
    list of alerts or orders, "change the alert to 720", "change the first" if `listed_by` shows what the conversation
    was about."""
    if not talk_words.CHANGES_IT.search(normalized) or not numbers_in(normalized) or percent_in(normalized) is not None:
        return None  # a percentage is no price
    last_tool = earlier.calls[0][0] if earlier is not None and phrase is None else ""
    names_listed = ordinal_in(normalized) is not None or any(
        words.search(normalized) for words in (talk_words.ONE_NAMED, talk_words.THE_OTHER)
    )
    names_listed_alert = phrase is None and listed_by == "list_alerts" and names_listed
    was_relative_alert = (
        last_tool == "create_alert" and earlier is not None and earlier.way in RELATIVE_WAYS
    )  # its price was computed
    if (
        last_tool == "list_alerts"
        or names_listed_alert
        or was_relative_alert
        or (phrase is not None and phrase.tool == "create_alert")
    ):
        return "create_alert", "delete_alert"
    names_listed_order = phrase is None and listed_by == "get_portfolio" and names_listed
    may_be_order = phrase is None or phrase.tool in (ORDER, "get_pending_orders", "get_price")
    is_about_order = (
        last_tool == "get_pending_orders"
        or names_listed_order
        or (may_be_order and re.search(r"\b(?:order|orden|pedido|limite?|stop|price|precio)\b", normalized))
    )
    return (ORDER, "cancel_paper_order") if is_about_order else None
