"""Arguments of the tools about a user's own account: paper orders, the portfolio, alerts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from contracts.envelope import Snake
from contracts.tools.arguments import Amount, IdText, SymbolArguments, SymbolText

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
