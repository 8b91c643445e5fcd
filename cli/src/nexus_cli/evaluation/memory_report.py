"""Measures case by case whether the code that learns from turns remembers what people say about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts.memory_rpc import LongTermMemory
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.proposals import ground, judged
from memory.domain.recall.words import folded, words
from memory.domain.relevant_facts import relevant_facts
from memory.domain.remembered import Remembered
from nexus_cli.evaluation.memory_cases import KINDS, MemoryCase
from nexus_cli.evaluation.memory_models import Proposes

START = datetime(2026, 1, 5, 15, tzinfo=UTC)
TARGETS = {"bothTrue": 1.0, "change": 0.75, "fact": 0.6}
"""Share of right cases that the rules alone must reach, by kind."""
TARGETS_WITH_MODEL = {"bothTrue": 1.0, "change": 0.92, "fact": 0.9}
_SINGLE = ("name", "risk_profile", "experience", "language", "timezone", "trading_style")


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of one case. `why` says what is wrong, None if nothing. `wrong_current`: a fact that the person ended
    is still remembered as true."""

    case: MemoryCase
    why: str | None = None
    wrong_current: bool = False


@dataclass(frozen=True, slots=True)
class KindFigure:
    """How many cases of one kind are right. `target` is the share to reach, if there is one."""

    kind: str
    cases: int
    right: int
    target: float | None

    @property
    def share(self) -> float:
        """Share of right cases, 0 to 1."""
        return self.right / self.cases if self.cases else 0.0


def measure(cases: Sequence[MemoryCase], model: Proposes | None = None) -> list[CaseOutcome]:
    """Runs every case and judges what is remembered. All paraphrases form one person's memory, so that each competes
    with the others. `model` proposes facts after each turn; None measures the rules alone."""
    memories = [_memory_after(case, model).memory for case in cases if case.kind == "paraphrase"]
    crowd = LongTermMemory(
        user_notes=[text for memory in memories for text in memory.user_notes],
        preferences=[text for memory in memories for text in memory.preferences],
    )
    return [_outcome(case, crowd, model) for case in cases]


def figures(outcomes: Iterable[CaseOutcome], *, with_model: bool = False) -> list[KindFigure]:
    """Counts the right cases of each kind that occurs."""
    targets = TARGETS_WITH_MODEL if with_model else TARGETS
    rows: list[KindFigure] = []
    all_outcomes = list(outcomes)
    for kind in KINDS:
        of_kind = [outcome for outcome in all_outcomes if outcome.case.kind == kind]
        if of_kind:
            right_count = sum(outcome.why is None for outcome in of_kind)
            rows.append(KindFigure(kind, len(of_kind), right_count, targets.get(kind)))
    return rows


def view(outcomes: Sequence[CaseOutcome], *, with_model: bool = False) -> dict[str, Any]:
    return {
        "kinds": {
            row.kind: {"cases": row.cases, "right": row.right, "share": round(row.share, 4), "target": row.target}
            for row in figures(outcomes, with_model=with_model)
        },
        "plainlyWrongCurrent": plainly_wrong(outcomes),
        "wrong": [
            {"kind": outcome.case.kind, "said": list(outcome.case.said), "why": outcome.why}
            for outcome in outcomes
            if outcome.why
        ],
    }


def plainly_wrong(outcomes: Iterable[CaseOutcome]) -> int:
    """Number of cases in which a fact is still remembered as true although it was ended in plain words."""
    return sum(outcome.wrong_current and outcome.case.plain for outcome in outcomes)


def _outcome(case: MemoryCase, crowd: LongTermMemory, model: Proposes | None) -> CaseOutcome:
    if case.kind == "paraphrase":
        facts = relevant_facts(crowd, case.asked or "")
        return CaseOutcome(
            case, None if all(_is_among(text, facts) for text in case.said) else "a prompt is not told it"
        )
    memory = _memory_after(case, model).memory
    if case.kind == "change":
        return _change_outcome(case, memory, model)
    if case.kind == "bothTrue":
        missing = [text for text in case.said if not _is_among(text, _current(memory))]
        return CaseOutcome(case, f"not remembered as true: {'; '.join(missing)}" if missing else None)
    remembered = " ".join(map(folded, _current(memory)))
    if case.kind == "nothing":
        return CaseOutcome(case, f"remembered: {remembered}" if remembered else None)
    missing = [word for word in case.keeps if folded(word) not in remembered]
    return CaseOutcome(
        case, None if remembered and not missing else f"not remembered: {', '.join(missing or case.said)}"
    )


def _change_outcome(case: MemoryCase, memory: LongTermMemory, model: Proposes | None) -> CaseOutcome:
    """Checks that the first fact was remembered, is no longer current, and is in the history."""
    first_memory = _memory_after(case, model, 1).memory
    still_current = [text for text in _current(first_memory) if text in _current(memory)]
    unchanged = [name for name in _SINGLE if (value := getattr(first_memory, name)) and getattr(memory, name) == value]
    if still_current or unchanged:
        return CaseOutcome(case, f"still stands as true: {'; '.join([*still_current, *unchanged])}", wrong_current=True)
    if not memory.superseded:
        return CaseOutcome(case, "the first was not remembered")
    added_texts = [text for text in _current(memory) if folded(text) in folded(case.said[-1])]
    changed_fields = [name for name in _SINGLE if getattr(memory, name) not in (None, getattr(first_memory, name))]
    if not case.ends and not added_texts and not changed_fields:
        return CaseOutcome(case, "what replaces it is not remembered")
    return CaseOutcome(case)


def _current(memory: LongTermMemory) -> list[str]:
    return [*memory.user_notes, *memory.preferences]


def _is_among(text: str, facts: Iterable[str]) -> bool:
    """Whether one of the facts contains the text or is a part of it, word by word."""
    needle = " ".join(words(text))
    return any(
        (words_of_fact := " ".join(words(fact))) and (words_of_fact in needle or needle in words_of_fact)
        for fact in facts
    )


def _memory_after(case: MemoryCase, model: Proposes | None, turns: int | None = None) -> Remembered:
    """Memory after the first `turns` turns of the case; None: after all of them."""
    state = Remembered()
    for number, text in enumerate(case.said[:turns]):
        turn, time = f"t{number}", START + timedelta(days=number)
        state = with_lesson(state, FinishedTurn(turn, time, (text,), frozenset()))
        if model is not None and (grounds := ground(state.memory, [text])).said:
            state = judged(state, turn, time, [text], model(case, number, grounds)).state
    return state
