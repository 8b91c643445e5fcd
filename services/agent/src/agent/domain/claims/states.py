"""Whether what a sentence calls overbought, above its signal or a collapse is so by the figures."""

from collections.abc import Mapping, Sequence

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.claim import DENIAL, Claim, Relation, SentenceClaims
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token, periods_of
from agent.domain.claims.orders import order_right
from agent.domain.claims.recoveries import recoveries_right
from agent.domain.claims.values import RETURNS, value_of
from agent.domain.claims.verdicts import unbacked_part
from contracts.calendar_names import NUMBERS

OVERBOUGHT, OVERSOLD = 65.0, 35.0
"""An RSI from which on nobody is misled by the word: the usual 70 and 30, and those who use narrower ones."""
STRONG = 0.015
"""A return from which on a strong word for a move misleads nobody."""

_MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}


_OF_PLACES, _OF_COUNTS = ("a change", "below nothing"), ("words that no tool's figures back: ",)
_OF_ORDERS = ("a rank", "a superlative", "another has", "a judgement", "words that no tool's figures back: seguid")
_OF_RECOVERIES = (
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
    recovered, placed = recoveries_right(low, tokens, reading.subjects, facts.falls), macd_right(low, facts)
    ordered = order_right(low, tokens, asked, facts)
    denials = sum(token.kind in ("not", "neither", "untrue") for token in tokens)
    proven = (*_OF_RECOVERIES, *((DENIAL,) if denials == 1 else ())) if recovered else ()
    proven += (_OF_PLACES if placed else ()) + (_OF_COUNTS if counted else ())
    proven += _OF_ORDERS if ordered else ()
    against = ["a recovery that was not, or was"] if recovered is False else []
    against += ["the MACD says otherwise"] if placed is False else []
    against += ["not in that order"] if ordered is False else []
    return proven, against + (["no such strong move"] if is_overstated(low, reading.claims, facts) else [])


def misreads_rsi(low: str, facts: Facts, *, calm: bool) -> bool:
    """Whether it calls a price overbought, oversold or (`calm`) neither, and no RSI is like that."""
    scores = [one.value for one in facts.facts if one.figure == "RSI" and isinstance(one.value, float)]
    if calm:
        return not all(30 <= one <= 70 for one in scores)
    state = None if patterns.NEITHER.search(low) else patterns.STATE.search(low)
    if state is None or not scores:
        return False
    return not any(one > OVERBOUGHT if state["over"] else one < OVERSOLD for one in scores)


def macd_right(low: str, facts: Facts) -> bool | None:
    """Whether it places the MACD on the right side of its signal, for anyone of whom both are known; None: it places it
    nowhere."""
    place = patterns.MACD.search(low)
    if place is None or patterns.NOT_SAID.search(place[0]):
        return None
    lines = [
        (value_of(facts, one, ("MACD", "macd"), ()), value_of(facts, one, ("signal",), ())) for one in facts.subjects
    ]
    known = [(macd, signal) for macd, signal in lines if macd is not None and signal is not None]
    return any((macd > signal) == bool(place["up"]) for macd, signal in known) if known else None


def count_right(
    low: str, tokens: Sequence[Token], known: Sequence[str], asked: str | None, facts: Facts
) -> bool | None:
    """Whether so many of those that are known moved that way: "two of the three rose"; None: it counts nobody."""
    few = patterns.SOME_OF.search(low)
    moved: list[Relation] = [_MOVES[token.kind] for token in tokens if token.kind in _MOVES]
    if few is None or len(moved) != 1 or any(token.kind in ("number", "ticker", "not") for token in tokens):
        return None
    periods = tuple(periods_of(tokens)) or ((asked,) if asked else ())
    found = [unbacked_part(Claim(moved[0], one, periods=periods), facts) for one in known]
    return found.count(None) == NUMBERS[few["n"]] if periods else None


def is_overstated(low: str, claims: Sequence[Claim], facts: Facts) -> bool:
    """Whether it calls a collapse or a leap what has hardly moved."""
    moves = [one for one in claims if one.relation in ("rose", "fell") and one.subject and one.number is None]
    found = [value_of(facts, one.subject or "", RETURNS, one.periods) for one in moves]
    known = [abs(value) for value in found if value is not None]
    return bool(known) and max(known) < STRONG and bool(patterns.STRONG.search(low))
