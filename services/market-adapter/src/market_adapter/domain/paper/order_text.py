"""An order in words, for a person."""

from decimal import Decimal

from contracts.text import Text
from contracts.tools.account import OrderType, Side
from market_adapter.domain.paper.orders import LOT, Decision, Order, OrderState, plain, to_cents

_SIDES = {Side.BUY: Text(es="Comprar", en="Buy"), Side.SELL: Text(es="Vender", en="Sell")}
_TERMS = {
    OrderType.MARKET: Text(es="a mercado", en="at market"),
    OrderType.LIMIT: Text(es="límite {limit}", en="limit {limit}"),
    OrderType.STOP: Text(es="stop {stop}", en="stop {stop}"),
    OrderType.STOP_LIMIT: Text(es="stop {stop} límite {limit}", en="stop {stop} limit {limit}"),
}
_PAPER = Text(es="simulado", en="paper")
_SPANISH = str.maketrans(",.", ".,")
ENDED = {
    OrderState.FILLED: Text(es="ejecutada", en="filled"),
    OrderState.CANCELLED: Text(es="cancelada", en="cancelled"),
    OrderState.REJECTED: Text(es="rechazada", en="rejected"),
    OrderState.EXPIRED: Text(es="caducada", en="expired"),
}


def figure(value: Decimal) -> Text:
    """A quantity or a price with its own digits: 2.5, and 2,5 in Spanish."""
    text = plain(value)
    return Text(es=text.replace(".", ","), en=text)


def money(amount: Decimal) -> Text:
    """To the cent: 1,905.00, and 1.905,00 in Spanish."""
    text = f"{to_cents(amount):,.2f}"
    return Text(es=text.translate(_SPANISH), en=text)


def summary(order: Order) -> str:
    """An order in a line, in the language of the call that made it."""
    language = order.language
    terms = (
        _TERMS[order.type]
        .said_in(language)
        .format(
            limit=figure(order.limit_price).said_in(language) if order.limit_price is not None else "",
            stop=figure(order.stop_price).said_in(language) if order.stop_price is not None else "",
        )
    )
    side, paper = _SIDES[order.side].said_in(language), _PAPER.said_in(language)
    return f"{side} {figure(order.quantity).said_in(language)} {order.symbol} {terms} ({paper})"


_OUTCOMES = {
    OrderState.PARTIALLY_FILLED: Text(
        es="Ejecutada en parte: {filled} de {quantity}, a {price} {currency}",
        en="Filled in part: {filled} of {quantity}, at {price} {currency}",
    ),
    OrderState.FILLED: Text(es="Ejecutada: {filled} a {price} {currency}", en="Filled: {filled} at {price} {currency}"),
    OrderState.CANCELLED: Text(es="Cancelada{part}", en="Cancelled{part}"),
    OrderState.REJECTED: Text(es="El mercado no la ha ejecutado: {reason}{part}", en="Not executed: {reason}{part}"),
    OrderState.EXPIRED: Text(es="Caducada sin ejecutarse entera{part}", en="Expired before it was filled{part}"),
}
_PART = Text(es=" ({filled} de {quantity} ejecutadas)", en=" ({filled} of {quantity} filled)")
_REASONS = {
    "insufficient_cash": Text(
        es="el precio subió por encima del efectivo libre", en="the price went beyond the cash that was free"
    ),
    "insufficient_position": Text(es="ya no había acciones suficientes", en="there were not enough shares any more"),
}


def outcome(order: Order) -> str | None:
    """What the market, or the user, has made of a placed order; None while nothing has come of it."""
    if order.decision is not Decision.CONFIRMED or order.state not in _OUTCOMES:
        return None
    language = order.language
    filled, quantity = figure(order.filled).said_in(language), figure(order.quantity).said_in(language)
    part = _PART.said_in(language).format(filled=filled, quantity=quantity) if order.filled else ""
    spent = sum((fill.amount for fill in order.fills), Decimal(0))
    # In today's shares, also where a split came between two fills.
    price = spent / order.filled if order.filled else Decimal(0)
    reason = _REASONS.get(order.reason or "")
    return (
        _OUTCOMES[order.state]
        .said_in(language)
        .format(
            filled=filled,
            quantity=quantity,
            price=figure(to_cents(price) if price >= 1 else price.quantize(LOT)).said_in(language),
            currency=order.currency,
            reason=reason.said_in(language) if reason else order.reason or "",
            part=part,
        )
    )
