"""What a small model proposes to remember of a user, and what of it is accepted: what the user's own words prove.

A proposal is based on a quote that must occur, word by word, in one of the user's own statements. What is remembered is
the whole clause that contains the quote, so that no "not", "if" or "in winter" is cut off. A proposal that ends a fact
must be about the same thing and say that it is over or different now. In doubt both facts stay.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.memory_rpc import LongTermMemory, fact_id
from contracts.proposal_rpc import MAX_KNOWN_FACTS, FactProposal, KnownFact, ProposalGround
from memory.domain.compatible_facts import why_both_stay
from memory.domain.forgotten import is_forgotten
from memory.domain.lesson import is_about_memory, is_kept_in_fields
from memory.domain.long_term.asked_notes import requested_notes
from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.own_words import may_state_fact
from memory.domain.long_term.pasted import unquoted, without_pasted_text
from memory.domain.long_term.plain_facts import clauses, is_order
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.permanence import is_of_the_moment, is_passing
from memory.domain.preferences import preferences_in
from memory.domain.recall.words import words
from memory.domain.relevant_facts import matching_facts
from memory.domain.remembered import MAX_TEXT_LENGTH, Remembered, current_facts
from memory.domain.statements import with_ended, with_fact

CONTEXT_CHARACTERS = 120
"""Characters before a statement that may say what it is about."""
JUDGED_PREFIX = "proposed "
"""Prefix of the id, among what has been learned, of a turn whose proposals have been judged."""
_CONDITION = re.compile(r"(?:if|when|unless|suppose|imagine|si|cuando|a menos|supon\w*|imagina\w*)\b")

_QUOTED_BY = re.compile(r"[^.!?;\n]*: {8,}")
"""The introduction of a quotation, which has been replaced by blanks."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is remembered after a turn's proposals. `refused`: a reason for each proposal that was not accepted."""

    state: Remembered
    refused: tuple[str, ...] = ()


def own_statements(texts: Sequence[str], memory: LongTermMemory | None = None) -> list[str]:
    """Returns the statements of a turn that may say something lasting about their writer: no questions, orders or other
    people's words. A statement that is not about the writer counts if it, or the text before it, is related to a known
    fact: "Remember my Buick? It died"."""
    facts = current_facts(memory) if memory else []
    return [
        own_text
        for text, statement in _statements(texts)
        if may_state_fact(own_text := own_speech(statement))
        or (not is_order(normalize(own_text)) and matching_facts(facts, _with_context(text, statement)))
    ]


def may_state_facts(texts: Sequence[str]) -> bool:
    """Whether a turn may say something lasting at all, whatever is known: not if it only asks or orders."""
    return any(not is_order(normalize(own_speech(statement))) for _, statement in _statements(texts))


def _statements(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the statements of a turn, each preceded by the text that it occurs in."""
    for text in texts:
        if not is_about_memory(text):
            own_text = _QUOTED_BY.sub("", unquoted(without_pasted_text(text)))
            yield from ((text, statement) for statement in statements(own_text))


def _with_context(text: str, statement: str) -> str:
    position = text.find(statement)
    return text[max(0, position - CONTEXT_CHARACTERS) : position + len(statement)] if position > 0 else statement


def ground(memory: LongTermMemory, texts: Sequence[str]) -> ProposalGround:
    """Returns what a model is given: a turn's statements, and the facts that they may affect: related facts first, then
    the newest. Empty if there is nothing to propose."""
    own = own_statements(texts, memory)
    if not own:
        return ProposalGround(said=[])
    facts = current_facts(memory)
    facts_found = dict.fromkeys([*matching_facts(facts, " ".join(own)), *facts])
    return ProposalGround(
        said=own, facts=[KnownFact(id=fact_id(fact), fact=fact) for fact in facts_found][:MAX_KNOWN_FACTS]
    )


def is_judged(state: Remembered, turn: str) -> bool:
    """Whether the proposals of a turn have been judged."""
    return JUDGED_PREFIX + turn in state.learned


def judged(
    state: Remembered, turn: str, at: datetime, texts: Sequence[str], proposals: Sequence[FactProposal]
) -> Judged:
    """Returns the state with what a turn's proposals prove; the same object if they have been judged before."""
    if is_judged(state, turn):
        return Judged(state)
    refused: list[str] = []
    own = own_statements(texts, state.memory)
    # New facts first, so that a fact that one replaces is ended by words that are remembered.
    for proposal in sorted(proposals, key=lambda proposal: proposal.do == "end"):
        same_words = [other.id for other in proposals if other.id and other.quote == proposal.quote]
        state, reason = _with_proposal(state, proposal, own, at, is_only_one=len(set(same_words)) == 1)
        if reason is not None:
            refused.append(reason)
    return Judged(state.with_learned(JUDGED_PREFIX + turn), tuple(refused))


def _with_proposal(
    state: Remembered, proposal: FactProposal, own_texts: Sequence[str], at: datetime, *, is_only_one: bool
) -> tuple[Remembered, str | None]:
    sentence = _statement_with(proposal.quote, own_texts)
    if sentence is None or (proposal.fact is not None and not _contains_words(proposal.fact, sentence)):
        return state, "not_said"
    proven = _proven_clauses(sentence, proposal.fact or proposal.quote)
    cause = proven[0] if len(proven) == 1 else _trimmed(sentence)
    if not cause or is_passing(cause):
        return state, "no_kind"
    if is_forgotten(cause, state.forgotten_facts, at):
        return state, "forgotten"
    lasting = [clause for clause in proven if may_state_fact(clause) and not is_of_the_moment(clause)]
    if proposal.do == "add":
        return _with_new_facts(state, lasting, at) if lasting else (state, "no_kind")
    known_facts = (*current_facts(state.memory), *(past.value for past in state.memory.superseded))
    old = next((fact for fact in known_facts if fact_id(fact) == proposal.id), None)
    if old is None:
        return state, "no_such_fact"
    if state.since.get(old, at) > at:
        return state, "newer"
    if old.casefold() == cause.casefold() or state.since.get(old) == at:
        return state, "known"
    reason = why_both_stay(sentence, old, (proposal.fact or proposal.quote) if is_only_one else None)
    if reason is None:
        state = with_ended(state, old, cause[:MAX_TEXT_LENGTH], at)
    if proposal.do == "supersede":
        # Even if the old fact stays, the new one is true.
        state, _ = _with_new_facts(state, lasting or ([cause] if reason is None else []), at)
    return state, reason


def _with_new_facts(state: Remembered, texts: Sequence[str], at: datetime) -> tuple[Remembered, str | None]:
    before = state
    for text in texts:
        same_turn = any(
            state.since.get(fact) == at and _contains_words(fact, text) for fact in current_facts(state.memory)
        )
        if not (
            is_kept_in_fields(text)
            or same_turn
            or any(_contains_words(text, fact) for fact in current_facts(state.memory))
        ):
            state = with_fact(state, text[:MAX_TEXT_LENGTH], at)
    return state, None if state is not before else "known"


def _statement_with(quote: str, own_texts: Sequence[str]) -> str | None:
    """Returns the statement that contains a quote."""
    return next((statement for statement in own_texts if _contains_words(quote, statement)), None)


def _contains_words(quote: str, text: str) -> bool:
    """Whether a text contains the words of a quote, one after the other."""
    wanted, available = words(normalize(quote)), words(normalize(text))
    return bool(wanted) and any(
        available[index : index + len(wanted)] == wanted for index in range(len(available) - len(wanted) + 1)
    )


def _proven_clauses(sentence: str, quote: str) -> list[str]:
    """Returns the clause of a sentence that contains a quote, or all clauses that the quote contains; otherwise the
    text between the clauses."""
    if not _CONDITION.match(normalize(sentence)):
        parts = list(dict.fromkeys((*requested_notes(sentence), *preferences_in(sentence), *clauses(sentence))))
        if containing := next((part for part in parts if _contains_words(quote, part)), None):
            return [containing]
        if inside := [part for part in parts if _contains_words(part, quote)]:
            return inside
        if rest := next((part for part in _remaining_parts(sentence, parts) if _contains_words(quote, part)), None):
            return [rest]
    return [_trimmed(sentence)]


def _remaining_parts(sentence: str, clauses: Sequence[str]) -> list[str]:
    """Returns the parts of a sentence that are left without some of its clauses."""
    if not clauses:
        return []
    return [_trimmed(part) for part in re.split("|".join(map(re.escape, clauses)), sentence)]


def _trimmed(sentence: str) -> str:
    return " ".join(sentence.split()).strip(" .,;:!¡")
