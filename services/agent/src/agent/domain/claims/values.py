"""Finds the value of a ticker's figure, and judges claims that compare or rank such values."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.domain.claims.claim import Claim
from agent.domain.claims.facts import FALL_FIGURES, YEARLY_FIGURES, Facts, FigureFact

RETURN_FIGURES = ("return", "day_return", "week_return", "month_return", "quarter_return", "year_return")
"""Figures that a rise or fall may state: the return of the period, or of one of its days, weeks, months, …"""


def facts_of_claim(claim: Claim, facts: Facts, periods: Iterable[str]) -> list[FigureFact]:
    if claim.subject is None:
        return [fact for name in facts.subjects for fact in facts.find(name, claim.figures, periods)]
    matches = facts.find(claim.subject, claim.figures, periods)
    if claim.figures and claim.figures[0] in ("correlation", "beta") and claim.other:
        matches = [fact for fact in matches if fact.other in (None, claim.other)]
    return matches


def value_of(facts: Facts, subject: str, figures: Sequence[str], periods: Sequence[str]) -> float | None:
    """Returns one value of a ticker's figure; falls as positive depths. A figure that does not depend on a period has
    its value whatever period is stated."""
    matches = facts.find(subject, figures, periods)
    if not matches and not {*RETURN_FIGURES, "total_return", "cagr", *YEARLY_FIGURES}.intersection(figures):
        matches = facts.find(subject, figures)
    for fact in matches:
        if isinstance(fact.value, float):
            return abs(fact.value) if fact.figure in FALL_FIGURES else fact.value
    return None


def _candidate_periods(claim: Claim, facts: Facts) -> list[str]:
    """The periods of a return for which the sentence states none. It is enough if the claim holds in one of them."""
    if not {*claim.figures} & {*RETURN_FIGURES, "total_return"}:
        return []
    matches = [fact for fact in facts.facts if fact.subject == claim.subject and fact.figure in claim.figures]
    return list(dict.fromkeys(fact.period for fact in matches if fact.period))


def comparison_problem(claim: Claim, facts: Facts) -> str | None:
    if claim.subject is None or claim.other is None:
        return "a comparison with nobody"
    if not claim.periods and (stretches := _candidate_periods(claim, facts)):
        reasons = [comparison_problem(replace(claim, periods=(period,)), facts) for period in stretches]
        return None if None in reasons else reasons[0]
    value = value_of(facts, claim.subject, claim.figures, claim.periods)
    other_value = value_of(facts, claim.other, claim.figures, claim.periods)
    is_ambiguous_pair = (
        claim.figures == ("correlation",) and len({fact.other for fact in facts_of_claim(claim, facts, ())}) > 1
    )
    if value is None or other_value is None or is_ambiguous_pair:
        return "a comparison of what is not known"
    if claim.move is not None:
        if (value > 0 or other_value > 0) if claim.move == "fell" else (value < 0 or other_value < 0):
            return "they did not both move like that"
        value, other_value = abs(value), abs(other_value)
    return (
        None
        if (value > other_value if claim.relation == "more" else value < other_value)
        else "the figures say otherwise"
    )


def rank_problem(claim: Claim, facts: Facts) -> str | None:
    if claim.other is not None:  # a pair's correlation among those of all pairs
        facts_of_all = [fact for name in facts.subjects for fact in facts.find(name, claim.figures, claim.periods)]
        pairs = [(fact.value, {fact.subject, fact.other}) for fact in facts_of_all if isinstance(fact.value, float)]
        first = max(pairs, default=None, key=lambda pair: pair[0] if claim.relation == "highest" else -pair[0])
        return None if first and first[1] == {claim.subject, claim.other} else "another pair has that rank"
    if not claim.periods and (stretches := _candidate_periods(claim, facts)):
        reasons = [rank_problem(replace(claim, periods=(period,)), facts) for period in stretches]
        return None if None in reasons else reasons[0]
    values = {name: value_of(facts, name, claim.figures, claim.periods) for name in facts.subjects}
    known_values = {name: value for name, value in values.items() if value is not None}
    own_value = known_values.get(claim.subject or "")
    if own_value is None:
        return "a rank of what is not known"
    first = max(known_values.values()) if claim.relation == "highest" else min(known_values.values())
    return None if own_value == first else "another has that rank"
