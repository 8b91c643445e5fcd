"""``python -m tests.cluster.campaign [--minutes N] [--seed S] [--json FILE]``: `make cluster`.

Runs two of each service with three servers of the bus under constant load: the drill's faults at random, then each
server of the bus cut off from the others, three of each service and back again, and all services replaced one after
another. Exit code 1 with anything lost, doubled or said over a human.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from nexus_cli.drill.drill import DrillPlan, DrillReport, Say, break_by_lot, break_once, drill
from nexus_cli.drill.faults import Fault, FaultWindow, Kind
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.services import SERVICES
from runtime.testing.servers import eventually
from tests.cluster.programs import MOST, NATS
from tests.cluster.rig import Cluster, running_cluster
from tests.support.long_run import say

CUT_OFF = 8.0
SCALED = 30
"""How many answers to wait for while three of each service run."""
ANSWERED_WITHIN = 300.0
LATE = 10.0
"""Seconds after which an answer counts as late."""


async def everything(plan: DrillPlan, stack: RunningStack, report: DrillReport, say: Say) -> None:
    """Runs every step of the campaign."""
    assert isinstance(stack, Cluster)
    await break_by_lot(plan, stack, report, say)
    for step, name in enumerate(NATS, len(report.windows) + 1):
        await break_once(stack, Fault(step, Kind.CUT, name, CUT_OFF, 0.0), report, say)
    await scale(stack, report, say)
    for name in [name for name in stack.names if name.startswith(tuple(SERVICES))]:
        await break_once(stack, Fault(len(report.windows) + 1, Kind.RESTART, name, 0.0, 0.0), report, say)


async def scale(cluster: Cluster, report: DrillReport, say: Say) -> None:
    """Scales every service up to three and back."""
    began = time.monotonic()
    added = await cluster.start(
        cluster.replicas({name: range(count(cluster, name) + 1, MOST + 1) for name in SERVICES})
    )
    say(f"scaled up: {len(cluster.names)} processes")
    await answers(report, SCALED)
    ended = time.monotonic()
    await cluster.stop(added)
    fault = Fault(len(report.windows) + 1, Kind.SCALE, "services", ended - began, 0.0)
    report.windows.append(FaultWindow(fault, began, ended, time.monotonic()))
    say(f"scaled down: {len(cluster.names)} processes")


async def answers(report: DrillReport, more: int) -> None:
    """Waits until people have got `more` further answers."""
    wanted = len(report.waits) + more
    await eventually(lambda: len(report.waits) >= wanted, deadline=ANSWERED_WITHIN)


def count(cluster: Cluster, service: str) -> int:
    """Returns how many processes of a service run."""
    return sum(name.rpartition("-")[0] == service for name in cluster.names)


async def run(plan: DrillPlan, data: Path, say: Say) -> tuple[DrillReport, int]:
    """Runs the campaign on a new cluster; returns its report, and how often services lost their server of the bus."""
    async with running_cluster(
        data, dict.fromkeys(SERVICES, 1) | {"gateway": 2, "agent": 2, "memory": 2}, say
    ) as cluster:
        report = await drill(plan, cluster, say, everything)
        return report, await cluster.count_reconnects()


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="of faults by lot")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--visitors", type=int, default=4)
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    data = Path(tempfile.mkdtemp(prefix="nexus-cluster-"))
    say(f"seed {arguments.seed}, data in {data}")
    plan = DrillPlan(arguments.minutes, arguments.seed, arguments.visitors)
    report, reconnects = asyncio.run(run(plan, data / "stack", say))
    waits = [wait.ended - wait.began for wait in report.waits]
    figures = {
        "late": sum(wait > LATE for wait in waits),
        "longestWait": max(waits, default=0),
        "reconnects": reconnects,
    }
    figures_text = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
    sys.stdout.write(f"{report.as_text()}\n{figures_text}\n")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({**report.as_json(), **figures}, indent=2))
    sys.exit(1 if any(report.figures.values()) else 0)


if __name__ == "__main__":
    main()
