"""The agent's own steps in a turn: which one a user's plain words ask for, and how it is recorded.

A step is a reply of the rules (`RULES`) with calls, journalled before it is performed and performed by its own id, so
that a killed agent's successor goes on with it. Every step may be performed twice: the first decision stands.
"""

import json
from collections.abc import Sequence
from typing import Any

from agent.domain.shortcuts.memory_words import memory_wish
from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.shortcuts.words import about_an_order, verdict_in
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall, TurnCall, TurnStep
from contracts.providers import OFFLINE_MODEL

RULES = "rules"
"""The name under which rules ask for a step; no provider has it."""
DECIDE = "decide_action"
READ = "read_memory"
FORGET = "forget_memory"
REMEMBER = "remember_note"
UNKNOWN = "OUTCOME_UNKNOWN"
"""The code of a step of which nobody could tell whether it was done."""


def own_step(text: str, asked: Sequence[ShownAction], *, trades: bool = True) -> ModelAnswer | None:
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
    wish = memory_wish(text)
    if wish is None:
        return None
    if wish.kind == "read":
        return step((READ, {}))
    if wish.kind == "remember":
        return step((REMEMBER, {"note": wish.about}))
    return step((FORGET, {"about": wish.about} if wish.kind == "forget" else {"everything": True}))


def is_own(step: TurnStep) -> bool:
    """Whether the rules asked for a step's calls, and not a model."""
    return step.provider == RULES


def own_calls(journal: Journal) -> list[TurnCall]:
    """Returns every call that the rules asked for, a predecessor's first."""
    return [call for step in journal.steps if is_own(step) for call in step.calls]


def finished(journal: Journal) -> list[TurnCall]:
    """The calls of this turn's own step, once they are settled."""
    mine = [step for step in journal.steps if is_own(step) and step.basis == journal.basis]
    return list(mine[-1].calls) if mine else []


def said(text: str) -> ModelAnswer:
    """An answer of the rules."""
    return ModelAnswer(text=text, model=OFFLINE_MODEL, provider="offline")


def step(*calls: tuple[str, dict[str, Any]]) -> ModelAnswer:
    """The reply of the rules that asks for these calls."""
    requested = tuple(RequestedCall(tool, json.dumps(arguments, ensure_ascii=False)) for tool, arguments in calls)
    return ModelAnswer(calls=requested, model=OFFLINE_MODEL, provider=RULES)
