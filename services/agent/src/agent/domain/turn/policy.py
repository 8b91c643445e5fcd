"""Decides when a conversation is answered, and what may stop a running turn."""

from dataclasses import dataclass
from enum import StrEnum

from contracts.channels import ChatKind
from contracts.conversation import AnswerRules, Fact, Snapshot, may_answer
from contracts.events.chat import OwnerKind


class StopReason(StrEnum):
    """Why a running model call is given up."""

    SUPERSEDED = "superseded"
    TAKEN_OVER = "taken_over"
    USER = "user"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class AnswerPolicy(AnswerRules):
    """A company's settings about answering. `delay` is in seconds."""

    delay: float = 0.0
    max_iterations: int = 3

    def answers(self, owner: OwnerKind) -> bool:
        """Whether the AI answers a conversation with this owner."""
        return may_answer(self, owner)


MAX_BURST_SECONDS = 8.0
"""Seconds after the first unanswered message after which a burst is answered, even if it goes on."""


def due_at(view: Snapshot, policy: AnswerPolicy) -> float:
    """When to answer the newest message, in seconds since the epoch. A burst of messages is one turn, within limits."""
    newest = view.newest_visitor_at + policy.delay
    if view.first_unanswered_at is None:
        return newest
    return min(newest, view.first_unanswered_at + max(MAX_BURST_SECONDS, policy.delay))


def stop_reason(fact: Fact, *, basis: int, forced: bool, policy: AnswerPolicy) -> StopReason | None:
    """Why a fact on the live feed stops a turn that answers up to `basis`, or None. Forced turns only yield to vetoes.

    It is only a hint, to save a model call that the fence would refuse: the decision is made from a fresh snapshot.
    """
    match fact.kind:
        case ChatKind.VISITOR:
            return None if forced else StopReason.SUPERSEDED
        case ChatKind.OWNER:
            return None if policy.answers(fact.owner) else StopReason.TAKEN_OVER
        case ChatKind.OPERATOR:
            return StopReason.TAKEN_OVER
        case ChatKind.CANCEL:
            return StopReason.USER if fact.basis >= basis else None
        case ChatKind.ASSISTANT | ChatKind.SYSTEM:
            return None
