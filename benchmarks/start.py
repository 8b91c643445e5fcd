"""How soon is a service ready again after it is killed, and how much of that is its own start?

``python -m benchmarks.start [CLONE] [--runs N]`` compares this clone with another one: both stacks run at the same time
and their services are killed in turn, so that other load on the machine affects both. On a shared machine, compare the
CPU seconds of a start.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from benchmarks import cpu
from benchmarks.report import Figure, median
from nexus_cli.stack.services import SERVICES
from runtime.testing.servers import eventually
from tests.support.running_stack import NEXUS, RunningStack

QUESTION = "starting"
RUNS = 5
READY, BUSY_READY = 1.5, 5.0
"""The product's targets in seconds: from exec on an idle machine, and after a kill on two busy cores."""
KILL_INTERVAL = 6.0
"""Seconds after which the supervisor treats the next kill of the same service as the first."""
BUSY_PROCESSES = 2
"""Processes that only compute."""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the kill until ready again, from exec until ready, and of CPU until then."""

    again: float
    ready: float
    cpu: float


Starts = dict[str, list[Start]]


async def run() -> list[Figure]:
    """Returns all figures; takes about three minutes."""
    async with _stack(NEXUS) as stack:
        [idle] = await _measure([stack], RUNS)
        with _busy_cores():
            [busy] = await _measure([stack], RUNS)
    return [*_figures(idle, "idle", ready=READY), *_figures(busy, "two busy cores", again=BUSY_READY)]


def _figures(starts: Starts, load: str, ready: float | None = None, again: float | None = None) -> list[Figure]:
    figures: list[Figure] = []
    for name, service_starts in starts.items():
        worst = f"worst of {len(service_starts)}: {max(start.again for start in service_starts):.2f} s"
        figures += [
            Figure(
                QUESTION,
                f"{name}: ready after exec, {load}",
                median(start.ready for start in service_starts),
                "s",
                ready,
            ),
            Figure(
                QUESTION,
                f"{name}: ready after kill -9, {load}",
                median(start.again for start in service_starts),
                "s",
                again,
                note=worst,
            ),
            Figure(QUESTION, f"{name}: CPU of a start, {load}", median(start.cpu for start in service_starts), "s"),
        ]
    return figures


async def compare(clone: Path | None, runs: int) -> None:
    """Measures, and prints this clone's figures next to the other one's."""
    commands = [NEXUS] if clone is None else [str(clone / ".venv/bin/nexus"), NEXUS]
    async with AsyncExitStack() as exit_stack:
        stacks = [await exit_stack.enter_async_context(_stack(nexus)) for nexus in commands]
        for load in ("idle", "two busy cores"):
            with _busy_cores() if load != "idle" else ExitStack():
                sides = await _measure(stacks, runs)
            print(f"--- {load}: median (worst) of {runs}, " + ("that → this" if clone else "this"))
            for name in SERVICES:
                print(f"{name:16s}" + " → ".join(_row(side[name]) for side in sides) + _ratio([s[name] for s in sides]))


def _row(starts: Sequence[Start]) -> str:
    def of(values: list[float]) -> str:
        return f"{median(values):5.2f} ({max(values):5.2f})"

    return (
        f" killed to ready {of([start.again for start in starts])} s,"
        f" exec to ready {of([start.ready for start in starts])} s, CPU {of([start.cpu for start in starts])} s"
    )


def _ratio(sides: Sequence[Sequence[Start]]) -> str:
    if len(sides) == 1:
        return ""
    that, this = (median(one.cpu for one in side) for side in sides)
    return f"; CPU × {this / that:.2f}"


async def _measure(stacks: Sequence[RunningStack], runs: int) -> list[Starts]:
    results: list[Starts] = [defaultdict(list) for _ in stacks]
    for _ in range(runs):
        for name in SERVICES:
            for stack, starts in zip(stacks, results, strict=True):
                starts[name].append(await _restart_times(stack, name))
        await asyncio.sleep(KILL_INTERVAL)
    return results


async def _restart_times(stack: RunningStack, name: str) -> Start:
    killed_pid = stack.kill(name)
    started = time.monotonic()
    # The supervisor records the new process once its /readyz has returned 200.
    await eventually(lambda: stack.process(name).pid != killed_pid, deadline=180)
    seconds = time.monotonic() - started
    pid = stack.process(name).pid
    return Start(seconds, cpu.age(pid), cpu.seconds([pid]))


@asynccontextmanager
async def _stack(nexus: str) -> AsyncGenerator[RunningStack]:
    with tempfile.TemporaryDirectory() as data:
        async with RunningStack(Path(data), {}, nexus) as stack:
            yield stack


@contextmanager
def _busy_cores() -> Generator[None]:
    busy = [Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, nargs="?", help="another clone, set up with make setup")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    asyncio.run(compare(options.clone and options.clone.resolve(), options.runs))


if __name__ == "__main__":
    main()
