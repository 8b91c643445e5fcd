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
"""Shares that are to be reached by rules alone."""
TARGETS_WITH_MODEL = {"bothTrue": 1.0, "change": 0.92, "fact": 0.9}
_SINGLE = ("name", "risk_profile", "experience", "language", "timezone", "trading_style")


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case. `why`: what is wrong, None if nothing. `wrong_current`: a fact that was ended still counts as true."""

    case: MemoryCase
    why: str | None = None
    wrong_current: bool = False


@dataclass(frozen=True, slots=True)
class KindFigure:
    """One kind of case. `target` None: none is set."""

    kind: str
    cases: int
    right: int
    target: float | None

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.right / self.cases if self.cases else 0.0


def measure(cases: Sequence[MemoryCase], model: Proposes | None = None) -> list[CaseOutcome]:
    """Runs every case and returns its faults. The paraphrases together are one person's memory. `model`: proposes after
    each turn; None: the rules alone."""
    each = [_after(case, model).memory for case in cases if case.kind == "paraphrase"]
    crowd = LongTermMemory(
        user_notes=[text for one in each for text in one.user_notes],
        preferences=[text for one in each for text in one.preferences],
    )
    return [_outcome(case, crowd, model) for case in cases]


def figures(outcomes: Iterable[CaseOutcome], *, with_model: bool = False) -> list[KindFigure]:
    """The figures of each kind of case that occurs."""
    targets = TARGETS_WITH_MODEL if with_model else TARGETS
    found: list[KindFigure] = []
    every = list(outcomes)
    for kind in KINDS:
        mine = [one for one in every if one.case.kind == kind]
        if mine:
            right = sum(one.why is None for one in mine)
            found.append(KindFigure(kind, len(mine), right, targets.get(kind)))
    return found


def view(outcomes: Sequence[CaseOutcome], *, with_model: bool = False) -> dict[str, Any]:
    return {
        "kinds": {
            one.kind: {"cases": one.cases, "right": one.right, "share": round(one.share, 4), "target": one.target}
            for one in figures(outcomes, with_model=with_model)
        },
        "plainlyWrongCurrent": plainly_wrong(outcomes),
        "wrong": [{"kind": one.case.kind, "said": list(one.case.said), "why": one.why} for one in outcomes if one.why],
    }


def plainly_wrong(outcomes: Iterable[CaseOutcome]) -> int:
    """Cases in which something is still remembered as true although it was ended in plain words."""
    return sum(one.wrong_current and one.case.plain for one in outcomes)


def _outcome(case: MemoryCase, crowd: LongTermMemory, model: Proposes | None) -> CaseOutcome:
    if case.kind == "paraphrase":
        told = relevant_facts(crowd, case.asked or "")
        return CaseOutcome(case, None if all(_among(text, told) for text in case.said) else "a prompt is not told it")
    memory = _after(case, model).memory
    if case.kind == "change":
        return _changed(case, memory, model)
    if case.kind == "bothTrue":
        missing = [text for text in case.said if not _among(text, _current(memory))]
        return CaseOutcome(case, f"not remembered as true: {'; '.join(missing)}" if missing else None)
    held = " ".join(map(folded, _current(memory)))
    if case.kind == "nothing":
        return CaseOutcome(case, f"remembered: {held}" if held else None)
    missing = [word for word in case.keeps if folded(word) not in held]
    return CaseOutcome(case, None if held and not missing else f"not remembered: {', '.join(missing or case.said)}")


def _changed(case: MemoryCase, memory: LongTermMemory, model: Proposes | None) -> CaseOutcome:
    """Whether it has ended: it was remembered, is no longer current, and is in the history."""
    before = _after(case, model, 1).memory
    old = [text for text in _current(before) if text in _current(memory)]
    kept = [name for name in _SINGLE if (value := getattr(before, name)) and getattr(memory, name) == value]
    if old or kept:
        return CaseOutcome(case, f"still stands as true: {'; '.join([*old, *kept])}", wrong_current=True)
    if not memory.superseded:
        return CaseOutcome(case, "the first was not remembered")
    new = [text for text in _current(memory) if folded(text) in folded(case.said[-1])]
    changed = [name for name in _SINGLE if getattr(memory, name) not in (None, getattr(before, name))]
    if not case.ends and not new and not changed:
        return CaseOutcome(case, "what replaces it is not remembered")
    return CaseOutcome(case)


def _current(memory: LongTermMemory) -> list[str]:
    return [*memory.user_notes, *memory.preferences]


def _among(text: str, held: Iterable[str]) -> bool:
    """Whether one of those held is the text, or the part of it that says it."""
    said = " ".join(words(text))
    return any((one := " ".join(words(fact))) and (one in said or said in one) for fact in held)


def _after(case: MemoryCase, model: Proposes | None, turns: int | None = None) -> Remembered:
    """Returns the memory after so many turns of the case; after all of them if no number is given."""
    state = Remembered()
    for number, text in enumerate(case.said[:turns]):
        turn, at = f"t{number}", START + timedelta(days=number)
        state = with_lesson(state, FinishedTurn(turn, at, (text,), frozenset()))
        if model is not None and (shown := ground(state.memory, [text])).said:
            state = judged(state, turn, at, [text], model(case, number, shown)).state
    return state
