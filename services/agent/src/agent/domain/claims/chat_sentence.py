"""Judges a chat sentence, which need not be about the figures: only what contradicts them counts against it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.agreement import has_owner
from agent.domain.claims.claim import Claim, SentenceClaims
from agent.domain.claims.clause_tokens import BEARING_KINDS
from agent.domain.claims.events import find_events, is_about_speaker, is_general
from agent.domain.claims.facts import HOLDING, Facts
from agent.domain.claims.lexer import Token, folded, is_talk
from agent.domain.claims.verdicts import contradiction
from agent.domain.claims.words import EVENT_WORDS

_PAIR_FIGURES = (("beta",), ("correlation",))
"""Figures stated with a second ticker that is not their owner."""
_DEFINITE_KINDS = frozenset(("ticker", "foreign", "number", "spelled", "source", "day"))
"""Kinds of tokens that a sentence about things in general does not have."""
_STATING_KINDS = frozenset(
    ("number", "rise", "fall", "better", "worse", "more", "less", "source", "promise", "highest", "lowest")
)
"""Kinds of tokens that a mere question back or offer does not have."""
_FILLER_WORDS = frozenset(("to", "by", "a", "hasta", "se", "un", "una", "en"))
"""Words that may stand between a ticker, its verb and its number."""


def reasons_against_talk(text: str, tokens: Sequence[Token], odd: Collection[str]) -> tuple[str, ...] | None:
    """The reasons against a sentence that reports an event which nothing told; empty if it claims nothing about a
    market; None if its claims must be read. `odd`: the words that nothing told."""
    states_something = any(token.kind in _STATING_KINDS or token.word in EVENT_WORDS for token in tokens)
    if not states_something and patterns.OFFER.search(folded(text)):
        return ()
    has_figures = any(token.kind == "number" for token in tokens)
    if happened := find_events(text, odd, has_figures=has_figures):
        return (f"an event that nothing told: {', '.join(happened)}",)
    is_definite = any(token.kind in _DEFINITE_KINDS for token in tokens)
    return () if is_talk(tokens) or (is_general(text) and not is_definite) else None


def chat_problems(reading: SentenceClaims, text: str, tokens: Sequence[Token], facts: Facts) -> list[str]:
    """The reasons against a chat sentence whose claims have been read."""
    folded_text = folded(text)
    is_offer = bool(patterns.OFFER.search(folded_text))
    problems = _contradictions(reading, folded_text, tokens, facts)
    kinds = {token.kind for token in tokens}
    has_symbols = any(token.kind == "foreign" and token.text == folded(token.value) for token in tokens)
    is_without_claim = is_offer or (
        not kinds & (BEARING_KINDS - {"unknown"}) and (bool(kinds & {"not", "unknown"}) or not has_symbols)
    )
    if _has_unread_move(tokens):
        problems.append("a move that no rule reads")
    is_about_stock = reading.names_ticker or patterns.UNNAMED_STOCK.search(folded_text)
    is_tone = facts.prediction_labels and patterns.TONE.search(folded_text)
    is_untold = reading.names_ticker and not (reading.claims or is_offer or is_tone or is_about_speaker(text))
    counted_problems = (
        "a source",
        "a change",
        *(("a ticker",) if not is_without_claim else ()),
        *(("a promise",) if is_about_stock and not patterns.WILL_TELL.search(folded_text) else ()),
        *(("words",) if is_untold else ()),
    )
    return problems + [problem for problem in reading.problems if problem.startswith(counted_problems)]


def _contradictions(reading: SentenceClaims, folded_text: str, tokens: Sequence[Token], facts: Facts) -> list[str]:
    # What a rule or holding would have returned is no supposition: a backtest computed it.
    is_supposed = HOLDING not in facts.subjects and bool(patterns.SUPPOSED.search(folded_text))
    figures = [token.value for token in tokens if token.kind == "figure"]
    number_count = sum(token.kind == "number" for token in tokens)
    named_figures, is_paired = frozenset(chain.from_iterable(figures)), 1 < len(figures) == number_count
    claims_per_number = Counter(id(claim.number) for claim in reading.claims)

    def reason_against(claim: Claim) -> str | None:
        return contradiction(claim, facts, is_supposed=is_supposed, named_figures=named_figures, is_paired=is_paired)

    reasons_by_subject: dict[str | None, list[str]] = {claim.subject: [] for claim in reading.claims}
    for claim in reading.claims:
        is_ownerless = (
            claim.relation == "is"
            and claim.figures not in _PAIR_FIGURES
            and not has_owner(claim.number, tokens)
            and claims_per_number[id(claim.number)] == 1
        )
        others = facts.subjects if is_ownerless else ()
        if (reason := reason_against(claim)) and all(
            reason_against(replace(claim, subject=ticker)) for ticker in others
        ):
            reasons_by_subject[claim.subject].append(reason)
    # "The stock", without a named ticker: any of those before it, if the claim holds for it.
    has_no_subject = not reading.names_ticker and not any(token.kind in ("all", "neither") for token in tokens)
    if has_no_subject and not all(reasons_by_subject.values()):
        return []
    return list(chain.from_iterable(reasons_by_subject.values()))


def _has_unread_move(tokens: Sequence[Token]) -> bool:
    """Whether a move is stated by a verb of unknown direction: "IBM forfeited 2.7%", "its margin expanded to 2.7%"."""
    has_figures = any(token.kind == "figure" for token in tokens)
    bare_tokens = [token for token in tokens if token.word not in _FILLER_WORDS]
    return any(
        owner.kind in (("figure",) if has_figures else ("ticker",))
        and verb.kind == "odd"
        and number.kind == "number"
        and number.value.percent
        and not number.value.sign
        for owner, verb, number in zip(bare_tokens, bare_tokens[1:], bare_tokens[2:], strict=False)
    )
