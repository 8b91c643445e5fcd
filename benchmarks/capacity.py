"""``python -m benchmarks.capacity [--turns N]``: what a turn costs in each process and store, and what many need.

Measured on a stack of its own with the offline model: CPU of every process, and bytes and messages of every stream and
store, by the turn; half of the turns call a tool. Then sizes for 10,000, 1,000,000 and 50,000,000 messages a day are
worked out, and the hour of the most is simulated: turns come by chance, each takes one of the agents' places for as
long as a model talks, and whoever finds none waits. Last, a million open sockets are placed: companies of different
size on as few clusters as their buses can serve.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import orjson
from nats.aio.client import Client
from rich.console import Console
from rich.table import Table

from agent.settings import AgentSettings
from benchmarks import cpu
from contracts.streams import CHAT, STREAMS
from nexus_cli.drill.stack import RunningStack, drill_environment
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.temporary import stack_in
from tests.endurance.restarts import ask

QUESTIONS = ("What does the Pro plan cost?", "What is IBM trading at?")
AT_ONCE = 4
SETTLED = 6.0
"""Seconds after which what is written in batches behind turns is written."""
BUSIEST = 0.1
"""Share of a day's messages that its busiest hour has."""
FULL = 0.6
"""Share of a core that is planned with."""
PLACES = int(AgentSettings.model_fields["slots"].default)
"""Turns that one agent drives at a time."""
TALKS = 6.0
"""Seconds that a model talks, on average: an assumption, not a measurement."""
DAY = 86_400
SIMULATED = 600
DAILY = (10_000, 1_000_000, 50_000_000)
APPENDS = 5_000.0
"""A second that one stream takes at `sync_interval: always`, 0.2 ms each (deploy/nats/nats.conf)."""

SOCKETS = 1_000_000
SOCKET_BYTES = 28 * 1024
"""Of the gateway's memory, for an open socket with its conversation (docs/architecture/chat.md)."""
STAYS = 600.0
ASKS = 3
"""Seconds that a visitor's socket is open, and what its visitor asks meanwhile: assumptions."""
COMPANIES = 20_000
BUS_CORES = 8
"""Of each cluster's NATS leaders. They cannot be spread further: a stream has one leader."""
GATEWAY_BYTES = 400e6
"""Of a gateway's memory limit (512 MB), for sockets."""


@dataclass(frozen=True)
class Costs:
    """Of one turn, its visitor's message and its answer: seconds of CPU by process, bytes and messages by store."""

    cpu: dict[str, float]
    stored: dict[str, float]
    appends: dict[str, float]


async def measure(turns: int, directory: Path) -> Costs:
    """Asks so often, and divides."""
    async with stack_in(directory, environment=drill_environment(), cwd=directory) as data:
        stack = RunningStack(data, data.secrets().jwt_secret)
        await stack.ready_again(stack.names, 60)
        await _asked(stack, 2 * AT_ONCE)
        await asyncio.sleep(SETTLED)
        before = _cpu(stack), await _stored(stack, data.path)
        await _asked(stack, turns)
        await asyncio.sleep(SETTLED)
        after = _cpu(stack), await _stored(stack, data.path)
    cpu = {name: (after[0][name] - before[0][name]) / turns for name in before[0]}
    stored = {name: (after[1][0][name] - before[1][0][name]) / turns for name in before[1][0]}
    appends = {name: (after[1][1][name] - before[1][1][name]) / turns for name in before[1][1]}
    return Costs(cpu, stored, appends)


async def _asked(stack: RunningStack, turns: int) -> None:
    coming: Iterator[str] = (QUESTIONS[number % len(QUESTIONS)] for number in range(turns))

    async def one_after_another() -> None:
        for question in coming:
            await ask(stack, question)

    await asyncio.gather(*(one_after_another() for _ in range(AT_ONCE)))


def _cpu(stack: RunningStack) -> dict[str, float]:
    return {name: cpu.seconds([stack.process(name).pid]) for name in stack.names}


async def _stored(stack: RunningStack, data: Path) -> tuple[dict[str, float], dict[str, float]]:
    stored: dict[str, float] = {}
    appends: dict[str, float] = {}
    bus = Client()
    await bus.connect(stack.nats)
    try:
        for stream in STREAMS:
            info = orjson.loads((await bus.request(f"$JS.API.STREAM.INFO.{stream.name}", b"", timeout=5)).data)
            stored[stream.name] = float(info["state"]["bytes"])
            appends[stream.name] = float(info["state"]["last_seq"])
    finally:
        await bus.close()
    stored["MongoDB"] = float(sum(file.stat().st_size for file in (data / "mongodb").rglob("*") if file.is_file()))
    return stored, appends


@dataclass(frozen=True)
class Hour:
    """The busiest hour: turns a second, agents, and how long turns waited for a place, in seconds."""

    rate: float
    agents: int
    middle: float
    late: float


def simulate(messages_a_day: int, seed: int = 1) -> Hour:
    """Ten minutes of it, with the fewest agents by which 99 of 100 turns wait a second at most. Half of all messages
    are visitors', each of which is a turn."""
    rate = messages_a_day / 2 * BUSIEST / 3_600
    agents = max(2, math.ceil(rate * TALKS / PLACES))
    while True:
        waits = _waits(rate, agents * PLACES, Random(seed))
        late = waits[int(len(waits) * 0.99)]
        if late <= 1.0:
            return Hour(rate, agents, waits[len(waits) // 2], late)
        agents = math.ceil(agents * 1.02)


def _waits(rate: float, places: int, random: Random) -> list[float]:
    free = [0.0] * places
    waits: list[float] = []
    now = 0.0
    while now < SIMULATED:
        now += random.expovariate(rate)
        begin = max(now, free[0])
        heapq.heapreplace(free, begin + random.lognormvariate(math.log(TALKS) - 0.18, 0.6))
        waits.append(begin - now)
    return sorted(waits)


@dataclass(frozen=True)
class Shards:
    """Where a million sockets are: clusters, turns a second of the fullest, of the emptiest and of the largest company,
    and gateways in all."""

    clusters: int
    fullest: float
    emptiest: float
    largest: float
    gateways: int


def place(bus_seconds: float, gateway_seconds: float, sockets: int = SOCKETS) -> Shards:
    """Each company on the cluster that has least to do, the largest first; a company is never split. The k-th largest
    has a share of k^-0.8. `bus_seconds`, `gateway_seconds`: CPU of a turn there."""
    rate = sockets / STAYS * ASKS
    shares = [rank**-0.8 for rank in range(1, COMPANIES + 1)]
    loads = [rate * share / sum(shares) for share in shares]
    most = BUS_CORES * FULL / bus_seconds
    clusters = [0.0] * math.ceil(rate / most)
    for load in loads:
        heapq.heapreplace(clusters, clusters[0] + load)
    by_memory, by_cpu = sockets * SOCKET_BYTES / GATEWAY_BYTES, rate * gateway_seconds / FULL
    return Shards(len(clusters), max(clusters), min(clusters), loads[0], math.ceil(max(by_memory, by_cpu)))


def show(console: Console, costs: Costs) -> None:
    """What a turn costs, and what days of many need."""
    cpu = Table("process", "ms of CPU a turn", title="a turn")
    for name, seconds in sorted(costs.cpu.items(), key=lambda one: -one[1]):
        cpu.add_row(name, f"{seconds * 1000:.1f}")
    console.print(cpu)
    stores = Table("store", "bytes a turn", "appends a turn")
    for name, size in sorted(costs.stored.items(), key=lambda one: -one[1]):
        if size or costs.appends.get(name):
            stores.add_row(name, f"{size:,.0f}", f"{costs.appends.get(name, 0):.2f}" if name in costs.appends else "")
    console.print(stores)
    services = [name for name in costs.cpu if name in SERVICES]
    days = Table("messages a day", "turns/s, busiest hour", "places: agents", "99 % wait", title="days")
    for name in (*services, "CHAT's window", "MongoDB a year", "of one stream's appends"):
        days.add_column(name)
    for messages in DAILY:
        hour = simulate(messages)
        each = [math.ceil(costs.cpu[name] * hour.rate / FULL) for name in services]
        busiest = max(costs.appends.values()) * hour.rate / APPENDS
        kept = costs.stored[CHAT.name] * messages / 2 * CHAT.window / DAY
        years = costs.stored["MongoDB"] * messages / 2 * 365
        days.add_row(
            *(f"{messages:,}", f"{hour.rate:.1f}", str(hour.agents), f"{hour.late:.2f} s"),
            *map(str, each),
            *(f"{kept / 1e9:,.1f} GB", f"{years / 1e9:,.0f} GB", f"{busiest:.0%}"),
        )
    console.print(days)
    shards = Table(
        "sockets", "turns/s", "clusters", "turns/s of the fullest", "of the emptiest", "of the largest company"
    )
    shards.add_column("gateways")
    for sockets in (SOCKETS // 100, SOCKETS // 10, SOCKETS):
        found = place(costs.cpu["nats"], costs.cpu["gateway"], sockets)
        rate = f"{sockets / STAYS * ASKS:,.0f}"
        figures = (found.clusters, found.fullest, found.emptiest, found.largest, found.gateways)
        shards.add_row(f"{sockets:,}", rate, *(f"{figure:,.0f}" for figure in figures))
    console.print(shards)


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory(prefix="nexus-capacity-") as directory:
        costs = asyncio.run(measure(turns, Path(directory)))
    show(Console(width=140), costs)


if __name__ == "__main__":
    main()
