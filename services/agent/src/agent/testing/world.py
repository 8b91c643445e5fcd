"""The small worlds that the checker walks through: people, faults, agents at work, and everything there is."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from agent.domain.turn.effects import Effect
from agent.domain.turn.journal import Journal
from agent.domain.turn.machine import DeliveryState
from agent.domain.turn.policy import AnswerPolicy
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of

COMPANY, CONVERSATION = "c", "c1"
TIME_LIMIT = 120.0
ANSWERING = AnswerPolicy(enabled=True)


class Act(StrEnum):
    """What people and time do; each actor's acts happen in order, between everything else."""

    VISITOR = "visitor"
    TAKE = "take"
    RELEASE = "release"
    OPERATOR = "operator"
    CANCEL = "cancel"
    NOTICE = "notice"
    """A system message that settles nothing."""
    DISABLE = "disable"
    WAIT = "wait"
    """Ten seconds pass."""
    TRIM = "trim"
    """Memory takes the conversation out of the log, if the rules let it."""
    BACK = "back"
    """The clock jumps back by ten seconds."""


class Faults(NamedTuple):
    """How often each thing may go wrong in one run."""

    crash: int = 0
    lost_ack: int = 0
    lost_puback: int = 0
    stale: int = 0
    redelivery: int = 0
    model: int = 0
    probe: int = 0


NONE = Faults()


@dataclass(frozen=True)
class Scenario:
    """One small world. `tools`: the model asks for one tool with an effect before it answers."""

    name: str
    actors: tuple[tuple[Act, ...], ...]
    faults: Faults = NONE
    agents: int = 2
    tools: bool = False
    policy: AnswerPolicy = ANSWERING


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """An agent at work on a delivery: its machine, and the effect that it is about to perform. Made by `job_of` alone:
    equal ones are one, so that none is ever looked into to compare worlds, of which there are hundreds of thousands."""

    delivery: int
    handling: DeliveryState
    effect: Effect


@cache
def job_of(delivery: int, handling: DeliveryState, effect: Effect) -> Job:
    """The job of these."""
    return Job(delivery, handling, effect)


@dataclass(frozen=True, slots=True)
class Late:
    """A publish under way whose sender has given up waiting."""

    fact: Fact
    fence: int


class World(NamedTuple):
    """Everything that there is. `deliveries`: sequence → waiting, out or gone, by the newest word."""

    log: tuple[Fact, ...] = ()
    cell: tuple[Journal | None, int] = (None, 0)
    older_cell: tuple[Journal | None, int] = (None, 0)
    deliveries: tuple[tuple[int, bool, str], ...] = ()
    jobs: tuple[Job | None, ...] = ()
    late: tuple[Late, ...] = ()
    effects: tuple[tuple[str, str], ...] = ()
    acts: tuple[int, ...] = ()
    faults: Faults = NONE
    now: float = 0.0
    enabled: bool = True
    trimmed: int = 0
    """Up to here the log is gone. `log` keeps what was there, for the judge alone."""

    @property
    def held(self) -> tuple[Fact, ...]:
        """What the stream still holds."""
        return self.log[self.trimmed :]

    @property
    def last(self) -> int:
        """The sequence that a fence is compared with: 0 when nothing is held."""
        return len(self.log) if self.held else 0


def judged(facts: tuple[Fact, ...]) -> Snapshot:
    """The view of a log, with the first visitor message after the basis."""
    view = snapshot_of(facts)
    first = next((f for f in facts if f.kind is ChatKind.VISITOR and f.seq > view.basis), None)
    return replace(view, first_unanswered_at=first.at, first_unanswered=first.seq) if first else view
