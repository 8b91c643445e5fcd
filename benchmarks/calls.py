"""``python -m benchmarks.calls [--people N] [--turns N] [--pause S] [--keep DIR]``: what a turn costs, in counts.

It counts calls of Python functions and of built-in ones, with a deterministic profile of each service, in which a
coroutine that resumes counts as another call; and how often the process was woken (voluntary context switches). Such
counts vary by one percent where the CPU of a busy machine varies by half. With `--keep` the profiles are kept, for
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
SETTLE_SECONDS = 3.0
"""Seconds until everything that is written in batches after turns is written."""
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
    """Prints the table, and stores the profiles in the folder, by service."""
    (folder / "sitecustomize.py").write_text(_AT_START.format(folder=str(folder)))
    async with scripted_model(default=BURST) as model, running(model, more={"PYTHONPATH": str(folder)}) as stack:
        pids = {name: stack.process(name).pid for name in PROFILED}
        await turns_of(stack, max(people, 8), WARM_UP)
        await asyncio.sleep(SETTLE_SECONDS)
        for pid in pids.values():
            os.kill(pid, signal.SIGUSR1)
        wakeups = {name: _wakeups(pid) for name, pid in pids.items()}
        await turns_of(stack, people, turns, pause)
        await asyncio.sleep(SETTLE_SECONDS)
        wakeups = {name: _wakeups(pid) - wakeups[name] for name, pid in pids.items()}
        for pid in pids.values():
            os.kill(pid, signal.SIGUSR2)
        await eventually(lambda: all((folder / str(pid)).exists() for pid in pids.values()), 30)
    table = Table("a turn", *PROFILED, title=f"{turns} turns of {people} at once, {pause:g} s between two")
    call_counts = {name: _call_counts(folder / str(pid)) for name, pid in pids.items()}
    table.add_row("calls of Python", *(f"{call_counts[name][0] / turns:,.0f}" for name in PROFILED))
    table.add_row("calls of what is built in", *(f"{call_counts[name][1] / turns:,.0f}" for name in PROFILED))
    table.add_row("wake-ups", *(f"{wakeups[name] / turns:,.1f}" for name in PROFILED))
    Console().print(table)
    for name, pid in pids.items():
        (folder / str(pid)).rename(folder / name)


def _wakeups(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("voluntary_ctxt_switches")).split()[1])


def _call_counts(file: Path) -> tuple[int, int]:
    """Returns the number of calls of Python functions, and of built-in ones (whose file is `~`)."""
    stats = cast(dict[tuple[str, int, str], tuple[Any, ...]], pstats.Stats(str(file)).stats)  # pyright: ignore
    builtin = sum(counts[1] for function, counts in stats.items() if function[0] == "~")
    return sum(counts[1] for counts in stats.values()) - builtin, builtin


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.05)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if options.keep is None else options.keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(count(options.people, options.turns, options.pause, folder))


if __name__ == "__main__":
    main()
