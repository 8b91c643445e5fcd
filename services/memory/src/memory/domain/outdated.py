"""Which passages are no longer true: those that say what stands as history in what is remembered of the person."""

from dataclasses import dataclass
from datetime import datetime

from contracts.memory_rpc import LongTermMemory, Superseded
from memory.domain.lesson import style_in
from memory.domain.profile import FIELDS, described
from memory.domain.recall.index import IndexedMessage
from memory.domain.recall.words import words
from memory.domain.remembered import Remembered
from memory.domain.statements import current_facts

USER = "user"


@dataclass(frozen=True, slots=True)
class OutdatedSince:
    """Since when a passage is outdated, and what replaced it (None: nothing)."""

    until: datetime
    by: str | None


def outdated(passage: IndexedMessage, memory: LongTermMemory) -> OutdatedSince | None:
    """Why a passage is outdated; None: it may still be true."""
    if passage.speaker != USER:
        return None
    now = {*current_facts(memory), memory.trading_style, *(getattr(memory, name) for name in FIELDS)}
    for past in memory.superseded:
        if passage.at < past.until and past.value not in now and _says(passage, past):
            return OutdatedSince(past.until, past.by)
    return None


def _says(passage: IndexedMessage, past: Superseded) -> bool:
    if past.field == "tradingStyle":
        return style_in(passage.text) == past.value
    if past.field in FIELDS.values():
        said = described(Remembered(), passage.text, passage.at).memory
        return past.value in {getattr(said, name) for name in FIELDS}
    return f" {' '.join(words(past.value))} " in f" {' '.join(words(passage.text))} "
