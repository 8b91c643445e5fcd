"""Changes of single facts that a user asks for: remember, forget, correct. Each says how it can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from contracts.memory_rpc import fact_id
from contracts.notes import notes_apart
from memory.domain.claims import denies
from memory.domain.forgotten import MOST, forgotten, remembered_again
from memory.domain.keys import LogPosition
from memory.domain.long_term.concepts import concepts_of
from memory.domain.long_term.speech import own_speech, statements, unquoted
from memory.domain.references import referred_clause, referred_facts
from memory.domain.remembered import LONGEST, Remembered, unsaid
from memory.domain.statements import CLAUSE, current_facts, with_note

_LISTS = ("user_notes", "preferences", "older_notes")
_POINTS = concepts_of("that this it one last just said told you eso esto lo ultimo dije decir acabo conte acabas")
"""Words that name no fact, only what was said before."""
_OF_THE_USER = concepts_of(
    "the user customer client usuario usuaria cliente wants remember that says said le dice es tiene her his their"
)


@dataclass(frozen=True, slots=True)
class Undo:
    """A call that takes a change back."""

    tool: str
    arguments: dict[str, object]


class NotMeantError(LookupError):
    """No one fact is meant. `several`: those that may be."""

    def __init__(self, several: Sequence[str]) -> None:
        super().__init__("several facts may be meant" if several else "nothing like that is remembered")
        self.several = several


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The memory after a change. `facts`: what was remembered, or forgotten; `ended`: what it made untrue."""

    state: Remembered
    facts: tuple[str, ...]
    ended: tuple[str, ...] = ()
    undo: tuple[Undo, ...] = ()


def remember(state: Remembered, fact: str, now: datetime) -> MemoryChange:
    """With what a fact says, statement by statement; what it makes untrue becomes history."""
    texts = tuple(one[:LONGEST] for one in notes_apart(" ".join(fact.split())))
    before, after = current_facts(state.memory), state
    for text in texts:
        after = with_note(after, text, now)
        after = replace(after, gone=remembered_again(after.gone, text))
    said = {text.casefold() for text in texts}
    ended = tuple(one for one in before if one not in current_facts(after.memory) and one.casefold() not in said)
    undo = [Undo("forget", {"what": fact_id(text)}) for text in texts]
    return MemoryChange(after, texts, ended, (*undo, *(Undo("remember", {"fact": one}) for one in ended)))


def forget(state: Remembered, what: str, now: datetime, before: str = "") -> MemoryChange:
    """Without the facts that are meant, by id or by words; their history goes too. Of a fact that says more than is
    meant the rest stays. `before`: what the user wrote before they asked for it, which "that" means. Raises
    NotMeantError."""
    every = list(dict.fromkeys([*current_facts(state.memory), *(past.value for past in state.memory.superseded)]))
    if before and not concepts_of(what) - _POINTS:
        gone, several = tuple(one for one in current_facts(state.memory) if is_stated(one, [before])), ()
    else:
        gone, several = referred_facts(every, what)
    if not gone:
        raise NotMeantError(several)
    parts = {one: referred_clause(one, what) for one in gone}
    after = without(state, parts, now)
    said = tuple(part for part, _ in parts.values())
    return MemoryChange(after, said, undo=tuple(Undo("remember", {"fact": one}) for one in said))


def update(state: Remembered, fact: str, new: str, now: datetime) -> MemoryChange:
    """With the one fact that is meant, by id or by words, in other words; the older one becomes history. Raises
    NotMeantError."""
    found, several = referred_facts(current_facts(state.memory), fact)
    if len(found) != 1:
        raise NotMeantError(found or several)
    old = found[0]
    text = " ".join(new.split())[:LONGEST]
    after = with_note(state, text, now, instead_of=old)
    ended = tuple(one for one in current_facts(state.memory) if one not in current_facts(after.memory) and one != text)
    return MemoryChange(after, (text,), ended, (Undo("update_memory", {"id": fact_id(text), "fact": old}),))


def without(state: Remembered, parts: Mapping[str, tuple[str, str]], now: datetime) -> Remembered:
    """Without some facts: in no list, in no history, and not to be found in what was said. `parts`: what of each goes,
    and its rest, which stays with its date."""
    rest_of = {one.casefold(): rest for one, (_, rest) in parts.items()}
    lists = {
        name: [left for one in getattr(state.memory, name) if (left := rest_of.get(one.casefold(), one))]
        for name in _LISTS
    }
    history = [
        past.model_copy(update={"by": rest_of[past.by.casefold()] or None})
        if past.by and past.by.casefold() in rest_of
        else past
        for past in state.memory.superseded
        if past.value.casefold() not in rest_of
    ]
    since = {left: at for text, at in state.since.items() if (left := rest_of.get(text.casefold(), text))}
    state = replace(state.changed(now, **lists, superseded=history), since=since)
    return with_forgotten_words(state, tuple(gone for gone, _ in parts.values()), now)


def without_past(state: Remembered, values: Sequence[str], now: datetime) -> Remembered:
    """Without some values of the history; what is so now stays."""
    history = [past for past in state.memory.superseded if past.value not in values]
    if len(history) == len(state.memory.superseded):
        return state
    return with_forgotten_words(state.changed(now, superseded=history), tuple(values), now)


def all_forgotten(state: Remembered, said: LogPosition, now: datetime) -> Remembered:
    """Nothing is remembered, and none of it is to be found in what was said. `said`: where the log ends; what was said
    up to there is not learned afterwards."""
    facts = (*current_facts(state.memory), *(past.value for past in state.memory.superseded))
    words = [one for one in (forgotten(fact, now) for fact in facts) if one is not None]
    return Remembered(forgotten=max(said, state.forgotten), gone=(*state.gone, *words)[-MOST:])


def with_forgotten_words(state: Remembered, facts: tuple[str, ...], now: datetime) -> Remembered:
    """Knowing that these words were forgotten."""
    words = [one for one in (forgotten(fact, now) for fact in facts) if one is not None]
    return unsaid(state, words, now)


def is_stated(fact: str, texts: list[str]) -> bool:
    """Whether one statement of the user's own texts says a fact: it holds every telling word of it, and denies it or
    says that it is over only where the fact does."""
    telling = concepts_of(fact) - _OF_THE_USER - {"be", "have"}
    said = (own_speech(one) for text in texts for one in statements(unquoted(text)))
    return bool(telling) and any(denies(part) == denies(fact) for one in said for part in _saying(telling, one))


def _saying(telling: frozenset[str], statement: str) -> list[str]:
    """The fewest clauses of a statement, one after the other, that hold all telling words; none where it does not."""
    parts = CLAUSE.split(statement)
    for length in range(1, len(parts) + 1):
        runs = [", ".join(parts[at : at + length]) for at in range(len(parts) - length + 1)]
        if found := [one for one in runs if telling <= concepts_of(one)]:
            return found
    return []
