"""Describes an order in words."""

from decimal import Decimal

from contracts.text import Text
from market_adapter.domain.paper.orders import LOT, Decision, Order, format_decimal, to_cents
from market_adapter.texts import TEXTS

_SPANISH = str.maketrans(",.", ".,")


def figure(value: Decimal) -> Text:
    """A quantity or a price with all its digits: 2.5, and 2,5 in Spanish."""
    text = format_decimal(value)
    return Text(es=text.replace(".", ","), en=text)


def money(amount: Decimal) -> Text:
    """Formats an amount to the cent: 1,905.00, and 1.905,00 in Spanish."""
    text = f"{to_cents(amount):,.2f}"
    return Text(es=text.translate(_SPANISH), en=text)


def summary(order: Order) -> str:
    """An order in one line, in the language of the call that created it."""
    terms = TEXTS[f"order.terms.{order.type}"].format(
        limit=figure(order.limit_price) if order.limit_price is not None else "",
        stop=figure(order.stop_price) if order.stop_price is not None else "",
    )
    text = TEXTS["order.summary"].format(
        side=TEXTS[f"order.sides.{order.side}"], quantity=figure(order.quantity), symbol=order.symbol, terms=terms
    )
    replacement_note = TEXTS["order.instead"].in_language(order.language) if order.replaces else ""
    return text.in_language(order.language) + replacement_note


def outcome(order: Order) -> str | None:
    """What has become of a placed order, in words; None if nothing has happened to it yet."""
    text = TEXTS.section("order.outcomes").get(order.state)
    if order.decision is not Decision.CONFIRMED or text is None:
        return None
    filled = figure(order.filled)
    part = TEXTS["order.part"].format(filled=filled, quantity=figure(order.quantity)) if order.filled else ""
    spent = sum((fill.amount for fill in order.fills), Decimal(0))
    # In today's shares, also if there was a split between two fills.
    price = spent / order.filled if order.filled else Decimal(0)
    outcome_text = text.format(
        filled=filled,
        quantity=figure(order.quantity),
        price=figure(to_cents(price) if price >= 1 else price.quantize(LOT)),
        currency=order.currency,
        reason=TEXTS.section("order.reasons").get(order.reason or "", order.reason or ""),
        part=part,
    )
    return outcome_text.in_language(order.language)
