"""``python -m benchmarks.capacity [--turns N]``: what a turn costs in each process and store, and what a load needs.

It measures on its own stack with the offline model: for each turn, the CPU of every process, and the bytes and messages
of every stream and store; half of the turns call a tool. Then it computes sizes for 10,000, 1,000,000 and 50,000,000
messages a day, and simulates the busiest hour: turns come at random, each takes one of the agents' slots for as long as
a model answers, and others wait. Last, it places a million open sockets: companies of different sizes on as few
clusters as their buses can serve.
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
from benchmarks.report import growth
from contracts.streams import CHAT, STREAMS
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.services import SERVICES
from tests.endurance.restarts import ask
from tests.support.long_run import new_stack

QUESTIONS = ("What does the Pro plan cost?", "What is IBM trading at?")
AT_ONCE = 4
SETTLE_SECONDS = 6.0
"""Seconds until everything that is written in batches after turns is written."""
BUSIEST_HOUR_SHARE = 0.1
"""Share of a day's messages in its busiest hour."""
MAX_CORE_SHARE = 0.6
"""Share of a core that the plan uses."""
SLOTS_PER_AGENT = int(AgentSettings.model_fields["slots"].default)
"""Turns that one agent drives concurrently."""
MODEL_SECONDS = 6.0
"""Seconds that a model takes for a turn, on average: an assumption, not a measurement."""
DAY_SECONDS = 86_400
SIMULATED_SECONDS = 600
DAILY_MESSAGES = (10_000, 1_000_000, 50_000_000)
MAX_APPENDS_PER_SECOND = 5_000.0
"""Appends per second that one stream accepts with `sync_interval: always`, 0.2 ms each (deploy/nats/nats.conf)."""

SOCKETS = 1_000_000
SOCKET_BYTES = 28 * 1024
"""The gateway's memory for an open socket with its conversation (docs/architecture/chat.md)."""
SOCKET_SECONDS = 600.0
QUESTIONS_PER_SOCKET = 3
"""Seconds that a visitor's socket is open, and the number of questions meanwhile: assumptions."""
COMPANIES = 20_000
BUS_CORES = 8
"""Cores of each cluster's NATS leaders, which cannot be spread further: a stream has one leader."""
GATEWAY_BYTES = 400e6
"""The part of a gateway's memory limit (512 MB) that is for sockets."""


@dataclass(frozen=True)
class Costs:
    """The costs of one turn, with the visitor's message and the answer: CPU seconds by process, bytes and messages by
    store."""

    cpu: dict[str, float]
    stored: dict[str, float]
    appends: dict[str, float]


async def measure(turns: int, directory: Path) -> Costs:
    """Runs this many turns and returns the costs of one."""
    async with new_stack(directory) as (stack, data):
        await _run_turns(stack, 2 * AT_ONCE)
        await asyncio.sleep(SETTLE_SECONDS)
        before = _cpu(stack), *await _stored(stack, data.path)
        await _run_turns(stack, turns)
        await asyncio.sleep(SETTLE_SECONDS)
        after = _cpu(stack), *await _stored(stack, data.path)
    return Costs(*(growth(earlier, later, turns) for earlier, later in zip(before, after, strict=True)))


async def _run_turns(stack: RunningStack, turns: int) -> None:
    questions: Iterator[str] = (QUESTIONS[number % len(QUESTIONS)] for number in range(turns))

    async def ask_in_turn() -> None:
        for question in questions:
            await ask(stack, question)

    await asyncio.gather(*(ask_in_turn() for _ in range(AT_ONCE)))


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
    """The busiest hour: turns per second, agents, and the 99th percentile of the wait for a slot, in seconds."""

    rate: float
    agents: int
    late: float


def simulate(messages_a_day: int) -> Hour:
    """Simulates ten minutes of the busiest hour, with the fewest agents for which 99 of 100 turns wait at most a
    second. Half of all messages are visitors', each of which is a turn."""
    rate = messages_a_day / 2 * BUSIEST_HOUR_SHARE / 3_600
    agents = max(2, math.ceil(rate * MODEL_SECONDS / SLOTS_PER_AGENT))
    while True:
        waits = _waits(rate, agents * SLOTS_PER_AGENT, Random(1))
        p99_wait = waits[int(len(waits) * 0.99)]
        if p99_wait <= 1.0:
            return Hour(rate, agents, p99_wait)
        agents = math.ceil(agents * 1.02)


def _waits(rate: float, slots: int, random: Random) -> list[float]:
    free = [0.0] * slots
    waits: list[float] = []
    now = 0.0
    while now < SIMULATED_SECONDS:
        now += random.expovariate(rate)
        start = max(now, free[0])
        heapq.heapreplace(free, start + random.lognormvariate(math.log(MODEL_SECONDS) - 0.18, 0.6))
        waits.append(start - now)
    return sorted(waits)


@dataclass(frozen=True)
class Shards:
    """The placement of sockets: clusters; turns per second of the fullest, of the emptiest and of the largest company;
    and gateways in all."""

    clusters: int
    fullest: float
    emptiest: float
    largest: float
    gateways: int


def place(bus_seconds: float, gateway_seconds: float, sockets: int = SOCKETS) -> Shards:
    """Places each company on the least loaded cluster, the largest first; a company is never split. The k-th largest
    has a share of k^-0.8. `bus_seconds`, `gateway_seconds`: CPU of a turn there."""
    rate = sockets / SOCKET_SECONDS * QUESTIONS_PER_SOCKET
    shares = [rank**-0.8 for rank in range(1, COMPANIES + 1)]
    loads = [rate * share / sum(shares) for share in shares]
    max_rate = BUS_CORES * MAX_CORE_SHARE / bus_seconds
    clusters = [0.0] * math.ceil(rate / max_rate)
    for load in loads:
        heapq.heapreplace(clusters, clusters[0] + load)
    by_memory, by_cpu = sockets * SOCKET_BYTES / GATEWAY_BYTES, rate * gateway_seconds / MAX_CORE_SHARE
    return Shards(len(clusters), max(clusters), min(clusters), loads[0], math.ceil(max(by_memory, by_cpu)))


def show(console: Console, costs: Costs) -> None:
    """Prints what a turn costs, and what the daily loads need."""
    cpu = Table("process", "ms of CPU a turn", title="a turn")
    for name, seconds in sorted(costs.cpu.items(), key=lambda item: -item[1]):
        cpu.add_row(name, f"{seconds * 1000:.1f}")
    console.print(cpu)
    stores = Table("store", "bytes a turn", "appends a turn")
    for name, size in sorted(costs.stored.items(), key=lambda item: -item[1]):
        if size or costs.appends.get(name):
            stores.add_row(name, f"{size:,.0f}", f"{costs.appends.get(name, 0):.2f}" if name in costs.appends else "")
    console.print(stores)
    services = [name for name in costs.cpu if name in SERVICES]
    days = Table("messages a day", "turns/s, busiest hour", "places: agents", "99 % wait", title="days")
    for name in (*services, "CHAT's window", "MongoDB a year", "of one stream's appends"):
        days.add_column(name)
    for messages in DAILY_MESSAGES:
        hour = simulate(messages)
        replicas = [math.ceil(costs.cpu[name] * hour.rate / MAX_CORE_SHARE) for name in services]
        busiest_share = max(costs.appends.values()) * hour.rate / MAX_APPENDS_PER_SECOND
        window_bytes = costs.stored[CHAT.name] * messages / 2 * CHAT.window / DAY_SECONDS
        yearly_bytes = costs.stored["MongoDB"] * messages / 2 * 365
        days.add_row(
            *(f"{messages:,}", f"{hour.rate:.1f}", str(hour.agents), f"{hour.late:.2f} s"),
            *map(str, replicas),
            *(f"{window_bytes / 1e9:,.1f} GB", f"{yearly_bytes / 1e9:,.0f} GB", f"{busiest_share:.0%}"),
        )
    console.print(days)
    shards = Table(
        "sockets", "turns/s", "clusters", "turns/s of the fullest", "of the emptiest", "of the largest company"
    )
    shards.add_column("gateways")
    for sockets in (SOCKETS // 100, SOCKETS // 10, SOCKETS):
        found = place(costs.cpu["nats"], costs.cpu["gateway"], sockets)
        rate = f"{sockets / SOCKET_SECONDS * QUESTIONS_PER_SOCKET:,.0f}"
        figures = (found.clusters, found.fullest, found.emptiest, found.largest, found.gateways)
        shards.add_row(f"{sockets:,}", rate, *(f"{figure:,.0f}" for figure in figures))
    console.print(shards)


def main() -> None:
    """Parses the arguments, measures, and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory(prefix="nexus-capacity-") as directory:
        costs = asyncio.run(measure(turns, Path(directory)))
    show(Console(width=140), costs)


if __name__ == "__main__":
    main()
