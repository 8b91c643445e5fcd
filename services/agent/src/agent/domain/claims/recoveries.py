"""Checks whether a fall that a sentence calls recovered, or not recovered, is so by what the tool returned."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from agent.domain.claims.lexer import Token
from agent.domain.claims.times import Day

_CLAUSE = re.compile(r"[,;:]|\b(?:and|but|y|e|pero|aunque|although)\b")
_RECOVERED = re.compile(r"\b(?:(?:(?<!\bto )|(?<=yet to ))recover(?:s|ed)?|recuper(?:a|an|o|aron|ad[oa]s?))\b")
_NOT = re.compile(r"\b(?:yet to|not|never|neither|nor|no|nunca|ni|sin|ningun[oa]?)\b|n't\b")
_HOW_MUCH = re.compile(r"\d ?%|\b(?:half|part|some|most|third|mitad|parte|algo|tercio)\b")
"""A part that was recovered is not the whole fall."""


def recoveries_right(
    low: str, tokens: Sequence[Token], subjects: Sequence[str], falls: Mapping[str, Mapping[date, bool]]
) -> bool | None:
    """Whether what a folded sentence says of recoveries holds for each of its subjects; None: it says nothing of them.
    `falls`: by their peak's day,
    whether each has been recovered. Where a day or month is named, of the falls that began then."""
    said = next((one for one in _CLAUSE.split(low) if _RECOVERED.search(one)), None)
    known = [falls[one] for one in subjects if falls.get(one)]
    if said is None or not known or _HOW_MUCH.search(said):
        return None
    days = [token.value for token in tokens if token.kind == "day" and isinstance(token.value, Day)]
    months = [str(token.value).partition("/") for token in tokens if token.kind == "period"]
    stretches = [(first, last) for first, slash, last in months if slash and first[:7] == last[:7]]
    for of in known:
        then = [
            done
            for peak, done in of.items()
            if any(day.fits(peak) for day in days) or any(a <= peak.isoformat() <= b for a, b in stretches)
        ]
        if bool(_NOT.search(said)) == all(then or of.values()):
            return False
    return True
