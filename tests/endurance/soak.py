"""``python -m tests.endurance.soak [--minutes N] [--visitors N]``: `make soak`.

Visitors ask a stack of its own without a pause, in six parts, between which it comes to rest. MongoDB stands still for
the second part, Redis for the fourth. Told is what each service, each store and the bus hold after the first part, when
all is warm, and at the end, with the growth by the hour. Exit code 1 where somebody was not answered, a service's
memory grew by more than the limit, or handles or consumers were left over.
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
from nexus_cli.drill.stack import RunningStack, drill_environment
from nexus_cli.stack.temporary import stack_in
from runtime.testing.servers import eventually
from tests.endurance.holdings import SMALLEST, Holdings, at_rest, holdings
from tests.endurance.restarts import READY_WITHIN, ask

MEMORY_AN_HOUR = 1.0
"""MiB by which a service may grow, where the time is long enough to tell."""
HOURS_THAT_TELL = 0.8
STANDS_STILL = (None, "mongodb", None, "redis", None, None)
"""For each part; the first one is the warm-up."""


@dataclass
class Soaked:
    """How it went."""

    waits: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    samples: list[Holdings] = field(default_factory=list[Holdings])


async def visit(stack: RunningStack, end: float, found: Soaked) -> None:
    """Asks until the end."""
    while time.monotonic() < end:
        try:
            found.waits.append(await ask(stack))
        except (ChatFailedError, TimeoutError, OSError) as error:
            found.wrong.append(f"a visitor was not answered: {error or 'in time'}")
            await stack.ready_again(["gateway"], READY_WITHIN)


@contextmanager
def standing_still(stack: RunningStack, store: str | None) -> Generator[None]:
    """A store that does not answer meanwhile; None: all do."""
    if store is None:
        yield
        return
    pid = stack.process(store).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # whoever was frozen for too long may have been started anew
            os.kill(pid, signal.SIGCONT)


async def soak(stack: RunningStack, urls: dict[str, str], seconds: float, visitors: int, say: Say) -> Soaked:
    """All of it."""
    found = Soaked()
    for store in STANDS_STILL:
        end = time.monotonic() + seconds / len(STANDS_STILL)
        with standing_still(stack, store):
            await asyncio.gather(*(visit(stack, end, found) for _ in range(visitors)))
        await stack.ready_again(stack.names, READY_WITHIN)
        await eventually(lambda: at_rest(urls["nats"]), READY_WITHIN)
        found.samples.append(await holdings(stack, urls))
        memory = ", ".join(f"{name} {one.memory:.0f}" for name, one in found.samples[-1].processes.items())
        say(f"{store or 'nobody'} stood still; {len(found.waits)} answers, {len(found.wrong)} wrong; MiB: {memory}")
    first, last = found.samples[0], found.samples[-1]
    hours = (last.at - first.at) / 3600
    found.wrong += last.left_since(first, MEMORY_AN_HOUR * hours if hours >= HOURS_THAT_TELL else SMALLEST)
    return found


def report(found: Soaked) -> str:
    """The table."""
    first, last = found.samples[0], found.samples[-1]
    hours = (last.at - first.at) / 3600
    waits = sorted(found.waits)
    lines = [
        f"{len(waits)} answers, median wait {waits[len(waits) // 2]:.1f} s, longest {waits[-1]:.1f} s; "
        f"{hours * 60:.0f} minutes from the first figure to the last"
    ]
    lines += last.table(first, len(waits))
    return "\n".join(lines + [f"found: {one}" for one in found.wrong[:20]]) + f"\n{len(found.wrong)} wrong\n"


async def run(seconds: float, visitors: int, directory: Path, say: Say) -> Soaked:
    """On a stack of its own."""
    async with stack_in(directory, environment=drill_environment(), cwd=directory) as data:
        stack = RunningStack(data, data.secrets().jwt_secret)
        await stack.ready_again(stack.names, READY_WITHIN)
        return await soak(stack, data.recorded()["urls"], seconds, visitors, say)


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--visitors", type=int, default=4)
    arguments = parser.parse_args()

    def say(line: str) -> None:
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        sys.stderr.flush()

    with tempfile.TemporaryDirectory(prefix="nexus-soak-") as directory:
        found = asyncio.run(run(arguments.minutes * 60, arguments.visitors, Path(directory), say))
    sys.stdout.write(report(found))
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
