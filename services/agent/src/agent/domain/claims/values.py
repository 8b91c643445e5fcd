"""The value that a ticker's figure has, and the claims that compare such values or rank them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.domain.claims.claim import Claim
from agent.domain.claims.facts import FALL_FIGURES, YEARLY_FIGURES, Facts, FigureFact

RETURN_FIGURES = ("return", "day_return", "week_return", "month_return", "quarter_return", "year_return")
"""What a rise or fall may be: of the stretch, or of one of its days, weeks, months."""


def facts_of_claim(claim: Claim, facts: Facts, periods: Iterable[str]) -> list[FigureFact]:
    if claim.subject is None:
        return [one for name in facts.subjects for one in facts.find(name, claim.figures, periods)]
    found = facts.find(claim.subject, claim.figures, periods)
    if claim.figures and claim.figures[0] in ("correlation", "beta") and claim.other:
        found = [one for one in found if one.other in (None, claim.other)]
    return found


def value_of(facts: Facts, subject: str, figures: Sequence[str], periods: Sequence[str]) -> float | None:
    """One value of a ticker's figure, as big as it is: falls by their depth. What is no figure of a stretch has a
    value whatever stretch is spoken of."""
    found = facts.find(subject, figures, periods)
    if not found and not {*RETURN_FIGURES, "total_return", "cagr", *YEARLY_FIGURES}.intersection(figures):
        found = facts.find(subject, figures)
    for fact in found:
        if isinstance(fact.value, float):
            return abs(fact.value) if fact.figure in FALL_FIGURES else fact.value
    return None


def _candidate_periods(claim: Claim, facts: Facts) -> list[str]:
    """The stretches that a return may be of where nobody has said of when; one in which it is so is enough."""
    if not {*claim.figures} & {*RETURN_FIGURES, "total_return"}:
        return []
    mine = [one for one in facts.facts if one.subject == claim.subject and one.figure in claim.figures]
    return list(dict.fromkeys(one.period for one in mine if one.period))


def comparison_problem(claim: Claim, facts: Facts) -> str | None:
    if claim.subject is None or claim.other is None:
        return "a comparison with nobody"
    if not claim.periods and (stretches := _candidate_periods(claim, facts)):
        reasons = [comparison_problem(replace(claim, periods=(one,)), facts) for one in stretches]
        return None if None in reasons else reasons[0]
    one = value_of(facts, claim.subject, claim.figures, claim.periods)
    other = value_of(facts, claim.other, claim.figures, claim.periods)
    pairs = claim.figures == ("correlation",) and len({fact.other for fact in facts_of_claim(claim, facts, ())}) > 1
    if one is None or other is None or pairs:
        return "a comparison of what is not known"
    if claim.move is not None:
        if (one > 0 or other > 0) if claim.move == "fell" else (one < 0 or other < 0):
            return "they did not both move like that"
        one, other = abs(one), abs(other)
    return None if (one > other if claim.relation == "more" else one < other) else "the figures say otherwise"


def rank_problem(claim: Claim, facts: Facts) -> str | None:
    if claim.other is not None:  # a pair's correlation among those of all pairs
        all_of = [one for name in facts.subjects for one in facts.find(name, claim.figures, claim.periods)]
        pairs = [(one.value, {one.subject, one.other}) for one in all_of if isinstance(one.value, float)]
        first = max(pairs, default=None, key=lambda pair: pair[0] if claim.relation == "highest" else -pair[0])
        return None if first and first[1] == {claim.subject, claim.other} else "another pair has that rank"
    if not claim.periods and (stretches := _candidate_periods(claim, facts)):
        reasons = [rank_problem(replace(claim, periods=(one,)), facts) for one in stretches]
        return None if None in reasons else reasons[0]
    values = {name: value_of(facts, name, claim.figures, claim.periods) for name in facts.subjects}
    known = {name: value for name, value in values.items() if value is not None}
    mine = known.get(claim.subject or "")
    if mine is None:
        return "a rank of what is not known"
    first = max(known.values()) if claim.relation == "highest" else min(known.values())
    return None if mine == first else "another has that rank"
