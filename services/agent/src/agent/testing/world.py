"""The small worlds that the checker explores: people's acts, faults, jobs of agents, and the state of everything."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, reduce
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
    """What people, memory and the clock do. Each actor's acts happen in order, interleaved with everything else."""

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
    """Memory trims the conversation from the log, if the rules allow it."""
    BACK = "back"
    """The clock jumps back by ten seconds."""


class Faults(NamedTuple):
    """How often each fault may happen in one run."""

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
    """One small world to explore. `tools`: the model calls one tool with an effect before it answers."""

    name: str
    actors: tuple[tuple[Act, ...], ...]
    faults: Faults = NONE
    agents: int = 2
    tools: bool = False
    policy: AnswerPolicy = ANSWERING


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """An agent's work on a delivery: the machine's state and the effect that it performs next.

    Only `job_of` creates jobs. It returns the same object for equal jobs, so that comparing worlds, of which there are
    hundreds of thousands, compares identities.
    """

    delivery: int
    handling: DeliveryState
    effect: Effect


@cache
def job_of(delivery: int, handling: DeliveryState, effect: Effect) -> Job:
    """Returns the only job with these values."""
    return Job(delivery, handling, effect)


class Log(tuple[Fact, ...]):
    """Facts in order. Only `appended` and `part` create logs; equal logs are the same object, as with jobs."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__


EMPTY = Log()


@cache
def appended(log: Log, fact: Fact) -> Log:
    """Returns the only log with these facts and this one after them."""
    return Log((*log, fact))


@cache
def part(log: Log, start: int, end: int) -> Log:
    """Returns the only log with the facts from `start` up to `end`."""
    return reduce(appended, log[start:end], EMPTY)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """What the journal's cell holds. Only `cell_of` creates cells, as `job_of` creates jobs."""

    journal: Journal | None
    revision: int


@cache
def cell_of(journal: Journal | None, revision: int) -> Cell:
    """Returns the only cell with these values."""
    return Cell(journal, revision)


@dataclass(frozen=True, slots=True)
class Late:
    """A publish that has not arrived yet, whose sender no longer waits for it."""

    fact: Fact
    fence: int


class World(NamedTuple):
    """The state of everything. `deliveries`: sequence, whether it is a visitor's message, and waiting, out or gone."""

    log: Log = EMPTY
    cell: Cell = cell_of(None, 0)
    older_cell: Cell = cell_of(None, 0)
    deliveries: tuple[tuple[int, bool, str], ...] = ()
    jobs: tuple[Job | None, ...] = ()
    late: tuple[Late, ...] = ()
    effects: tuple[tuple[str, str], ...] = ()
    acts: tuple[int, ...] = ()
    faults: Faults = NONE
    now: float = 0.0
    enabled: bool = True
    trimmed: int = 0
    """The number of facts trimmed from the log. `log` still contains them, for the checks alone."""

    @property
    def held(self) -> Log:
        """The facts that the stream still stores."""
        return part(self.log, self.trimmed, len(self.log)) if self.trimmed else self.log

    @property
    def last(self) -> int:
        """The sequence that a fence is compared with: 0 if the stream is empty."""
        return len(self.log) if self.held else 0


def with_delivery_state(world: World, index: int, state: str) -> World:
    seq, visitor, old_state = world.deliveries[index]
    if old_state == "gone":
        return world
    delivery = (seq, visitor, state)
    return world._replace(deliveries=(*world.deliveries[:index], delivery, *world.deliveries[index + 1 :]))


def with_job(world: World, agent: int, job: Job | None) -> World:
    return world._replace(jobs=(*world.jobs[:agent], job, *world.jobs[agent + 1 :]))


def with_fault_used(world: World, fault: str) -> World:
    remaining = getattr(world.faults, fault) - 1
    return world._replace(faults=world.faults._replace(**{fault: remaining}))


@cache
def snapshot(log: Log) -> Snapshot:
    """Returns the snapshot of a log."""
    return snapshot_of(log)


@cache
def judged(log: Log) -> Snapshot:
    """Returns the snapshot of a log, with the first visitor message after the basis."""
    view = snapshot(log)
    first = next((fact for fact in log if fact.kind is ChatKind.VISITOR and fact.seq > view.basis), None)
    return replace(view, first_unanswered_at=first.at, first_unanswered=first.seq) if first else view
