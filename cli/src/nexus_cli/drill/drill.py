"""The drill: causes one fault after the other while people chat, then compares every conversation with the log."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from nats.errors import Error as NatsError

from nexus_cli.chat.client import ChatFailedError, LimitedError
from nexus_cli.drill.faults import READY_WITHIN, Fault, FaultWindow, Kind, Pair, faults
from nexus_cli.drill.ledger import Mismatch, Wrong
from nexus_cli.drill.people import (
    COMPANY,
    LIMITED_SECONDS,
    GaveUpError,
    Scene,
    Wait,
    new_visitor_token,
    take_over,
    visit,
)
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.errors import StackError
from runtime.errors import RuntimeLibraryError

Say = Callable[[str], None]
LOST = frozenset({Wrong.LOST, Wrong.NEVER_ACCEPTED, Wrong.UNANSWERED, Wrong.NOT_SHOWN})
DOUBLED = frozenset({Wrong.STORED_TWICE, Wrong.ANSWERED_TWICE, Wrong.SHOWN_TWICE})
LOG_SECONDS = 20.0
LEAVE_SECONDS = 8.0
"""Seconds that people have to finish after Ctrl-C; a human agent who must give back a conversation has as long
again."""
UNLIMITED = 1_000_000


@dataclass(frozen=True)
class DrillPlan:
    """The plan of a drill. `max_faults`: number of faults at most; `kinds` and `processes`: only these, or all if
    empty."""

    minutes: float
    seed: int
    visitors: int = 4
    max_faults: int = UNLIMITED
    company: str = COMPANY
    kinds: frozenset[Kind] = frozenset()
    processes: frozenset[str] = frozenset()

    def matrix(self, stack: RunningStack) -> Sequence[Pair]:
        """The faults of the stack that the plan allows. Raises StackError if there are none."""
        pairs = [
            (kind, process)
            for kind, process in stack.matrix
            if kind in (self.kinds or {kind}) and process in (self.processes or {process})
        ]
        if not pairs:
            possible = "; ".join(
                f"{kind} of {', '.join(process for kind_of_pair, process in stack.matrix if kind_of_pair is kind)}"
                for kind in dict.fromkeys(kind for kind, _ in stack.matrix)
            )
            raise StackError(f"nothing here can be broken in this way; it has {possible}")
        return pairs


@dataclass
class DrillReport:
    """The faults of a drill and its findings. Times are in seconds."""

    seed: int
    windows: list[FaultWindow] = field(default_factory=list[FaultWindow])
    waits: list[Wait] = field(default_factory=list[Wait])
    mismatches: list[Mismatch] = field(default_factory=list[Mismatch])
    gave_up: list[str] = field(default_factory=list[str])
    limited: str = ""
    """Message of the gateway's limit that kept people from chatting for a while."""
    interrupted: int = 0
    """Number of conversations that were interrupted before they were at rest, and so not compared."""
    conversations: int = 0
    messages: int = 0
    takeovers: int = 0

    def count(self, kinds: frozenset[Wrong]) -> int:
        """Number of mismatches of these kinds."""
        return sum(mismatch.wrong in kinds for mismatch in self.mismatches)

    @property
    def figures(self) -> dict[str, int]:
        """Counts of what must never happen; each is 0 if all is well."""
        lost_count, doubled, over_human = (
            self.count(LOST),
            self.count(DOUBLED),
            self.count(frozenset({Wrong.OVER_A_HUMAN})),
        )
        other_count = len(self.mismatches) - lost_count - doubled - over_human
        return {
            "lost": lost_count + len(self.gave_up),
            "doubled": doubled,
            "overAHuman": over_human,
            "other": other_count,
        }

    def longest(self, window: FaultWindow) -> float | None:
        """The longest wait for an answer during this fault, in seconds; None if nobody waited."""
        durations = [
            wait.ended - wait.began for wait in self.waits if wait.began <= window.ready and wait.ended >= window.began
        ]
        return round(max(durations), 2) if durations else None

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            **self.figures,
            "conversations": self.conversations,
            "messages": self.messages,
            "answers": len(self.waits),
            "takeovers": self.takeovers,
            "faults": [{**window.as_json(), "longestWait": self.longest(window)} for window in self.windows],
            "limited": self.limited,
            "left": self.interrupted,
            "findings": [str(mismatch) for mismatch in self.mismatches] + self.gave_up,
        }

    def as_text(self) -> str:
        """Table for people: a line for each kind of fault and process, then the findings."""
        lines = ["fault     process          count  ready again   longest wait"]
        pairs = dict.fromkeys((window.fault.kind, window.fault.process) for window in self.windows)
        for kind, process in sorted(pairs, key=lambda pair: (list(Kind).index(pair[0]), pair[1])):
            of_pair = [
                window for window in self.windows if (window.fault.kind, window.fault.process) == (kind, process)
            ]
            ready = max(window.ready - window.ended for window in of_pair)
            waited = max((self.longest(window) or 0.0 for window in of_pair), default=0.0)
            waited_text = f"{waited:.1f} s" if waited else "-"
            lines.append(f"{kind:<10}{process:<16}{len(of_pair):>6}{ready:>11.1f} s{waited_text:>15}")
        figures = self.figures
        lines.append(
            f"{len(self.windows)} faults, seed {self.seed}; {self.conversations} conversations, {self.messages} "
            f"messages, {len(self.waits)} answers waited for, {self.takeovers} take-overs"
        )
        lines.append(
            f"lost {figures['lost']}, doubled {figures['doubled']}, over a human {figures['overAHuman']}, "
            f"other {figures['other']}"
        )
        if self.interrupted:
            lines.append(f"interrupted before they were at rest, and not compared: {self.interrupted} conversations")
        if self.limited:
            lines.append(f"fewer people chatted than asked for, because of the gateway's limits: {self.limited}")
        return "\n".join([*lines, *(f"found: {finding}" for finding in (*self.mismatches, *self.gave_up))])


Break = Callable[[DrillPlan, RunningStack, DrillReport, Say], Awaitable[None]]
"""Breaks the stack and adds the fault windows to the report, whose `waits` grow meanwhile. Raises TimeoutError if
something stays broken."""


async def break_by_lot(plan: DrillPlan, stack: RunningStack, report: DrillReport, say: Say) -> None:
    """Causes the faults that the seed determines, one after the other, until the plan's time is over."""
    end = time.monotonic() + plan.minutes * 60
    for fault in itertools.islice(faults(Random(plan.seed), UNLIMITED, plan.matrix(stack)), plan.max_faults):
        if time.monotonic() + fault.after + fault.seconds > end:
            return
        await asyncio.sleep(fault.after)
        await break_once(stack, fault, report, say)


async def break_once(stack: RunningStack, fault: Fault, report: DrillReport, say: Say) -> None:
    """Causes one fault and adds it to the report."""
    try:
        window = await stack.inject(fault)
    except asyncio.CancelledError:
        say(f"{fault}, broken off")
        raise
    report.windows.append(window)
    say(f"{fault}, ready again in {window.ready - window.ended:.1f} s")


async def drill(
    plan: DrillPlan,
    stack: RunningStack,
    say: Say,
    break_it: Break = break_by_lot,
    leave_within: float = LEAVE_SECONDS,
) -> DrillReport:
    """Runs a whole drill on a running stack: people chat, faults happen, and the ledgers are compared with the log. A
    first Ctrl-C ends the faults, and people leave soon. Raises StackError if there is nothing to break or nobody can
    chat."""
    plan.matrix(stack)
    report = DrillReport(plan.seed)
    scene = Scene(stack, plan.company, waits=report.waits)
    try:
        await new_visitor_token(scene)
    except (GaveUpError, ChatFailedError) as error:
        raise StackError(f"nobody can chat with {plan.company}, so nothing was broken: {error}") from error
    people: list[Callable[[Scene, Random], Awaitable[None]]] = [*[visit] * plan.visitors, take_over]
    tasks = [
        asyncio.create_task(repeat_until_over(scene, behaviour, f"{plan.seed}/{number}"))
        for number, behaviour in enumerate(people)
    ]
    try:
        try:
            await break_it(plan, stack, report, say)
        except TimeoutError:
            report.gave_up.append(f"not all was ready again within {READY_WITHIN:g} s")
        finally:
            scene.over.set()
        say("waiting until everything is at rest")
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        say(f"interrupted: no more faults, and people leave within {leave_within:g} s")
        await asyncio.wait(tasks, timeout=leave_within)
    finally:
        await _end(tasks, leave_within)
    report.takeovers = scene.takeovers
    report.gave_up += scene.gave_up
    report.limited = scene.limited
    await compare(scene, report)
    return report


async def _end(tasks: Sequence[asyncio.Task[None]], give_back_within: float) -> None:
    """Ends the people who are still there. A human agent first gives back a conversation, if that works in time."""
    for timeout in (give_back_within, None):
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=timeout)
    for task in tasks:
        if not task.cancelled():
            task.result()


async def repeat_until_over(scene: Scene, behaviour: Callable[[Scene, Random], Awaitable[None]], seed: str) -> None:
    for number in itertools.count():
        if scene.over.is_set():
            return
        try:
            await behaviour(scene, Random(f"{seed}/{number}"))
            continue
        except LimitedError as error:
            scene.limited = str(error)
        except (GaveUpError, ChatFailedError) as error:
            scene.gave_up.append(f"{behaviour.__name__}: {error}")
        await scene.rest(LIMITED_SECONDS)


async def compare(scene: Scene, report: DrillReport, read_within: float = LOG_SECONDS) -> None:
    """Compares each conversation that is at rest with its log, which must be read within so many seconds."""
    report.interrupted = len(scene.unfinished)
    at_rest = [candidate for candidate in scene.ledgers if candidate not in scene.unfinished]
    for ledger in at_rest:
        try:
            log = await asyncio.wait_for(scene.log(ledger), read_within)
        except (RuntimeLibraryError, NatsError, OSError, TimeoutError) as error:
            unread = len(at_rest) - report.conversations
            report.gave_up.append(f"the log cannot be read, {unread} conversations were not compared: {error!r}")
            return
        report.conversations += 1
        report.messages += sum(fact.kind == "visitor" for fact in log)
        report.mismatches += ledger.findings(log)
