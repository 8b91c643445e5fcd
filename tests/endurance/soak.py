"""``python -m tests.endurance.soak [--minutes N] [--visitors N]``: `make soak`.

Visitors ask a stack of its own without a pause, in six parts, between which it comes to rest. MongoDB stands still for
the second part, Redis for the fourth. Told is what each service, each store and the bus hold after the first part, when
all is warm, and at the end, with the growth by the hour. Exit code 1 where somebody was not answered, a service's
memory grew by more than the limit in a run of an hour or more, or handles or consumers were left over.
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
from typing import Any, cast

import orjson
import redis.asyncio as redis
from nats.aio.client import Client

from contracts.streams import STREAMS
from nexus_cli.chat.client import ChatFailed
from nexus_cli.drill.drill import Say
from nexus_cli.drill.stack import RunningStack, drills_environment
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.temporary import stack_in
from runtime.testing import eventually
from tests.endurance.restarts import READY_WITHIN, ask

MEMORY_AN_HOUR = 1.0
"""MiB by which a service may grow."""
HANDLES = 10
"""Handles that a service may hold more than before: sockets of whoever is just there."""
STANDS_STILL = (None, "mongodb", None, "redis", None, None)
"""For each part; the first one is the warm-up."""


@dataclass(frozen=True)
class Held:
    """At one moment: MiB and handles by process, messages and consumers by stream, Redis' keys without an end."""

    at: float
    memory: dict[str, float]
    handles: dict[str, int]
    streams: dict[str, tuple[int, int, int]]
    keys: int
    lasting: int


@dataclass
class Soaked:
    """How it went."""

    waits: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    samples: list[Held] = field(default_factory=list[Held])


async def held(stack: RunningStack, urls: dict[str, str]) -> Held:
    """What everybody holds now."""
    memory: dict[str, float] = {}
    handles: dict[str, int] = {}
    for name in stack.names:
        files = Path(f"/proc/{stack.process(name).pid}")
        resident = next(line for line in (files / "status").read_text().splitlines() if line.startswith("VmRSS"))
        memory[name] = int(resident.split()[1]) / 1024
        handles[name] = len(list((files / "fd").iterdir()))
    store = redis.from_url(urls["redis"])  # pyright: ignore[reportUnknownMemberType]
    try:
        keys: list[bytes] = [key async for key in store.scan_iter(count=1000)]  # pyright: ignore
        asked = store.pipeline(transaction=False)
        for key in keys:
            asked.ttl(key)
        ends = cast("list[int]", await asked.execute())
    finally:
        await store.aclose()
    return Held(time.monotonic(), memory, handles, await streams(urls["nats"]), len(keys), ends.count(-1))


async def streams(url: str) -> dict[str, tuple[int, int, int]]:
    """Messages, bytes and consumers of each."""
    bus = Client()
    await bus.connect(url)
    try:
        found: dict[str, tuple[int, int, int]] = {}
        for stream in STREAMS:
            answer = await bus.request(f"$JS.API.STREAM.INFO.{stream.name}", b"", timeout=10)
            state: dict[str, Any] = orjson.loads(answer.data)["state"]
            found[stream.name] = state["messages"], state["bytes"], state["consumer_count"]
        return found
    finally:
        await bus.close()


async def at_rest(url: str) -> bool:
    """Whether every consumer has taken in what there is for it."""
    bus = Client()
    await bus.connect(url)
    try:
        for stream in STREAMS:
            answer = await bus.request(f"$JS.API.CONSUMER.LIST.{stream.name}", b"", timeout=10)
            for consumer in orjson.loads(answer.data)["consumers"]:
                if consumer["num_pending"] or consumer["num_ack_pending"]:
                    return False
        return True
    finally:
        await bus.close()


async def visit(stack: RunningStack, end: float, found: Soaked) -> None:
    """Asks until the end."""
    while time.monotonic() < end:
        try:
            found.waits.append(await ask(stack))
        except (ChatFailed, TimeoutError, OSError) as error:
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
        found.samples.append(await held(stack, urls))
        memory = shown(found.samples[-1].memory)
        say(f"{store or 'nobody'} stood still; {len(found.waits)} answers, {len(found.wrong)} wrong; MiB: {memory}")
    found.wrong += left_over(found.samples[0], found.samples[-1])
    return found


def left_over(first: Held, last: Held) -> list[str]:
    """What is more than it may be."""
    hours = (last.at - first.at) / 3600
    wrong: list[str] = []
    for name in SERVICES:
        growth = (last.memory[name] - first.memory[name]) / hours
        if hours >= 0.8 and growth > MEMORY_AN_HOUR:
            wrong.append(f"{name} grew by {growth:.1f} MiB an hour")
        if last.handles[name] > first.handles[name] + HANDLES:
            wrong.append(f"{name} holds {last.handles[name]} handles, and held {first.handles[name]}")
    for stream, (_, _, consumers) in last.streams.items():
        if consumers > first.streams[stream][2]:
            wrong.append(f"{stream} has {consumers} consumers, and had {first.streams[stream][2]}")
    return wrong


def shown(figures: dict[str, float]) -> str:
    """One line."""
    return ", ".join(f"{name} {figure:.0f}" for name, figure in figures.items())


def report(found: Soaked) -> str:
    """The table."""
    first, last = found.samples[0], found.samples[-1]
    hours = (last.at - first.at) / 3600
    waits = sorted(found.waits)
    lines = [
        f"{len(waits)} answers, median wait {waits[len(waits) // 2]:.1f} s, longest {waits[-1]:.1f} s; "
        f"{hours * 60:.0f} minutes from the first figure to the last"
    ]
    for name in last.memory:
        grown = last.memory[name] - first.memory[name]
        lines.append(
            f"{name:15} {first.memory[name]:7.1f} → {last.memory[name]:7.1f} MiB ({grown / hours:+.1f} an hour), "
            f"{first.handles[name]} → {last.handles[name]} handles"
        )
    for stream, (messages, size, consumers) in last.streams.items():
        before = first.streams[stream]
        lines.append(
            f"{stream:15} {before[0]} → {messages} messages, {before[1] / 1024:.0f} → {size / 1024:.0f} KiB, "
            f"{before[2]} → {consumers} consumers"
        )
    lines.append(
        f"{'Redis':15} {first.keys} → {last.keys} keys, of them without an end {first.lasting} → {last.lasting}"
    )
    return "\n".join(lines + [f"found: {one}" for one in found.wrong[:20]]) + f"\n{len(found.wrong)} wrong\n"


async def run(seconds: float, visitors: int, directory: Path, say: Say) -> Soaked:
    """On a stack of its own."""
    async with stack_in(directory, environment=drills_environment(), cwd=directory) as data:
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
