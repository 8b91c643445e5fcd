"""What learning from a long message costs somebody of whom much is remembered: each part of it is read once."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.domain import compatible_facts
from memory.domain.fact_changes import is_stated
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.long_term import concepts, course, endings
from memory.domain.remembered import Remembered, current_facts
from memory.domain.statements import with_fact

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_message_is_read_once_and_not_for_each_fact() -> None:
    state = Remembered()
    facts = [f"my friend number {number} likes tea and coffee" for number in range(200)]
    memory = state.memory.model_copy(update={"older_notes": facts})
    state = replace(state, memory=memory, since=dict.fromkeys(facts, NOW - timedelta(days=1)))
    state = with_fact(state, "I live in Lima", NOW)  # reads each fact
    readers = concepts.concepts_of, course.has_ended, endings.endings
    before = [reader.cache_info().misses for reader in readers]
    clauses = [f"I used to like place {number}, no longer" for number in range(10)]
    turn = FinishedTurn("t", NOW, (", ".join(clauses),), frozenset())
    assert len(current_facts(with_lesson(state, turn).memory)) >= len(facts)
    for reader, misses in zip(readers, before, strict=True):
        assert reader.cache_info().misses - misses < 20 * len(clauses), reader.__name__


class CountingPattern:
    """A pattern that counts how often it is searched for."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.count = pattern, 0

    def search(self, text: str) -> re.Match[str] | None:
        self.count += 1
        return self.pattern.search(text)


def test_many_short_sentences_do_not_read_each_fact_again(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [f"my friend number {number} drinks juice" for number in range(100)]
    memory = Remembered().memory.model_copy(update={"older_notes": facts})
    state = replace(Remembered(), memory=memory, since=dict.fromkeys(facts, NOW - timedelta(days=1)))
    counting = CountingPattern(compatible_facts._LIST)  # pyright: ignore[reportPrivateUsage] - the slowest of its patterns
    monkeypatch.setattr(compatible_facts, "_LIST", counting)
    text = " ".join(f"Ya no corro{number}." for number in range(50))
    with_lesson(state, FinishedTurn("t", NOW, (text,), frozenset()))
    assert 0 < counting.count <= len(facts)


@pytest.mark.parametrize("count", [50, 100])
def test_whether_a_fact_is_stated_takes_one_reading_of_each_clause(count: int) -> None:
    clauses = [f"I saw house {count}{number}" for number in range(count)]
    text = ", ".join([*clauses, "my dog is Rex", "he lives in Rome"])
    before = concepts.concepts_of.cache_info().misses
    assert is_stated("my dog Rex lives in Rome", [text])
    assert not is_stated("my dog Rex lives in Lima", [text])
    assert concepts.concepts_of.cache_info().misses - before < 3 * count
