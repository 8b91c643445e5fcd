"""Checks by a tool's drawdowns whether a fall that a sentence calls recovered, or not recovered, is so."""

from collections.abc import Mapping, Sequence
from datetime import date

from agent.domain.claims.lexer import Token
from agent.domain.claims.times import Day
from contracts.expressions import expression

_CLAUSE = expression(r"[,;:]|\b(?:and|but|y|e|pero|aunque|although)\b")
_RECOVERED = expression(
    r"\b(?:(?:(?<!\bto )|(?<=yet to ))(?:recover|regain|reclaim)(?:s|ed)?|(?:(?<=sin )|(?<=pendiente de ))"
    r"recuperar(?:se|lo)?|recuper(?:a|an|o|aron|ad[oa]s?))\b"
)
_NOT = expression(r"\b(?:yet to|not|never|neither|nor|no|nunca|ni|sin|pendiente|ningun[oa]?)\b|n't\b")
_PARTIAL = expression(r"\d ?%|\b(?:half|part|some|most|third|mitad|parte|algo|tercio)\b")
"""A partial recovery, which is not checked."""


def are_recoveries_right(
    folded_text: str, tokens: Sequence[Token], subjects: Sequence[str], falls: Mapping[str, Mapping[date, date | None]]
) -> bool | None:
    """Whether what a sentence says about recoveries holds for each of its subjects; None if it says nothing of them.

    `falls`: for each ticker, the day of each peak with the day of its recovery, if there was one. If the sentence names
    a day or month, only falls that began then count; one in the same clause may also be the day of the recovery."""
    clause = next((part for part in _CLAUSE.split(folded_text) if _RECOVERED.search(part)), None)
    known_falls = [falls[subject] for subject in subjects if falls.get(subject)]
    if clause is None or not known_falls or _PARTIAL.search(clause):
        return None
    start = folded_text.index(clause)
    dated_tokens = [token for token in tokens if _names_day_or_month(token)]
    clause_dates = [token for token in dated_tokens if start <= token.position < start + len(clause)]
    other_dates = [token for token in dated_tokens if token not in clause_dates]
    for recoveries in known_falls:
        matching = {peak: recovered_on for peak, recovered_on in recoveries.items() if _falls_on_any(peak, other_dates)}
        if clause_dates and not _NOT.search(clause):
            matching = {
                peak: recovered_on
                for peak, recovered_on in (matching or recoveries).items()
                if _falls_on_any(peak, clause_dates) or (recovered_on and _falls_on_any(recovered_on, clause_dates))
            }
            if not matching:
                return False
        elif clause_dates:
            matching = matching or {
                peak: recovered_on for peak, recovered_on in recoveries.items() if _falls_on_any(peak, clause_dates)
            }
        if bool(_NOT.search(clause)) == all((matching or recoveries).values()):
            return False
    return True


def _names_day_or_month(token: Token) -> bool:
    """Whether the token is a day, or a period within one month."""
    first, slash, last = str(token.value).partition("/")
    return isinstance(token.value, Day) or (token.kind == "period" and bool(slash) and first[:7] == last[:7])


def _falls_on_any(day: date, tokens: Sequence[Token]) -> bool:
    for token in tokens:
        first, _, last = str(token.value).partition("/")
        if token.value.fits(day) if isinstance(token.value, Day) else first <= day.isoformat() <= last:
            return True
    return False
