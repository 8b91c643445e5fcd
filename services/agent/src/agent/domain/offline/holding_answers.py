"""Answers questions about one's own positions by their figures: which is the largest, what part of the portfolio a
share is, and how much was gained or lost with it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.domain.analysis.formats import figure, number, percent, signed
from agent.domain.text_features import plain, symbols_in
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

Position = Mapping[str, Any]
_GAIN = expression(
    r"\b(?:gain\w*|los[ts]\w*|lose|losing|win\w*|won|profit\w*|earn\w*|ma[dk]e|making|up|down|perform\w*|p ?[&/] ?l|"
    r"pnl|gan\w+|perd\w+|pierd\w+|plusvalia\w*|rent\w+|sub\w+|baj\w+|mejor|peor|best|worst)\b"
)
"""Words for what a position has gained or lost."""
_MOST = expression(
    r"\b(?:(?P<least>smallest|lowest|worst|least|los(?:es|t|ing) (?:the )?most|down (?:the )?most|mas pequen[oa]|menor|"
    r"peor|menos|mas (?:pierd\w+|perd\w+|baj\w+)|(?:pierd\w+|perd\w+|baj\w+) mas)|"
    r"(?:biggest|largest|highest|main|best|mas grande|principal|mayor|mejor|(?:gain\w*|up|worth|made) (?:the )?most|"
    r"most (?:valuable|profitable)|(?:gan\w+|sub\w+|val\w+|rind\w+) mas|mas (?:gan\w+|sub\w+|val\w+|rentable)))\b"
)
"""The position that has most or least of something; a loss is the least gain."""
_DIVIDENDS = expression(r"\bdivid\w+\b")
_PART = expression(
    r"\b(?:percent\w*|per ?cent|por ?centaje|weight|share of|part of|proportion|fraction|peso|que parte|"
    r"proporcion)\b|%"
)


def holding_answer(question: str, portfolio: Mapping[str, Any], language: Language) -> str:
    """What a question asks of the positions in get_portfolio's data; "" if it asks for no figure of them, or there are
    none with a price."""
    positions: Sequence[Position] = portfolio.get("positions") or ()
    equity, currency = float(portfolio.get("equity") or 0), portfolio.get("currency") or ""
    normalized, symbols = plain(question), symbols_in(question)
    priced = [{**position, "currency": currency} for position in positions if position.get("price") is not None]
    named = [position for position in priced if position["symbol"] in symbols]
    if _DIVIDENDS.search(normalized) and not symbols:
        return _say("dividends", language, amount=number(portfolio.get("dividends") or 0, language), currency=currency)
    if symbols and not named:
        held_symbols = {position["symbol"] for position in positions}
        absent = [symbol for symbol in symbols if symbol not in held_symbols]
        return _say("none", language, symbol=", ".join(absent)) if absent else ""
    if not priced:
        return ""
    is_gain = _GAIN.search(normalized) is not None
    if _PART.search(normalized) and equity:
        return "\n".join(_part(position, equity, language) for position in named or priced)
    if named:
        return "\n".join(_gain(position, language) for position in named) if is_gain else ""
    if (most := _MOST.search(normalized)) is not None:
        key: Callable[[Position], float] = _gained if is_gain else _worth
        chosen = (min if most["least"] else max)(priced, key=key)
        return _gain(chosen, language) if is_gain else _part(chosen, equity, language)
    gain = _signed(sum(map(_gained, priced)), language)
    return _say("total", language, gain=gain, currency=currency) if is_gain else ""


def _worth(position: Position) -> float:
    return float(position["value"])


def _gained(position: Position) -> float:
    return float(position["unrealized"])


def _gain(position: Position, language: Language) -> str:
    """What a position has gained or lost since it was bought."""
    cost = _worth(position) - _gained(position)
    share = f" ({signed(percent(_gained(position) / cost, language))})" if cost else ""
    return _say("gain", language, **_parts(position, language), gain=_signed(_gained(position), language), share=share)


def _part(position: Position, equity: float, language: Language) -> str:
    """What a position is worth, and its part of the portfolio, cash included."""
    return _say("part", language, **_parts(position, language), part=percent(_worth(position) / equity, language))


def _parts(position: Position, language: Language) -> dict[str, str]:
    return {
        "symbol": str(position["symbol"]),
        "quantity": figure(position["quantity"], language),
        "average": number(position["average_price"], language),
        "price": number(position["price"], language),
        "value": number(_worth(position), language),
        "currency": str(position["currency"]),
    }


def _signed(amount: float, language: Language) -> str:
    return signed(number(amount, language))


def _say(key: str, language: Language, **parts: object) -> str:
    return TEXTS[f"offline.holdings.{key}"].in_language(language).format(**parts)
