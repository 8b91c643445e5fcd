"""Whether what a sentence calls overbought, above its signal or a collapse is so by the figures."""

from collections.abc import Mapping, Sequence

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.claim import Claim, Relation
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token, periods_of
from agent.domain.claims.verdicts import RETURNS, value_of, wrong
from contracts.spoken import NUMBERS

OVERBOUGHT, OVERSOLD = 65.0, 35.0
"""An RSI from which on nobody is misled by the word: the usual 70 and 30, and those who use narrower ones."""
STRONG = 0.015
"""A return from which on a strong word for a move misleads nobody."""

_MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}


def misreads_rsi(low: str, facts: Facts, *, calm: bool) -> bool:
    """Whether it calls a price overbought, oversold or (`calm`) neither, and no RSI is like that."""
    scores = [one.value for one in facts.facts if one.figure == "RSI" and isinstance(one.value, float)]
    if calm:
        return not all(30 <= one <= 70 for one in scores)
    state = None if patterns.NEITHER.search(low) else patterns.STATE.search(low)
    if state is None or not scores:
        return False
    return not any(one > OVERBOUGHT if state["over"] else one < OVERSOLD for one in scores)


def misreads_macd(low: str, facts: Facts) -> bool:
    """Whether it places the MACD on the other side of its signal, for all of whom both are known."""
    place = patterns.MACD.search(low)
    if place is None or patterns.NOT_SAID.search(place[0]):
        return False
    lines = [
        (value_of(facts, one, ("MACD", "macd"), ()), value_of(facts, one, ("signal",), ())) for one in facts.subjects
    ]
    known = [(macd, signal) for macd, signal in lines if macd is not None and signal is not None]
    return bool(known) and all((macd > signal) != bool(place["up"]) for macd, signal in known)


def miscounts(low: str, tokens: Sequence[Token], known: Sequence[str], asked: str | None, facts: Facts) -> bool:
    """Whether another number of those that are known moved that way: "two of the three rose"."""
    few = patterns.SOME_OF.search(low)
    moved: list[Relation] = [_MOVES[token.kind] for token in tokens if token.kind in _MOVES]
    if few is None or len(moved) != 1 or any(token.kind in ("number", "ticker", "not") for token in tokens):
        return False
    periods = tuple(periods_of(tokens)) or ((asked,) if asked else ())
    found = [wrong(Claim(moved[0], one, periods=periods), facts) for one in known]
    return bool(periods) and found.count(None) != NUMBERS[few["n"]]


def overstates(low: str, claims: Sequence[Claim], facts: Facts) -> bool:
    """Whether it calls a collapse or a leap what has hardly moved."""
    moves = [one for one in claims if one.relation in ("rose", "fell") and one.subject and one.number is None]
    found = [value_of(facts, one.subject or "", RETURNS, one.periods) for one in moves]
    known = [abs(value) for value in found if value is not None]
    return bool(known) and max(known) < STRONG and bool(patterns.STRONG.search(low))
