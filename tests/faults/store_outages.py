"""``python -m tests.faults.store_outages --outages N [--seed S] [--longest 60]`` (`make store-outages`).

MongoDB and Redis become unavailable in every way and come back while people use the stack. After each outage every
service is ready and everything works as before within half a minute, by itself or restarted by its supervisor; every
accepted message is settled once, and every reported effect is stored. Prints a line for each outage; exit code 1 with
any finding.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import aiohttp

from agent.scripted_model.server import ScriptedModel, scripted_model
from runtime.testing.servers import eventually
from tests.faults.conftest import SETTINGS
from tests.faults.networked_stack import NetworkedStack
from tests.support.paused import COMPANY, pause_and_ask

WHOLE_WITHIN = 30.0
"""Seconds from the store's return until everything works as before."""
STORES = ("mongodb", "redis")


class How(StrEnum):
    """What happens to a store."""

    KILLED = "killed again and again"
    RESTARTED = "restarted"
    PAUSED = "paused"
    AWAY = "cut off"
    SLOW = "slow"
    SILENT = "silent"
    LOST = "silent, then cut"
    TORN = "cut in mid-reply"


@dataclass(frozen=True, slots=True)
class Outage:
    """An outage of one store. `measure`: the delay in seconds, or the bytes of a reply before the cut."""

    store: str
    how: How
    seconds: float
    measure: float

    def __str__(self) -> str:
        return f"{self.store} {self.how} for {self.seconds:.0f} s"


def outages(random: Random, number: int, shortest: float, longest: float) -> Iterator[Outage]:
    """Yields outages: every kind for each store before any pair repeats."""
    pairs: list[tuple[str, How]] = []
    for _ in range(number):
        if not pairs:
            pairs = [(store, how) for store in STORES for how in How]
            random.shuffle(pairs)
        store, how = pairs.pop()
        measure = float(random.randint(1, 300)) if how is How.TORN else random.uniform(0.1, 1.0)
        yield Outage(store, how, random.uniform(shortest, longest), measure)


@asynccontextmanager
async def hurt(stack: NetworkedStack, outage: Outage) -> AsyncGenerator[None]:
    """Makes the store unavailable while the block runs."""
    network, killing = stack.network_of(outage.store), None
    pid = stack.process(outage.store).pid
    match outage.how:
        case How.KILLED:
            killing = asyncio.create_task(_kill_again_and_again(stack, outage.store))
        case How.RESTARTED:
            os.kill(pid, signal.SIGKILL)
        case How.PAUSED:
            os.kill(pid, signal.SIGSTOP)
        case How.AWAY:
            for proxy in network:
                proxy.refusing = True
                proxy.cut()
        case How.SLOW:
            for proxy in network:
                proxy.delay = outage.measure
        case How.SILENT | How.LOST:
            for proxy in network:
                proxy.hold_replies()
        case How.TORN:
            for proxy in network:
                proxy.breaks_after = int(outage.measure)
    try:
        yield
    finally:
        if outage.how is How.PAUSED:
            os.kill(pid, signal.SIGCONT)
        if killing is not None:
            killing.cancel()
            await asyncio.wait([killing])
        for proxy in network:
            proxy.refusing, proxy.delay, proxy.breaks_after = False, 0.0, None
            proxy.release_replies()
            if outage.how is How.LOST:
                proxy.cut()


async def _kill_again_and_again(stack: NetworkedStack, store: str) -> None:
    """Kills the store each time its supervisor has started another one."""
    killed = 0
    while True:
        killed = await eventually(partial(_there, stack, store, killed), deadline=WHOLE_WITHIN)
        with suppress(ProcessLookupError):
            os.kill(killed, signal.SIGKILL)


async def _there(stack: NetworkedStack, store: str, besides: int) -> int:
    """Returns the process id of a store that accepts connections and is not `besides`; 0: there is none."""
    try:
        process = stack.process(store)
        if process.pid == besides:
            return 0
        at = urlsplit(process.url)
        _, writer = await asyncio.open_connection(at.hostname, at.port)
    except (OSError, StopIteration, ValueError):
        return 0
    writer.close()
    return process.pid


async def endure(stack: NetworkedStack, model: ScriptedModel, outage: Outage) -> list[str]:
    """What was not as it should be."""
    try:
        pause = await pause_and_ask(stack, model, [outage.store], outage.seconds, hurt(stack, outage))
    except AssertionError as error:
        return [f"not as before in time: {error}", *await stuck(stack)]
    anew = [finding for finding in pause.findings if finding.endswith("was started anew")]
    found = [finding for finding in pause.findings if finding not in anew]
    if pause.normal_after > WHOLE_WITHIN:
        found.append(f"as before after {pause.normal_after:.1f} s alone")
    again = [one.partition(" ")[0] for one in anew if not one.startswith(outage.store)]
    said = f", started anew: {', '.join(again)}" if again else ""
    sys.stdout.write(f"{outage}: as before in {pause.normal_after:.1f} s{said}\n")
    sys.stdout.flush()
    return found


async def stuck(stack: NetworkedStack) -> list[str]:
    """What each service says of itself."""
    said: list[str] = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        for process in stack.facts()["processes"]:
            for path in ("healthz", "readyz") if str(process["url"]).startswith("http") else ():
                try:
                    async with session.get(f"{process['url'].rstrip('/')}/{path}") as answer:
                        if answer.status != 200:
                            said.append(f"{process['name']} {path}: {await answer.text()}")
                except (aiohttp.ClientError, TimeoutError) as error:
                    said.append(f"{process['name']} {path}: {error!r}")
    return said


async def campaign(number: int, seed: int, shortest: float, longest: float, data: Path) -> list[str]:
    """All findings of so many outages, one after the other, on one stack."""
    found: list[str] = []
    async with scripted_model() as model:
        stack = NetworkedStack(data, {**model.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "0"})
        try:
            await stack.begin()
            await stack.create_company(COMPANY, **SETTINGS)
            for at, outage in enumerate(outages(Random(seed), number, shortest, longest), 1):
                said = await endure(stack, model, outage)
                for one in said:
                    sys.stdout.write(f"found: outage {at}, {outage}: {one}\n")
                sys.stdout.flush()
                found += said
        finally:
            await stack.end()
    return found


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.store_outages", description=__doc__)
    parser.add_argument("--outages", type=int, default=16)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--shortest", type=float, default=5.0)
    parser.add_argument("--longest", type=float, default=60.0)
    arguments = parser.parse_args()
    data = Path(tempfile.mkdtemp(prefix="nexus-outages-"))
    sys.stdout.write(f"seed {arguments.seed}, data in {data}\n")
    sys.stdout.flush()
    found = asyncio.run(
        campaign(arguments.outages, arguments.seed, arguments.shortest, arguments.longest, data / "nexus")
    )
    sys.stdout.write(f"{arguments.outages} outages, {len(found)} findings\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
