"""``python -m benchmarks.calls [--people N] [--turns N] [--pause S] [--keep DIR]``: what a turn costs, by count.

Calls of Python functions and of what is built in, by a deterministic profile of each service, in which a coroutine
that goes on counts as a call once more; and how often the process was woken (voluntary context switches). Such counts
vary by a hundredth where the CPU of a busy machine varies by a half. With `--keep` the profiles stay, for
`python -m pstats`.
"""

import argparse
import asyncio
import os
import pstats
import signal
import tempfile
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from agent.scripted_model.server import scripted_model
from benchmarks.at_once import turns_of
from benchmarks.first_token import BURST, running
from runtime.testing.servers import eventually

PROFILED = ("gateway", "agent", "memory")
WARM_UP = 64
SETTLED = 3.0
"""Seconds after which what is written in batches behind turns is written."""
_AT_START = """
import cProfile, os, signal, sys, time

made = cProfile.Profile(time.thread_time_ns, 1e-9)  # of CPU, not of waiting for a core

def begin(*_):
    made.enable()

def end(*_):
    made.disable()
    name = os.path.join({folder!r}, str(os.getpid()))
    made.dump_stats(name + ".half")
    os.replace(name + ".half", name)

signal.signal(signal.SIGUSR1, begin)
signal.signal(signal.SIGUSR2, end)
"""


async def count(people: int, turns: int, pause: float, folder: Path) -> None:
    """Prints the table; leaves the profiles in the folder, by the service's name."""
    (folder / "sitecustomize.py").write_text(_AT_START.format(folder=str(folder)))
    async with scripted_model(default=BURST) as model, running(model, more={"PYTHONPATH": str(folder)}) as stack:
        pids = {name: stack.process(name).pid for name in PROFILED}
        await turns_of(stack, max(people, 8), WARM_UP)
        await asyncio.sleep(SETTLED)
        for pid in pids.values():
            os.kill(pid, signal.SIGUSR1)
        woken = {name: _woken(pid) for name, pid in pids.items()}
        await turns_of(stack, people, turns, pause)
        await asyncio.sleep(SETTLED)
        woken = {name: _woken(pid) - woken[name] for name, pid in pids.items()}
        for pid in pids.values():
            os.kill(pid, signal.SIGUSR2)
        await eventually(lambda: _all_there(folder, pids), 30)
    table = Table("a turn", *PROFILED, title=f"{turns} turns of {people} at once, {pause:g} s between two")
    counted = {name: _counted(folder / str(pid)) for name, pid in pids.items()}
    table.add_row("calls of Python", *(f"{counted[name][0] / turns:,.0f}" for name in PROFILED))
    table.add_row("calls of what is built in", *(f"{counted[name][1] / turns:,.0f}" for name in PROFILED))
    table.add_row("wake-ups", *(f"{woken[name] / turns:,.1f}" for name in PROFILED))
    Console().print(table)
    for name, pid in pids.items():
        (folder / str(pid)).rename(folder / name)


async def _all_there(folder: Path, pids: dict[str, int]) -> bool:
    return all((folder / str(pid)).exists() for pid in pids.values())


def _woken(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("voluntary_ctxt_switches")).split()[1])


def _counted(file: Path) -> tuple[int, int]:
    """Calls of Python functions, and of built-in ones (whose file is `~`)."""
    stats = cast(dict[tuple[str, int, str], tuple[Any, ...]], pstats.Stats(str(file)).stats)  # pyright: ignore
    inner = sum(counts[1] for where, counts in stats.items() if where[0] == "~")
    return sum(counts[1] for counts in stats.values()) - inner, inner


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.05)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) if options.keep is None else options.keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(count(options.people, options.turns, options.pause, folder))


if __name__ == "__main__":
    main()
