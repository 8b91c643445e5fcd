"""What happens to a user on the market (stream FACTS): fills, alerts, decisions. Money is a decimal in a string."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action
from contracts.ids import CompanyId, Id

Decimals = Annotated[str, StringConstraints(pattern=r"^-?[0-9]{1,18}(\.[0-9]{1,12})?$")]
"""A decimal number in plain notation, e.g. 1234.50: exact, as no JSON number is."""
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
    """A confirmed order that ended without being filled in whole, as clients see it. `reason` is a word for programs,
    e.g. insufficient_cash; `filled` is what was executed before."""

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
    """A confirmed order ended without being filled in whole. `action`: what the user had confirmed, as it is now."""

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
    """An alert fired: once, and it is inactive from now on."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = Field(default=None, description="where it was asked for")
    alert: TriggeredAlert
    source: str


class ActionDecided(Wire):
    """An action that needed a person's yes has got its answer, or its time has run out."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = None
    action: Action
    decided_at: datetime
