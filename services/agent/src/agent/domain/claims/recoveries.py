"""Checks whether a fall that a sentence calls recovered, or not recovered, is so by what the tool returned."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from agent.domain.claims.lexer import Token
from agent.domain.claims.times import Day

_CLAUSE = re.compile(r"[,;:]|\b(?:and|but|y|e|pero|aunque|although)\b")
_RECOVERED = re.compile(
    r"\b(?:(?:(?<!\bto )|(?<=yet to ))(?:recover|regain|reclaim)(?:s|ed)?|(?:(?<=sin )|(?<=pendiente de ))"
    r"recuperar(?:se|lo)?|recuper(?:a|an|o|aron|ad[oa]s?))\b"
)
_NOT = re.compile(r"\b(?:yet to|not|never|neither|nor|no|nunca|ni|sin|pendiente|ningun[oa]?)\b|n't\b")
_PARTIAL = re.compile(r"\d ?%|\b(?:half|part|some|most|third|mitad|parte|algo|tercio)\b")
"""A part that was recovered is not the whole fall."""


def are_recoveries_right(
    low: str, tokens: Sequence[Token], subjects: Sequence[str], falls: Mapping[str, Mapping[date, date | None]]
) -> bool | None:
    """Whether what a folded sentence says of recoveries holds for each of its subjects; None: it says nothing of them.
    `falls`: by their peak's day, the day on which each was recovered, if it was. Where a day or month is named, of the
    falls that began then; one that its own clause names may be the recovery's."""
    said = next((one for one in _CLAUSE.split(low) if _RECOVERED.search(one)), None)
    known = [falls[one] for one in subjects if falls.get(one)]
    if said is None or not known or _PARTIAL.search(said):
        return None
    start = low.index(said)
    named = [token for token in tokens if _names_day_or_month(token)]
    within = [token for token in named if start <= token.position < start + len(said)]
    before = [token for token in named if token not in within]
    for of in known:
        then = {peak: done for peak, done in of.items() if _falls_on_any(peak, before)}
        if within and not _NOT.search(said):
            then = {
                peak: done
                for peak, done in (then or of).items()
                if _falls_on_any(peak, within) or (done and _falls_on_any(done, within))
            }
            if not then:
                return False
        elif within:
            then = then or {peak: done for peak, done in of.items() if _falls_on_any(peak, within)}
        if bool(_NOT.search(said)) == all((then or of).values()):
            return False
    return True


def _names_day_or_month(token: Token) -> bool:
    """Whether it is a day, or a stretch within one month."""
    first, slash, last = str(token.value).partition("/")
    return isinstance(token.value, Day) or (token.kind == "period" and bool(slash) and first[:7] == last[:7])


def _falls_on_any(day: date, named: Sequence[Token]) -> bool:
    for token in named:
        first, _, last = str(token.value).partition("/")
        if token.value.fits(day) if isinstance(token.value, Day) else first <= day.isoformat() <= last:
            return True
    return False
