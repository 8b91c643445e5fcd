"""Reads an amount of money that somebody invested: 10,000 · 10.000 euros · $5k · diez mil · half a million."""

import re

from agent.domain.analysis.stretches import UnreadText
from agent.domain.number_words import BELOW_100, DIGITS, LARGE, value_of
from contracts.expressions import expression

_CURRENCIES = {
    "USD": r"\$|usd|us dollars?|dollars?|dolar(?:es)?|bucks", "EUR": r"€|eur|euros?", "GBP": r"£|gbp|pounds?|libras?",
}  # fmt: skip
_MONEY = rf"(?:{'|'.join(_CURRENCIES.values())})"
_VALUE = rf"(?:\b{LARGE}|{DIGITS}(?: ?[km]\b)?)"
_INVESTMENT = expression(
    r"\b(?:invest\w*|inver\w+|put|puesto|pon\w+|metid\w+|met\w+|placed?|bought|would (?:be|have|i|now)|worth|"
    r"bec[ao]me|grown?|turn(?:ed)? into|convertid\w*|convirti\w+|convertiri\w+|tendri\w+|valdri\w+|quedari\w+|"
    r"habria\w*|hubiera\w*|if i|si hubi\w+|cash|capital|starting with|(?:con|with) (?=\W?\d))"
)
WITH_MONEY = expression(
    rf"(?<![\w.,])(?:{_MONEY} ?(?P<a>{_VALUE})|(?P<b>{_VALUE}|{BELOW_100}|an?|una?)(?: de)? ?{_MONEY})(?!\w)"
)
_INVESTED_NUMBER = expression(
    rf"(?:\b(?:invest(?:ed|ing)?|put|invert(?:id[oa]s?|ir)|invirtiendo|invierto|metid[oa]s?|puesto) (?:an? |una? "
    rf")?(?P<a>{_VALUE})(?!\w)|(?<![\w.,])(?P<b>{_VALUE})(?= (?:invested|put in(?:to)?|invertid[oa]s?|metid[oa]s?|"
    rf"placed)\b))"
)
_SUM = rf"(?:\d{{1,3}}(?:[.,]\d{{3}})+|{LARGE}|\d+(?:[.,]\d+)?k\b)"
_LARGE_SUM = expression(
    rf"(?<![\w.,$€£])(?:(?P<a>{_SUM}|\d{{4,12}}(?= (?:in each|en cada)\b))(?= (?:in|into|en)\b)|"
    rf"(?:(?<=\bwith )|(?<=\bcon ))"
    rf"(?P<b>{_SUM}|(?!(?:19|20)\d\d\b)\d{{4,12}})(?![\w.,]*\d| ?%| (?:shares|acciones)))"
)
"""A large number that is invested in something or the cash of a backtest: 10,000 in IBM, a trial with 50,000."""


def amount_in(unread: UnreadText) -> tuple[float, str | None] | None:
    """Takes the invested amount from a text, with its currency if it is named; None if there is none."""
    for pattern in (WITH_MONEY, _INVESTED_NUMBER, _LARGE_SUM):
        if (
            pattern is not _INVESTED_NUMBER
            and not _INVESTMENT.search(unread.text)
            and not _LARGE_SUM_IN.search(unread.text)
        ):
            continue
        match = unread.first(pattern)
        if match is not None:
            groups = match.groupdict()
            # The article of "a dollar" has no value and counts as one.
            return value_of(groups.get("a") or groups.get("b") or "") or 1.0, _currency(match[0])
    return None


_LARGE_SUM_IN = expression(rf"(?:{_MONEY}|\d{{3}}|k|\bmil|\bthousand) ?(?:de )?(?:{_MONEY} )?(?:in|into|en) ")


def other_currency_in(text: str) -> str | None:
    """The currency other than the dollar in which a text wants a figure: "in euros", "how many euros is …"."""
    match = _IN_CURRENCY.search(text)
    return _currency(match[0]) if match is not None else None


_IN_CURRENCY = expression(
    rf"\b(?:in|en|how many|cuantos|cuantas|to|into|a) (?:{_CURRENCIES['EUR']}|{_CURRENCIES['GBP']})(?!\w)"
)


def _currency(text: str) -> str | None:
    return next((name for name, pattern in _CURRENCIES.items() if re.search(pattern, text)), None)
