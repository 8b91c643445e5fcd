"""Reads changes to an earlier figure, in Spanish and English: half of it, twice the capital, 5 higher, a bit less.

A change names the figure ("limit 5 higher"), or its words show whether it is a price ("a bit lower") or a count
("half"). All texts are normalized.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.number_words import in_figures, value_of
from agent.domain.text_features import number_of
from contracts.expressions import expression

_N = r"[$€]?(?<!\d)(?<!\d[.,])(?P<{}>\d(?:[\d.,]*\d)?)"
"""A whole number: what does not match from its first digit does not match from a later one either."""
_PERCENT = r" ?(?:%|per ?cent\b|por ?ciento\b)"
SHARE = expression(
    rf"{_N.format('percent')}{_PERCENT}|\b(?P<half>half|mitad)\b|"
    r"\b(?P<count>an?|one|another|two|three|un|una|otr[oa]|dos|tres|la|las) "
    r"(?:(?P<third>thirds?|tercios?|terceras? partes?)|(?P<quarter>quarters?|cuartos?|cuartas? partes?)|"
    r"(?P<fifth>fifths?|quintos?|quintas? partes?)|(?P<tenth>tenths?|decimos?|decimas? partes?))\b|"
    r"\b(?P<all>all|everything|whole|entire|tod[oa]s?|enter[oa])\b"
)
FRACTION = expression(
    r"\b(?:an?|one|una?|otra?) (?:third|quarter|fifth|tenth|tercio|quinto|decimo|"
    r"(?:tercera|cuarta|quinta|decima) parte)\b"
)
"""A fraction in words, whose article is no count."""
OF_CASH = expression(
    r"\b(?:of|de|all|half|tod[oa]) (?:(?:my|the|mi|el|la|tod[oa]) )*(?:cash|money|efectivo|dinero|liquidez|saldo)\b"
)
_SPENT = expression(
    r"[$€] ?(\d[\d.,]*k?)|\b(?<!\d[.,])(\d[\d.,]*k?) ?(?:[$€]|(?:dollars?|bucks|usd|dolares|euros?|eur|pavos)\b)|"
    r"\b(?:put|invest|invertir|invierte|mete|meter|pon)\b\D{0,12}(\d[\d.,]*k?)\b"
    r"(?! ?(?:%|per ?cent|por ?ciento))"
)
_PARTS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1, "all": 1.0}
_AMOUNT_TO_KEEP = expression(
    r"\b(?:all|everything|tod[oa]s?) (?:[^\W\d]+ ){0,4}?(?:but|except(?: for)?|menos|except[oa]|salvo) (?:l[oa]s )?"
    r"(?P<kept>\d+)\b|\b(?:keep(?:ing)?|"
    r"(?:me quedo|quedarme) con|dejando|deja|leav(?:e|ing)(?: me with)?) (?:just |only |solo )?(?P<left>\d+)\b"
)
ALL_BUT = expression(
    r"\b(?:all|everything|every|tod[oa]s?)\b.{0,30}?\b"
    r"(?P<but>but|except(?: for)?|apart from|other than|menos|except[oa]|salvo|aparte de)\b(?P<spared>.*)"
)
"""All but some, which are `spared`."""
_TIMES = expression(
    r"\b(?:(?P<double>doubled?|twice|doble|duplica\w*)|(?P<triple>tripled?|triplica\w*)|"
    r"(?P<times>\d+) (?:times|veces))\b(?! (?:an?|per|al?|por|every|cada)\b)"
)
_DOWN = r"lower|below|less|fewer|down|under|menos|abajo|debajo|mas (?:abaj|baj)[oa]"
_UP = r"higher|above|more|up|over|mas (?:arriba|alt[oa])|mas|arriba|encima"
_UNIT = (
    r"(?:\s?(?:[$€%]|dollars?|bucks|euros?|dolares|usd|eur|per ?cent|por ?ciento|points?|puntos?|shares?|acciones))?"
)
_BY = expression(
    rf"{_N.format('by')}(?P<unit>{_UNIT}) (?:por )?(?:(?P<down>{_DOWN})|(?P<up>{_UP}))\b"
    r"(?! than\b| de (?!capital|riesgo|acciones))"
)
_IT = r"(?: (?:it|that|them|the \w+|my \w+|el \w+|la \w+|mi \w+|otr[oa]s|una?|by|en|up|down|another)|l[oa]s?\b)*"
_MOVED = expression(
    rf"\b(?:(?P<down>lower|reduce|drop|baja|quita)|(?P<up>raise|increase|bump|sube|aumenta|add|anade))"
    rf"{_IT} {_N.format('by')}(?P<unit>{_UNIT})"
)
_HOW_FAR = expression(rf"^\W*(?:raise|lower|reduce|increase|sube|baja|aumenta){_IT}\W*$")
_LITTLE = expression(
    r"\b(?:a (?:little|bit|touch|tad)|slightly|somewhat|un po(?:co|quito)|un pelin|algo|ligeramente)\b"
)
_WAY = expression(rf"\b(?:{_DOWN}|{_UP}|closer|further|cerca|lejos|raise|lower|sube\w*|baja\w*)\b")
_OF_A_PRICE = expression(
    r"\b(?:higher|lower|above|below|up|down|raise|arriba|abajo|encima|debajo|alt[oa]|baj[oa]|closer|further|cerca|lejos|"
    r"sube\w*|baja(?:l[oa])?|dollars?|bucks|euros?|dolares)\b|[$€]"
)
OF_THAT = expression(r" (?:of (?:it|that|this|them|those)|de (?:es[oa]s?|ell[oa]s?|lo))\b")
_NOUNS = {
    "limit_price": r"limite?",
    "stop_price": r"stop",
    "stop_loss_price": r"stop",
    "take_profit_price": r"target|objetivo",
    "entry_price": r"entry|entrada",
    "capital": r"capital|account|money|cash|cuenta|dinero",
    "risk_percent": r"risk\w*|riesgo|arriesg\w+",
    "quantity": r"shares?|acciones|titulos|units|quantity|cantidad|(?:as )?many",
}


@dataclass(frozen=True, slots=True)
class Change:
    """Multiply by `factor`, or add `plus`. Without both, the text asks for a change but does not say how much."""

    factor: float | None = None
    plus: float | None = None

    def of(self, figure: float) -> float | None:
        """The figure after the change; None if the user has to be asked for it."""
        if self.factor is None and self.plus is None:
            return None
        changed = round(figure * (1 if self.factor is None else self.factor) + (self.plus or 0), 6)
        return changed if changed > 0 else None


def share_in(normalized: str) -> float | None:
    """The share that a text names, from 0 to 1: a third, 30 %, all. None for no share, 0 % or 200 %."""
    match = SHARE.search(normalized)
    if match is None:
        return None
    if match["percent"]:
        share = number_of(match["percent"]) / 100
    else:
        kind = next(name for name in _PARTS if match[name])
        share = _PARTS[kind] * (value_of(match["count"] or "") or 1)
    return share if 0 < share <= 1 else None


def percent_in(normalized: str) -> float | None:
    """The first percentage in a text, whatever it is a percentage of."""
    return next((number_of(match["percent"]) for match in SHARE.finditer(normalized) if match["percent"]), None)


def kept_in(normalized: str) -> float | None:
    """How many to keep: 5 in "sell all but five"."""
    match = _AMOUNT_TO_KEEP.search(in_figures(normalized))
    return float(match["kept"] or match["left"]) if match else None


def change_in(normalized: str) -> Change | None:
    """The change that a text asks for; None if it asks for none."""
    if match := _BY.search(normalized) or _MOVED.search(normalized):
        difference = number_of(match["by"]) * (-1 if match["down"] else 1)
        if re.search(r"%|cent|ciento", match["unit"]):
            return Change(factor=1 + difference / 100)
        return Change(plus=difference)
    if _HOW_FAR.search(normalized) or (_LITTLE.search(normalized) and _WAY.search(normalized)):
        return Change()
    if match := _TIMES.search(normalized):
        return Change(factor=2.0 if match["double"] else 3.0 if match["triple"] else float(match["times"]))
    match = SHARE.search(normalized)
    is_share_of_it = (
        match is not None and not match["all"] and (not match["percent"] or OF_THAT.match(normalized[match.end() :]))
    )
    return Change(factor=share_in(normalized)) if is_share_of_it else None


def argument_to_change(normalized: str, arguments: Mapping[str, Any], main_argument: str | None) -> str | None:
    """The name of the argument that a change applies to: the one that it names, the only price if it is about a price,
    else `main_argument`. None if that is not clear."""
    named_arguments = [
        name for name, noun in _NOUNS.items() if name in arguments and re.search(rf"\b(?:{noun})\b", normalized)
    ]
    if len(named_arguments) == 1:
        return named_arguments[0]
    if _OF_A_PRICE.search(normalized):
        prices = [name for name in arguments if name.endswith("price")]
        return prices[0] if len(prices) == 1 else None
    return main_argument if main_argument in arguments else None


def spent_in(normalized: str) -> float | None:
    """The money that an order is for: 500 in "buy $500 of MSFT"."""
    match = _SPENT.search(normalized)
    return number_of(next(filter(None, match.groups()))) if match else None


def is_like_price(figure: float, arguments: Mapping[str, Any]) -> bool:
    """Whether a figure is within 20 % of the order's price, and not within half to twice its quantity."""
    price = float(arguments.get("limit_price") or arguments["stop_price"])
    quantity = float(arguments.get("quantity", 0))
    return abs(figure - price) < 0.2 * price and not 0.5 * quantity <= figure <= 2 * quantity
