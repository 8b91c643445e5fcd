"""What an answer asks a person to confirm."""

import json
from typing import Any

import pytest

from agent.domain.actions import pending_actions
from agent.domain.prompt.layers import Language
from agent.domain.turn.journal import Call, Journal, Step

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


def created(**changes: Any) -> Call:
    data = {**CREATED, **changes}
    return Call(f"call-{data['action_id']}", "create_paper_order", "{}", "", said(data))


def said(data: Any) -> str:
    return json.dumps({"success": True, "data": data})


def after(*calls: Call) -> Journal:
    return Journal("t", basis=1, started_at=0.0, deadline=100.0, steps=tuple(Step(1, "", (call,)) for call in calls))


def test_an_order_waits_with_everything_that_a_yes_is_bound_to() -> None:
    (action,) = pending_actions(after(created()), "en")
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


@pytest.mark.parametrize(
    ("order_type", "language", "summary"),
    [
        ("market", "es", "Vender 0.00000015 IBM a mercado (simulado)"),
        ("limit", "es", "Vender 0.00000015 IBM límite 210.5 (simulado)"),
        ("stop", "en", "Sell 0.00000015 IBM stop 190 (paper)"),
        ("stop_limit", "en", "Sell 0.00000015 IBM stop 190 limit 210.5 (paper)"),
    ],
)
def test_the_summary_is_in_the_customers_language(order_type: str, language: Language, summary: str) -> None:
    order = {
        **CREATED["order"],
        "order_type": order_type,
        "side": "sell",
        "quantity": 1.5e-7,
        "limit_price": 210.5 if "limit" in order_type else None,
        "stop_price": 190.0 if "stop" in order_type else None,
    }
    (action,) = pending_actions(after(created(order=order)), language)
    assert action.summary == summary
    assert ("limitPrice" in action.details) is ("limit" in order_type)
    assert ("stopPrice" in action.details) is ("stop" in order_type)


def test_orders_come_in_their_order_and_each_once() -> None:
    journal = after(created(), created(action_id="order-2"), created())
    assert [action.id for action in pending_actions(journal, "en")] == ["order-1", "order-2"]


def test_an_order_that_the_same_turn_took_back_is_not_asked_about() -> None:
    cancelled = Call("c", "cancel_paper_order", "{}", "", said({"order_id": "order-1", "status": "cancelled"}))
    assert pending_actions(after(created(), cancelled), "en") == ()


@pytest.mark.parametrize(
    "call",
    [
        Call("c", "create_paper_order", "{}"),
        Call("c", "create_paper_order", "{}", "", '{"success":false,"error":{"code":"EXECUTION_ERROR"}}'),
        Call("c", "fetch_page", "{}", "", said(CREATED)),
        created(status="filled"),
        created(order="an order"),
        created(estimate={}),
        Call("c", "create_paper_order", "{}", "", said({"truncated": True, "text": "{"})),
    ],
)
def test_nothing_but_a_waiting_order_of_the_tool_is_asked_about(call: Call) -> None:
    assert pending_actions(after(call), "en") == ()
