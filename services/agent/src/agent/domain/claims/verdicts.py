"""Judges a claim: compares it with the facts of its ticker, figure and period.

`unbacked_part` says what of a claim no fact backs, as a report needs; `contradicted_part` only what the facts speak
against, as a chat does. "MSFT rose more than IBM" compares their returns of that period.
"""

from collections.abc import Iterable
from datetime import date
from itertools import combinations

from agent.domain.claims.claim import Claim
from agent.domain.claims.closeness import is_near, is_rounded_from, is_stated_by, is_zero
from agent.domain.claims.facts import FALL_FIGURES, HOLDING, Facts, FigureFact, is_fraction
from agent.domain.claims.figure_words import FIGURES
from agent.domain.claims.lexer import Number
from agent.domain.claims.values import RETURN_FIGURES, comparison_problem, facts_of_claim, rank_problem, value_of

MAX_FLAT_RETURN = 0.003
"""A return below which a price has hardly moved."""
MAX_FLAT_RETURN_OVER_TIME = 0.01
"""The same over more than a day."""
MAX_EVEN_DIFFERENCE = 0.0011
"""Returns that differ by less are written alike."""


def unbacked_reason(claim: Claim, facts: Facts) -> str | None:
    """What of the claim no fact backs; None: it holds."""
    reason = _plain_claim_problem(claim, facts)
    if not claim.is_denied:
        return reason
    if reason is None:
        return "it is denied, and is so"
    return reason if _is_unknown(reason) else None


def _plain_claim_problem(claim: Claim, facts: Facts) -> str | None:
    """The same of the claim as if it were not denied."""
    match claim.relation:
        case "is":
            return _number_problem(claim, facts)
        case "rose" | "fell" | "flat":
            return _move_problem(claim, facts)
        case "even":
            found = [value_of(facts, name, claim.figures, claim.periods) for name in facts.subjects]
            known = [value for value in found if value is not None]
            return None if known and max(known) - min(known) < MAX_EVEN_DIFFERENCE else "they differ"
        case "more" | "less":
            return comparison_problem(claim, facts)
        case "highest" | "lowest":
            return rank_problem(claim, facts)
        case "above" | "below" | "between":
            return _place_problem(claim, facts)
        case "dated":
            return _date_problem(claim, facts)
        case "during":
            return (
                None
                if all(_is_within_period(one, claim, facts) for one in claim.periods if "/" in one)
                else "it was not then"
            )
        case "unknown":
            known = any(fact.value for fact in facts_of_claim(claim, facts, claim.periods))
            return "said to be unknown, and a tool gave it" if known else None
        case "expected" | "confirmed":
            confirmed = facts.is_earnings_date_confirmed.get(claim.subject or "")
            return None if confirmed is (claim.relation == "confirmed") else "not as sure as is said"
        case "report":
            texts = facts.texts.get(claim.subject or "", [])
            return None if any(str(claim.year) in text for text in texts) else "a report that no tool named"


def _is_within_period(period: str, claim: Claim, facts: Facts) -> bool:
    """Whether a figure's stretch is that period, or its day lies within it."""
    first, _, last = period.partition("/")
    days = [one.value for one in facts_of_claim(claim, facts, ()) if isinstance(one.value, date)]
    if not days and _ONE_DAY_FIGURES.issuperset(claim.figures):
        stretches = ((one.period or "").partition("/") for one in facts_of_claim(claim, facts, ()))
        days = [date.fromisoformat(start) for start, _, end in stretches if end and start == end]
        days += facts.falls.get(claim.subject or "", ()) if claim.figures == ("high",) else ()
    return bool(
        any(first <= day.isoformat() <= last for day in days) if days else facts_of_claim(claim, facts, (period,))
    )


_PRICES = frozenset(("price", "close"))
_AMOUNTS = frozenset(("invested", "growth", "final"))
"""What was put in then, and what became of it."""
_VERB_FIGURES = frozenset(("price", "close", "return"))
"""Figures that verbs name by the way: trades at, fell."""
_STREAKS = ("up_streak", "down_streak")
"""Figures whose days lie within the stretch that is spoken of."""
_ONE_DAY_FIGURES = frozenset(("high", "low", "highest_close", "lowest_close"))
"""Figures of one day, which is told by its month too: "touched 32.95 in mid-March"."""
_NAMED_FIGURES = frozenset(name for names, _ in FIGURES for name in names) | {
    f"{line}_{days}" for line in ("sma", "gap") for days in (20, 50, 200)
}
"""Figures that words call by name: what is said of one is said of no other."""
UNKNOWN_REASONS = (
    "no number", "no day", "a move of nobody", "a comparison with nobody", "a comparison of what is not known",
    "a rank of what is not known", "an average that is not known",
)  # fmt: skip
"""Reasons of claims that nothing speaks against: no tool has told enough to judge them."""


def contradiction(
    claim: Claim, facts: Facts, *, supposed: bool = False, beside: frozenset[str] = frozenset(), paired: bool = False
) -> str | None:
    """What of the claim the tools deny: its number, for this figure, ticker and period, or its direction, comparison or
    rank. None: it holds, or no tool has told of it. `supposed`: the sentence tells of what may be, where any number of
    the talk may stand; `beside`: all the figures that it names; `paired`: as many of them as numbers, one for each."""
    reason = unbacked_reason(claim, facts)
    if reason is None or _is_unknown(reason) or is_difference(claim, facts):
        return None
    if claim.relation == "is" and claim.number is not None and not claim.is_denied:
        given = _is_given(claim, claim.number, facts, supposed=supposed)
        given = given or _is_near_or_other_figure(claim, claim.number, facts, beside, paired=paired)
        return None if given or (supposed and _is_derivable(claim.number, facts)) else reason
    return reason


def is_difference(claim: Claim, facts: Facts) -> bool:
    """Whether its number, in points, is what lies between two tickers' values of one figure and stretch: where it
    names two, between theirs. A ticker that is said to have moved by points is compared with nobody."""
    if claim.number is None or not claim.number.points or (claim.move is not None and claim.other is None):
        return False
    pair = {claim.subject, claim.other} if claim.other else set(facts.subjects)
    figures = set(claim.figures) - _VERB_FIGURES
    known = [
        (one.figure, one.period, one.value)
        for one in facts.facts
        if isinstance(one.value, float) and one.subject in pair and (not figures or one.figure in figures)
    ]
    known = [one for one in known if is_fraction(one[0]) and (not claim.periods or one[1] in (None, *claim.periods))]
    return any(
        one[:2] == other[:2] and is_stated_by(claim.number, (one[2] - other[2]) * 100)
        for one, other in combinations(known, 2)
    )


def _is_near_or_other_figure(
    claim: Claim, number: Number, facts: Facts, beside: frozenset[str], *, paired: bool
) -> bool:
    """Whether a number is another figure's that its sentence names ("trades at almost the same multiple (14.1)"), or
    is told as no more than near and is that."""
    weak = not number.money and set(claim.figures) <= _VERB_FIGURES
    others = beside - _VERB_FIGURES if weak or not paired else frozenset[str]()
    others |= _PRICES if claim.move else frozenset()
    mine = [
        one
        for one in facts.facts
        if one.subject == claim.subject
        and (not claim.figures or one.figure in {*_possible_figures(claim, number), *others})
    ]
    timed = [one for one in mine if one.period is None or not claim.periods or one.period in claim.periods]
    if any(_fits_fact(one, number, None) for one in (mine if weak else timed) if one.figure in others):
        return True
    return number.about and any(_is_near_fact(number, one, claim.move) for one in timed)


def _is_near_fact(number: Number, fact: FigureFact, move: str | None) -> bool:
    if not isinstance(fact.value, float) or number.percent != (fact.unit == "fraction"):
        return False
    if number.money is not None and (fact.currency or number.money) != number.money:
        return False
    falls = move == "fell" or number.sign == "-"
    if fact.figure not in FALL_FIGURES and (move is not None or number.sign) and falls != (fact.value < 0):
        return False
    return is_near(number, abs(fact.value) * (100 if fact.unit == "fraction" else 1))


def _is_derivable(number: Number, facts: Facts) -> bool:
    """Whether it is a price times a number of the talk, or the way from a price to one, which everybody can see."""
    prices = [one.value for one in facts.facts if one.figure in _PRICES and isinstance(one.value, float) and one.value]
    if number.percent:
        return any(is_rounded_from(number, (one / price - 1) * 100) for one in facts.loose_numbers for price in prices)
    return any(is_rounded_from(number, one * price) for one in facts.loose_numbers for price in prices)


def _is_unknown(reason: str) -> bool:
    return reason in UNKNOWN_REASONS or reason.endswith("no return of that period")


def _is_given(claim: Claim, number: Number, facts: Facts, *, supposed: bool) -> bool:
    """Whether a number that is not the claim's figure may be said all the same: of a sentence that names no figure, any
    number that was given; else one of a figure that has no name here, or the talk's own price."""
    timed = number.percent and bool(claim.periods) and not claim.has_assumed_periods
    if claim.subject is None or supposed or not (claim.figures or claim.move or timed):
        near = [value for value in facts.loose_numbers if number.about and is_near(number, abs(value))]
        if not timed and (near or any(is_rounded_from(number, value) for value in facts.loose_numbers)):
            return True
        known = [one for one in facts.facts if not timed or one.period in claim.periods]
        # Each side of a trial has its own figures, and each ticker its own of a name.
        if claim.subject is not None and (claim.figures or HOLDING in facts.subjects):
            known = [one for one in known if one.subject == claim.subject]
        return any(_matches_fact(number, one, claim.move) for one in known)
    names = _possible_figures(claim, number)
    mine = [fact for fact in facts.facts if fact.subject == claim.subject]
    if (claim.has_assumed_periods or not claim.periods) and any(
        _fits_fact(one, number, claim.move) for one in mine if one.figure in names
    ):
        return True
    others = (fact for fact in mine if fact.figure not in _NAMED_FIGURES and not _is_of_other_days(fact, claim))
    if claim.periods and not claim.has_assumed_periods:
        others = (fact for fact in others if fact.figure not in RETURN_FIGURES)
    if any(_matches_fact(number, fact, claim.move) for fact in others):
        return True
    return (
        not number.percent
        and set(names) <= _PRICES
        and any(is_rounded_from(number, value) for value in facts.loose_numbers)
    )


def _is_of_other_days(fact: FigureFact, claim: Claim) -> bool:
    """Whether the figure's stretch of days has none of those that the claim names."""
    first, dated, last = (fact.period or "").partition("/")
    named = [one.partition("/") for one in claim.periods if "/" in one and not claim.has_assumed_periods]
    return bool(dated and named) and all(
        end < first or start > (last or "9")
        for start, _, end in ((start, slash, end or "9") for start, slash, end in named)
    )


def _matches_fact(number: Number, fact: FigureFact, move: str | None) -> bool:
    """Whether the number is a fact's, with no other currency and no other sign."""
    if not isinstance(fact.value, float) or not any(is_rounded_from(number, fact.value * by) for by in (1, 100)):
        return False
    if number.money is not None and fact.unit == "money" and (fact.currency or number.money) != number.money:
        return False
    if (number.percent and fact.unit == "money") or (not number.percent and fact.unit == "fraction"):
        return False
    falls = fact.figure in FALL_FIGURES
    if (move == "fell" or number.sign == "-") and fact.value > 0 and not falls:
        return False
    return not ((move == "rose" or number.sign == "+") and (fact.value < 0 or falls))


def _number_problem(claim: Claim, facts: Facts) -> str | None:
    number = claim.number
    if number is None:
        return "no number"
    if number.points and (claim.other or len(facts.subjects) == 2) and is_difference(claim, facts):
        return None
    if (number.points and claim.figures[:1] not in (("RSI",), ("ADX",))) or (number.times and claim.figures != ("pe",)):
        return "a difference or a multiple that no tool gave"
    if _fits_any_fact(claim, number, facts):
        return None
    loose = not claim.figures and claim.move is None and not number.percent
    if loose and any(is_rounded_from(number, value) for value in facts.loose_numbers):
        return None
    return f"{claim.subject or 'a number'}: no {'/'.join(claim.figures) or 'figure'} like that"


def _fits_any_fact(claim: Claim, number: Number, facts: Facts) -> bool:
    names = _possible_figures(claim, number)
    asked = Claim(claim.relation, claim.subject, tuple(names), other=claim.other)
    found = facts_of_claim(asked, facts, claim.periods if _have_periods(names) else ())
    if names and names[0] in _STREAKS:
        found = [one for one in facts_of_claim(asked, facts, ()) if not _is_of_other_days(one, claim)]
    if claim.periods and set(names) <= _ONE_DAY_FIGURES:
        of_days = (one for one in facts_of_claim(asked, facts, ()) if one.period and one.period[:10] == one.period[11:])
        found += [one for one in of_days if not _is_of_other_days(one, claim)]
    if claim.has_assumed_periods and "return" not in names and not any(isinstance(one.value, float) for one in found):
        found = facts_of_claim(asked, facts, ())
    return any(_fits_fact(one, number, claim.move) for one in found)


def _possible_figures(claim: Claim, number: Number) -> tuple[str, ...]:
    """The figures that a number may be: a percentage beside a price, or of nothing, is its return."""
    if number.percent and (claim.figures in ((), ("return",)) or _PRICES & set(claim.figures)):
        return RETURN_FIGURES
    if number.percent and claim.figures and claim.figures[0].startswith("sma_"):
        return (claim.figures[0].replace("sma_", "gap_"),)
    if "volume" in claim.figures:
        return (*claim.figures, "volume_zscore")
    if not number.percent and claim.figures in ((), ("return",)):
        return ("price", "close", "change") if claim.move else ("price", "close")
    return claim.figures


def is_of_now(claim: Claim, facts: Facts) -> bool:
    """Whether it tells the number of a figure that is known without a period: that of now."""
    if claim.relation != "is" or claim.number is None or claim.subject is None:
        return False
    known = (
        one for one in facts.find(claim.subject, _possible_figures(claim, claim.number)) if one.figure not in _AMOUNTS
    )
    return any(one.period is None and _fits_fact(one, claim.number, claim.move) for one in known)


def _have_periods(names: Iterable[str]) -> bool:
    return not set(names) <= {*_PRICES, "invested"}


def _fits_fact(fact: FigureFact, number: Number, move: str | None) -> bool:
    if not isinstance(fact.value, float):
        return False
    if number.percent != (fact.unit == "fraction"):
        return False
    if number.money is not None and (fact.unit != "money" or (fact.currency or number.money) != number.money):
        return False
    actual = fact.value * 100 if fact.unit == "fraction" else fact.value
    if not is_stated_by(number, actual):
        return False
    if fact.figure.startswith("gap_"):
        return True  # on which side of the average it is, is a claim of its own
    if fact.figure in FALL_FIGURES or fact.figure.startswith("worst_"):
        rose = move == "rose" and fact.figure not in FALL_FIGURES and actual < 0
        return (number.sign != "+" and not rose) or actual == 0
    if number.sign == "-":
        return actual < 0 or is_zero(number)
    if number.sign == "+":
        return actual > 0 or is_zero(number)
    if is_zero(number):
        return True
    if fact.figure in (*RETURN_FIGURES, "total_return", "cagr", "change") or fact.figure.startswith("best_"):
        return actual <= 0 if move == "fell" else actual >= 0
    return actual >= 0 or fact.figure == "volume_zscore"


def _move_problem(claim: Claim, facts: Facts) -> str | None:
    if claim.subject is None:
        return "a move of nobody"
    value = value_of(facts, claim.subject, RETURN_FIGURES, claim.periods)
    if value is None:
        return f"{claim.subject}: no return of that period"
    flat = MAX_FLAT_RETURN if claim.periods in ((), ("1d",)) else MAX_FLAT_RETURN_OVER_TIME
    holds = abs(value) < flat if claim.relation == "flat" else value > 0 if claim.relation == "rose" else value < 0
    return None if holds else f"{claim.subject} did not move like that"


def _place_problem(claim: Claim, facts: Facts) -> str | None:
    subject = claim.subject or ""
    if claim.figures == ("volume_zscore",):
        score = value_of(facts, subject, claim.figures, ())
        return None if score is not None and (score > 0) == (claim.relation == "above") else "not that much volume"
    price = value_of(facts, subject, ("price", "close"), ())
    averages = [value_of(facts, subject, (name,), ()) for name in claim.figures]
    known = [value for value in averages if value is not None]
    if price is None or len(known) < len(claim.figures):
        return "an average that is not known"
    if claim.relation == "between":
        return None if len(known) > 1 and min(known) <= price <= max(known) else "not between them"
    holds = all(price > value for value in known) if claim.relation == "above" else all(price < v for v in known)
    # Equal to the last digit that is written is neither; nobody says so of it.
    return None if holds or all(price == value for value in known) else f"not {claim.relation} it"


def _date_problem(claim: Claim, facts: Facts) -> str | None:
    day = claim.day
    if day is None:
        return "no day"
    if claim.figures:
        told = facts_of_claim(claim, facts, ())
        days = [one.value for one in told if isinstance(one.value, date)]
        stretches = ((one.period or "").partition("/") for one in told)
        days += [date.fromisoformat(first) for first, _, last in stretches if last and first == last]
    else:
        names = facts.subjects if claim.subject is None else [claim.subject]
        days = [one for name in names for one in facts.days.get(name, ())]
    return None if any(day.fits(one) for one in days) else "a date that no tool gave"
