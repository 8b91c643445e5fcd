"""What is remembered of a user, and what the user may change of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from contracts.enumerations import AT_THE_DOOR
from contracts.memory_rpc import LongTermMemory, Superseded, fact_id
from contracts.symbols import InvalidSymbolError, parse_symbol
from contracts.wrong_fields import message_of
from contracts.zones import is_zone
from memory.domain.company import BadField
from memory.domain.forgotten import MOST as MOST_FORGOTTEN
from memory.domain.forgotten import Forgotten, forgotten, is_forgotten, remembered_again, without_forgotten
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.long_term.concepts import concepts_of

FAVOURITES = 20
QUESTIONS = 20
STRATEGIES = 10
NOTES = 50
PREFERENCES = 50
OLDER = 200
HISTORY = 200
LONGEST = 500
"""Characters of one note, preference or question."""
LEARNED = 1000
CORRECTIONS = 50
"""Turns that are known to have been learned; the bus does not deliver anything again after so many."""

_CAPS = {
    "favoriteSymbols": FAVOURITES,
    "frequentQuestions": QUESTIONS,
    "recentStrategies": STRATEGIES,
    "userNotes": NOTES,
    "preferences": PREFERENCES,
    "olderNotes": OLDER,
}
_TEXTS = ("frequent_questions", "user_notes", "preferences", "older_notes")
_OWN = ("superseded", "since", "updatedAt")
_SINGLE = ("tradingStyle", "name", "riskProfile", "experience", "language", "timezone")
_NAMES = frozenset((*_CAPS, *_SINGLE))


class BadMemoryError(ValueError):
    """A correction that fits no memory."""

    def __init__(self, fields: list[BadField]) -> None:
        super().__init__("; ".join(f"{bad.field}: {bad.message}" for bad in fields))
        self.fields = fields


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory, and what is needed to go on learning.

    `asked`: in how many turns a symbol was asked about, while it is no favourite. `style_since`: when the present
    style was learned; `since`: when notes and preferences were, by text; `set_since`: when name, risk profile and their
    like were, by name on the wire. `corrections`: when facts were said that correct another, by text. `learned`: ids of
    the turns and calls that are in it, oldest first. `forgotten`: when all of it was last forgotten; what was said up
    to there is not learned. `done`: ids of the user's own latest corrections, so that one that is sent again is
    recognised. `gone`: single facts that were forgotten, for what was said of them is not to be found any more.
    """

    memory: LongTermMemory = field(default_factory=LongTermMemory)
    asked: Mapping[str, int] = field(default_factory=dict[str, int])
    style_since: datetime | None = None
    learned: tuple[str, ...] = ()
    since: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    set_since: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    corrections: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    forgotten: LogPosition = BEGINNING
    done: tuple[str, ...] = ()
    gone: tuple[Forgotten, ...] = ()

    def changed(self, now: datetime, **fields: Any) -> "Remembered":
        memory = self.memory.model_copy(update={**fields, "updated_at": now})
        return replace(self, memory=memory, corrections=_still_known(self.corrections, memory))

    def correcting(self, text: str, at: datetime) -> "Remembered":
        """Knowing that a fact was said to correct another, if it is remembered."""
        corrections = {**self.corrections, text: min(at, self.corrections.get(text, at))}
        return replace(self, corrections=_still_known(corrections, self.memory))

    def dated_view(self) -> LongTermMemory:
        """The memory as its user reads it: with the time at which each thing was said."""
        held = {*_facts(self.memory), *self.memory.to_wire()}
        known = {**self.since, **self.set_since, "tradingStyle": self.style_since}
        since = {name: at for name, at in known.items() if at is not None and name in held}
        return self.memory.model_copy(update={"since": since})

    def marked(self, source: str) -> "Remembered":
        """Knowing that `source` has been learned."""
        return replace(self, learned=(*self.learned, source)[-LEARNED:])

    def corrected_by(self, request: str) -> "Remembered":
        """Knowing that the user's correction `request` is in it."""
        return replace(self, done=(*self.done, request)[-CORRECTIONS:])


def unsaid(state: Remembered, words: Sequence[Forgotten], now: datetime) -> Remembered:
    """Forgetting these words: they are in no question and in no description of a strategy any more."""
    if not words:
        return state
    gone = (*state.gone, *words)[-MOST_FORGOTTEN:]
    questions = [one for one in state.memory.frequent_questions if not is_forgotten(one, words)]
    strategies = [
        one.model_copy(update={"description": without_forgotten(one.description, words)})
        for one in state.memory.recent_strategies
    ]
    return replace(state.changed(now, frequent_questions=questions, recent_strategies=strategies), gone=gone)


def with_superseded(history: list[Superseded], past: Superseded) -> list[Superseded]:
    """The history with one more value that something newer replaced, newest first."""
    return [past, *history][:HISTORY]


def restyled(state: Remembered, style: str | None, now: datetime) -> Remembered:
    """With another trading style; the one before becomes history, with its dates."""
    old = state.memory.trading_style
    if style == old:
        return state
    history = list(state.memory.superseded)
    if old is not None:
        past = Superseded(field="tradingStyle", value=old, since=state.style_since, until=now, by=style)
        history = with_superseded(history, past)
    return replace(state.changed(now, trading_style=style, superseded=history), style_since=now)


def corrected(state: Remembered, patch: Mapping[str, Any], now: datetime) -> Remembered:
    """After the user's merge patch (RFC 7396). What is taken out is forgotten, its history and its counts too; a style
    that is replaced by another becomes history.

    Raises:
        BadMemoryError: with each field that is wrong.
    """
    if wrong := _refused(patch):
        raise BadMemoryError(wrong)
    old = state.memory
    before = old.to_wire()
    wire = {name: value for name, value in {**before, **patch}.items() if value is not None}
    new = _checked(wire, patch)
    state = restyled(state, new.trading_style, now)
    lost = [one for one in _facts(old) if one not in _facts(new)]
    for name in _SINGLE[1:]:
        state = _replaced(state, name, before.get(name), wire.get(name), now)
    gone = {name for name, value in patch.items() if value is None or value == []}
    # What is taken out is no history either, nor is what is remembered again.
    no_history = {*lost, *(one for one in _facts(new) if one not in _facts(old))}
    history = [past for past in state.memory.superseded if past.field not in gone and past.value not in no_history]
    dropped = set(old.favorite_symbols) - set(new.favorite_symbols)
    asked = {} if "favoriteSymbols" in gone else {name: n for name, n in state.asked.items() if name not in dropped}
    memory = new.model_copy(update={"superseded": history, "updated_at": now})
    since = state.style_since if new.trading_style else None
    set_since = {name: at for name, at in state.set_since.items() if name not in gone}
    set_since |= {
        name: now for name in patch if name in _SINGLE and wire.get(name) != before.get(name) and wire.get(name)
    }
    known = _still_known(state.corrections, memory)
    state = replace(state, memory=memory, asked=asked, style_since=since, set_since=set_since, corrections=known)
    # What is put in the place of a fact and says a part of it is the rest of one of which a part is forgotten.
    added = [one for one in _facts(new) if one not in _facts(old)]
    rests = {one: [rest for rest in added if concepts_of(rest) < concepts_of(one)] for one in lost}
    words = [forgotten(one, now, frozenset[str]().union(*map(concepts_of, rest))) for one, rest in rests.items()]
    state = unsaid(state, [one for one in words if one is not None], now)
    history = [
        past.model_copy(update={"by": ", ".join(rests[past.by]) or None}) if past.by in rests else past
        for past in state.memory.superseded
    ]
    state = state.changed(now, superseded=history)
    dates = {rest: state.since[one] for one, every in rests.items() if one in state.since for rest in every}
    state = replace(state, since={**state.since, **dates})
    still = state.gone
    for text in _facts(new):
        still = remembered_again(still, text)
    return replace(state, since=_dated(state, {*_facts(old), *dates}, now), gone=still)


def _checked(wire: Mapping[str, Any], patch: Mapping[str, Any]) -> LongTermMemory:
    """The memory as it is after the patch. Raises BadMemoryError with each field that is wrong."""
    try:
        LongTermMemory.model_validate({name: wire[name] for name in patch.keys() & wire.keys()}, context=AT_THE_DOOR)
        new = LongTermMemory.model_validate(wire)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise BadMemoryError([BadField(".".join(map(str, bad["loc"])), message_of(bad)) for bad in found]) from None
    if wrong := _too_long(new):
        raise BadMemoryError(wrong)
    if "favoriteSymbols" in patch:
        new = new.model_copy(update={"favorite_symbols": _symbols(new.favorite_symbols)})
    new = new.model_copy(update={name: _once(getattr(new, name)) for name in _TEXTS})
    if new.timezone is not None and not is_zone(new.timezone):
        raise BadMemoryError([BadField("timezone", "no IANA time zone: write it as America/Mexico_City")])
    return new


def _once(texts: Sequence[str]) -> list[str]:
    """Without those that say the same as one before."""
    ids = [fact_id(one) for one in texts]
    return [one for number, one in enumerate(texts) if ids[number] not in ids[:number]]


def _symbols(given: Sequence[str]) -> list[str]:
    """In their one spelling, without repeats."""
    names: dict[str, None] = {}
    wrong: list[BadField] = []
    for index, one in enumerate(given):
        try:
            names[parse_symbol(one).name] = None
        except InvalidSymbolError:
            wrong.append(BadField(f"favoriteSymbols.{index}", "no symbol: write it as AAPL or BTC/USD"))
    if wrong:
        raise BadMemoryError(wrong)
    return list(names)


def _still_known(corrections: Mapping[str, datetime], memory: LongTermMemory) -> Mapping[str, datetime]:
    """The corrections whose words are still kept, as a fact or in the history: what is forgotten leaves none."""
    if not corrections:
        return corrections
    known = {*_facts(memory), *(text for past in memory.superseded for text in (past.value, past.by))}
    return {text: at for text, at in corrections.items() if text in known}


def _facts(memory: LongTermMemory) -> list[str]:
    return [*memory.user_notes, *memory.preferences, *memory.older_notes]


def _dated(state: Remembered, before: Collection[str], now: datetime) -> dict[str, datetime]:
    """Since when each note and preference is remembered: those that were not there `before`, since `now`."""
    held = _facts(state.memory)
    known = {text: state.since.get(text) if text in before else now for text in held}
    return {text: at for text, at in known.items() if at is not None}


def _replaced(state: Remembered, name: str, held: Any, value: Any, now: datetime) -> Remembered:
    """With what another value replaces among the history; what is only taken out is forgotten."""
    if held is None or value is None or held == value:
        return state
    past = Superseded(field=name, value=held, since=state.set_since.get(name), until=now, by=value)
    return state.changed(now, superseded=with_superseded(list(state.memory.superseded), past))


def _refused(patch: Mapping[str, Any]) -> list[BadField]:
    own = [BadField(name, "is kept by the service itself and cannot be set") for name in patch if name in _OWN]
    unknown = [BadField(name, "is no field of the memory") for name in patch if name not in _NAMES and name not in _OWN]
    return own + unknown


def _too_long(memory: LongTermMemory) -> list[BadField]:
    lists: dict[str, list[Any]] = {
        "favoriteSymbols": memory.favorite_symbols,
        "frequentQuestions": memory.frequent_questions,
        "recentStrategies": memory.recent_strategies,
        "userNotes": memory.user_notes,
        "preferences": memory.preferences,
        "olderNotes": memory.older_notes,
    }
    wrong = [BadField(name, f"at most {_CAPS[name]}") for name, held in lists.items() if len(held) > _CAPS[name]]
    for name, held in lists.items():
        for index, one in enumerate(held):
            if isinstance(one, str) and not 0 < len(one.strip()) <= LONGEST:
                wrong.append(BadField(f"{name}.{index}", f"1 to {LONGEST} characters"))
    return wrong
