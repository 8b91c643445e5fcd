"""Shows an order as an action that a person confirms or rejects."""

from typing import Any

from contracts.events.chat import Action, ActionState
from market_adapter.domain.paper.order_text import outcome, summary
from market_adapter.domain.paper.orders import EDITABLE, Decision, Order, OrderState, may_change, plain

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
    """The action as people see it; `details` says everything that a yes is bound to, and that it is on paper. Of an
    order that was placed it says what the market has made of it: `filledQuantity`, and `outcome` in words."""
    details: dict[str, str | bool] = {
        "symbol": order.symbol,
        "side": order.side.value,
        "orderType": order.type.value,
        "quantity": plain(order.quantity),
        "currency": order.currency,
        "status": order.state.value,
        "contentHash": order.content_hash,
        "paper": True,
    }
    for name, price in (("limitPrice", order.limit_price), ("stopPrice", order.stop_price)):
        if price is not None:
            details[name] = plain(price)
    if order.conversation is not None:
        # A plain yes is meant for what waits in the conversation that it is said in.
        details["conversationId"] = order.conversation
    if order.reason is not None:
        details["reason"] = order.reason
    if (told := outcome(order)) is not None:
        details["filledQuantity"], details["outcome"] = plain(order.filled), told
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
    """Returns the details that a yes may change; None if it may change none."""
    return {EDITABLE[name]: {"type": "number", "exclusiveMinimum": 0} for name in may_change(order)} or None
