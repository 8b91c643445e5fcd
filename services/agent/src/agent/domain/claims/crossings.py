"""Checks whether the crossings of averages that a sentence dates went in the direction that the tool returned."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise

from agent.domain.claims.lexer import Number, Token
from agent.domain.claims.times import Day
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

_CROSSING = expression(r"\b(?:averages?|medias?|cross(?:es|ed|ing|ings)?|cruces?|cruz\w+)\b")
_DIRECTION = expression(
    r"\b(?:(?P<up>above|over|por encima|al alza|golden cross|cruce dorado)|"
    r"(?:below|under|beneath|por debajo|a la baja|death cross|cruce de la muerte))\b"
)
_CROSS_NAME = expression(r"\b(?:(?P<up>golden cross|cruce dorado)|death cross|cruce de la muerte)\b")
COUNT = expression(
    rf"\b(?:(?P<n>\d{{1,3}}|{'|'.join(NUMBERS)}|no|ningun) (?:(?P<up>golden cross(?:es)?|(?:cruces? )?dorados?)|"
    r"(?P<down>death cross(?:es)?|(?:cruces? )?de la muerte)|times|veces|cross(?:ing|e)s|cruces)|twice)\b"
)
"""How often averages crossed: up, down or in any direction."""
_LENGTHS = frozenset(map(float, range(2, 251)))
"""Lengths of averages that may cross, in sessions."""


def are_crossings_right(folded_text: str, tokens: Sequence[Token], crossings: Mapping[date, bool]) -> bool | None:
    """Whether there were as many crossings as a sentence counts, and each that it dates went in its direction; None if
    it neither counts nor dates any. `crossings`: for each day, whether the shorter average went above."""
    if not crossings or not _CROSSING.search(folded_text):
        return None
    if counts := list(COUNT.finditer(folded_text)):
        return all(_matches_count(count, list(crossings.values())) for count in counts)
    days = [(token.position, token.value) for token in tokens if token.kind == "day" and isinstance(token.value, Day)]
    is_right: bool | None = None
    for (start, day), (end, _) in pairwise([*days, (len(folded_text), None)]):
        directions = {above for crossing_day, above in crossings.items() if day is not None and day.fits(crossing_day)}
        previous_start = max((position for position, _ in days if position < start), default=0)
        direction = _DIRECTION.search(folded_text, start, end) or (
            _DIRECTION.search(folded_text, previous_start, start) if len(days) == 1 else None
        )
        if directions and direction is not None:
            cross_name = _CROSS_NAME.search(folded_text) if len(days) == 1 else None
            stated_directions = {bool(match["up"]) for match in (direction, cross_name) if match is not None}
            is_right = is_right is not False and stated_directions <= directions
    return is_right


def _matches_count(match: re.Match[str], directions: Sequence[bool]) -> bool:
    written = match["n"] or "two"
    number = 0 if written in ("no", "ningun") else int(NUMBERS.get(written, written))
    direction = True if match["up"] else False if match["down"] else None
    return number == sum(direction is None or other is direction for other in directions)


def has_only_lengths(tokens: Sequence[Token]) -> bool:
    """Whether all numbers of a sentence, except prices, can be lengths of averages."""
    numbers = [token.value for token in tokens if token.kind == "number" and isinstance(token.value, Number)]
    reading_sets = [{value for value, _ in number.readings} for number in numbers if not number.money]
    return all(readings <= _LENGTHS for readings in reading_sets) and not any(number.percent for number in numbers)
