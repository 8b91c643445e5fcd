"""Remembered facts that stand word for word in deleted messages are removed with them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from contracts.memory_rpc import LongTermMemory
from memory.domain.questions import questions, template
from memory.domain.remembered import Remembered


def without_statements(state: Remembered, texts: Sequence[str], now: datetime) -> tuple[Remembered, int]:
    """The memory without what these texts say, and how many facts were removed; the same object: none."""
    said = [_plain(text) for text in texts]
    asked = {_plain(template(question)) for text in texts for question in questions(text)}

    def there(fact: str) -> bool:
        return any(_plain(fact) in text for text in said)

    held = state.memory
    after = {
        "user_notes": [one for one in held.user_notes if not there(one)],
        "preferences": [one for one in held.preferences if not there(one)],
        "older_notes": [one for one in held.older_notes if not there(one)],
        "frequent_questions": [one for one in held.frequent_questions if _plain(one) not in asked],
        "recent_strategies": [one for one in held.recent_strategies if not there(one.description)],
        "superseded": [one for one in held.superseded if not there(one.value) and not (one.by and there(one.by))],
    }
    gone = sum(len(getattr(held, name)) - len(kept) for name, kept in after.items())
    if not gone:
        return state, 0
    state = state.changed(now, **after)
    return replace(state, since={text: at for text, at in state.since.items() if text in _facts(state.memory)}), gone


def _facts(memory: LongTermMemory) -> Collection[str]:
    return {*memory.user_notes, *memory.preferences, *memory.older_notes}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
