"""What a small model proposes to remember of a user, and what of it is taken: what the user's own words prove.

A proposal rests on a quote that must stand, word by word, in one statement of the user's own; what is remembered is the
whole clause that holds it, so that no "not", "if" or "in winter" is cut off. What ends a fact must speak of the same
thing and say that it is over or different now. In doubt both stay.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.memory_rpc import LongTermMemory, fact_id
from contracts.proposal_rpc import MOST_KNOWN, FactProposal, KnownFact, ProposalGround
from memory.domain.compatible_facts import why_both_stay
from memory.domain.forgotten import is_forgotten
from memory.domain.lesson import about_memory, is_kept_in_fields
from memory.domain.long_term.asked_notes import requested_notes
from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.own_words import is_about_writer
from memory.domain.long_term.plain_facts import clauses, is_order
from memory.domain.long_term.speech import own_speech, statements, unquoted
from memory.domain.permanence import is_of_the_moment, is_passing
from memory.domain.recall.words import words
from memory.domain.relevant_facts import matching_facts
from memory.domain.remembered import LONGEST, Remembered
from memory.domain.statements import current_facts, preferences_in, with_ended, with_fact

BEFORE = 120
"""Characters before a statement that may say what it is about."""
MARK = "proposed "
"""Before the id of a turn whose proposals have been judged, among what has been learned."""
_CONDITION = re.compile(r"(?:if|when|unless|suppose|imagine|si|cuando|a menos|supon\w*|imagina\w*)\b")

_QUOTED_BY = re.compile(r"[^.!?;\n]*: {8,}")
"""Who says what is quoted, which is blank by now."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is remembered after a turn's proposals. `refused`: why, one for each that was not taken."""

    state: Remembered
    refused: tuple[str, ...] = ()


def own_statements(texts: Sequence[str], known: LongTermMemory | None = None) -> list[str]:
    """What of a turn may tell something lasting of its writer: no questions, no orders, nobody else's words. What does
    not speak of the writer counts where it, or what stands before it, has to do with a fact that is known: "Remember my
    Buick? It died"."""
    facts = current_facts(known) if known else []
    return [
        one
        for text, said in _statements(texts)
        if is_about_writer(one := own_speech(said))
        or (not is_order(normalize(one)) and matching_facts(facts, _with_what_is_before(text, said)))
    ]


def may_tell(texts: Sequence[str]) -> bool:
    """Whether a turn may tell something lasting at all, whatever is known: not if it only asks or orders."""
    return any(not is_order(normalize(own_speech(said))) for _, said in _statements(texts))


def _statements(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The statements of a turn, each behind the text that it stands in."""
    for text in texts:
        if not about_memory(text):
            yield from ((text, said) for said in statements(_QUOTED_BY.sub("", unquoted(text))))


def _with_what_is_before(text: str, said: str) -> str:
    at = text.find(said)
    return text[max(0, at - BEFORE) : at + len(said)] if at > 0 else said


def ground(memory: LongTermMemory, texts: Sequence[str]) -> ProposalGround:
    """What a model is told: a turn's statements, and the facts that these may touch, those that have to do with them
    first, then the newest. Empty where there is nothing to propose."""
    said = own_statements(texts, memory)
    if not said:
        return ProposalGround(said=[])
    facts = current_facts(memory)
    found = dict.fromkeys([*matching_facts(facts, " ".join(said)), *facts])
    return ProposalGround(said=said, facts=[KnownFact(id=fact_id(one), fact=one) for one in found][:MOST_KNOWN])


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
    own = own_statements(texts, state.memory)
    # What is new first: a fact that it takes the place of is ended by words that are remembered.
    for proposal in sorted(proposals, key=lambda one: one.do == "end"):
        same_words = [one.id for one in proposals if one.id and one.quote == proposal.quote]
        state, why = _with(state, proposal, own, at, alone=len(set(same_words)) == 1)
        if why is not None:
            refused.append(why)
    return Judged(state.marked(MARK + turn), tuple(refused))


def _with(
    state: Remembered, proposal: FactProposal, own: Sequence[str], at: datetime, *, alone: bool
) -> tuple[Remembered, str | None]:
    sentence = _holding(proposal.quote, own)
    if sentence is None or (proposal.fact is not None and not _in_a_row(proposal.fact, sentence)):
        return state, "not_said"
    told = _told(sentence, proposal.fact or proposal.quote)
    by = told[0] if len(told) == 1 else _trimmed(sentence)
    if not by or is_passing(by):
        return state, "no_kind"
    if is_forgotten(by, state.gone, at):
        return state, "forgotten"
    lasting = [one for one in told if is_about_writer(one) and not is_of_the_moment(one)]
    if proposal.do == "add":
        return _with_new(state, lasting, at) if lasting else (state, "no_kind")
    named = (*current_facts(state.memory), *(past.value for past in state.memory.superseded))
    old = next((one for one in named if fact_id(one) == proposal.id), None)
    if old is None:
        return state, "no_such_fact"
    if state.since.get(old, at) > at:
        return state, "newer"
    if old.casefold() == by.casefold() or state.since.get(old) == at:
        return state, "known"
    why = why_both_stay(sentence, old, (proposal.fact or proposal.quote) if alone else None)
    if why is None:
        state = with_ended(state, old, by[:LONGEST], at)
    if proposal.do == "supersede":
        # Where both stay, what is new is true all the same.
        state, _ = _with_new(state, lasting or ([by] if why is None else []), at)
    return state, why


def _with_new(state: Remembered, told: Sequence[str], at: datetime) -> tuple[Remembered, str | None]:
    before = state
    for text in told:
        same_turn = any(state.since.get(one) == at and _in_a_row(one, text) for one in current_facts(state.memory))
        if not (
            is_kept_in_fields(text) or same_turn or any(_in_a_row(text, one) for one in current_facts(state.memory))
        ):
            state = with_fact(state, text[:LONGEST], at)
    return state, None if state is not before else "known"


def _holding(quote: str, own: Sequence[str]) -> str | None:
    """The statement in which a quote stands."""
    return next((one for one in own if _in_a_row(quote, one)), None)


def _in_a_row(quote: str, text: str) -> bool:
    """Whether the words of a quote stand in a text, one after the other."""
    wanted, held = words(normalize(quote)), words(normalize(text))
    return bool(wanted) and any(
        held[place : place + len(wanted)] == wanted for place in range(len(held) - len(wanted) + 1)
    )


def _told(sentence: str, quote: str) -> list[str]:
    """The clause of a sentence that holds a quote, whole, or all those that the quote holds; else what stands between
    these."""
    if not _CONDITION.match(normalize(sentence)):
        every = list(dict.fromkeys((*requested_notes(sentence), *preferences_in(sentence), *clauses(sentence))))
        if holding := next((one for one in every if _in_a_row(quote, one)), None):
            return [holding]
        if held := [one for one in every if _in_a_row(one, quote)]:
            return held
        if rest := next((one for one in _between(sentence, every) if _in_a_row(quote, one)), None):
            return [rest]
    return [_trimmed(sentence)]


def _between(sentence: str, clauses: Sequence[str]) -> list[str]:
    """What is left of a sentence, in one piece each, without some of its clauses."""
    if not clauses:
        return []
    return [_trimmed(one) for one in re.split("|".join(map(re.escape, clauses)), sentence)]


def _trimmed(sentence: str) -> str:
    return " ".join(sentence.split()).strip(" .,;:!¡")
