"""Market events of a user (stream FACTS): fills, alerts, decisions. Money is a decimal in a string."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action
from contracts.ids import CompanyId, Id

Decimals = Annotated[str, StringConstraints(pattern=r"^-?[0-9]{1,18}(\.[0-9]{1,12})?$")]
"""A decimal number in plain notation, e.g. 1234.50: exact, unlike a JSON number."""
Side = Annotated[Literal["buy", "sell"], OPEN]
OrderType = Annotated[Literal["market", "limit", "stop", "stop_limit"], OPEN]
OrderState = Annotated[
    Literal[
        "pending_confirmation", "open", "triggered", "partially_filled", "filled", "cancelled", "rejected", "expired"
    ],
    OPEN,
]
Condition = Annotated[Literal[">=", "<=", "=="], OPEN]


class OrderFilled(Wire):
    """A paper order was filled, in whole or in part. `number` counts the order's fills from 1."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = None
    order_id: Id
    number: int = Field(ge=1)
    symbol: str
    side: Side
    order_type: OrderType
    quantity: Decimals = Field(description="of this fill")
    price: Decimals
    amount: Decimals = Field(description="quantity times price, to the cent, as it went through the account")
    remaining: Decimals = Field(description="of the order")
    state: OrderState = Field(description="of the order, after this fill")
    realized: Decimals | None = Field(default=None, description="profit or loss of a sale")
    currency: str
    time: datetime = Field(description="of the market, when it was filled")
    source: str
    paper: Literal[True] = True
    action: Action | None = Field(default=None, description="what the user had confirmed, as it is now")


class ClosedOrder(Wire):
    """A confirmed order that ended before it was filled completely, as clients see it. `reason` is a code, e.g.
    insufficient_cash; `filled` is what had been executed."""

    order_id: Id
    symbol: str
    side: Side
    order_type: OrderType
    quantity: Decimals
    filled: Decimals
    state: Literal["cancelled", "rejected", "expired"]
    reason: str | None = None
    time: datetime = Field(description="of the market, when it ended")
    paper: Literal[True] = True


class OrderClosed(Wire):
    """A confirmed order ended before it was filled completely. `action`: what the user had confirmed, in its current
    state."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = None
    order: ClosedOrder
    action: Action
    source: str


class TriggeredAlert(Wire):
    """An alert that has fired, as clients see it."""

    id: Id
    symbol: str
    condition: Condition
    price: float
    triggered_price: float
    triggered_at: datetime
    message: str | None = None


class AlertTriggered(Wire):
    """An alert fired. It fires once and is inactive from then on."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = Field(default=None, description="where it was asked for")
    alert: TriggeredAlert
    source: str


class ActionDecided(Wire):
    """An action was confirmed, rejected, or has expired."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = None
    action: Action
    decided_at: datetime
