"""The agent's own steps in a turn: which one a user's plain words ask for, and how it is recorded.

A step is a reply of the rules (`RULES`) with calls. It is journalled before it is performed, and performed by its own
id, so that another driver continues it if this one dies. Every step may be performed twice: the first decision holds.
"""

import json
from collections.abc import Sequence
from typing import Any

from agent.domain.shortcuts.memory_words import MemoryWish, memory_requests, memory_wish
from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.shortcuts.words import order_decision_in, verdict_in
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall, TurnCall, TurnStep
from contracts.notes import split_note
from contracts.providers import OFFLINE_MODEL

RULES = "rules"
"""The provider name of the rules' replies; no provider has it."""
DECIDE = "decide_action"
READ = "read_memory"
FORGET = "forget_memory"
REMEMBER = "remember_note"
UNKNOWN = "OUTCOME_UNKNOWN"
"""Error code of a step whose outcome is unknown."""


def rule_step(text: str, shown_actions: Sequence[ShownAction], *, trades: bool = True) -> ModelAnswer | None:
    """The step that a user's words ask for; None if the model answers. `shown_actions` are those that the newest answer
    asked about; without `trades`, orders that people mention are not actions."""
    verdict = verdict_in(text, shown_actions)
    if verdict is not None:
        if not verdict.chosen:
            return step((DECIDE, {"decision": verdict.decision}))
        sole = len(verdict.chosen) == len(shown_actions) == 1
        return step(
            *(
                (
                    DECIDE,
                    {
                        "decision": verdict.decision,
                        "actionId": action.id,
                        "contentHash": action.content_hash,
                        # A bare yes is good for the only one that waits; a named one, for the one that it names.
                        "named": not sole,
                        "oneOf": len(verdict.chosen) < len(shown_actions),
                    },
                )
                for action in verdict.chosen
            )
        )
    decision = order_decision_in(text) if trades else None
    if decision is not None:
        return step((DECIDE, {"decision": decision}))
    if (requests := memory_requests(text)) is not None:
        return step(*(call for wish in requests.wishes for call in _calls_of(wish)))
    wish = memory_wish(text)
    return step(*_calls_of(wish)) if wish is not None else None


def next_step(text: str, settled_calls: Sequence[TurnCall]) -> ModelAnswer | None:
    """The step for the rest of the user's words after these calls are settled: memory is read only after something was
    forgotten. None if there is none."""
    wish = memory_wish(rest_of(text))
    return (
        step((READ, {})) if wish and wish.kind == "read" and all(call.tool != READ for call in settled_calls) else None
    )


def rest_of(text: str) -> str:
    """The user's words beside their requests about memory; "" if they are a single request."""
    requests = memory_requests(text)
    return requests.rest if requests is not None else ""


def _calls_of(wish: MemoryWish) -> list[tuple[str, dict[str, Any]]]:
    if wish.kind == "read":
        return [(READ, {})]
    if wish.kind == "remember":
        return [(REMEMBER, {"note": note}) for note in split_note(wish.about)]
    return [(FORGET, {"about": wish.about} if wish.kind == "forget" else {"everything": True})]


def is_rule_step(step: TurnStep) -> bool:
    """Whether the rules, and not a model, asked for a step's calls."""
    return step.provider == RULES


def rule_calls(journal: Journal) -> list[TurnCall]:
    """Every call that the rules asked for, a previous driver's first."""
    return [call for step in journal.steps if is_rule_step(step) for call in step.calls]


def settled_rule_calls(journal: Journal) -> list[TurnCall]:
    """The settled calls of this turn's own steps."""
    return [call for step in journal.steps if is_rule_step(step) and step.basis == journal.basis for call in step.calls]


def rule_answer(text: str) -> ModelAnswer:
    """An answer of the rules."""
    return ModelAnswer(text=text, model=OFFLINE_MODEL, provider="offline")


def step(*calls: tuple[str, dict[str, Any]]) -> ModelAnswer:
    """The reply of the rules with these calls."""
    requested = tuple(RequestedCall(tool, json.dumps(arguments, ensure_ascii=False)) for tool, arguments in calls)
    return ModelAnswer(calls=requested, model=OFFLINE_MODEL, provider=RULES)
