"""Shows an order as an action that a person confirms or rejects."""

from typing import Any

from contracts.events.chat import Action, ActionState
from market_adapter.domain.paper.order_text import outcome, summary
from market_adapter.domain.paper.orders import EDITABLE, Decision, Order, OrderState, editable_arguments, format_decimal

KIND = "paper_order"
_STATES = {
    None: ActionState.PENDING,
    Decision.CONFIRMED: ActionState.CONFIRMED,
    Decision.REJECTED: ActionState.REJECTED,
    Decision.EXPIRED: ActionState.EXPIRED,
    Decision.FAILED: ActionState.FAILED,
}
_ENDED = {OrderState.REJECTED: ActionState.FAILED, OrderState.EXPIRED: ActionState.EXPIRED}
"""The state of a confirmed action once the market has ended its order."""


def action_of(order: Order) -> Action:
    """The action as people see it. `details` contains everything that a confirmation refers to, and that it is a paper
    order; for a placed order also what has become of it: `filledQuantity`, and `outcome` in words."""
    details: dict[str, object] = {
        "symbol": order.symbol,
        "side": order.side.value,
        "orderType": order.type.value,
        "quantity": format_decimal(order.quantity),
        "currency": order.currency,
        "status": order.state.value,
        "contentHash": order.content_hash,
        "paper": True,
    }
    for name, price in (("limitPrice", order.limit_price), ("stopPrice", order.stop_price)):
        if price is not None:
            details[name] = format_decimal(price)
    if order.conversation is not None:
        # A plain "yes" confirms what is pending in the conversation in which it is said.
        details["conversationId"] = order.conversation
    if order.decided_at is not None:
        details["decidedAt"] = order.decided_at
    if order.reason is not None:
        details["reason"] = order.reason
    if (outcome_text := outcome(order)) is not None:
        details["filledQuantity"], details["outcome"] = format_decimal(order.filled), outcome_text
    state = _STATES[order.decision]
    if order.decision is Decision.CONFIRMED:
        state = _ENDED.get(order.state, state)
    return Action(
        id=order.id,
        kind=KIND,
        state=state,
        summary=summary(order),
        details=details,
        expires_at=order.confirm_by,
        editable=editable(order),
    )


def editable(order: Order) -> dict[str, Any] | None:
    """The details that a confirmation may change, as JSON Schemas; None if there are none."""
    return {EDITABLE[name]: {"type": "number", "exclusiveMinimum": 0} for name in editable_arguments(order)} or None
