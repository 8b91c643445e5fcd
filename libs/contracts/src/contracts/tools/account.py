"""Tools about a user's own account (paper orders, portfolio, alerts, watchlist): their arguments and results."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from contracts.envelope import Snake
from contracts.tools.arguments import Amount, IdText, SymbolArguments, SymbolText
from contracts.tools.results import NOT_REQUIRED, NonEmpty, OptionallySourced, Sourced

_EDITABLE: dict[str, JsonValue] = {"x-editable": True}
"""Marks fields that a person may change when they confirm."""


class Side(StrEnum):
    """Buy or sell."""

    BUY = "buy"
    SELL = "sell"


class OrderType(StrEnum):
    """The four."""

    MARKET = "market"
    LIMIT = "limit"
    STOP = "stop"
    STOP_LIMIT = "stop_limit"


PRICES_OF: Mapping[OrderType, frozenset[str]] = {
    OrderType.MARKET: frozenset(),
    OrderType.LIMIT: frozenset({"limit_price"}),
    OrderType.STOP: frozenset({"stop_price"}),
    OrderType.STOP_LIMIT: frozenset({"limit_price", "stop_price"}),
}
"""The prices that each type of order needs; any other is refused rather than ignored."""


class Condition(StrEnum):
    """The condition on which an alert fires."""

    AT_LEAST = ">="
    AT_MOST = "<="
    CROSSES = "=="


class OrderArguments(SymbolArguments):
    """Input of create_paper_order: each type has the prices that it needs and no others."""

    side: Side = Field(description="What to do")
    quantity: Amount = Field(description="How many shares or coins", json_schema_extra={"maximum": 1e9, **_EDITABLE})
    order_type: OrderType = Field(description="What makes it execute")
    limit_price: Amount | None = Field(
        default=None, description="Worst price to accept; for limit and stop_limit", json_schema_extra=_EDITABLE
    )
    stop_price: Amount | None = Field(
        default=None, description="Price that sets the order off; for stop and stop_limit"
    )
    replaces: IdText | None = Field(
        default=None, description="The id of an order that waits: a yes to the new one cancels it, a no leaves it"
    )

    @model_validator(mode="after")
    def _has_its_prices(self) -> Self:
        for name in ("limit_price", "stop_price"):
            is_given = getattr(self, name) is not None
            if is_given != (name in PRICES_OF[self.order_type]):
                fault = "price_not_taken" if is_given else "price_needed"
                raise PydanticCustomError(fault, "{name}: {order}", {"name": name, "order": self.order_type.value})
        return self


class OrderRef(Snake):
    """Input of cancel_paper_order."""

    order_id: IdText = Field(description="The order's id, as get_pending_orders shows it")


class HistoryArguments(Snake):
    """Input of get_trade_history."""

    limit: int = Field(default=20, ge=1, le=200, description="How many trades")
    symbol: SymbolText | None = None


class AlertArguments(SymbolArguments):
    """Input of create_alert."""

    condition: Condition = Field(description="How the price must stand; == is touching or crossing it")
    price: Amount = Field(description="The price to watch")
    message: str | None = Field(default=None, max_length=500, description="What the user wants to be told")


class ListArguments(Snake):
    """Input of list_alerts."""

    symbol: SymbolText | None = None


class AlertRef(Snake):
    """Input of delete_alert."""

    alert_id: IdText = Field(description="The alert's id, as list_alerts shows it")


class OrderData(Snake):
    """One order. Times are those of the market, except `created_at`, and `expires_at` while it waits for a
    confirmation."""

    order_id: NonEmpty = NOT_REQUIRED
    symbol: NonEmpty = NOT_REQUIRED
    side: Side = NOT_REQUIRED
    quantity: float = NOT_REQUIRED
    order_type: OrderType = NOT_REQUIRED
    limit_price: float | None = NOT_REQUIRED
    stop_price: float | None = NOT_REQUIRED
    status: NonEmpty = NOT_REQUIRED
    filled_quantity: float = NOT_REQUIRED
    created_at: datetime = NOT_REQUIRED
    expires_at: datetime = NOT_REQUIRED
    reason: str | None = NOT_REQUIRED
    paper: Literal[True] = NOT_REQUIRED


class OrderEstimate(Snake):
    """The effect of the order at `price`: its limit, its stop, or the last price; the market may fill it at another
    one. `cash_after` is the cash that would be free then; other open orders keep their reserves."""

    price: float = NOT_REQUIRED
    amount: float = NOT_REQUIRED
    cash_after: float = NOT_REQUIRED
    currency: NonEmpty = NOT_REQUIRED


class CreatedData(OptionallySourced):
    """Output of create_paper_order: a question to the user, valid until `expires_at`. Nothing is placed yet."""

    action_id: NonEmpty
    status: NonEmpty
    order: OrderData
    estimate: OrderEstimate | None
    summary: NonEmpty = NOT_REQUIRED
    content_hash: NonEmpty = NOT_REQUIRED
    expires_at: datetime
    editable: dict[str, object] | None = Field(default=None, description="what a yes may change, as JSON Schemas")
    paper: Literal[True] = NOT_REQUIRED


class CancelledData(Snake):
    """Output of cancel_paper_order."""

    order_id: NonEmpty
    status: NonEmpty


class PendingData(OptionallySourced):
    """Output of get_pending_orders: the orders that wait for a confirmation or for the market, oldest first; and the
    last confirmed orders that ended without being filled completely, newest first, with the reason."""

    orders: list[OrderData]
    closed: list[OrderData] = Field(default_factory=list[OrderData])
    paper: Literal[True] = NOT_REQUIRED


class PositionData(Snake):
    """One holding. `value` and `unrealized` to the cent; both are null, like `price`, if there is no price now."""

    symbol: NonEmpty
    quantity: float
    average_price: float
    cost: float = NOT_REQUIRED
    price: float | None
    value: float | None
    unrealized: float | None


class PortfolioData(Sourced):
    """Output of get_portfolio. `equity` is cash and holdings at the last prices (a holding with no price counts at its
    cost); `reserved` is cash for open buy orders, `buying_power` is the free cash; `dividends` are in `cash`.
    """

    positions: list[PositionData]
    cash: float
    reserved: float = NOT_REQUIRED
    buying_power: float = NOT_REQUIRED
    equity: float
    realized: float = NOT_REQUIRED
    dividends: float = NOT_REQUIRED
    currency: NonEmpty = NOT_REQUIRED
    paper: Literal[True]


class TradeData(Snake):
    """One fill. `realized` is null for a purchase."""

    order_id: NonEmpty
    symbol: NonEmpty
    side: Side
    quantity: float
    price: float
    amount: float = NOT_REQUIRED
    time: datetime
    realized: float | None


class HistoryData(Sourced):
    """Output of get_trade_history, newest first."""

    trades: list[TradeData]
    paper: Literal[True] = NOT_REQUIRED


class AlertData(Snake):
    """One alert."""

    alert_id: NonEmpty = NOT_REQUIRED
    symbol: NonEmpty = NOT_REQUIRED
    condition: Condition = NOT_REQUIRED
    price: float = NOT_REQUIRED
    message: str | None = NOT_REQUIRED
    status: NonEmpty = NOT_REQUIRED
    created_at: datetime = NOT_REQUIRED


class CreatedAlertData(AlertData, OptionallySourced):
    """Output of create_alert, with the current price. `already_true`: the condition holds at that price, so the alert
    fires with the next market data unless the price moves away."""

    alert_id: NonEmpty = Field()  # required, unlike in a list
    current_price: float = NOT_REQUIRED
    already_true: bool = NOT_REQUIRED


class AlertsData(OptionallySourced):
    """Output of list_alerts: the active alerts, oldest first."""

    alerts: list[AlertData]


class DeletedAlertData(Snake):
    """Output of delete_alert."""

    alert_id: NonEmpty
    status: NonEmpty = NOT_REQUIRED


class WatchlistData(Sourced):
    """Output of the three tools of the watchlist: the current list, in the order in which symbols were added. `source`
    is the provider that knows its symbols, `as_of` the market's current time."""

    symbols: list[NonEmpty]
