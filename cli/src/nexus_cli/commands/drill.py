"""`nexus drill`: break a stack on purpose, and count what people were promised."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import Json


def drill(
    minutes: Annotated[float, typer.Option(help="How long faults go on.", min=0.1, max=24 * 60)] = 5.0,
    seed: Annotated[int | None, typer.Option(help="The same faults as a drill before. Default: new ones.")] = None,
    visitors: Annotated[int, typer.Option(help="Who chat at the same time.", min=1, max=50)] = 4,
    faults: Annotated[int | None, typer.Option(help="So many faults at most.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Break each process of a stack of its own (kill, pause, stall, cut) while visitors chat, and say what was lost.

    Exit code 1 with anything lost, doubled or said over a human.
    """
    from nexus_cli.drill.drill import MANY, DrillPlan, drill
    from nexus_cli.stack.errors import StackError

    plan = DrillPlan(minutes, seed if seed is not None else int(time.time()), visitors, faults or MANY)
    _say(f"seed {plan.seed}; a stack of its own is started")
    try:
        with tempfile.TemporaryDirectory(prefix="nexus-drill-") as directory:
            report = asyncio.run(drill(plan, Path(directory), _say))
    except StackError as error:
        fail(error)
    print(json.dumps(report.as_json()) if as_json else report.as_text())
    if any(report.figures.values()):
        raise typer.Exit(1)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
