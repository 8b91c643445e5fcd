"""Reads orders and alerts that wait for a price: "if it drops to 600", "10 % below", "cuando suba un 5 %".

"buy 3 if it drops to 600" becomes a limit order at 600; "sell if it drops to 600" a stop order. Distances are from the
current price, which is looked up first. If a condition is not a price, such as news, the assistant asks for one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.domain.number_words import in_figures
from agent.domain.offline.changes import percent_in
from agent.domain.offline.concepts import CONCEPT
from agent.domain.offline.order_words import condition_in, order_prices
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import number_of, numbers_in, plain, symbols_in
from contracts.expressions import expression

_ORDER = "create_paper_order"
_SIZE = ("quantity",)
_CONDITION_WORD = r"(?:if|when|once|as soon as|si|cuando|en cuanto)"
_VERB = r"(?:then |entonces )?(?:buy|sell|purchase|compra|vende)"
_NOT = r"(?:(?:but|pero|and|y)\s+)?(?:not|never|no|nunca)\s+(?:(?:at|for|a|go|goes)\s+)?"
_LEVEL = rf"(?:{_NOT})?(?:below|under|above|over|(?:por )?(?:debajo|encima) de)\s+[$€]?\d[\d.,]*\W*"
NEGATED_LEVEL = expression(rf"\b{_NOT}(?={_LEVEL})")
"""A level that is negated: "not above 40" is at most 40."""
_OTHER_SIDE = {"<=": ">=", ">=": "<=", "==": "=="}
_CONDITION_LAST = expression(
    rf"^(?P<order>.*\b{_VERB}.*?)[,;]?\s+(?:{_CONDITION_WORD}\s+(?P<condition>\S+\s.*)|(?P<level>{_LEVEL}))$",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION_FIRST = expression(
    rf"^\W*{_CONDITION_WORD}\s+(?P<condition>.*?)[,;]?\s+(?P<order>{_VERB}.*)$", re.IGNORECASE | re.DOTALL
)
_COUNT_LAST = expression(r"(?<=\d),\s+(?:unos|unas|about|some|say)?\s*(?P<count>\d+)(?: (?:shares|acciones))?\W*$")
"""The quantity after the condition: "buy IBM if it gets to 180, about 3"."""
_NOT_A_PRICE = expression(
    r"(?<!\d)(?<!\d[.,])\d[\d.,]*(?:st|nd|rd|th|pm|am)?[- ]?(?:days?|weeks?|months?|years?|hours?|minutes?|"
    r"sessions?|shares?|dias?|semanas?|mes(?:es)?|anos?|horas?|minutos?|sesion(?:es)?|acciones)\b"
)
"""A length of time or a count, which no order can wait for."""
OTHER_FIGURE = expression(
    r"\b(?:rsi|macd|atr|adx|obv|vwap|sma|ema|bollinger|(?:moving )?averages?|medias?(?: movil(?:es)?)?|volumes?|"
    r"volumen|volatility|volatilidad|p/?e|per(?! (?:share|cent)\b)|eps|bpa|yields?|dividend\w*|market cap|"
    r"capitalizacion|news|noticias|earnings|results|resultados|beta|drawdown)\b(?! (?:price|cost)\b)"
)
"""Something other than the price, which no order or alert can wait for."""
MONEY = r" ?(?:[$€]|(?:usd|eur|dollars?|bucks|dolar(?:es)?|euros?|points?|puntos)\b)"
_DISTANCE = expression(
    rf"(?<!\d)[$€]?(?<!\d[.,])(?P<by>\d(?:[\d.,]*\d)?)(?:{MONEY})? (?:por )?(?:(?P<down>below|under|lower|"
    r"(?:de)?bajo|debajo|menos|abajo)|(?P<up>above|over|higher|encima|mas|arriba))\b(?! (?:of |de |than )?[$€]?\d)|"
    r"\b(?:(?P<falls>falls?|drops?|goes down|down|loses|baj[ae]|cae|caiga|pierd[ae])|"
    r"(?:rises?|climbs?|goes up|up|gains?|sub[ae])) (?:by )?(?:more than |another |mas de |otros )?"
    rf"[$€]?(?P<moved>\d(?:[\d.,]*\d)?)(?:{MONEY})(?! (?:or|o) )"
)
"""An amount of money below or above the current price."""
_OF_THE_PRICE = expression(
    r"(?P<moves>\b(?:f[ae]lls?|drops?|los(?:es|t)|r(?:is|os)es?|gains?|up|down|baj[ae]n?|sub[ae]n?|cae|caiga|"
    r"pierd[ae])(?: (?:by|an?|un))? )?(?<![\d.,])(?P<percent>\d[\d.,]*) ?(?:%|per ?cent|por ?ciento) (?:of|del?) "
    r"(?:(?:its|the|what|where|today.?s|current|present|latest|su|el|la|lo que|actual) )*"
    r"(?:price|value|quote|precio|valor|cotizacion|cotiza|vale|it is|it s at|it trades)\b(?! (?:i|that i|you) )"
)
"""A share of the current price, where "95 % of the price" is 5 % below it."""
_OF_MONEY = expression(rf"\d{MONEY}|[$€] ?\d")
YES = expression(r"\bsí\b|^\W*si(?=\W*,|\s+(?:pero|compra|vende|pon)\w*\b)", re.IGNORECASE)
"""Without its accent, "sí" would be a condition."""
POLITE = expression(r"\b(?:you|possible|allowed|convenient|puedes|puede|podeis|posible|quieres|no te importa)\b")


def wants_change(text: str, normalized: str) -> bool:
    """Whether a text is no question, or one that asks for an action: "is 5 better?" changes nothing."""
    return "?" not in text or POLITE.search(normalized) is not None


@dataclass(frozen=True, slots=True)
class ConditionalOrder:
    """The two parts of a text that orders something on a condition."""

    order: str
    condition: str


def order_and_condition(text: str) -> ConditionalOrder | None:
    """The parts of "buy 3 if it drops to 600"; None if it orders nothing, or without a condition."""
    match = _CONDITION_LAST.match(text) or _CONDITION_FIRST.match(text)
    if match is None:
        return None
    order, condition = match["order"], match["condition"] or match["level"]
    if POLITE.search(plain(condition)):
        return None
    if count := _COUNT_LAST.search(condition):
        order, condition = f"{order} {count['count']}", condition[: count.start()]
    order_symbols, condition_symbols = symbols_in(order), symbols_in(condition)
    if order_symbols and condition_symbols and order_symbols != condition_symbols:
        return ConditionalOrder(order, "")  # an order can wait for its own price only
    return ConditionalOrder(" ".join([order, *([] if order_symbols else condition_symbols)]), condition)


_AGREED = r"(?:yes|ok|okay|but|only|just|no|wait|si|vale|pero|solo|espera|mejor)"


def condition_after(text: str) -> str:
    """The condition that a short text adds to an earlier order: "yes, but only if it falls to 28"; "" if none."""
    match = re.match(
        rf"^\W*(?:{_AGREED}\W+){{0,3}}?{_CONDITION_WORD}\s+(?P<condition>.*\d.*)$", plain(YES.sub("", text))
    )
    return match["condition"] if match else ""


def without_condition(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The order without the prices that it waited for, as a market order."""
    others = {name: value for name, value in arguments.items() if not name.endswith("_price")}
    return {**others, "order_type": "market"}


def with_condition(order: Wish, condition: str) -> Wish:
    """The order at the price that its condition names. If it names none, the price is missing and is asked for: an
    order without its condition would be filled immediately."""
    tool, arguments = order.calls[0]
    if any(name.endswith("_price") for name in arguments):
        return order
    order = replace(order, missing=tuple(name for name in order.missing if not name.endswith("_price")))
    normalized = plain(condition)
    percent, side = _percent_away(normalized)
    side = _OTHER_SIDE[side] if NEGATED_LEVEL.match(normalized) else side
    waiting_order, name = as_waiting(arguments, side)
    if (distance := distance_in(normalized)) and len(order.calls) == 1 and not order.way and not order.missing:
        waiting_order, _ = as_waiting(arguments, "<=" if distance < 0 else ">=")
        return away(tool, waiting_order, distance)
    numbers, is_single = numbers_in(normalized), len(order.calls) == 1
    may_be_price = not any(words.search(normalized) for words in (CONCEPT, _NOT_A_PRICE, OTHER_FIGURE))
    if percent is None and len(numbers) == 1 and is_single and may_be_price:
        level = numbers[0][1]
        if side == "==" and not order.way and not order.missing:
            return Wish(Intent.TOOL, ((tool, arguments),), way="at_level", amount=level)
        return replace(order, calls=((tool, {**waiting_order, name: level}),))
    if percent is not None and may_be_price and side != "==" and is_single and not order.way and not order.missing:
        return at_share(tool, waiting_order, percent, side)
    return replace(order, calls=((tool, waiting_order), *order.calls[1:]), missing=(*order.missing, name))


def at_distance(tool: str, arguments: Mapping[str, Any], normalized: str) -> Wish | None:
    """An alert or order at a distance, in money or per cent, from the current price; None if the normalized text names
    no such distance, or one from something else."""
    if distance := distance_in(normalized):
        side = "<=" if distance < 0 else ">="
        others = {name: value for name, value in arguments.items() if not name.endswith("price")}
        if len(numbers_in(in_figures(normalized))) == 1:
            others.pop("quantity", None)  # the only number is the distance
        if tool != _ORDER:
            return away(tool, {**others, "condition": side}, distance)
        order = as_waiting(others, side)[0]
        waiting_order = away(tool, order, distance)
        return waiting_order if "quantity" in order else replace(waiting_order, missing=_SIZE)
    percent, side = _percent_away(normalized)
    of_percent = percent_in(normalized)
    order = {
        name: value for name, value in arguments.items() if not (name.endswith("price") and abs(value) == of_percent)
    }
    if percent is None or (order == arguments and side == "==") or any(name.endswith("price") for name in order):
        return None
    name = "price"
    if tool == _ORDER:
        order, name = as_waiting(order, side)
    if side == "==" and tool == _ORDER:
        return Wish(Intent.TOOL, ((tool, order),), (name,))
    if side == "==":
        return Wish(Intent.TOOL, ((tool, order),), way="either_side", amount=percent / 100)
    return at_share(tool, order, percent, side)


def _percent_away(normalized: str) -> tuple[float | None, str]:
    """The distance from the current price in per cent that a normalized text names, None if none; and its side."""
    match = _OF_THE_PRICE.search(normalized)
    if match and not match["moves"]:
        difference = number_of(match["percent"]) - 100
        return abs(difference), "<=" if difference < 0 else ">="
    return percent_in(normalized), condition_in(normalized)


def distance_in(normalized: str) -> float | None:
    """The distance from the current price, in money, that a normalized text names: -3 for "3 below the market"; None if
    none."""
    normalized = in_figures(normalized)
    match = _DISTANCE.search(normalized)
    if match is None or re.search(r"\b(?:buy|sell|compr\w+|vend\w+) $", normalized[: match.start()]):
        return None
    return number_of(match["by"] or match["moved"]) * (-1 if match["down"] or match["falls"] else 1)


def without_distance(normalized: str) -> str:
    """An order's text without its distance from the current price, whose number is no price and no quantity."""
    match = _DISTANCE.search(normalized) if distance_in(normalized) is not None else None
    is_of_price = match is not None and (_OF_MONEY.search(match[0]) or order_prices(normalized))
    return (
        f"{normalized[: match.start()]} {normalized[match.end() :]}"
        if match is not None and is_of_price
        else normalized
    )


def as_waiting(arguments: Mapping[str, Any], side: str) -> tuple[dict[str, Any], str]:
    """The order as a waiting one, and the name of its price argument: a stop follows the price's move, a limit is
    against it."""
    is_stop = (side == "<=") if arguments.get("side") == "sell" else (side == ">=")
    kind = "stop" if is_stop else "limit"
    return {**arguments, "order_type": kind}, f"{kind}_price"


def at_share(tool: str, arguments: dict[str, Any], percent: float, side: str) -> Wish:
    """A wish at so many per cent above or below the current price, which is looked up first (`steps`)."""
    share = 1 + percent / 100 * (1 if side == ">=" else -1)
    return Wish(Intent.TOOL, ((tool, arguments),), way="at_share", amount=share)


def away(tool: str, arguments: dict[str, Any], distance: float) -> Wish:
    """A wish at a distance in money from the current price, which is looked up first."""
    return Wish(Intent.TOOL, ((tool, arguments),), way="at_distance", amount=distance)
