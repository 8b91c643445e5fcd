"""An order in words, for a person."""

from contracts.text import Text
from market_adapter.domain.paper.orders import Order, OrderState, OrderType, Side, plain

_SIDES = {Side.BUY: Text(es="Comprar", en="Buy"), Side.SELL: Text(es="Vender", en="Sell")}
_TERMS = {
    OrderType.MARKET: Text(es="a mercado", en="at market"),
    OrderType.LIMIT: Text(es="límite {limit}", en="limit {limit}"),
    OrderType.STOP: Text(es="stop {stop}", en="stop {stop}"),
    OrderType.STOP_LIMIT: Text(es="stop {stop} límite {limit}", en="stop {stop} limit {limit}"),
}
_PAPER = Text(es="simulado", en="paper")
ENDED = {
    OrderState.FILLED: Text(es="ejecutada", en="filled"),
    OrderState.CANCELLED: Text(es="cancelada", en="cancelled"),
    OrderState.REJECTED: Text(es="rechazada", en="rejected"),
    OrderState.EXPIRED: Text(es="caducada", en="expired"),
}


def summary(order: Order) -> str:
    """An order in a line, in the language of the call that made it."""
    language = order.language
    terms = (
        _TERMS[order.type]
        .said_in(language)
        .format(
            limit=plain(order.limit_price) if order.limit_price is not None else "",
            stop=plain(order.stop_price) if order.stop_price is not None else "",
        )
    )
    side, paper = _SIDES[order.side].said_in(language), _PAPER.said_in(language)
    return f"{side} {plain(order.quantity)} {order.symbol} {terms} ({paper})"
