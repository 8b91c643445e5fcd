"""An order in a line, for a person."""

from typing import Literal

from market_adapter.domain.paper.orders import Order, OrderType, Side, plain

Language = Literal["es", "en"]

_SIDES: dict[Language, dict[Side, str]] = {
    "es": {Side.BUY: "Comprar", Side.SELL: "Vender"},
    "en": {Side.BUY: "Buy", Side.SELL: "Sell"},
}
_TERMS: dict[Language, dict[OrderType, str]] = {
    "es": {
        OrderType.MARKET: "a mercado",
        OrderType.LIMIT: "límite {limit}",
        OrderType.STOP: "stop {stop}",
        OrderType.STOP_LIMIT: "stop {stop} límite {limit}",
    },
    "en": {
        OrderType.MARKET: "at market",
        OrderType.LIMIT: "limit {limit}",
        OrderType.STOP: "stop {stop}",
        OrderType.STOP_LIMIT: "stop {stop} limit {limit}",
    },
}
_PAPER: dict[Language, str] = {"es": "simulado", "en": "paper"}


def language_of(name: str) -> Language:
    """Of an order's caller: es for any Spanish, en for the rest."""
    return "es" if name.lower().startswith("es") else "en"


def summary(order: Order) -> str:
    """In the language of the call that made the order."""
    language = language_of(order.language)
    terms = _TERMS[language][order.type].format(
        limit=plain(order.limit_price) if order.limit_price is not None else "",
        stop=plain(order.stop_price) if order.stop_price is not None else "",
    )
    return f"{_SIDES[language][order.side]} {plain(order.quantity)} {order.symbol} {terms} ({_PAPER[language]})"
