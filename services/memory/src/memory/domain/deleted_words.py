"""Removes remembered facts that occur word for word in deleted messages."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory.domain.questions import questions, template
from memory.domain.remembered import Remembered, current_facts


def without_statements(state: Remembered, texts: Sequence[str], now: datetime) -> tuple[Remembered, int]:
    """Returns the state without what these texts say, and how many facts were removed; the same object if none were."""
    deleted_texts = [_normalized(text) for text in texts]
    deleted_questions = {_normalized(template(question)) for text in texts for question in questions(text)}

    def is_deleted(fact: str) -> bool:
        return any(_normalized(fact) in text for text in deleted_texts)

    memory = state.memory
    fields = {
        "user_notes": [entry for entry in memory.user_notes if not is_deleted(entry)],
        "preferences": [entry for entry in memory.preferences if not is_deleted(entry)],
        "older_notes": [entry for entry in memory.older_notes if not is_deleted(entry)],
        "frequent_questions": [
            entry for entry in memory.frequent_questions if _normalized(entry) not in deleted_questions
        ],
        "recent_strategies": [entry for entry in memory.recent_strategies if not is_deleted(entry.description)],
        "superseded": [
            entry
            for entry in memory.superseded
            if not is_deleted(entry.value) and not (entry.by and is_deleted(entry.by))
        ],
    }
    removed = sum(len(getattr(memory, name)) - len(entries) for name, entries in fields.items())
    if not removed:
        return state, 0
    state = state.with_fields(now, **fields)
    return replace(
        state, since={text: date for text, date in state.since.items() if text in current_facts(state.memory)}
    ), removed


def _normalized(text: str) -> str:
    return " ".join(text.split()).casefold()
