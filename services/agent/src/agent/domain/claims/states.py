"""Whether what a sentence calls overbought, above its signal or a collapse is so by the figures."""

from collections.abc import Mapping, Sequence

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.claim import DENIAL, Claim, Relation, SentenceClaims
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token, periods_of
from agent.domain.claims.orders import is_order_right
from agent.domain.claims.recoveries import are_recoveries_right
from agent.domain.claims.values import RETURN_FIGURES, value_of
from agent.domain.claims.verdicts import unbacked_reason
from contracts.calendar_names import NUMBERS

OVERBOUGHT, OVERSOLD = 65.0, 35.0
"""An RSI from which on nobody is misled by the word: the usual 70 and 30, and those who use narrower ones."""
MIN_STRONG_RETURN = 0.015
"""A return from which on a strong word for a move misleads nobody."""

_MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}


_PLACE_REASONS, _COUNT_REASONS = ("a change", "below nothing"), ("words that no tool's figures back: ",)
_ORDER_REASONS = ("a rank", "a superlative", "another has", "a judgement", "words that no tool's figures back: seguid")
_RECOVERY_REASONS = (
    "words that no tool's figures back: recover",
    "words that no tool's figures back: recuper",
    "words that no tool's figures back: regain",
    "words that no tool's figures back: reclaim",
    "said to be",
)
"""How reasons begin that the proof of the whole takes away."""


def judge_sentence(
    low: str, tokens: Sequence[Token], reading: SentenceClaims, facts: Facts, asked: str | None, *, counted: bool
) -> tuple[tuple[str, ...], list[str]]:
    """What is judged of a folded sentence as a whole: how the reasons begin that its proof takes away, for what is
    proven so needs no claim for each of its words; and what speaks against it. `counted`: its count is right."""
    recovered, placed = are_recoveries_right(low, tokens, reading.subjects, facts.falls), is_macd_side_right(low, facts)
    ordered = is_order_right(low, tokens, asked, facts)
    denials = sum(token.kind in ("not", "neither", "untrue") for token in tokens)
    proven = (*_RECOVERY_REASONS, *((DENIAL,) if denials == 1 else ())) if recovered else ()
    proven += (_PLACE_REASONS if placed else ()) + (_COUNT_REASONS if counted else ())
    proven += _ORDER_REASONS if ordered else ()
    against = ["a recovery that was not, or was"] if recovered is False else []
    against += ["the MACD says otherwise"] if placed is False else []
    against += ["not in that order"] if ordered is False else []
    return proven, against + (["no such strong move"] if is_overstated(low, reading.claims, facts) else [])


def misreads_rsi(low: str, facts: Facts, *, calm: bool) -> bool:
    """Whether it calls a price overbought, oversold or (`calm`) neither, and no RSI is like that."""
    scores = [one.value for one in facts.facts if one.figure == "RSI" and isinstance(one.value, float)]
    if calm:
        return not all(30 <= one <= 70 for one in scores)
    state = None if patterns.STATE_EXCLUDED.search(low) else patterns.OVERBOUGHT_OR_OVERSOLD.search(low)
    if state is None or not scores:
        return False
    return not any(one > OVERBOUGHT if state["over"] else one < OVERSOLD for one in scores)


def is_macd_side_right(low: str, facts: Facts) -> bool | None:
    """Whether it places the MACD on the right side of its signal, for anyone of whom both are known; None: it places it
    nowhere."""
    place = patterns.MACD_SIDE.search(low)
    if place is None or patterns.NEGATION_OR_CONDITION.search(place[0]):
        return None
    lines = [
        (value_of(facts, one, ("MACD", "macd"), ()), value_of(facts, one, ("signal",), ())) for one in facts.subjects
    ]
    known = [(macd, signal) for macd, signal in lines if macd is not None and signal is not None]
    return any((macd > signal) == bool(place["up"]) for macd, signal in known) if known else None


def is_count_right(
    low: str, tokens: Sequence[Token], known: Sequence[str], asked: str | None, facts: Facts
) -> bool | None:
    """Whether so many of those that are known moved that way: "two of the three rose"; None: it counts nobody."""
    few = patterns.COUNT_OF_TICKERS.search(low)
    moved: list[Relation] = [_MOVES[token.kind] for token in tokens if token.kind in _MOVES]
    if few is None or len(moved) != 1 or any(token.kind in ("number", "ticker", "not") for token in tokens):
        return None
    periods = tuple(periods_of(tokens)) or ((asked,) if asked else ())
    found = [unbacked_reason(Claim(moved[0], one, periods=periods), facts) for one in known]
    return found.count(None) == NUMBERS[few["n"]] if periods else None


def is_overstated(low: str, claims: Sequence[Claim], facts: Facts) -> bool:
    """Whether it calls a collapse or a leap what has hardly moved."""
    moves = [one for one in claims if one.relation in ("rose", "fell") and one.subject and one.number is None]
    found = [value_of(facts, one.subject or "", RETURN_FIGURES, one.periods) for one in moves]
    known = [abs(value) for value in found if value is not None]
    return bool(known) and max(known) < MIN_STRONG_RETURN and bool(patterns.STRONG_MOVE.search(low))
