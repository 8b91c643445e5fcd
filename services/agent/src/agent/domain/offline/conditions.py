"""Reads orders and alerts that wait for a price: "if it drops to 600", "10 % below", "cuando suba un 5 %".

"buy 3 if it drops to 600" becomes a limit order at 600; "sell if it drops to 600" a stop order. Distances are counted
from the price of now, which is looked up first. A condition that is no price, such as news, makes the assistant ask for
one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.domain.offline.changes import percent_in
from agent.domain.offline.concepts import CONCEPT
from agent.domain.offline.order_words import condition_in
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import number_of, numbers_in, plain, symbols_in

_ORDER = "create_paper_order"
_SIZE = ("quantity",)
_IF = r"(?:if|when|once|as soon as|si|cuando|en cuanto)"
_VERB = r"(?:then |entonces )?(?:buy|sell|purchase|compra|vende)"
_LEVEL = r"(?:below|under|above|over|(?:por )?(?:debajo|encima) de)\s+[$€]?\d[\d.,]*\W*"
_CONDITION_LAST = re.compile(
    rf"^(?P<order>.*\b{_VERB}.*?)[,;]?\s+(?:{_IF}\s+(?P<condition>\S+\s.*)|(?P<level>{_LEVEL}))$",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION_FIRST = re.compile(
    rf"^\W*{_IF}\s+(?P<condition>.*?)[,;]?\s+(?P<order>{_VERB}.*)$", re.IGNORECASE | re.DOTALL
)
_COUNT_LAST = re.compile(r"(?<=\d),\s+(?:unos|unas|about|some|say)?\s*(?P<count>\d+)(?: (?:shares|acciones))?\W*$")
"""How many, said after the condition: "buy IBM if it gets to 180, about 3"."""
_NO_PRICE = re.compile(
    r"\d[\d.,]*(?:st|nd|rd|th|pm|am)?[- ]?(?:days?|weeks?|months?|years?|hours?|minutes?|sessions?|shares?|"
    r"dias?|semanas?|mes(?:es)?|anos?|horas?|minutos?|sesion(?:es)?|acciones)\b|"
    r"\b(?:volumes?|volumen|news|noticias)\b"
)
"""A length of time, a count, or something other than the price, which no order waits for."""
_MONEY = r" ?(?:[$€]|(?:usd|eur|dollars?|bucks|dolares|euros?|points?|puntos)\b)"
_AWAY = re.compile(
    rf"(?<!\d)[$€]?(?P<by>\d(?:[\d.,]*\d)?)(?:{_MONEY})? (?:por )?(?:(?P<down>below|under|lower|(?:de)?bajo|debajo|"
    r"menos|abajo)|(?P<up>above|over|higher|encima|mas|arriba))\b(?! (?:of |de |than )?[$€]?\d)|"
    r"\b(?:(?P<falls>falls?|drops?|goes down|down|loses|baj[ae]|cae|caiga|pierd[ae])|"
    r"(?:rises?|climbs?|goes up|up|gains?|sub[ae])) (?:by )?(?:more than |another |mas de |otros )?"
    rf"[$€]?(?P<moved>\d(?:[\d.,]*\d)?)(?:{_MONEY})(?! (?:or|o) )"
)
"""So much money below or above the price of now."""
YES = re.compile(r"\bsí\b|^\W*si(?=\W*,|\s+(?:pero|compra|vende|pon)\w*\b)", re.IGNORECASE)
"""It would be a condition without its accent."""
POLITE = re.compile(r"\b(?:you|possible|allowed|convenient|puedes|puede|podeis|posible|quieres|no te importa)\b")


def wants_change(text: str, said: str) -> bool:
    """Whether it is no question, or one that asks for something to be done: "is 5 better?" changes nothing."""
    return "?" not in text or POLITE.search(said) is not None


@dataclass(frozen=True, slots=True)
class ConditionalOrder:
    """The two parts of a text that orders something on a condition."""

    order: str
    condition: str


def order_and_condition(text: str) -> ConditionalOrder | None:
    """The parts of "buy 3 if it drops to 600"; None: it orders nothing, or on no condition."""
    match = _CONDITION_LAST.match(text) or _CONDITION_FIRST.match(text)
    if match is None:
        return None
    order, condition = match["order"], match["condition"] or match["level"]
    if POLITE.search(plain(condition)):
        return None
    if count := _COUNT_LAST.search(condition):
        order, condition = f"{order} {count['count']}", condition[: count.start()]
    ordered, watched = symbols_in(order), symbols_in(condition)
    if ordered and watched and ordered != watched:
        return ConditionalOrder(order, "")  # an order waits for its own price alone
    return ConditionalOrder(" ".join([order, *([] if ordered else watched)]), condition)


_AGREED = r"(?:yes|ok|okay|but|only|just|no|wait|si|vale|pero|solo|espera|mejor)"


def condition_after(text: str) -> str:
    """The condition that a short text puts on what was ordered before: "yes, but only if it falls to 28"."""
    match = re.match(rf"^\W*(?:{_AGREED}\W+){{0,3}}?{_IF}\s+(?P<condition>.*\d.*)$", plain(YES.sub("", text)))
    return match["condition"] if match else ""


def without_condition(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The order without the prices that it waited for."""
    kept = {name: one for name, one in arguments.items() if not name.endswith("_price")}
    return {**kept, "order_type": "market"}


def with_condition(order: Wish, condition: str) -> Wish:
    """The order at the price that its condition names. Without one it is asked for: an order whose condition nobody
    looks at would be filled at once."""
    tool, arguments = order.calls[0]
    if any(name.endswith("_price") for name in arguments):
        return order
    order = replace(order, missing=tuple(name for name in order.missing if not name.endswith("_price")))
    said = plain(condition)
    side = condition_in(said)
    found, name = at_a_price(arguments, side)
    if (away := away_in(said)) and len(order.calls) == 1 and not order.way and not order.missing:
        found, _ = at_a_price(arguments, "<=" if away < 0 else ">=")
        return _from_now(tool, found, f"{away:+}")
    percent, numbers, alone = percent_in(said), numbers_in(said), len(order.calls) == 1
    priced = not (CONCEPT.search(said) or _NO_PRICE.search(said))
    if percent is None and len(numbers) == 1 and alone and priced:
        level = numbers[0][1]
        if side == "==" and not order.way and not order.missing:
            return Wish(Intent.TOOL, ((tool, arguments),), way="at_level", shown=str(level))
        return replace(order, calls=((tool, {**found, name: level}),))
    if percent is not None and priced and side != "==" and alone and not order.way and not order.missing:
        return _from_now(tool, found, _share(percent, side))
    return replace(order, calls=((tool, found), *order.calls[1:]), missing=(*order.missing, name))


def from_now(tool: str, arguments: Mapping[str, Any], said: str) -> Wish | None:
    """An alert or order so much money or so many per cent above or below the price of now; None: the text (plain) names
    no such distance, or it is of something else."""
    if away := away_in(said):
        side = "<=" if away < 0 else ">="
        kept = {name: one for name, one in arguments.items() if not name.endswith("price")}
        if len(numbers_in(said)) == 1:
            kept.pop("quantity", None)  # the only number says how far
        if tool != _ORDER:
            return _from_now(tool, {**kept, "condition": side}, f"{away:+}")
        found = at_a_price(kept, side)[0]
        return (
            _from_now(tool, found, f"{away:+}") if "quantity" in found else Wish(Intent.TOOL, ((tool, found),), _SIZE)
        )
    percent, side = percent_in(said), condition_in(said)
    found = {name: one for name, one in arguments.items() if not (name.endswith("price") and abs(one) == percent)}
    if percent is None or (found == arguments and side == "==") or any(name.endswith("price") for name in found):
        return None
    name = "price"
    if tool == _ORDER:
        found, name = at_a_price(found, side)
    if side == "==":
        return Wish(Intent.TOOL, ((tool, found),), (name,))
    return _from_now(tool, found, _share(percent, side))


def away_in(said: str) -> float | None:
    """How far from the price of now, in money, a text (plain) speaks of: -3 for "3 below the market"."""
    match = _AWAY.search(said)
    if match is None or re.search(r"\b(?:buy|sell|compr\w+|vend\w+) $", said[: match.start()]):
        return None
    return number_of(match["by"] or match["moved"]) * (-1 if match["down"] or match["falls"] else 1)


def at_a_price(arguments: Mapping[str, Any], side: str) -> tuple[dict[str, Any], str]:
    """The order as one that waits, and the name of its price: a stop goes with the price, a limit against it."""
    goes_with = (side == "<=") if arguments.get("side") == "sell" else (side == ">=")
    kind = "stop" if goes_with else "limit"
    return {**arguments, "order_type": kind}, f"{kind}_price"


def _share(percent: float, side: str) -> str:
    return str(1 + percent / 100 * (1 if side == ">=" else -1))


def _from_now(tool: str, arguments: dict[str, Any], distance: str) -> Wish:
    """The price of now is looked up first (steps.step_of): so many times it, or with a sign so much more or less."""
    return Wish(Intent.TOOL, ((tool, arguments),), way="from_now", shown=distance)
