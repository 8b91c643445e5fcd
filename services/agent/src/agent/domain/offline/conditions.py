"""Orders and alerts that wait for a price: "if it drops to 600", "10 % below", "cuando suba un 5 %"."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.domain.offline.changes import percent_in
from agent.domain.offline.grammar import CONCEPT
from agent.domain.offline.slots import condition_in
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import numbers_in, plain, symbols_in

_ORDER = "create_paper_order"
_IF = r"(?:if|when|once|as soon as|si|cuando|en cuanto)"
_VERB = r"(?:then |entonces )?(?:buy|sell|purchase|compra|vende)"
_CONDITION_LAST = re.compile(
    rf"^(?P<order>.*\b{_VERB}.*?)[,;]?\s+{_IF}\s+(?P<condition>\S+\s.*)$", re.IGNORECASE | re.DOTALL
)
_CONDITION_FIRST = re.compile(
    rf"^\W*{_IF}\s+(?P<condition>.*?)[,;]?\s+(?P<order>{_VERB}.*)$", re.IGNORECASE | re.DOTALL
)
_NO_PRICE = re.compile(
    r"\d[\d.,]*(?:st|nd|rd|th|pm|am)?[- ]?(?:days?|weeks?|months?|years?|hours?|minutes?|sessions?|shares?|"
    r"dias?|semanas?|mes(?:es)?|anos?|horas?|minutos?|sesion(?:es)?|acciones)\b|"
    r"\b(?:volumes?|volumen|news|noticias)\b"
)
"""A length of time, a count, or something other than the price, which no order waits for."""
_POLITE = re.compile(r"\b(?:you|possible|puedes|puede|podeis|posible|quieres|no te importa)\b")


@dataclass(frozen=True, slots=True)
class ConditionalOrder:
    """The two parts of a text that orders something on a condition."""

    order: str
    condition: str


def order_and_condition(text: str) -> ConditionalOrder | None:
    """The parts of "buy 3 if it drops to 600"; None: it orders nothing, or on no condition."""
    match = _CONDITION_LAST.match(text) or _CONDITION_FIRST.match(text)
    if match is None or _POLITE.search(plain(match["condition"])):
        return None
    ordered, watched = symbols_in(match["order"]), symbols_in(match["condition"])
    if ordered and watched and ordered != watched:
        return ConditionalOrder(match["order"], "")  # an order waits for its own price alone
    return ConditionalOrder(" ".join([match["order"], *([] if ordered else watched)]), match["condition"])


def waiting(order: Wish, condition: str) -> Wish:
    """The order at the price that its condition names. Without one it is asked for: an order whose condition nobody
    looks at would be filled at once."""
    tool, arguments = order.calls[0]
    if any(name.endswith("_price") for name in arguments):
        return order
    said = plain(condition)
    side = condition_in(said)
    found, name = _at_a_price(arguments, side)
    percent, numbers, alone = percent_in(said), numbers_in(said), len(order.calls) == 1
    priced = not (CONCEPT.search(said) or _NO_PRICE.search(said))
    if percent is None and len(numbers) == 1 and alone and priced:
        return replace(order, calls=((tool, {**found, name: numbers[0][1]}),))
    if percent is not None and priced and side != "==" and alone and not order.way and not order.missing:
        return _share_of_now(tool, found, percent, side)
    return replace(order, calls=((tool, found), *order.calls[1:]), missing=(*order.missing, name))


def from_now(tool: str, arguments: Mapping[str, Any], said: str) -> Wish | None:
    """An alert or order so many per cent above or below the price of now; None: the text (plain) names no per cent, or
    they are of something else."""
    percent, side = percent_in(said), condition_in(said)
    found = {name: one for name, one in arguments.items() if not (name.endswith("price") and one == percent)}
    if percent is None or (found == arguments and side == "==") or any(name.endswith("price") for name in found):
        return None
    name = "price"
    if tool == _ORDER:
        found, name = _at_a_price(found, side)
    if side == "==":
        return Wish(Intent.TOOL, ((tool, found),), (name,))
    return _share_of_now(tool, found, percent, side)


def _at_a_price(arguments: Mapping[str, Any], side: str) -> tuple[dict[str, Any], str]:
    """The order as one that waits, and the name of its price: a stop goes with the price, a limit against it."""
    goes_with = (side == "<=") if arguments.get("side") == "sell" else (side == ">=")
    kind = "stop" if goes_with else "limit"
    return {**arguments, "order_type": kind}, f"{kind}_price"


def _share_of_now(tool: str, arguments: dict[str, Any], percent: float, side: str) -> Wish:
    """The price of now is looked up first (steps.step_of)."""
    share = 1 + percent / 100 * (1 if side == ">=" else -1)
    return Wish(Intent.TOOL, ((tool, arguments),), way="from_now", shown=str(share))
