"""What a step of a request that needs several calls returns, and what the steps share: how results are told, and how an
order or alert that exists is found and replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent.domain.offline.answers import answer_from
from agent.domain.offline.wishes import Calls, Wish
from contracts.languages import Language

Body = dict[str, Any]
Result = tuple[str, Body, Body]
SAME_ORDER = ("symbol", "side", "quantity", "limit_price", "stop_price")
"""Arguments by which an order to replace is found."""


@dataclass(frozen=True, slots=True)
class SayText:
    """An answer."""

    text: str


@dataclass(frozen=True, slots=True)
class UseTools:
    """Tool calls, by name with arguments."""

    calls: Calls


def rows(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", body.get(name) or [])


def results_in_words(results: Sequence[Result], language: Language) -> SayText:
    """The results in sentences, a line each."""
    return SayText("\n".join(answer_from(*result, "", language) for result in results))


def replacing_calls(cancellations: Calls, new_calls: Calls, finished: Sequence[Result]) -> UseTools:
    """The calls that replace an order name it, so that it stays until the confirmation; an alert is deleted first."""
    if cancellations and cancellations[0][0] == "cancel_paper_order":
        (tool, arguments), *others = new_calls
        return UseTools(((tool, {**arguments, "replaces": cancellations[0][1]["order_id"]}), *others))
    return UseTools(cancellations if cancellations and not finished else new_calls)


def cancellation_of(wish: Wish, body: dict[str, Any]) -> Calls:
    """The cancellation of the waiting order, or deletion of the alert, that is made anew, as `body` lists them."""
    tool, old_arguments = wish.calls[1]
    if tool == "delete_alert":
        alerts = [alert for alert in matching_in(rows(body, "alerts"), old_arguments)
                  if old_arguments.get("condition") in (None, "==", alert["condition"])]  # fmt: skip
        return tuple((tool, {"alert_id": alert["alert_id"]}) for alert in alerts[-1:])
    waiting = [order for order in rows(body, "orders") if order["status"] in ("pending_confirmation", "open")
               and all(old_arguments.get(name) in (None, order.get(name)) for name in SAME_ORDER)]  # fmt: skip
    return tuple(("cancel_paper_order", {"order_id": order["order_id"]}) for order in waiting[-1:])


def matching_in(listed: Sequence[dict[str, Any]], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The orders or alerts with the symbol, price, side and kind that are wanted, as far as they are given."""
    return [
        item
        for item in listed
        if all(wanted.get(name) in (None, item.get(name)) for name in ("symbol", "price", "side"))
        and wanted.get("order_type", "") in str(item.get("order_type") or "")
    ]
