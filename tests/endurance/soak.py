"""``python -m tests.endurance.soak [--minutes N] [--visitors N]``: `make soak`.

Visitors ask a new stack without a pause, in six parts; after each part it processes all messages. MongoDB is paused for
the second part, Redis for the fourth. Prints what each service, each store and the bus hold after the first part, as a
warm-up, and at the end, with the growth per hour. Exit code 1 where somebody was not answered, a service's memory grew
by more than the limit, or handles or consumers were left over.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from nexus_cli.chat.client import ChatFailedError
from nexus_cli.drill.drill import Say
from nexus_cli.drill.stack import RunningStack
from runtime.testing.servers import eventually
from tests.endurance.holdings import SMALLEST, Holdings, at_rest, holdings
from tests.endurance.restarts import ask
from tests.support.long_run import READY_WITHIN, new_stack, say

MEMORY_AN_HOUR = 1.0
"""MiB per hour by which a service may grow, if the run is long enough to measure it."""
MIN_HOURS = 0.8
PAUSED_STORES = (None, "mongodb", None, "redis", None, None)
"""The store that is paused in each part; the first part is the warm-up."""


@dataclass
class Soaked:
    """The result."""

    waits: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    samples: list[Holdings] = field(default_factory=list[Holdings])


async def visit(stack: RunningStack, end: float, result: Soaked) -> None:
    """Asks questions until `end`."""
    while time.monotonic() < end:
        try:
            result.waits.append(await ask(stack))
        except (ChatFailedError, TimeoutError, OSError) as error:
            result.wrong.append(f"a visitor was not answered: {error or 'in time'}")
            await stack.ready_again(["gateway"], READY_WITHIN)


@contextmanager
def paused(stack: RunningStack, store: str | None) -> Generator[None]:
    """Pauses a store while the block runs; None: pauses none."""
    if store is None:
        yield
        return
    pid = stack.process(store).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # a process paused for too long may have been restarted
            os.kill(pid, signal.SIGCONT)


async def soak(stack: RunningStack, urls: dict[str, str], seconds: float, visitors: int, say: Say) -> Soaked:
    """Runs all parts."""
    result = Soaked()
    for store in PAUSED_STORES:
        end = time.monotonic() + seconds / len(PAUSED_STORES)
        with paused(stack, store):
            await asyncio.gather(*(visit(stack, end, result) for _ in range(visitors)))
        await stack.ready_again(stack.names, READY_WITHIN)
        await eventually(lambda: at_rest(urls["nats"]), READY_WITHIN)
        result.samples.append(await holdings(stack, urls))
        memory = ", ".join(f"{name} {process.memory:.0f}" for name, process in result.samples[-1].processes.items())
        say(f"{store or 'nobody'} stood still; {len(result.waits)} answers, {len(result.wrong)} wrong; MiB: {memory}")
    first, last = result.samples[0], result.samples[-1]
    hours = (last.at - first.at) / 3600
    result.wrong += last.left_since(first, MEMORY_AN_HOUR * hours if hours >= MIN_HOURS else SMALLEST)
    return result


def report(result: Soaked) -> str:
    """Returns the result as text."""
    first, last = result.samples[0], result.samples[-1]
    hours = (last.at - first.at) / 3600
    waits = sorted(result.waits)
    lines = [
        f"{len(waits)} answers, median wait {waits[len(waits) // 2]:.1f} s, longest {waits[-1]:.1f} s; "
        f"{hours * 60:.0f} minutes from the first figure to the last"
    ]
    lines += last.table(first, len(waits))
    return "\n".join(lines + [f"found: {finding}" for finding in result.wrong[:20]]) + f"\n{len(result.wrong)} wrong\n"


async def run(seconds: float, visitors: int, directory: Path, say: Say) -> Soaked:
    """Runs the test on a new stack."""
    async with new_stack(directory) as (stack, data):
        return await soak(stack, data.recorded()["urls"], seconds, visitors, say)


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--visitors", type=int, default=4)
    arguments = parser.parse_args()

    def say_when(line: str) -> None:
        say(f"{time.strftime('%H:%M:%S')} {line}")

    with tempfile.TemporaryDirectory(prefix="nexus-soak-") as directory:
        result = asyncio.run(run(arguments.minutes * 60, arguments.visitors, Path(directory), say_when))
    sys.stdout.write(report(result))
    sys.exit(1 if result.wrong else 0)


if __name__ == "__main__":
    main()
