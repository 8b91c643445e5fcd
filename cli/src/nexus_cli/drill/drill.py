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
from nexus_cli.drill.people import AFTER_A_REFUSAL, COMPANY, GaveUpError, Scene, Wait, a_visitor, take_over, visit
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.errors import StackError
from runtime.errors import RuntimeLibraryError

Say = Callable[[str], None]
LOST = frozenset({Wrong.LOST, Wrong.NEVER_ACCEPTED, Wrong.UNANSWERED, Wrong.NOT_SHOWN})
DOUBLED = frozenset({Wrong.STORED_TWICE, Wrong.ANSWERED_TWICE, Wrong.SHOWN_TWICE})
READ_WITHIN = 20.0
LEAVE_WITHIN = 8.0
"""Seconds that people have after Ctrl-C to hear the end; then as long again at most for who has yet to give back a
conversation."""
MANY = 1_000_000


@dataclass(frozen=True)
class DrillPlan:
    """The plan of a drill. `most`: the most faults; `kinds` and `processes`: only these, or all if empty."""

    minutes: float
    seed: int
    visitors: int = 4
    most: int = MANY
    company: str = COMPANY
    kinds: frozenset[Kind] = frozenset()
    processes: frozenset[str] = frozenset()

    def matrix(self, stack: RunningStack) -> Sequence[Pair]:
        """Returns the stack's faults that the plan allows. Raises StackError if there are none."""
        found = [
            (kind, process)
            for kind, process in stack.matrix
            if kind in (self.kinds or {kind}) and process in (self.processes or {process})
        ]
        if not found:
            there = "; ".join(
                f"{kind} of {', '.join(of for one, of in stack.matrix if one is kind)}"
                for kind in dict.fromkeys(kind for kind, _ in stack.matrix)
            )
            raise StackError(f"nothing here can be broken in this way; it has {there}")
        return found


@dataclass
class DrillReport:
    """The faults of a drill and its findings. Times are in seconds."""

    seed: int
    windows: list[FaultWindow] = field(default_factory=list[FaultWindow])
    waits: list[Wait] = field(default_factory=list[Wait])
    found: list[Mismatch] = field(default_factory=list[Mismatch])
    gave_up: list[str] = field(default_factory=list[str])
    limited: str = ""
    """What kept people from chatting for a while, as the gateway said it."""
    left: int = 0
    """Conversations that were interrupted before they were at rest, and so not compared."""
    conversations: int = 0
    messages: int = 0
    takeovers: int = 0

    def count(self, kinds: frozenset[Wrong]) -> int:
        """The number of findings of these kinds."""
        return sum(one.wrong in kinds for one in self.found)

    @property
    def figures(self) -> dict[str, int]:
        """Counts of what must never happen; each is 0 if all is well."""
        lost, doubled, over = self.count(LOST), self.count(DOUBLED), self.count(frozenset({Wrong.OVER_A_HUMAN}))
        other = len(self.found) - lost - doubled - over
        return {"lost": lost + len(self.gave_up), "doubled": doubled, "overAHuman": over, "other": other}

    def longest(self, window: FaultWindow) -> float | None:
        """The longest wait for an answer that this fault met."""
        met = [w.ended - w.began for w in self.waits if w.began <= window.ready and w.ended >= window.began]
        return round(max(met), 2) if met else None

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            **self.figures,
            "conversations": self.conversations,
            "messages": self.messages,
            "answers": len(self.waits),
            "takeovers": self.takeovers,
            "faults": [{**one.as_json(), "longestWait": self.longest(one)} for one in self.windows],
            "limited": self.limited,
            "left": self.left,
            "findings": [str(one) for one in self.found] + self.gave_up,
        }

    def as_text(self) -> str:
        """A table for people: a line for each kind of fault and process, then what was found."""
        lines = ["fault     process          count  ready again   longest wait"]
        pairs = dict.fromkeys((one.fault.kind, one.fault.process) for one in self.windows)
        for kind, process in sorted(pairs, key=lambda pair: (list(Kind).index(pair[0]), pair[1])):
            of_pair = [one for one in self.windows if (one.fault.kind, one.fault.process) == (kind, process)]
            ready = max(one.ready - one.ended for one in of_pair)
            waited = max((self.longest(one) or 0.0 for one in of_pair), default=0.0)
            said = f"{waited:.1f} s" if waited else "-"
            lines.append(f"{kind:<10}{process:<16}{len(of_pair):>6}{ready:>11.1f} s{said:>15}")
        figures = self.figures
        lines.append(
            f"{len(self.windows)} faults, seed {self.seed}; {self.conversations} conversations, {self.messages} "
            f"messages, {len(self.waits)} answers waited for, {self.takeovers} take-overs"
        )
        lines.append(
            f"lost {figures['lost']}, doubled {figures['doubled']}, over a human {figures['overAHuman']}, "
            f"other {figures['other']}"
        )
        if self.left:
            lines.append(f"interrupted before they were at rest, and not compared: {self.left} conversations")
        if self.limited:
            lines.append(f"fewer people chatted than asked for, because of the gateway's limits: {self.limited}")
        return "\n".join([*lines, *(f"found: {one}" for one in (*self.found, *self.gave_up))])


Break = Callable[[DrillPlan, RunningStack, DrillReport, Say], Awaitable[None]]
"""Breaks the stack, and writes the windows into the report, whose `waits` grow meanwhile. Raises TimeoutError where
something stays broken."""


async def break_by_lot(plan: DrillPlan, stack: RunningStack, report: DrillReport, say: Say) -> None:
    """Causes the faults that the seed determines, one after another, until the plan's time is over."""
    end = time.monotonic() + plan.minutes * 60
    for fault in itertools.islice(faults(Random(plan.seed), MANY, plan.matrix(stack)), plan.most):
        if time.monotonic() + fault.after + fault.seconds > end:
            return
        await asyncio.sleep(fault.after)
        await break_once(stack, fault, report, say)


async def break_once(stack: RunningStack, fault: Fault, report: DrillReport, say: Say) -> None:
    """Makes one fault and adds it to the report."""
    window = await stack.inject(fault)
    report.windows.append(window)
    say(f"{fault}, ready again in {window.ready - window.ended:.1f} s")


async def drill(
    plan: DrillPlan,
    stack: RunningStack,
    say: Say,
    break_it: Break = break_by_lot,
    leave_within: float = LEAVE_WITHIN,
) -> DrillReport:
    """The whole drill on a running stack: people chat, faults happen, and the ledgers are compared with the log. A
    first Ctrl-C ends the faults, and people leave soon. Raises StackError if there is nothing to break, or nobody may
    chat."""
    plan.matrix(stack)
    report = DrillReport(plan.seed)
    scene = Scene(stack, plan.company, waits=report.waits)
    try:
        await a_visitor(scene)
    except (GaveUpError, ChatFailedError) as error:
        raise StackError(f"nobody can chat with {plan.company}, so nothing was broken: {error}") from error
    people: list[Callable[[Scene, Random], Awaitable[None]]] = [*[visit] * plan.visitors, take_over]
    there = [
        asyncio.create_task(repeat_until_over(scene, one, f"{plan.seed}/{number}")) for number, one in enumerate(people)
    ]
    try:
        try:
            await break_it(plan, stack, report, say)
        except TimeoutError:
            report.gave_up.append(f"not all was ready again within {READY_WITHIN:g} s")
        finally:
            scene.over.set()
        say("waiting until everything is at rest")
        await asyncio.wait(there)
    except asyncio.CancelledError:
        say(f"interrupted: no more faults, and people leave within {leave_within:g} s")
        await asyncio.wait(there, timeout=leave_within)
    finally:
        await _end(there, leave_within)
    report.takeovers = scene.takeovers
    report.gave_up += scene.gave_up
    report.limited = scene.limited
    await compare(scene, report)
    return report


async def _end(there: Sequence[asyncio.Task[None]], give_back_within: float) -> None:
    """Ends who is still there; whoever has taken a conversation over gives it back first, if that works soon."""
    for within in (give_back_within, None):
        for one in there:
            one.cancel()
        await asyncio.wait(there, timeout=within)
    for one in there:
        if not one.cancelled():
            one.result()


async def repeat_until_over(scene: Scene, one: Callable[[Scene, Random], Awaitable[None]], seed: str) -> None:
    for number in itertools.count():
        if scene.over.is_set():
            return
        try:
            await one(scene, Random(f"{seed}/{number}"))
            continue
        except LimitedError as error:
            scene.limited = str(error)
        except (GaveUpError, ChatFailedError) as error:
            scene.gave_up.append(f"{one.__name__}: {error}")
        await scene.rest(AFTER_A_REFUSAL)


async def compare(scene: Scene, report: DrillReport, read_within: float = READ_WITHIN) -> None:
    """Compares each conversation that is at rest with the log, which is read within so many seconds."""
    report.left = len(scene.left)
    at_rest = [one for one in scene.ledgers if one not in scene.left]
    for ledger in at_rest:
        try:
            log = await asyncio.wait_for(scene.log(ledger), read_within)
        except (RuntimeLibraryError, NatsError, OSError, TimeoutError) as error:
            unread = len(at_rest) - report.conversations
            report.gave_up.append(f"the log cannot be read, {unread} conversations were not compared: {error!r}")
            return
        report.conversations += 1
        report.messages += sum(fact.kind == "visitor" for fact in log)
        report.found += ledger.findings(log)
