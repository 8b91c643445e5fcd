"""What is remembered of a user, and how the user may change it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from contracts.enumerations import INPUT_CONTEXT
from contracts.errors import FieldFault
from contracts.memory_rpc import LongTermMemory, Superseded, fact_id
from contracts.symbols import InvalidSymbolError, parse_symbol
from contracts.wrong_fields import message_of
from contracts.zones import is_zone
from memory.domain.forgotten import (
    MAX_FORGOTTEN,
    Forgotten,
    forgotten,
    is_forgotten,
    remembered_again,
    without_forgotten,
)
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.long_term.concepts import concepts_of
from memory.errors import BadFieldsError

MAX_FAVOURITES = 20
MAX_QUESTIONS = 20
MAX_STRATEGIES = 10
MAX_NOTES = 50
MAX_PREFERENCES = 50
MAX_OLDER_NOTES = 200
MAX_HISTORY = 200
MAX_TEXT_LENGTH = 500
"""Characters of one note, preference or question."""
MAX_LEARNED = 1000
"""Turns and calls that are known to have been learned; the bus redelivers nothing after so many."""
MAX_REQUESTS = 50
MAX_ENTRIES = {
    "favoriteSymbols": MAX_FAVOURITES,
    "frequentQuestions": MAX_QUESTIONS,
    "recentStrategies": MAX_STRATEGIES,
    "userNotes": MAX_NOTES,
    "preferences": MAX_PREFERENCES,
    "olderNotes": MAX_OLDER_NOTES,
}
"""The most entries of each list, by wire name."""
FACT_LISTS = {"user_notes": "userNotes", "preferences": "preferences", "older_notes": "olderNotes"}
"""The lists of facts, by attribute and wire name."""
_UNSAID = re.compile(r"^(?:actually|in fact|en realidad|de hecho)\W+|[.,;:!?]+(?=\s|$)|[¡¿]")
_TEXTS = ("frequent_questions", *FACT_LISTS)
_READ_ONLY = ("superseded", "since", "updatedAt")
_SINGLE = ("tradingStyle", "name", "riskProfile", "experience", "language", "timezone")
_NAMES = frozenset((*MAX_ENTRIES, *_SINGLE))


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory, and what is needed to go on learning.

    `symbol_counts`: number of turns that asked about each symbol that is not a favourite. `style_since`: when the
    current style was learned; `since`: when notes and preferences were, by text; `set_since`: when name, risk profile
    and similar fields were, by wire name. `corrections`: when facts were said that correct another, by text. `learned`:
    ids of the turns and calls that it contains, oldest first. `forgotten_up_to`: nothing said up to there is learned,
    since all of it was forgotten then. `applied_requests`: ids of the user's latest corrections, by which a repeated
    one is recognised. `forgotten_facts`: single facts that were forgotten, which searches must not find again.
    """

    memory: LongTermMemory = field(default_factory=LongTermMemory)
    symbol_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    style_since: datetime | None = None
    learned: tuple[str, ...] = ()
    since: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    set_since: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    corrections: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    forgotten_up_to: LogPosition = BEGINNING
    applied_requests: tuple[str, ...] = ()
    forgotten_facts: tuple[Forgotten, ...] = ()

    def with_fields(self, now: datetime, **fields: Any) -> "Remembered":
        memory = self.memory.model_copy(update={**fields, "updated_at": now})
        return replace(self, memory=memory, corrections=_known_corrections(self.corrections, memory))

    def with_past(self, past: Superseded, **fields: Any) -> "Remembered":
        """Adds a value that something newer replaced or ended to the history, newest first."""
        return self.with_fields(past.until, superseded=[past, *self.memory.superseded][:MAX_HISTORY], **fields)

    def with_correction(self, text: str, time: datetime) -> "Remembered":
        """Notes that a fact was said to correct another, if it is remembered."""
        corrections = {**self.corrections, text: min(time, self.corrections.get(text, time))}
        return replace(self, corrections=_known_corrections(corrections, self.memory))

    def dated_view(self) -> LongTermMemory:
        """The memory as its user reads it, with the time at which each thing was said."""
        current = {*current_facts(self.memory), *self.memory.to_wire()}
        dates = {**self.since, **self.set_since, "tradingStyle": self.style_since}
        since = {name: date for name, date in dates.items() if date is not None and name in current}
        return self.memory.model_copy(update={"since": since})

    def with_learned(self, source: str) -> "Remembered":
        """Notes that `source` has been learned."""
        return replace(self, learned=(*self.learned, source)[-MAX_LEARNED:])

    def with_request(self, request: str) -> "Remembered":
        """Notes that the user's correction `request` has been applied."""
        return replace(self, applied_requests=(*self.applied_requests, request)[-MAX_REQUESTS:])


def with_forgotten(state: Remembered, facts: Sequence[Forgotten | None], now: datetime) -> Remembered:
    """Returns the state in which these facts (None: a text without significant words) are forgotten: no question and no
    description of a strategy contains them."""
    forgotten = [fact for fact in facts if fact is not None]
    if not forgotten:
        return state
    forgotten_facts = (*state.forgotten_facts, *forgotten)[-MAX_FORGOTTEN:]
    questions = [question for question in state.memory.frequent_questions if not is_forgotten(question, forgotten)]
    strategies = [
        strategy.model_copy(update={"description": without_forgotten(strategy.description, forgotten)})
        for strategy in state.memory.recent_strategies
    ]
    return replace(
        state.with_fields(now, frequent_questions=questions, recent_strategies=strategies),
        forgotten_facts=forgotten_facts,
    )


def with_trading_style(state: Remembered, style: str | None, now: datetime) -> Remembered:
    """Returns the state with another trading style; the previous one becomes history, with its dates."""
    old = state.memory.trading_style
    if style == old:
        return state
    if old is not None:
        state = state.with_past(
            Superseded(field="tradingStyle", value=old, since=state.style_since, until=now, by=style)
        )
    return replace(state.with_fields(now, trading_style=style), style_since=now)


def with_patch(state: Remembered, patch: Mapping[str, Any], now: datetime) -> Remembered:
    """Returns the state after the user's merge patch (RFC 7396). What is removed is forgotten, with its history and
    counts; a style that is replaced by another becomes history.

    Raises:
        BadFieldsError: with each field that is wrong.
    """
    if errors := _unsettable_fields(patch):
        raise BadFieldsError(errors)
    old, old_wire = state.memory, state.memory.to_wire()
    wire = {name: value for name, value in {**old_wire, **patch}.items() if value is not None}
    new = _validated(wire, patch)
    state = with_trading_style(state, new.trading_style, now)
    for name in _SINGLE[1:]:
        state = _with_replaced_value(state, name, old_wire.get(name), wire.get(name), now)
    removed = [fact for fact in current_facts(old) if fact not in current_facts(new)]
    removed = removed[: len(removed) - _displaced_count(old, new)]
    added = [fact for fact in current_facts(new) if fact not in current_facts(old)]
    # A new fact that says a part of a removed one is the remainder of it, of which only the other part is forgotten.
    remainders = {
        fact: [remainder for remainder in added if concepts_of(remainder) < concepts_of(fact)] for fact in removed
    }
    cleared_fields = {name for name, value in patch.items() if value is None or value == []}
    # What is removed, or remembered again, is not history.
    history = [
        past.model_copy(update={"by": ", ".join(remainders[past.by]) or None}) if past.by in remainders else past
        for past in state.memory.superseded
        if past.field not in cleared_fields and past.value not in {*removed, *added}
    ]
    memory = new.model_copy(update={"superseded": history, "updated_at": now})
    removed_symbols = {*state.symbol_counts} if "favoriteSymbols" in cleared_fields else {*old.favorite_symbols}
    set_since = {name: date for name, date in state.set_since.items() if name not in cleared_fields}
    set_since |= {
        name: now for name in patch if name in _SINGLE and wire.get(name) != old_wire.get(name) and wire.get(name)
    }
    state = replace(
        state,
        memory=memory,
        symbol_counts={
            name: count
            for name, count in state.symbol_counts.items()
            if name not in removed_symbols or name in new.favorite_symbols
        },
        style_since=state.style_since if new.trading_style else None,
        set_since=set_since,
        corrections=_known_corrections(state.corrections, memory),
    )
    return _with_changed_facts(state, current_facts(old), remainders, now)


def _displaced_count(old: LongTermMemory, new: LongTermMemory) -> int:
    """Returns how many of the oldest notes had to make room for notes that are older notes now. The user has not asked
    to forget them."""
    if len(new.older_notes) < MAX_OLDER_NOTES:
        return 0
    moved = sum(note in old.user_notes for note in new.older_notes)
    return moved if new.older_notes[moved:] == old.older_notes[: MAX_OLDER_NOTES - moved] else 0


def _with_changed_facts(
    state: Remembered, before: Sequence[str], remainders: Mapping[str, Sequence[str]], now: datetime
) -> Remembered:
    """Returns the state in which removed facts are forgotten but for their remainders, which keep their dates, and in
    which what is remembered again is forgotten no more."""
    forgotten_facts = [
        forgotten(fact, now, frozenset[str]().union(*map(concepts_of, kept))) for fact, kept in remainders.items()
    ]
    state = with_forgotten(state, forgotten_facts, now)
    kept_dates = {
        remainder: state.since[fact] for fact, kept in remainders.items() if fact in state.since for remainder in kept
    }
    known_dates = {text: state.since.get(text) for text in before} | kept_dates
    dates = {text: known_dates.get(text, now) for text in current_facts(state.memory)}
    still_forgotten = state.forgotten_facts
    for text in current_facts(state.memory):
        still_forgotten = remembered_again(still_forgotten, text)
    since = {text: date for text, date in dates.items() if date is not None}
    return replace(state, since=since, forgotten_facts=still_forgotten)


def _validated(wire: Mapping[str, Any], patch: Mapping[str, Any]) -> LongTermMemory:
    """Returns the memory after the patch; raises BadFieldsError with each field that is wrong."""
    try:
        LongTermMemory.model_validate({name: wire[name] for name in patch.keys() & wire.keys()}, context=INPUT_CONTEXT)
        new = LongTermMemory.model_validate(wire)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise BadFieldsError(
            [FieldFault(field=".".join(map(str, bad["loc"])), message=message_of(bad)) for bad in errors]
        ) from None
    if length_errors := _length_errors(new):
        raise BadFieldsError(length_errors)
    if "favoriteSymbols" in patch:
        new = new.model_copy(update={"favorite_symbols": _normal_symbols(new.favorite_symbols)})
    new = new.model_copy(update={name: _without_duplicates(getattr(new, name)) for name in _TEXTS})
    if new.timezone is not None and not is_zone(new.timezone):
        raise BadFieldsError(
            [FieldFault(field="timezone", message="no IANA time zone: write it as America/Mexico_City")]
        )
    return new


def _without_duplicates(texts: Sequence[str]) -> list[str]:
    """Returns the texts without those that say the same as an earlier one."""
    ids = [fact_id(text) for text in texts]
    return [text for index, text in enumerate(texts) if ids[index] not in ids[:index]]


def _normal_symbols(symbols: Sequence[str]) -> list[str]:
    """Returns the symbols in their normal spelling, without repeats."""
    names: dict[str, None] = {}
    errors: list[FieldFault] = []
    for index, symbol in enumerate(symbols):
        try:
            names[parse_symbol(symbol).name] = None
        except InvalidSymbolError:
            errors.append(
                FieldFault(field=f"favoriteSymbols.{index}", message="no symbol: write it as AAPL or BTC/USD")
            )
    if errors:
        raise BadFieldsError(errors)
    return list(names)


def _known_corrections(corrections: Mapping[str, datetime], memory: LongTermMemory) -> Mapping[str, datetime]:
    """Returns the corrections whose words are still kept, as a fact or in the history; forgotten words leave none."""
    if not corrections:
        return corrections
    texts = {*current_facts(memory), *(text for past in memory.superseded for text in (past.value, past.by))}
    return {text: date for text, date in corrections.items() if text in texts}


def current_facts(memory: LongTermMemory) -> list[str]:
    """All facts that are remembered as true."""
    return [fact for attribute in FACT_LISTS for fact in getattr(memory, attribute)]


def _with_replaced_value(state: Remembered, name: str, old: Any, new: Any, now: datetime) -> Remembered:
    """Returns the state with a replaced value in the history; a value that is only removed is forgotten."""
    if old is None or new is None or old == new:
        return state
    return state.with_past(Superseded(field=name, value=old, since=state.set_since.get(name), until=now, by=new))


def _unsettable_fields(patch: Mapping[str, Any]) -> list[FieldFault]:
    message: dict[str, str] = dict.fromkeys(_READ_ONLY, "is kept by the service itself and cannot be set")
    names = [*(name for name in patch if name in message), *(name for name in patch if name not in message)]
    return [
        FieldFault(field=name, message=message.get(name, "is no field of the memory"))
        for name in names
        if name not in _NAMES
    ]


def _length_errors(memory: LongTermMemory) -> list[FieldFault]:
    wire = memory.to_wire()
    lists: dict[str, list[Any]] = {name: wire.get(name, []) for name in MAX_ENTRIES}
    errors = [
        FieldFault(field=name, message=f"at most {MAX_ENTRIES[name]}")
        for name, values in lists.items()
        if len(values) > MAX_ENTRIES[name]
    ]
    for name, values in lists.items():
        for index, value in enumerate(values):
            if isinstance(value, str) and not 0 < len(value.strip()) <= MAX_TEXT_LENGTH:
                errors.append(FieldFault(field=f"{name}.{index}", message=f"1 to {MAX_TEXT_LENGTH} characters"))
    return errors


def are_different(one: str, other: str) -> bool:
    """Whether two texts are different facts; "my dentist is Dr Paz" and "My dentist is Dr. Paz." are the same."""
    return _what_is_said(one) != _what_is_said(other)


@lru_cache(maxsize=4_000)
def _what_is_said(text: str) -> str:
    return _UNSAID.sub("", text.casefold())
