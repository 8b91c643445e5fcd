"""Checks whether the crossings of averages that a sentence dates went in the direction that the tool returned."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise

from agent.domain.claims.lexer import Number, Token
from agent.domain.claims.times import Day
from contracts.calendar_names import NUMBERS

_CROSSING = re.compile(r"\b(?:averages?|medias?|cross(?:es|ed|ing|ings)?|cruces?|cruz\w+)\b")
_DIRECTION = re.compile(
    r"\b(?:(?P<up>above|over|por encima|al alza|golden cross|cruce dorado)|"
    r"(?:below|under|beneath|por debajo|a la baja|death cross|cruce de la muerte))\b"
)
_CROSS_NAME = re.compile(r"\b(?:(?P<up>golden cross|cruce dorado)|death cross|cruce de la muerte)\b")
COUNT = re.compile(
    rf"\b(?:(?P<n>\d{{1,3}}|{'|'.join(NUMBERS)}|no|ningun) (?:(?P<up>golden cross(?:es)?|(?:cruces? )?dorados?)|"
    r"(?P<down>death cross(?:es)?|(?:cruces? )?de la muerte)|times|veces|cross(?:ing|e)s|cruces)|twice)\b"
)
"""How often they crossed, up, down or at all."""
_LENGTHS = frozenset(map(float, range(2, 251)))
"""Of the averages that may cross: sessions."""


def are_crossings_right(low: str, tokens: Sequence[Token], crossed: Mapping[date, bool]) -> bool | None:
    """Whether crossings in a folded sentence are as many as it counts, and each that stands with its day went that
    way; None: it counts and dates none.
    `crossed`: the days of crossings, each with whether it went above."""
    if not crossed or not _CROSSING.search(low):
        return None
    if counts := list(COUNT.finditer(low)):
        return all(_matches_count(one, list(crossed.values())) for one in counts)
    days = [(token.position, token.value) for token in tokens if token.kind == "day" and isinstance(token.value, Day)]
    right: bool | None = None
    for (at, day), (end, _) in pairwise([*days, (len(low), None)]):
        told = {above for on, above in crossed.items() if day is not None and day.fits(on)}
        before = max((one for one, _ in days if one < at), default=0)
        way = _DIRECTION.search(low, at, end) or (_DIRECTION.search(low, before, at) if len(days) == 1 else None)
        if told and way is not None:
            named = _CROSS_NAME.search(low) if len(days) == 1 else None
            ways = {bool(one["up"]) for one in (way, named) if one is not None}
            right = right is not False and ways <= told
    return right


def _matches_count(counted: re.Match[str], ways: Sequence[bool]) -> bool:
    said = counted["n"] or "two"
    number = 0 if said in ("no", "ningun") else int(NUMBERS.get(said, said))
    way = True if counted["up"] else False if counted["down"] else None
    return number == sum(way is None or one is way for one in ways)


def has_only_lengths(tokens: Sequence[Token]) -> bool:
    """Whether the numbers of a sentence, but for prices, can all be lengths of averages."""
    numbers = [token.value for token in tokens if token.kind == "number" and isinstance(token.value, Number)]
    bare = [{value for value, _ in one.readings} for one in numbers if not one.money]
    return all(one <= _LENGTHS for one in bare) and not any(one.percent for one in numbers)
