"""The agent's own steps in a turn: which one a user's plain words ask for, and how it is recorded.

A step is a reply of the rules (`RULES`) with calls, journalled before it is performed and performed by its own id, so
that a killed agent's successor goes on with it. Every step may be performed twice: the first decision stands.
"""

import json
from collections.abc import Sequence
from typing import Any

from agent.domain.shortcuts.memory_words import MemoryWish, memory_requests, memory_wish
from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.shortcuts.words import about_an_order, verdict_in
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall, TurnCall, TurnStep
from contracts.notes import split_note
from contracts.providers import OFFLINE_MODEL

RULES = "rules"
"""The name under which rules ask for a step; no provider has it."""
DECIDE = "decide_action"
READ = "read_memory"
FORGET = "forget_memory"
REMEMBER = "remember_note"
UNKNOWN = "OUTCOME_UNKNOWN"
"""The code of a step of which nobody could tell whether it was done."""


def rule_step(text: str, asked: Sequence[ShownAction], *, trades: bool = True) -> ModelAnswer | None:
    """The step that a user's words ask for; None: the model answers. `asked`: what the newest answer asked of them;
    `trades`: elsewhere the orders that people speak of are none of these."""
    verdict = verdict_in(text, asked)
    if verdict is not None:
        if not verdict.chosen:
            return step((DECIDE, {"decision": verdict.decision}))
        sole = len(verdict.chosen) == len(asked) == 1
        return step(
            *(
                (
                    DECIDE,
                    {
                        "decision": verdict.decision,
                        "actionId": one.id,
                        "contentHash": one.content_hash,
                        # A bare yes is good for the only one that waits; a named one, for the one that it names.
                        "named": not sole,
                        "oneOf": len(verdict.chosen) < len(asked),
                    },
                )
                for one in verdict.chosen
            )
        )
    decision = about_an_order(text) if trades else None
    if decision is not None:
        return step((DECIDE, {"decision": decision}))
    if (several := memory_requests(text)) is not None:
        return step(*(call for wish in several.wishes for call in _calls_of(wish)))
    wish = memory_wish(text)
    return step(*_calls_of(wish)) if wish is not None else None


def next_step(text: str, done: Sequence[TurnCall]) -> ModelAnswer | None:
    """The step for what is left of the user's words once these calls are settled: what is remembered is read only after
    something was forgotten."""
    wish = memory_wish(rest_of(text))
    return step((READ, {})) if wish and wish.kind == "read" and all(one.tool != READ for one in done) else None


def rest_of(text: str) -> str:
    """What else the user's words ask for beside what they ask of memory; nothing, if they are one request."""
    several = memory_requests(text)
    return several.rest if several is not None else ""


def _calls_of(wish: MemoryWish) -> list[tuple[str, dict[str, Any]]]:
    if wish.kind == "read":
        return [(READ, {})]
    if wish.kind == "remember":
        return [(REMEMBER, {"note": one}) for one in split_note(wish.about)]
    return [(FORGET, {"about": wish.about} if wish.kind == "forget" else {"everything": True})]


def is_rule_step(step: TurnStep) -> bool:
    """Whether the rules asked for a step's calls, and not a model."""
    return step.provider == RULES


def rule_calls(journal: Journal) -> list[TurnCall]:
    """Returns every call that the rules asked for, a predecessor's first."""
    return [call for step in journal.steps if is_rule_step(step) for call in step.calls]


def settled_rule_calls(journal: Journal) -> list[TurnCall]:
    """The calls of this turn's own steps, once they are settled."""
    return [call for step in journal.steps if is_rule_step(step) and step.basis == journal.basis for call in step.calls]


def rule_answer(text: str) -> ModelAnswer:
    """An answer of the rules."""
    return ModelAnswer(text=text, model=OFFLINE_MODEL, provider="offline")


def step(*calls: tuple[str, dict[str, Any]]) -> ModelAnswer:
    """The reply of the rules that asks for these calls."""
    requested = tuple(RequestedCall(tool, json.dumps(arguments, ensure_ascii=False)) for tool, arguments in calls)
    return ModelAnswer(calls=requested, model=OFFLINE_MODEL, provider=RULES)
