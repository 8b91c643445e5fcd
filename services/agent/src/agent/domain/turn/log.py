"""What one snapshot of a conversation's log says about who must be answered, and what may stop a running turn."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from contracts.enumerations import OpenEnum


class FactKind(StrEnum):
    """The facts that order a conversation. Values are the words used in message ids."""

    VISITOR = "visitor"
    ASSISTANT = "assistant"
    OPERATOR = "operator"
    SYSTEM = "system"
    OWNER = "owner"
    CANCEL = "cancel"


class Ownership(OpenEnum):
    """Who answers."""

    AI = "ai"
    WAITING = "waiting"
    HUMAN = "human"

    @classmethod
    def unknown(cls) -> "Ownership":
        """Somebody whom only a newer release knows: not the AI, so it keeps silent."""
        return cls.HUMAN


class StopReason(StrEnum):
    """Why a running model call is given up."""

    SUPERSEDED = "superseded"
    TAKEN_OVER = "taken_over"
    USER = "user"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Fact:
    """One durable fact. `at`: seconds since the epoch by the bus's clock; `basis` where the kind carries one."""

    kind: FactKind
    seq: int
    at: float = 0.0
    basis: int = 0
    owner: Ownership = Ownership.AI


@dataclass(frozen=True, slots=True)
class LogView:
    """A snapshot, judged.

    `n` is its highest sequence (the fence), `basis` the newest visitor message that is settled. A visitor message at
    sequence s is answered when basis ≥ s; an answer's own sequence proves nothing.
    """

    n: int
    newest_visitor: int
    newest_visitor_at: float
    basis: int
    owner: Ownership
    first_unanswered_at: float | None = None
    """When the next visitor message after `basis` was written; None: not looked up, or all are answered."""
    owner_since: int = 0
    """Sequence of the newest change of owner; 0: there was none."""
    first_unanswered: int = 0
    """The sequence of that message; 0: not looked up."""

    @property
    def unanswered(self) -> bool:
        """Whether some visitor message waits for an answer."""
        return self.newest_visitor > self.basis

    @property
    def unanswered_from(self) -> int:
        """From here on visitor messages wait. Not just behind the basis: in a log that was trimmed what has settled the
        older messages is gone with them."""
        return max(self.first_unanswered, self.basis + 1)


def view_of(
    last_facts: Iterable[Fact], first_unanswered_at: float | None = None, first_unanswered: int = 0, n: int = 0
) -> LogView:
    """The view of a snapshot that holds the last fact of each kind.

    The basis is the greatest of all that settle: what answers, system messages and cancels say that they settle, and
    the newest operator message, which settles every visitor message before it. `n`: the snapshot's, where something is
    in the tree that is no fact here: a kind of a newer release, or what fits no contract.
    """
    newest = basis = 0
    newest_at = 0.0
    owner, owner_since = Ownership.AI, 0
    for fact in last_facts:
        n = max(n, fact.seq)
        match fact.kind:
            case FactKind.VISITOR:
                newest, newest_at = fact.seq, fact.at
            case FactKind.ASSISTANT | FactKind.SYSTEM | FactKind.CANCEL:
                basis = max(basis, fact.basis)
            case FactKind.OPERATOR:
                basis = max(basis, fact.seq)
            case FactKind.OWNER:
                owner, owner_since = fact.owner, fact.seq
    return LogView(n, newest, newest_at, basis, owner, first_unanswered_at, owner_since, first_unanswered)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a company's settings say about answering. `delay` in seconds."""

    enabled: bool
    beside_human: bool = False
    delay: float = 0.0
    max_iterations: int = 3

    def answers(self, owner: Ownership) -> bool:
        """The table of should_auto_respond: a waiting conversation counts as a human's."""
        return self.enabled and (owner is Ownership.AI or self.beside_human)


PATIENCE = 8.0
"""Seconds after the first unanswered message from which nobody is made to wait for more of a burst."""


def due_at(view: LogView, policy: Policy) -> float:
    """When the newest message is to be answered, in seconds since the epoch: a burst is one turn, but not for ever."""
    newest = view.newest_visitor_at + policy.delay
    if view.first_unanswered_at is None:
        return newest
    return min(newest, view.first_unanswered_at + max(PATIENCE, policy.delay))


def stop_reason(fact: Fact, *, basis: int, forced: bool, policy: Policy) -> StopReason | None:
    """Whether a fact seen on the live feed stops a turn that answers up to `basis`; forced turns yield to vetoes only.

    Only a hint, to save a model call that would be refused at the fence: the decision is made from a fresh snapshot.
    """
    match fact.kind:
        case FactKind.VISITOR:
            return None if forced else StopReason.SUPERSEDED
        case FactKind.OWNER:
            return None if policy.answers(fact.owner) else StopReason.TAKEN_OVER
        case FactKind.OPERATOR:
            return StopReason.TAKEN_OVER
        case FactKind.CANCEL:
            return StopReason.USER if fact.basis >= basis else None
        case FactKind.ASSISTANT | FactKind.SYSTEM:
            return None
