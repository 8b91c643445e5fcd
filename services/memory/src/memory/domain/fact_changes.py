"""Changes of single facts that a user asks for: remember, forget, correct. Each result says how it can be undone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from contracts.memory_rpc import fact_id
from contracts.notes import split_note
from memory.domain.claims import PEOPLE, denies
from memory.domain.forgotten import forgotten, remembered_again
from memory.domain.keys import LogPosition
from memory.domain.long_term.concepts import concepts_of, normalize
from memory.domain.long_term.pasted import unquoted
from memory.domain.long_term.plain_facts import clauses
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.references import fitting_history, referred_clause, referred_facts, referred_history
from memory.domain.remembered import FACT_LISTS, MAX_TEXT_LENGTH, Remembered, current_facts, with_forgotten
from memory.domain.statements import CLAUSE, with_note

_POINTING_CONCEPTS = concepts_of(
    "that this it one last just said told you eso esto lo ultimo dije decir acabo conte acabas"
)
"""Words that name no fact but refer to what was said before."""
_USER_CONCEPTS = concepts_of(
    "the user customer client usuario usuaria cliente wants remember that says said le dice es tiene her his their"
)

_OTHER_PERSON = re.compile(rf"(?:my|our|mis?|nuestr[oa]s?) (?P<person>{PEOPLE})\b(?! (?:and i|y yo)\b)")
"""Somebody else as the subject of a clause."""


@dataclass(frozen=True, slots=True)
class Undo:
    """A tool call that reverses a change."""

    tool: str
    arguments: dict[str, object]


class UnclearReferenceError(LookupError):
    """The words do not identify exactly one fact. `several`: the facts that they may refer to."""

    def __init__(self, several: Sequence[str]) -> None:
        super().__init__("several facts may be meant" if several else "nothing like that is remembered")
        self.several = several


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The memory after a change. `facts`: what was remembered or forgotten; `ended`: the facts that it made untrue."""

    state: Remembered
    facts: tuple[str, ...]
    ended: tuple[str, ...] = ()
    undo: tuple[Undo, ...] = ()


def remember(state: Remembered, fact: str, now: datetime) -> MemoryChange:
    """Returns the state with what a fact says, statement by statement; what this makes untrue becomes history."""
    texts = tuple(part[:MAX_TEXT_LENGTH] for part in split_note(" ".join(fact.split())))
    facts_before, changed = current_facts(state.memory), state
    for text in texts:
        changed = with_note(changed, text, now)
        changed = replace(changed, forgotten_facts=remembered_again(changed.forgotten_facts, text))
    new_texts, ended_texts = {text.casefold() for text in texts}, {past.value for past in changed.memory.superseded}
    ended = tuple(part for part in facts_before if part in ended_texts and part.casefold() not in new_texts)
    undo = [Undo("forget", {"what": fact_id(text)}) for text in texts]
    return MemoryChange(changed, texts, ended, (*undo, *(Undo("remember", {"fact": part}) for part in ended)))


def forget(state: Remembered, what: str, now: datetime, before: str = "") -> MemoryChange:
    """Returns the state without the facts meant by an id or by words, and without their history, which is not undone.
    If a fact says more than is meant, its remainder stays. `before`: what the user wrote before the request, to which
    "that" refers. Raises UnclearReferenceError."""
    current, past = current_facts(state.memory), referred_history(state.memory, what)
    if before and not concepts_of(what) - _POINTING_CONCEPTS:
        meant, ambiguous = tuple(fact for fact in current if is_stated(fact, [before])), ()
    else:
        meant, ambiguous = ((), ()) if past else referred_facts(current, what)
        past = past or (fitting_history(state.memory, what) if meant else [])
    if not meant and not past:
        raise UnclearReferenceError(ambiguous)
    parts = {fact: referred_clause(fact, what) for fact in meant}
    changed = without_history(without_facts(state, parts, now), past, now)
    removed = tuple(part for part, _ in parts.values())
    undo = tuple(Undo("remember", {"fact": fact}) for fact in removed)
    return MemoryChange(changed, removed or tuple(past), undo=undo)


def update(state: Remembered, fact: str, new: str, now: datetime) -> MemoryChange:
    """Returns the state in which the one fact meant by an id or by words is reworded; the old wording becomes history.
    Raises UnclearReferenceError."""
    meant, ambiguous = referred_facts(current_facts(state.memory), fact)
    if len(meant) != 1:
        raise UnclearReferenceError(meant or ambiguous)
    old = meant[0]
    text = " ".join(new.split())[:MAX_TEXT_LENGTH]
    changed = with_note(state, text, now, instead_of=old)
    ended = tuple(
        old_fact
        for old_fact in current_facts(state.memory)
        if old_fact not in current_facts(changed.memory) and old_fact != text
    )
    return MemoryChange(changed, (text,), ended, (Undo("update_memory", {"id": fact_id(text), "fact": old}),))


def without_facts(state: Remembered, parts: Mapping[str, tuple[str, str]], now: datetime) -> Remembered:
    """Returns the state without some facts: they are removed from lists and history and cannot be found in past
    messages. `parts`: for each fact the part that is removed, and its remainder, which stays with its date."""
    remainder_of = {fact.casefold(): rest for fact, (_, rest) in parts.items()}
    lists = {
        name: [kept for fact in getattr(state.memory, name) if (kept := remainder_of.get(fact.casefold(), fact))]
        for name in FACT_LISTS
    }
    history = [
        past.model_copy(update={"by": remainder_of[past.by.casefold()] or None})
        if past.by and past.by.casefold() in remainder_of
        else past
        for past in state.memory.superseded
        if past.value.casefold() not in remainder_of
    ]
    since = {kept: date for text, date in state.since.items() if (kept := remainder_of.get(text.casefold(), text))}
    state = replace(state.with_fields(now, **lists, superseded=history), since=since)
    return with_forgotten_words(state, tuple(removed for removed, _ in parts.values()), now)


def without_history(state: Remembered, values: Sequence[str], now: datetime) -> Remembered:
    """Returns the state without some values of the history; current values stay."""
    history = [past for past in state.memory.superseded if past.value not in values]
    if len(history) == len(state.memory.superseded):
        return state
    return with_forgotten_words(state.with_fields(now, superseded=history), tuple(values), now)


def all_forgotten(state: Remembered, log_end: LogPosition, now: datetime) -> Remembered:
    """Returns a state in which nothing is remembered and nothing of it can be found in past messages. `log_end`:
    nothing said up to this end of the log is learned later."""
    facts = (*current_facts(state.memory), *(past.value for past in state.memory.superseded))
    state = with_forgotten_words(state, facts, now)
    return Remembered(forgotten_up_to=max(log_end, state.forgotten_up_to), forgotten_facts=state.forgotten_facts)


def with_forgotten_words(state: Remembered, facts: tuple[str, ...], now: datetime) -> Remembered:
    """Returns the state in which the words of these facts are forgotten."""
    return with_forgotten(state, [forgotten(fact, now) for fact in facts], now)


def is_stated(fact: str, texts: list[str]) -> bool:
    """Whether one statement in the user's own texts says a fact: it contains all the fact's significant words, puts
    them together as the fact does, and denies or ends something exactly if the fact does."""
    own_statements = [own_speech(statement) for text in texts for statement in statements(unquoted(text))]
    return any(all(_says(statement, part) for part in {fact, *clauses(fact)}) for statement in own_statements)


def _says(statement: str, fact: str) -> bool:
    parts = [words for words in map(_fact_words, CLAUSE.split(fact)) if words]
    return (
        bool(parts)
        and _puts_together(statement, parts)
        and any(denies(part) == denies(fact) for part in _clauses_containing(_fact_words(fact), statement))
    )


def _fact_words(text: str) -> frozenset[str]:
    return concepts_of(text) - _USER_CONCEPTS - {"be", "have"}


def _puts_together(statement: str, parts: Sequence[frozenset[str]]) -> bool:
    """Whether each part of a fact takes its words from one clause of a statement, with the person whom that is about,
    or the words of several clauses whole. "My risk is high, my wife's is low" does not say "my risk is low"."""
    own_clauses = [(words, _other_person(clause)) for clause in clauses(statement) if (words := _fact_words(clause))]
    return all(
        any(person <= part <= words for words, person in own_clauses)
        or all(words <= part for words, _ in own_clauses if words & part)
        for part in parts
    )


def _other_person(clause: str) -> frozenset[str]:
    """Returns the word for somebody else who is the subject of a clause, if anybody."""
    person = _OTHER_PERSON.match(normalize(clause))
    return concepts_of(person["person"]) if person else frozenset()


def _clauses_containing(fact_words: frozenset[str], statement: str) -> list[str]:
    """Returns the shortest runs of clauses of a statement that contain all these words; none if the statement does
    not."""
    parts = CLAUSE.split(statement)
    runs, start, present = list[tuple[int, int]](), 0, Counter[str]()
    named = [fact_words & concepts_of(part) for part in parts]
    for end, part_words in enumerate(named):
        present.update(part_words)
        while all(present[word] > (word in named[start]) for word in fact_words) and start < end:
            present.subtract(named[start])
            start += 1
        if all(present[word] for word in fact_words):
            runs.append((start, end + 1))
    shortest = min((end - start for start, end in runs), default=0)
    return [", ".join(parts[start:end]) for start, end in runs if end - start == shortest]
