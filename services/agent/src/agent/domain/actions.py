"""The actions that an answer asks a person to confirm. They are taken from the results of tool calls, never from a
model's words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, cast

from agent.domain.shortcuts.steps import rule_calls
from agent.domain.tool_results import data_of
from agent.domain.turn.journal import Journal
from agent.texts import TEXTS
from contracts.events.chat import Action, ActionState
from contracts.json_values import JsonObject
from contracts.languages import Language
from contracts.own_tools import ACTION_KIND, ACTION_PREFIX

ORDER_TOOL = "create_paper_order"
CANCEL_TOOL = "cancel_paper_order"
KIND = "paper_order"
_PENDING = "pending_confirmation"
Fields = Mapping[str, Any]


def pending_actions(journal: Journal) -> tuple[Action, ...]:
    """The actions that the turn requested and did not cancel, each once, in order. Their texts and `details` come from
    the market-adapter (decimals as strings), with the estimate."""
    actions: dict[str, Action] = {}
    for call in journal.calls:
        data = data_of(call.result)
        is_order = call.tool == ORDER_TOOL
        if data.get("status") == _PENDING and (is_order or str(data.get("action_id", "")).startswith(ACTION_PREFIX)):
            # Not every answer is the market-adapter's. The welcome lists pending actions from their source.
            with suppress(AttributeError, KeyError, TypeError, ValueError, ArithmeticError):
                action = _order_action(data) if is_order else _own_action(call.tool, data)
                actions.setdefault(action.id, action)
        elif call.tool == CANCEL_TOOL:
            actions.pop(str(data.get("order_id")), None)
    for call in rule_calls(journal):
        data = data_of(call.result)
        decided = data.get("action")
        if isinstance(decided, dict):
            actions.pop(str(cast("JsonObject", decided).get("id")), None)
        # Actions that the user is asked to choose from get buttons too.
        for waiting in cast("list[Any]", data.get("pending") or data.get("rest") or ()):
            action = Action.model_validate(waiting)
            actions.setdefault(action.id, action)
    return tuple(actions.values())


def waiting_text(actions: Sequence[Action], language: Language) -> str:
    """Returns the text about waiting actions in an answer without buttons, whatever the model said."""
    summaries = "; ".join(action.summary for action in actions)
    return TEXTS["step.waiting"].in_language(language).format(summaries=summaries)


def _own_action(tool: str, data: Fields) -> Action:
    """The action of a pending call of a company's own tool."""
    return _action(data, ACTION_KIND, {"tool": tool, "arguments": data["arguments"], "status": "pending"})


def _order_action(data: Fields) -> Action:
    order, estimate = data["order"], data["estimate"]
    limit, stop = _plain(order.get("limit_price")), _plain(order.get("stop_price"))
    quantity = _plain(order["quantity"])
    details: JsonObject = {
        "symbol": order["symbol"],
        "side": order["side"],
        "orderType": order["order_type"],
        "quantity": quantity,
        "currency": estimate["currency"],
        "status": data["status"],
        "contentHash": data["content_hash"],
        "paper": True,
        "estimate": {
            "price": _plain(estimate["price"]),
            "amount": _plain(estimate["amount"]),
            "cashAfter": _plain(estimate["cash_after"]),
            "currency": estimate["currency"],
        },
    }
    if limit is not None:
        details["limitPrice"] = limit
    if stop is not None:
        details["stopPrice"] = stop
    return _action(data, KIND, details, editable=data.get("editable"))


def _action(data: Fields, kind: str, details: JsonObject, *, editable: object = None) -> Action:
    return Action.model_validate(
        {
            "id": data["action_id"],
            "kind": kind,
            "state": ActionState.PENDING,
            "summary": data["summary"],
            "details": details,
            "expires_at": data["expires_at"],
            "editable": editable,
        }
    )


def _plain(number: float | None) -> str | None:
    """A JSON number as a decimal without exponent and trailing zeros."""
    if number is None:
        return None
    text = f"{Decimal(str(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
