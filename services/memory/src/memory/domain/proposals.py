"""What a small model proposes to remember of a user, and what of it is taken: what the user's own words prove.

A proposal rests on a quote that must stand, word by word, in one statement of the user's own; what is remembered is the
whole clause that holds it, so that no "not", "if" or "in winter" is cut off. What ends a fact must speak of the same
thing and say that it is over or different now. In doubt both stay.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.memory_rpc import LongTermMemory, fact_id
from contracts.proposal_rpc import MOST_KNOWN, FactProposal, KnownFact
from memory.domain.facts_apart import why_both_stay
from memory.domain.forgotten import is_forgotten
from memory.domain.lesson import ABOUT_MEMORY, told_elsewhere
from memory.domain.long_term.concepts import plain
from memory.domain.long_term.own_words import speaks_of_oneself
from memory.domain.long_term.plain_facts import clauses
from memory.domain.long_term.speech import meant, statements, unquoted
from memory.domain.recall.words import words
from memory.domain.relevant_facts import fitting
from memory.domain.remembered import LONGEST, Remembered
from memory.domain.statements import adding, ending, is_passing, kept, notes_in, preferences_in

MARK = "proposed "
"""Before the id of a turn whose proposals have been judged, among what has been learned."""
_CONDITION = re.compile(r"(?:if|when|unless|suppose|imagine|si|cuando|a menos|supon\w*|imagina\w*)\b")


@dataclass(frozen=True, slots=True)
class Judged:
    """What is remembered after a turn's proposals. `refused`: why, one for each that was not taken."""

    state: Remembered
    refused: tuple[str, ...] = ()


def own_statements(texts: Sequence[str]) -> list[str]:
    """What of a turn may tell something lasting of its writer: no questions, no orders, nobody else's words."""
    told = (text for text in texts if not ABOUT_MEMORY.match(text))
    return [one for text in told for one in map(meant, statements(unquoted(text))) if speaks_of_oneself(one)]


def touched(memory: LongTermMemory, said: Sequence[str]) -> list[KnownFact]:
    """The facts that statements may touch: those that have to do with them first, then the newest."""
    facts = kept(memory)
    found = [*fitting(facts, " ".join(said)), *facts]
    return [KnownFact(id=fact_id(one), fact=one) for one in dict.fromkeys(found)][:MOST_KNOWN]


def is_judged(state: Remembered, turn: str) -> bool:
    """Whether the proposals of a turn have been judged."""
    return MARK + turn in state.learned


def judged(
    state: Remembered, turn: str, at: datetime, texts: Sequence[str], proposals: Sequence[FactProposal]
) -> Judged:
    """With what a turn's proposals prove; the same object when they have been judged before."""
    if is_judged(state, turn):
        return Judged(state)
    refused: list[str] = []
    own = own_statements(texts)
    # What is new first: a fact that it takes the place of is ended by words that are remembered.
    for proposal in sorted(proposals, key=lambda one: one.do == "end"):
        state, why = _with(state, proposal, own, at)
        if why is not None:
            refused.append(why)
    return Judged(state.marked(MARK + turn), tuple(refused))


def _with(state: Remembered, proposal: FactProposal, own: Sequence[str], at: datetime) -> tuple[Remembered, str | None]:
    sentence = _holding(proposal.quote, own)
    if sentence is None or (proposal.fact is not None and not _in_a_row(proposal.fact, sentence)):
        return state, "not_said"
    text = _whole(sentence, proposal.fact or proposal.quote)
    if not text or not speaks_of_oneself(text) or is_passing(text):
        return state, "no_kind"
    if is_forgotten(text, state.gone, at):
        return state, "forgotten"
    if proposal.do == "add":
        return _with_new(state, text, at)
    named = (*kept(state.memory), *(past.value for past in state.memory.superseded))
    old = next((one for one in named if fact_id(one) == proposal.id), None)
    if old is None:
        return state, "no_such_fact"
    if state.since.get(old, at) > at:
        return state, "newer"
    if old.casefold() == text.casefold() or state.since.get(old) == at:
        return state, "known"
    why = why_both_stay(sentence, old)
    if why is None:
        state = ending(state, old, text[:LONGEST], at)
    if proposal.do == "supersede":
        # Where both stay, what is new is true all the same.
        state, _ = _with_new(state, text, at)
    return state, why


def _with_new(state: Remembered, text: str, at: datetime) -> tuple[Remembered, str | None]:
    if told_elsewhere(text):
        return state, "known"
    if any(_in_a_row(text, one) for one in kept(state.memory)):
        return state, "known"
    same_turn = [one for one in kept(state.memory) if state.since.get(one) == at and _in_a_row(one, text)]
    if same_turn:
        return state, "known"
    after = adding(state, text[:LONGEST], at)
    return after, None if after is not state else "known"


def _holding(quote: str, own: Sequence[str]) -> str | None:
    """The statement in which a quote stands."""
    return next((one for one in own if _in_a_row(quote, one)), None)


def _in_a_row(quote: str, text: str) -> bool:
    """Whether the words of a quote stand in a text, one after the other."""
    wanted, held = words(plain(quote)), words(plain(text))
    return bool(wanted) and any(
        held[place : place + len(wanted)] == wanted for place in range(len(held) - len(wanted) + 1)
    )


def _whole(sentence: str, quote: str) -> str:
    """The clause of a sentence that holds a quote, whole; the sentence where no single clause does."""
    if not _CONDITION.match(plain(sentence)):
        for clause in (*notes_in(sentence), *preferences_in(sentence), *clauses(sentence)):
            if _in_a_row(quote, clause) or _in_a_row(clause, quote):
                return clause
    return " ".join(sentence.split()).strip(" .,;:!¡")
