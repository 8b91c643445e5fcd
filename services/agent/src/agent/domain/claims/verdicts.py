"""Judges a claim: compares it with the facts of its ticker, figure and period.

`unbacked_reason` rejects what no fact backs, as a report needs; `contradiction` only what the facts contradict, as a
chat needs. "MSFT rose more than IBM" compares their returns of that period.
"""

from datetime import date
from itertools import combinations

from agent.domain.claims.claim import Claim
from agent.domain.claims.closeness import is_near, is_rounded_from, is_stated_by, is_zero
from agent.domain.claims.facts import FALL_FIGURES, Facts, FigureFact, is_fraction
from agent.domain.claims.figure_words import FIGURES
from agent.domain.claims.lexer import Number
from agent.domain.claims.values import RETURN_FIGURES, comparison_problem, facts_of_claim, rank_problem, value_of

MAX_FLAT_RETURN = 0.003
"""Below this return of one day a price has hardly moved."""
MAX_FLAT_RETURN_OVER_TIME = 0.01
"""The same for longer periods."""
MAX_EVEN_DIFFERENCE = 0.0011
"""Returns that differ by less are written with the same digits."""


def unbacked_reason(claim: Claim, facts: Facts) -> str | None:
    """Returns why no fact backs the claim, or None if it holds."""
    reason = _plain_claim_problem(claim, facts)
    if not claim.is_denied:
        return reason
    if reason is None:
        return "it is denied, and is so"
    return reason if _is_unknown(reason) else None


def _plain_claim_problem(claim: Claim, facts: Facts) -> str | None:
    """Returns why the claim would not hold if it were not denied, or None."""
    match claim.relation:
        case "is":
            return _number_problem(claim, facts)
        case "rose" | "fell" | "flat":
            return _move_problem(claim, facts)
        case "even":
            returns = [value_of(facts, name, claim.figures, claim.periods) for name in facts.subjects]
            known = [value for value in returns if value is not None]
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
            ranges = [period for period in claim.periods if "/" in period]
            return None if all(_is_within_period(period, claim, facts) for period in ranges) else "it was not then"
        case "unknown":
            is_known = any(fact.value for fact in facts_of_claim(claim, facts, claim.periods))
            return "said to be unknown, and a tool gave it" if is_known else None
        case "expected" | "confirmed":
            confirmed = facts.is_earnings_date_confirmed.get(claim.subject or "")
            return None if confirmed is (claim.relation == "confirmed") else "not as sure as is said"
        case "report":
            texts = facts.texts.get(claim.subject or "", [])
            return None if any(str(claim.year) in text for text in texts) else "a report that no tool named"


def _is_within_period(period: str, claim: Claim, facts: Facts) -> bool:
    """Whether the claimed figure has a value for that period, or the figure's day lies within it."""
    first, _, last = period.partition("/")
    days = [fact.value for fact in facts_of_claim(claim, facts, ()) if isinstance(fact.value, date)]
    if not days and _ONE_DAY_FIGURES.issuperset(claim.figures):
        stretches = ((fact.period or "").partition("/") for fact in facts_of_claim(claim, facts, ()))
        days = [date.fromisoformat(start) for start, _, end in stretches if end and start == end]
        days += facts.falls.get(claim.subject or "", ()) if claim.figures == ("high",) else ()
    return bool(
        any(first <= day.isoformat() <= last for day in days) if days else facts_of_claim(claim, facts, (period,))
    )


_PRICES = frozenset(("price", "close"))
_AMOUNTS = frozenset(("invested", "growth", "final"))
"""What was invested at a time, and what it grew to."""
_VERB_FIGURES = frozenset(("price", "close", "return"))
"""Figures that a verb implies: trades at, fell."""
_STREAKS = ("up_streak", "down_streak")
"""Figures whose own days lie within the stated period."""
_ONE_DAY_FIGURES = frozenset(("high", "low", "highest_close", "lowest_close"))
"""Figures of one day, which may be given by its month: "touched 32.95 in mid-March"."""
_NAMED_FIGURES = frozenset(name for names, _ in FIGURES for name in names) | {
    f"{line}_{days}" for line in ("sma", "gap") for days in (20, 50, 200)
}
"""Figures that a sentence can name: a number said of one belongs to no other."""
UNKNOWN_REASONS = (
    "no number", "no day", "a move of nobody", "a comparison with nobody", "a comparison of what is not known",
    "a rank of what is not known", "an average that is not known",
)  # fmt: skip
"""Reasons that are no contradiction: no tool returned enough to judge the claim."""


def contradiction(
    claim: Claim, facts: Facts, *, is_supposed: bool, named_figures: frozenset[str], is_paired: bool
) -> str | None:
    """Returns how the claim contradicts the tools: by its number, for this figure, ticker and period, or by its
    direction, comparison or rank. None if it holds or no tool returned anything about it.

    `is_supposed`: the sentence is hypothetical and may use any number of the conversation. `named_figures`: all the
    figures that the sentence names. `is_paired`: it has as many numbers as figures, one for each."""
    reason = unbacked_reason(claim, facts)
    if reason is None or _is_unknown(reason) or is_difference(claim, facts):
        return None
    if claim.relation == "is" and claim.number is not None and not claim.is_denied:
        is_given = _is_given(claim, claim.number, facts, is_supposed=is_supposed)
        is_given = is_given or _is_near_or_other_figure(claim, claim.number, facts, named_figures, is_paired=is_paired)
        return None if is_given or (is_supposed and _is_derivable(claim.number, facts)) else reason
    return reason


def is_difference(claim: Claim, facts: Facts) -> bool:
    """Whether the claim's number, in points, is the difference between two tickers' values of one figure and period:
    of the two tickers that it names, or else of any two. A move by points without a second ticker is none."""
    if claim.number is None or not claim.number.points or (claim.move is not None and claim.other is None):
        return False
    pair = {claim.subject, claim.other} if claim.other else set(facts.subjects)
    figures = set(claim.figures) - _VERB_FIGURES
    values = [
        (fact.figure, fact.period, fact.value)
        for fact in facts.facts
        if isinstance(fact.value, float) and fact.subject in pair and (not figures or fact.figure in figures)
    ]
    values = [
        value for value in values if is_fraction(value[0]) and (not claim.periods or value[1] in (None, *claim.periods))
    ]
    return any(
        value[:2] == other_value[:2] and is_stated_by(claim.number, (value[2] - other_value[2]) * 100)
        for value, other_value in combinations(values, 2)
    )


def _is_near_or_other_figure(
    claim: Claim, number: Number, facts: Facts, named_figures: frozenset[str], *, is_paired: bool
) -> bool:
    """Whether a number is the value of another figure that its sentence names ("trades at almost the same multiple
    (14.1)"), or is stated as approximate and is near enough."""
    names_no_figure = not number.money and set(claim.figures) <= _VERB_FIGURES
    other_figures = named_figures - _VERB_FIGURES if names_no_figure or not is_paired else frozenset[str]()
    other_figures |= _PRICES if claim.move else frozenset()
    own_facts = [
        fact
        for fact in facts.facts
        if fact.subject == claim.subject
        and (not claim.figures or fact.figure in {*_possible_figures(claim, number), *other_figures})
    ]
    facts_of_period = [
        fact for fact in own_facts if fact.period is None or not claim.periods or fact.period in claim.periods
    ]
    candidates = own_facts if names_no_figure else facts_of_period
    if any(_fits_fact(fact, number, None) for fact in candidates if fact.figure in other_figures):
        return True
    return number.is_approximate and any(_is_near_fact(number, fact, claim.move) for fact in facts_of_period)


def _is_near_fact(number: Number, fact: FigureFact, move: str | None) -> bool:
    if not isinstance(fact.value, float) or number.percent != (fact.unit == "fraction"):
        return False
    if number.money is not None and (fact.currency or number.money) != number.money:
        return False
    is_fall = move == "fell" or number.sign == "-"
    if fact.figure not in FALL_FIGURES and (move is not None or number.sign) and is_fall != (fact.value < 0):
        return False
    return is_near(number, abs(fact.value) * (100 if fact.unit == "fraction" else 1))


def _is_derivable(number: Number, facts: Facts) -> bool:
    """Whether a number is a price times a number of the conversation, or the way from a price to it in per cent."""
    prices = [
        fact.value for fact in facts.facts if fact.figure in _PRICES and isinstance(fact.value, float) and fact.value
    ]
    return any(
        is_rounded_from(number, (loose_number / price - 1) * 100 if number.percent else loose_number * price)
        for loose_number in facts.loose_numbers
        for price in prices
    )


def _is_unknown(reason: str) -> bool:
    return reason in UNKNOWN_REASONS or reason.endswith("no return of that period")


def _is_given(claim: Claim, number: Number, facts: Facts, *, is_supposed: bool) -> bool:
    """Whether a number that is not the claimed figure's is allowed all the same. If the sentence names no figure, any
    number of the ticker is; otherwise one of a figure without a name here, or a price from the conversation."""
    has_period = number.percent and bool(claim.periods) and not claim.has_assumed_periods
    if claim.subject is None or is_supposed or not (claim.figures or claim.move or has_period):
        near_values = [value for value in facts.loose_numbers if number.is_approximate and is_near(number, abs(value))]
        if not has_period and (near_values or any(is_rounded_from(number, value) for value in facts.loose_numbers)):
            return True
        candidates = [fact for fact in facts.facts if not has_period or fact.period in claim.periods]
        # Each side of a backtest has its own figures, and so has each ticker.
        if claim.subject is not None:
            candidates = [fact for fact in candidates if fact.subject == claim.subject]
        return any(_matches_fact(number, fact, claim.move) for fact in candidates)
    names = _possible_figures(claim, number)
    own_facts = [fact for fact in facts.facts if fact.subject == claim.subject]
    if (claim.has_assumed_periods or not claim.periods) and any(
        _fits_fact(fact, number, claim.move) for fact in own_facts if fact.figure in names
    ):
        return True
    unnamed_facts = (
        fact for fact in own_facts if fact.figure not in _NAMED_FIGURES and not _is_of_other_days(fact, claim)
    )
    if claim.periods and not claim.has_assumed_periods:
        unnamed_facts = (fact for fact in unnamed_facts if fact.figure not in RETURN_FIGURES)
    if any(_matches_fact(number, fact, claim.move) for fact in unnamed_facts):
        return True
    return (
        not number.percent
        and set(names) <= _PRICES
        and any(is_rounded_from(number, value) for value in facts.loose_numbers)
    )


def _is_of_other_days(fact: FigureFact, claim: Claim) -> bool:
    """Whether the fact's range of days does not overlap any range that the claim names."""
    first, has_range, last = (fact.period or "").partition("/")
    claim_periods = [
        period.partition("/") for period in claim.periods if "/" in period and not claim.has_assumed_periods
    ]
    return bool(has_range and claim_periods) and all(
        (end or "9") < first or start > (last or "9") for start, _, end in claim_periods
    )


def _matches_fact(number: Number, fact: FigureFact, move: str | None) -> bool:
    """Whether a number is the value of a fact, in the same currency and with the same sign."""
    if not isinstance(fact.value, float) or not any(
        is_rounded_from(number, fact.value * factor) for factor in (1, 100)
    ):
        return False
    if number.money is not None and fact.unit == "money" and (fact.currency or number.money) != number.money:
        return False
    if (number.percent and fact.unit == "money") or (not number.percent and fact.unit == "fraction"):
        return False
    is_fall = fact.figure in FALL_FIGURES
    if (move == "fell" or number.sign == "-") and fact.value > 0 and not is_fall:
        return False
    return not ((move == "rose" or number.sign == "+") and (fact.value < 0 or is_fall))


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
    is_bare = not claim.figures and claim.move is None and not number.percent
    if is_bare and any(is_rounded_from(number, value) for value in facts.loose_numbers):
        return None
    return f"{claim.subject or 'a number'}: no {'/'.join(claim.figures) or 'figure'} like that"


def _fits_any_fact(claim: Claim, number: Number, facts: Facts) -> bool:
    names = _possible_figures(claim, number)
    query = Claim(claim.relation, claim.subject, tuple(names), other=claim.other)
    matches = facts_of_claim(query, facts, () if set(names) <= {*_PRICES, "invested"} else claim.periods)
    if names and names[0] in _STREAKS:
        matches = [fact for fact in facts_of_claim(query, facts, ()) if not _is_of_other_days(fact, claim)]
    if claim.periods and set(names) <= _ONE_DAY_FIGURES:
        of_days = (
            fact for fact in facts_of_claim(query, facts, ()) if fact.period and fact.period[:10] == fact.period[11:]
        )
        matches += [fact for fact in of_days if not _is_of_other_days(fact, claim)]
    is_known = any(isinstance(fact.value, float) for fact in matches)
    if claim.has_assumed_periods and "return" not in names and not is_known:
        matches = facts_of_claim(query, facts, ())
    return any(_fits_fact(fact, number, claim.move) for fact in matches)


def _possible_figures(claim: Claim, number: Number) -> tuple[str, ...]:
    """The figures that a number may be. A percentage beside a price, or beside no figure, is a return."""
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
    """Whether the claim states the number of a current figure, one that is known without a period."""
    if claim.relation != "is" or claim.number is None or claim.subject is None:
        return False
    current_facts = (
        fact
        for fact in facts.find(claim.subject, _possible_figures(claim, claim.number))
        if fact.figure not in _AMOUNTS
    )
    return any(fact.period is None and _fits_fact(fact, claim.number, claim.move) for fact in current_facts)


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
    # A price equal to the last written digit is neither above nor below; nothing contradicts either word.
    return None if holds or all(price == value for value in known) else f"not {claim.relation} it"


def _date_problem(claim: Claim, facts: Facts) -> str | None:
    day = claim.day
    if day is None:
        return "no day"
    if claim.figures:
        matches = facts_of_claim(claim, facts, ())
        days = [fact.value for fact in matches if isinstance(fact.value, date)]
        stretches = ((fact.period or "").partition("/") for fact in matches)
        days += [date.fromisoformat(first) for first, _, last in stretches if last and first == last]
    else:
        names = facts.subjects if claim.subject is None else [claim.subject]
        days = [known_day for name in names for known_day in facts.days.get(name, ())]
    return None if any(day.fits(candidate) for candidate in days) else "a date that no tool gave"
