"""`nexus drill`: breaks a stack on purpose, and checks that every promise to its users is kept."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands.failures import misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, require_company

if TYPE_CHECKING:
    from nexus_cli.drill.drill import DrillPlan, DrillReport


def drill(
    minutes: Annotated[float, typer.Option(help="How long faults go on.", min=0.1, max=24 * 60)] = 5.0,
    seed: Annotated[int | None, typer.Option(help="The same faults as a drill before. Default: new ones.")] = None,
    visitors: Annotated[int, typer.Option(help="How many people chat at the same time.", min=1, max=50)] = 4,
    faults: Annotated[int | None, typer.Option(help="How many faults at most.", min=1)] = None,
    running: Annotated[
        bool, typer.Option("--running", help="Break the stack that runs on --data, with whoever is on it.")
    ] = False,
    data: Data = DEFAULT_DATA,
    company: Annotated[
        str, typer.Option(help="With --running, whose visitors chat.", callback=require_company)
    ] = "demo",
    kind: Annotated[
        list[str] | None, typer.Option(help="Only kill, pause, stall, cut, restart or step-down; again for each.")
    ] = None,
    process: Annotated[
        list[str] | None, typer.Option(help="Only this process, e.g. agent or nats; again for each.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Break each process of a stack of its own (kill, pause, stall, cut, restart) while people chat; count the lost.

    With --running of the stack that runs on --data, and a cluster's leaders hand over as well.

    Ctrl-C ends it early, with its report. Exit code 1 with anything lost, doubled or said over a human.
    """
    from nexus_cli.drill.drill import UNLIMITED, DrillPlan
    from nexus_cli.drill.faults import Kind
    from nexus_cli.drill.network import PROCESSES

    try:
        kinds = frozenset(Kind(name) for name in kind or ())
    except ValueError:
        misuse(f"--kind: one of {', '.join(fault_kind for fault_kind in Kind if fault_kind is not Kind.SCALE)}")
    if not running and not {*(process or ())} <= {*PROCESSES}:
        misuse(f"--process: one of {', '.join(PROCESSES)}")
    seed = seed if seed is not None else int(time.time())
    plan = DrillPlan(minutes, seed, visitors, faults or UNLIMITED, company, kinds, frozenset(process or ()))
    # asyncio handles Ctrl-C only if SIGINT is not ignored, as a shell does for background processes.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = asyncio.run(_drill_running_stack(plan, data) if running else _drill_new_stack(plan))
    print(json.dumps(report.as_json()) if as_json else report.as_text())
    if any(report.figures.values()):
        raise typer.Exit(1)


async def _drill_new_stack(plan: DrillPlan) -> DrillReport:
    from nexus_cli.drill.drill import drill
    from nexus_cli.drill.stack import drilled_stack

    with tempfile.TemporaryDirectory(prefix="nexus-drill-") as directory:
        _say(f"seed {plan.seed}: starting a stack of its own")
        async with drilled_stack(Path(directory)) as stack:
            return await drill(plan, stack, _say)


async def _drill_running_stack(plan: DrillPlan, data: Path) -> DrillReport:
    from nexus_cli.drill.drill import drill
    from nexus_cli.drill.stack import running_stack

    stack = await running_stack(data)
    _say(f"seed {plan.seed}: breaking the stack on {data}")
    return await drill(plan, stack, _say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
