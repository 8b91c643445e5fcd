"""Checks words for a state against the figures: overbought, above its signal, a collapse."""

from collections.abc import Sequence

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.claim import DENIAL, Claim, Relation, SentenceClaims
from agent.domain.claims.clause_tokens import MOVES
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token, periods_of
from agent.domain.claims.orders import is_order_right, is_report_order_right
from agent.domain.claims.recoveries import are_recoveries_right
from agent.domain.claims.values import RETURN_FIGURES, value_of
from agent.domain.claims.verdicts import unbacked_reason
from contracts.calendar_names import NUMBERS

OVERBOUGHT, OVERSOLD = 65.0, 35.0
"""RSI beyond which the words are not misleading: between the usual 70 and 30 and narrower limits in use."""
MIN_STRONG_RETURN = 0.015
"""From this return on a strong word for a move is not misleading."""

_PLACE_REASONS, _COUNT_REASONS = ("a change", "below nothing"), ("words that no tool's figures back: ",)
_ORDER_REASONS = ("a rank", "a superlative", "another has", "a judgement", "words that no tool's figures back: seguid")
_RECOVERY_REASONS = (
    "words that no tool's figures back: recover",
    "words that no tool's figures back: recuper",
    "words that no tool's figures back: regain",
    "words that no tool's figures back: reclaim",
    "said to be",
)
"""Beginnings of the reasons that no longer apply when the sentence as a whole is proven."""


def judge_sentence(
    folded_text: str,
    tokens: Sequence[Token],
    reading: SentenceClaims,
    facts: Facts,
    question_period: str | None,
    *,
    is_count_proven: bool,
) -> tuple[tuple[str, ...], list[str]]:
    """Judges a sentence as a whole. Returns the beginnings of reasons that its proof removes, since what is proven as a
    whole needs no claim for each word, and the problems found. `is_count_proven`: its count of tickers is right."""
    is_recovered = are_recoveries_right(folded_text, tokens, reading.subjects, facts.falls)
    is_placed = is_macd_side_right(folded_text, facts)
    is_ordered = is_order_right(folded_text, tokens, question_period, facts)
    denials = sum(token.kind in ("not", "neither", "untrue") for token in tokens)
    proven = (*_RECOVERY_REASONS, *((DENIAL,) if denials == 1 else ())) if is_recovered else ()
    proven += (_PLACE_REASONS if is_placed else ()) + (_COUNT_REASONS if is_count_proven else ())
    proven += _ORDER_REASONS if is_ordered else ()
    problems = ["a recovery that was not, or was"] if is_recovered is False else []
    problems += ["the MACD says otherwise"] if is_placed is False else []
    is_report_ordered = is_report_order_right(folded_text, tokens, facts)
    problems += ["not in that order"] if False in (is_ordered, is_report_ordered) else []
    return proven, problems + (["no such strong move"] if is_overstated(folded_text, reading.claims, facts) else [])


def misreads_rsi(folded_text: str, facts: Facts, *, is_called_neutral: bool) -> bool:
    """Whether a sentence calls a price overbought, oversold or (`is_called_neutral`) neither, and no RSI agrees."""
    scores = [fact.value for fact in facts.facts if fact.figure == "RSI" and isinstance(fact.value, float)]
    if is_called_neutral:
        return not all(30 <= score <= 70 for score in scores)
    state = None if patterns.STATE_EXCLUDED.search(folded_text) else patterns.OVERBOUGHT_OR_OVERSOLD.search(folded_text)
    if state is None or not scores:
        return False
    return not any(score > OVERBOUGHT if state["over"] else score < OVERSOLD for score in scores)


def is_macd_side_right(folded_text: str, facts: Facts) -> bool | None:
    """Whether a sentence places the MACD on the right side of its signal, for any ticker with both figures; None if it
    does not place it or no ticker has both."""
    place = patterns.MACD_SIDE.search(folded_text)
    if place is None or patterns.NEGATION_OR_CONDITION.search(place[0]):
        return None
    lines = [
        (value_of(facts, ticker, ("MACD", "macd"), ()), value_of(facts, ticker, ("signal",), ()))
        for ticker in facts.subjects
    ]
    known_lines = [(macd, signal) for macd, signal in lines if macd is not None and signal is not None]
    return any((macd > signal) == bool(place["up"]) for macd, signal in known_lines) if known_lines else None


def is_count_right(
    folded_text: str, tokens: Sequence[Token], tickers: Sequence[str], question_period: str | None, facts: Facts
) -> bool | None:
    """Whether as many tickers moved as the sentence counts: "two of the three rose"; None if it counts none."""
    count = patterns.COUNT_OF_TICKERS.search(folded_text)
    moved: list[Relation] = [MOVES[token.kind] for token in tokens if token.kind in MOVES]
    if count is None or len(moved) != 1 or any(token.kind in ("number", "ticker", "not") for token in tokens):
        return None
    periods = tuple(periods_of(tokens)) or ((question_period,) if question_period else ())
    problems = [unbacked_reason(Claim(moved[0], ticker, periods=periods), facts) for ticker in tickers]
    return problems.count(None) == NUMBERS[count["n"]] if periods else None


def is_overstated(folded_text: str, claims: Sequence[Claim], facts: Facts) -> bool:
    """Whether a sentence calls a price that hardly moved a collapse or a leap."""
    moves = [claim for claim in claims if claim.relation in ("rose", "fell") and claim.subject and claim.number is None]
    returns = [value_of(facts, claim.subject or "", RETURN_FIGURES, claim.periods) for claim in moves]
    known_returns = [abs(value) for value in returns if value is not None]
    return (
        bool(known_returns)
        and max(known_returns) < MIN_STRONG_RETURN
        and bool(patterns.STRONG_MOVE.search(folded_text))
    )
