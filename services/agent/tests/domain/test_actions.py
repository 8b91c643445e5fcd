"""What an answer asks a person to confirm."""

import json
from typing import Any

import pytest

from agent.domain.actions import pending_actions
from agent.domain.turn.journal import Journal, TurnCall, TurnStep

CREATED: dict[str, Any] = {
    "action_id": "order-1",
    "status": "pending_confirmation",
    "order": {
        "order_id": "order-1",
        "symbol": "IBM",
        "side": "buy",
        "quantity": 3.0,
        "order_type": "market",
        "limit_price": None,
        "stop_price": None,
    },
    "estimate": {"price": 200.5, "amount": 601.5, "cash_after": 99398.5, "currency": "USD"},
    "summary": "Buy 3 IBM at market (paper)",
    "content_hash": "ab12",
    "expires_at": "2026-01-01T13:00:00Z",
    "paper": True,
}


def created(**changes: Any) -> TurnCall:
    data = {**CREATED, **changes}
    return TurnCall(f"call-{data['action_id']}", "create_paper_order", "{}", "", said(data))


def said(data: Any) -> str:
    return json.dumps({"success": True, "data": data})


def after(*calls: TurnCall) -> Journal:
    return Journal(
        "t", basis=1, started_at=0.0, deadline=100.0, steps=tuple(TurnStep(1, "", (call,)) for call in calls)
    )


def test_an_order_waits_with_everything_that_a_yes_is_bound_to() -> None:
    (action,) = pending_actions(after(created()))
    assert action.to_wire() == {
        "id": "order-1",
        "kind": "paper_order",
        "state": "pending",
        "summary": "Buy 3 IBM at market (paper)",
        "details": {
            "symbol": "IBM",
            "side": "buy",
            "orderType": "market",
            "quantity": "3",
            "currency": "USD",
            "status": "pending_confirmation",
            "contentHash": "ab12",
            "paper": True,
            "estimate": {"price": "200.5", "amount": "601.5", "cashAfter": "99398.5", "currency": "USD"},
        },
        "expiresAt": "2026-01-01T13:00:00Z",
    }


@pytest.mark.parametrize("order_type", ["market", "limit", "stop", "stop_limit"])
def test_numbers_are_plain_decimals_and_prices_are_those_of_the_type(order_type: str) -> None:
    order = {
        **CREATED["order"],
        "order_type": order_type,
        "quantity": 1.5e-7,
        "limit_price": 210.5 if "limit" in order_type else None,
        "stop_price": 190.0 if "stop" in order_type else None,
    }
    (action,) = pending_actions(after(created(order=order)))
    assert action.details["quantity"] == "0.00000015"
    assert action.details.get("limitPrice") == ("210.5" if "limit" in order_type else None)
    assert action.details.get("stopPrice") == ("190" if "stop" in order_type else None)


def test_orders_come_in_their_order_and_each_once() -> None:
    journal = after(created(), created(action_id="order-2"), created())
    assert [action.id for action in pending_actions(journal)] == ["order-1", "order-2"]


def test_an_order_that_the_same_turn_took_back_is_not_asked_about() -> None:
    cancelled = TurnCall("c", "cancel_paper_order", "{}", "", said({"order_id": "order-1", "status": "cancelled"}))
    assert pending_actions(after(created(), cancelled)) == ()


@pytest.mark.parametrize(
    "call",
    [
        TurnCall("c", "create_paper_order", "{}"),
        TurnCall("c", "create_paper_order", "{}", "", '{"success":false,"error":{"code":"EXECUTION_ERROR"}}'),
        TurnCall("c", "fetch_page", "{}", "", said(CREATED)),
        created(status="filled"),
        created(order="an order"),
        created(estimate={}),
        created(summary=None),
        TurnCall("c", "create_paper_order", "{}", "", said({"truncated": True, "text": "{"})),
    ],
)
def test_nothing_but_a_waiting_order_of_the_tool_is_asked_about(call: TurnCall) -> None:
    assert pending_actions(after(call)) == ()


def test_a_call_of_the_companys_own_tool_waits_as_its_keeper_says_it() -> None:
    held = {
        "action_id": "own_1",
        "status": "pending_confirmation",
        "summary": "cancel_order (order: A)",
        "arguments": {"order": "A"},
        "expires_at": "2026-01-01T13:00:00Z",
    }
    (action,) = pending_actions(after(TurnCall("c1", "cancel_order", "{}", "", said(held))))
    assert (action.id, action.kind, action.summary) == ("own_1", "own_tool", "cancel_order (order: A)")
    assert action.details["arguments"] == {"order": "A"}
    # What another server answers stands below `result`: it cannot ask for anybody's yes.
    assert pending_actions(after(TurnCall("c1", "order_status", "{}", "", said({"result": held})))) == ()
