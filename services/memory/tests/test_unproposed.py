"""Turns that wait for a model's proposals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from memory.adapters.mongo_lessons import PendingLesson
from memory.application.unproposed import UnproposedTurns
from memory.domain.keys import BEGINNING


@dataclass
class Rows:
    """The rows of waiting turns."""

    rows: list[PendingLesson]
    dropped: list[str] = field(default_factory=list)

    async def first(self, limit: int, *, proposals: bool) -> Sequence[PendingLesson]:
        return self.rows[:limit] if proposals else []

    async def drop(self, company: str, conversation: str, turn: str) -> None:
        self.dropped.append(turn)


async def test_a_turn_without_its_answers_position_is_dropped_at_once_and_nobody_is_asked() -> None:
    rows = Rows([PendingLesson("acme", "c1", "t1", BEGINNING, 0, datetime(2026, 3, 2, tzinfo=UTC), is_proposal=True)])
    turns = UnproposedTurns(cast(Any, None), cast(Any, rows), cast(Any, None), cast(Any, None))
    assert await turns.ask() == 1
    assert rows.dropped == ["t1"]
