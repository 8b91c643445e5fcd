"""The memory, handles, messages and keys that a stack holds at one moment, and the leaks between two moments."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson
import redis.asyncio as redis
from nats.aio.client import Client

from contracts.streams import STREAMS
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack.services import SERVICES

REQUEST_TIMEOUT = 10.0
MAX_EXTRA_HANDLES = 10
"""Handles (with connections) that a process may hold more than before, for clients that are just connected."""
SMALLEST = 8.0
"""MiB by which a service may grow in any time: an allocator keeps the memory of its busiest moment."""


@dataclass(frozen=True)
class Process:
    """One process: its resident memory in MiB, and how many files and sockets it has open."""

    memory: float
    handles: int


@dataclass(frozen=True)
class Holdings:
    """Everything a stack holds. `lasting`: the keys in Redis that do not expire."""

    at: float
    processes: Mapping[str, Process]
    streams: Mapping[str, tuple[int, int]]
    """Messages and bytes."""
    consumers: Mapping[str, frozenset[str]]
    keys: int
    lasting: int

    def left_since(self, first: Holdings, megabytes: float = SMALLEST) -> list[str]:
        """Returns what grew more than it may; `megabytes`: how much a service may have grown."""
        findings: list[str] = []
        for name, now in self.processes.items():
            before = first.processes[name]
            if name in SERVICES and now.memory - before.memory > megabytes:
                findings.append(f"{name} grew by {now.memory - before.memory:.1f} MiB, and may by {megabytes:.1f}")
            if now.handles > before.handles + MAX_EXTRA_HANDLES:
                findings.append(f"{name} holds {now.handles} handles, and held {before.handles}")
        for stream, names in self.consumers.items():
            findings += [f"{stream} has the consumer {name}" for name in sorted(names - first.consumers[stream])]
        return findings

    def table(self, first: Holdings, answers: int) -> list[str]:
        """Returns text lines: before → now, with the growth per hour and per thousand answers."""
        hours, thousands = (self.at - first.at) / 3600, max(answers, 1) / 1000
        lines: list[str] = []
        for name, now in self.processes.items():
            before = first.processes[name]
            grown = now.memory - before.memory
            lines.append(
                f"{name:15} {before.memory:7.1f} → {now.memory:7.1f} MiB ({grown / hours:+.1f} an hour, "
                f"{grown / thousands:+.2f} a thousand answers), {before.handles} → {now.handles} handles"
            )
        for stream, (messages, size) in self.streams.items():
            held, bytes_held = first.streams[stream]
            lines.append(
                f"{stream:15} {held} → {messages} messages, {bytes_held / 1024:.0f} → {size / 1024:.0f} KiB, "
                f"{len(first.consumers[stream])} → {len(self.consumers[stream])} consumers"
            )
        lasting = f"of them without an end {first.lasting} → {self.lasting}"
        return [*lines, f"{'Redis':15} {first.keys} → {self.keys} keys, {lasting}"]


async def holdings(stack: RunningStack, urls: Mapping[str, str]) -> Holdings:
    """Reads what the stack holds now."""
    processes: dict[str, Process] = {}
    for name in stack.names:
        files = Path(f"/proc/{stack.process(name).pid}")
        resident = next(line for line in (files / "status").read_text().splitlines() if line.startswith("VmRSS"))
        processes[name] = Process(int(resident.split()[1]) / 1024, len(list((files / "fd").iterdir())))
    keys, lasting = await _keys(urls["redis"])
    streams: dict[str, tuple[int, int]] = {}
    consumers: dict[str, frozenset[str]] = {}
    async with connected(urls["nats"]) as bus:
        for stream in STREAMS:
            info = await _api(bus, f"STREAM.INFO.{stream.name}")
            streams[stream.name] = info["state"]["messages"], info["state"]["bytes"]
            names = await _api(bus, f"CONSUMER.NAMES.{stream.name}")
            consumers[stream.name] = frozenset(names["consumers"] or ())
    return Holdings(time.monotonic(), processes, streams, consumers, keys, lasting)


async def at_rest(nats_url: str) -> bool:
    """Returns whether every consumer has processed all its messages."""
    async with connected(nats_url) as bus:
        for stream in STREAMS:
            told = await _api(bus, f"CONSUMER.LIST.{stream.name}")
            if any(consumer["num_pending"] or consumer["num_ack_pending"] for consumer in told["consumers"]):
                return False
    return True


async def _keys(url: str) -> tuple[int, int]:
    store = redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]
    try:
        keys: list[bytes] = [key async for key in store.scan_iter(count=1000)]  # pyright: ignore
        asked = store.pipeline(transaction=False)
        for key in keys:
            asked.ttl(key)
        ends = cast("list[int]", await asked.execute())
    finally:
        await store.aclose()
    return len(keys), ends.count(-1)


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Client]:
    """Connects to the bus while the block runs."""
    bus = Client()
    await bus.connect(url)
    try:
        yield bus
    finally:
        await bus.close()


async def _api(bus: Client, what: str) -> dict[str, Any]:
    return orjson.loads((await bus.request(f"$JS.API.{what}", b"", timeout=REQUEST_TIMEOUT)).data)
