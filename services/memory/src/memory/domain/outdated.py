"""Which passages are no longer true: those that say what has become history in the memory of their writer."""

from contracts.memory_rpc import LongTermMemory, Superseded
from memory.domain.lesson import style_in
from memory.domain.profile import FIELDS, with_profile
from memory.domain.recall.index import IndexedMessage
from memory.domain.recall.words import words
from memory.domain.remembered import Remembered, current_facts

USER = "user"


def outdated(passage: IndexedMessage, memory: LongTermMemory) -> Superseded | None:
    """Returns the entry of the history that a passage says; None if it may still be true."""
    if passage.speaker != USER:
        return None
    current = {*current_facts(memory), memory.trading_style, *(getattr(memory, name) for name in FIELDS)}
    for past in memory.superseded:
        if passage.at < past.until and past.value not in current and _says(passage, past):
            return past
    return None


def _says(passage: IndexedMessage, past: Superseded) -> bool:
    if past.field == "tradingStyle":
        return style_in(passage.text) == past.value
    if past.field in FIELDS.values():
        profile = with_profile(Remembered(), passage.text, passage.at).memory
        return past.value in {getattr(profile, name) for name in FIELDS}
    return f" {' '.join(words(past.value))} " in f" {' '.join(words(passage.text))} "
