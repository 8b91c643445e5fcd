"""``python -m tests.upgrade.rolling [--seconds N] [--seed S] [--commit C]``: `make upgrade`.

Runs a cluster of the previous release under load: replaces each service by this release's, one after another, then goes
back, and forward again, with kills between. Prints what was lost, doubled or said over a human, and how long visitors
waited during a replacement and otherwise. Exit code 1 with any of these.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from rich.console import Console

from nexus_cli.drill.drill import DrillPlan, DrillReport, Say, break_once, drill
from nexus_cli.drill.faults import Fault, FaultWindow, Kind
from nexus_cli.drill.people import Wait
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.supervisor import Supervisor
from nexus_cli.target import bus
from nexus_cli.traces.spans import spans_of
from nexus_cli.traces.waterfall import table
from tests.cluster.campaign import answers
from tests.cluster.rig import Cluster, running_cluster
from tests.support.long_run import say
from tests.upgrade.previous import PREVIOUS, previous_release

SHOWN = 3
"""How many of the longest waits are shown, with the spans of their turns."""
WIDE = 150
"""The width of the output in columns."""
ORDER = ("memory", "agent", "tool-executor", "market-adapter", "gateway")
"""Memory first: it creates the streams that a newer release needs."""


class Rolling:
    """Replaces the services release by release, forward and back."""

    def __init__(self, older: Path, answers: int) -> None:
        self._older, self._answers = older, answers
        self._now: dict[str, tuple[Supervisor, int]] = {}

    async def begin(self, cluster: Cluster) -> None:
        """Starts one of each service of the previous release."""
        for name in ORDER:
            self._now[name] = await cluster.start(cluster.replicas({name: [1]}, self._older)), 1

    async def run(self, plan: DrillPlan, stack: RunningStack, report: DrillReport, say: Say) -> None:
        """Runs quietly, then goes forward, back and forward; meanwhile both releases serve side by side under kills."""
        assert isinstance(stack, Cluster)
        random = Random(plan.seed)
        await answers(report, self._answers)
        for way, release in (("forward", None), ("back", self._older), ("again", None)):
            for place, name in enumerate(ORDER):
                await self._replace(stack, name, release, way, report)
                say(f"{name} went {way}")
                if place == len(ORDER) // 2:
                    victim = random.choice([f"{other}-{self._now[other][1]}" for other in ORDER])
                    await break_once(stack, Fault(len(report.windows) + 1, Kind.KILL, victim, 0.0, 0.0), report, say)
            await answers(report, self._answers)

    async def _replace(self, cluster: Cluster, name: str, release: Path | None, way: str, report: DrillReport) -> None:
        old, number = self._now[name]
        number = number % 2 + 1
        began = time.monotonic()
        new = await cluster.start(cluster.replicas({name: [number]}, release))
        ready = time.monotonic()
        await cluster.stop(old)
        self._now[name] = new, number
        for what, since, until in (("comes", began, ready), ("goes", ready, time.monotonic())):
            fault = Fault(len(report.windows) + 1, Kind.RESTART, f"{name} {what} {way}", until - since, 0.0)
            report.windows.append(FaultWindow(fault, since, until, until))


def met_by(report: DrillReport, kind: Kind | None) -> list[tuple[Wait, str]]:
    """Returns the waits that met only faults of this kind (None: that met none) with the processes of these faults, the
    shortest first."""
    found: list[tuple[Wait, str]] = []
    for wait in report.waits:
        met = [window.fault for window in report.windows if wait.began <= window.ready and wait.ended >= window.began]
        if {fault.kind for fault in met} == ({kind} if kind else set()):
            found.append((wait, ", ".join(fault.process for fault in met)))
    return sorted(found, key=lambda fault: fault[0].ended - fault[0].began)


async def run(plan: DrillPlan, older: Path, data: Path, each: int, say: Say) -> DrillReport:
    """Runs the upgrade on a new cluster."""
    async with running_cluster(data, {}, say) as cluster:
        rolling = Rolling(older, each)
        await rolling.begin(cluster)
        report = await drill(plan, cluster, say, rolling.run)
        async with bus(cluster.nats) as client:
            for wait in sorted(report.waits, key=lambda one: one.began - one.ended)[:SHOWN]:
                say(f"{wait}:")
                if wait.turn and (spans := await spans_of(client, wait.turn)):
                    Console(stderr=True, width=WIDE).print(table(wait.turn, spans, WIDE))
        return report


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade.rolling", description=__doc__)
    parser.add_argument("--answers", type=int, default=60, help="for which each state stays")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--visitors", type=int, default=4)
    parser.add_argument("--commit", default=PREVIOUS, help="of the release before")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="nexus-upgrade-"))
    say(f"seed {arguments.seed}, data in {directory}")
    older = previous_release(directory / "older", arguments.commit)
    plan = DrillPlan(24 * 60, arguments.seed, arguments.visitors)
    report = asyncio.run(run(plan, older, directory / "stack", arguments.answers, say))
    sys.stdout.write(f"{report.as_text()}\n")
    for when, kind in (("while one comes or goes", Kind.RESTART), ("while one is killed", Kind.KILL), ("else", None)):
        if waits := met_by(report, kind):
            middle, late, longest = (
                wait.ended - wait.began for wait, _ in (waits[len(waits) // 2], waits[len(waits) * 19 // 20], waits[-1])
            )
            told = f"median {middle:.2f} s, 95 of 100 within {late:.2f} s, longest {longest:.2f} s"
            sys.stdout.write(f"waits {when}: {len(waits)}, {told}; the longest:\n")
            sys.stdout.writelines(f"  {wait}{f' ({met})' if met else ''}\n" for wait, met in waits[:-4:-1])
    sys.exit(1 if any(report.figures.values()) else 0)


if __name__ == "__main__":
    main()
