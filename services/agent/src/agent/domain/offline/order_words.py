"""Words for orders and price levels: sides, kinds, and above or below. Spanish and English; texts are normalized."""

from collections.abc import Mapping
from typing import Any

from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

SAYS_SIDE = expression(r"\b(?:buy\w*|sell\w*|purchase|compr\w+|vend\w+)\b")
AT_MARKET = expression(
    r"\b(?:(?:at|to|a) (?:the )?(?:market|mercado)|(?:market|mercado) order|"
    r"(?:no|without|remove the|drop the|sin|quita(?:le)? el) limite?(?! (?:orders?|price|de)\b))\b|"
    r"^\W*(?:(?:actually|no|wait|sorry|ok|mejor|perdon|espera)\W+)*(?:market|mercado)\b"
)
_KINDS = {"stop_price": expression(r"\bstop\b"), "limit_price": expression(r"\blimit(?:ed|e|ad[oa])?\b")}
"""By price argument: what an order is called that waits for it."""
_COUNT = rf"(?:\d+|{'|'.join(NUMBERS)}|(?:half )?an? dozen|(?:una|media) docena)"
TAKES_SHARES = (
    rf"(?:(?:pick (?:me )?up|grab|get me|put me|ponme|lemme get|"
    rf"let me (?:get|have)|i ll (?:get|have))(?: me)?(?= {_COUNT})|"
    r"(?:i(?:\W?ll take| want| will take)|give me|quiero|dame|pilla(?:me)?|coge(?:me)?)"
    rf"(?= {_COUNT}(?:\W*$|(?: (?!percent|por|per)\w+)? (?:shares?|stocks?|acciones|titulos)(?:\W*$| (?:of|de)\b)|"
    r" (?:of|de|more|mas)\b(?! (?:those|these|es[oa]s) \w)))"
    r"|(?:i(?: want|\W?ll take|\W?d like)|give me|get me|quiero|dame|pilla(?:me)?|coge(?:me)?|pon(?:me)?|mete)"
    r"(?= [$€]? ?\d[\d.,]*k? ?(?:[$€]|dollars?['’]?|bucks|usd|dolares|euros?|eur|pavos)?(?: worth)? (?:of|de|in|en)\b"
    r"(?! (?:those|these|es[oa]s) \w)))"
)
"""Orders a number of shares without the word buy."""
TAKES_PROFIT = expression(r"\b(?:take[ -]?profits?|(?:toma|recoge)\w* (?:de )?(?:los )?beneficios)\b")
A_PART = r"(?:half|third|quarter|fifth|tenth|all|mitad|tercio|cuart[oa]|quint[oa]|decim[oa]|tercera parte|todo)"
"""A part of the cash."""
_SIDES = {
    "sell": expression(r"\b(sell\w*|vend\w+|venta|short(?= \d))\b"),
    "buy": expression(
        rf"\b(buy\w*|purchase|long(?= \d)|compr\w+|{TAKES_SHARES}|"
        r"(?:put|invest|invertir|invierte|mete|meter|pon)\b.{0,12}"
        rf"(?:\d|\b{A_PART}\b).{{0,25}}\b(?:in|into|en))\b"
    ),
}
_NEGATED_SIDE = expression(
    r"\b(?:not|no|don\W?t|instead of|rather than|en (?:vez|lugar) de) (?:to |me )?(?:buy|sell|compr|vend)\w*"
)
"""A side of an order that is negated."""
ABOVE = expression(r"\b(above|over|encima|mas de|al alza)\b|>|(?<!\w)\+\d")
BELOW = expression(r"\b(below|under|debajo|menos de|a la baja)\b|<|(?<!\w)[-\u2212]\d[\d.,]*\s?%")
"""Which side of a price is meant, whatever the verb: breaks above, rompe por debajo."""
_RISING = expression(
    r"\b(exceeds?|surpass\w*|tops?|r(?:ise[ns]?|ising|ose)|(?:goes|went|gone) up|up (?=\d)|up by|go(?:es)? past|"
    r"climb(?:s|ed)?|gain(?:s|ed)?|jumps?|adds|advances?|soars?|rall(?:y|ies)|super(?:a|e)\w*|(?:sobre)?pas[ae]\w*|rebas[ae]\w*|exced[ae]\w*|"
    r"sub(?:a|e|iera|iese|io))\b"
)
_FALLING = expression(
    r"\b(down (?=\d)|down by|f[ae]ll(?:en|s)?|drop(?:s|ped)?|(?:goes|went|gone) down|dip(?:s|ped)?|los(?:es?|t)|"
    r"slip(?:s|ped)?|slides?|slid|sinks?|sank|sheds?|tumbles?|plunges?|declin(?:es?|ed)|retreats?|gives up|pulls back|"
    r"baj(?:[ae]|ara|ase)|ca(?:e|iga|yera|yese|yo)|desc(?:iend[ae]|endiera)|pierd[ae]|perd(?:iera|iese|io)|"
    r"ced[ae]|retroced[ae]|recort[ae]|se (?:deje|deja|hund[ae]|desplom[ae]))\b"
)


HABIT = (
    r"\b(?:always|usually|normally|generally|often|sometimes|(?:every|each) (?:day|week|month|year)|siempre|"
    r"normalmente|a menudo|a veces|suelo|solemos|cada (?:dia|semana|mes|ano))\b|"
    r"\b(?:i (?:only )?(?:buy|sell)|yo (?:solo )?(?:compr|vend)o)\b|"
    r"\b(?:si|if|what if|suppos\w+|imagin\w+|supon\w*)\b.{0,15}\b(?:compr(?:o|as|ara|ase|aba)|"
    r"vend(?:o|es|iera|iese|ia)|(?:i|you) (?:were to )?(?:buy|sell|bought|sold))\b|"
    r"\bcuanto (?:gano|gan[ae]ria|pierdo|perderia)\b"
)
"""How somebody usually trades, or only imagines to."""
STOP_WITH_PRICE = expression(
    r"\bstop\b(?! (?:buy|order|de compra)\b)(?<!buy stop)(?<!orden stop)(?<!orden de stop)(?=.*\d)"
)


def order_prices(normalized: str) -> list[str]:
    """The price arguments that a normalized text's order waits for, by what it calls the order."""
    return [] if AT_MARKET.search(normalized) else [name for name, kind in _KINDS.items() if kind.search(normalized)]


def missing_prices(arguments: Mapping[str, Any], normalized: str) -> tuple[str, ...]:
    """The missing price arguments of an order that is called a limit or stop order."""
    return () if any(name in arguments for name in _KINDS) else tuple(order_prices(normalized))


def order_named(normalized: str) -> dict[str, str]:
    """The side and the kind of the order that a normalized text mentions, if it gives them: "the stop"."""
    kinds = [name.removesuffix("_price") for name in order_prices(normalized)]
    sides = [side for side, pattern in _SIDES.items() if pattern.search(normalized)]
    return ({"order_type": kinds[0]} if kinds else {}) | ({"side": sides[0]} if len(sides) == 1 else {})


def sides_in(normalized: str) -> list[tuple[str, str]]:
    """The sides that a normalized text names, in order, each with its word."""
    without_negated = _NEGATED_SIDE.sub(" ", normalized)
    sides = [
        (match.start(), side, match[0])
        for side, pattern in _SIDES.items()
        if (match := pattern.search(without_negated))
    ]
    return [(side, word) for _, side, word in sorted(sides)]


def condition_in(normalized: str) -> str:
    """The side of a price that a normalized text mentions: ">=", "<=", or "==" for none."""
    above, below = ABOVE.search(normalized), BELOW.search(normalized)
    if bool(above) != bool(below):
        return ">=" if above else "<="
    return "<=" if _FALLING.search(normalized) else ">=" if _RISING.search(normalized) else "=="
