"""``python -m benchmarks open_sockets``: what do 10,000 open conversations cost while 480 people write?

Each socket belongs to a visitor who has said hello and reads. Then the 480 people of `at_once` write, with a model of
1.5 s. Memory is the proportional set size (proc(5), smaps_rollup), in which shared pages are counted once.
"""

import asyncio
import contextlib
import resource
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp

from agent.scripted_model.server import scripted_model
from benchmarks.at_once import open_chat, slow_turns
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, running
from benchmarks.report import Figure
from tests.support.running_stack import RunningStack

QUESTION = "open sockets"
SOCKETS, OPENING = 10_000, 64
"""How many sockets, and how many are being opened at the same time."""
MIB = 1024
BEHIND_A_PROXY = {"NEXUS_GATEWAY_TRUSTED_PROXIES": "127.0.0.1/32"}
"""Each visitor says an address of their own: one address may have 1,000 sockets."""


async def run() -> list[Figure]:
    """Returns all figures; takes about two minutes."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    async with scripted_model(default=BURST) as model, running(model, more=BEHIND_A_PROXY) as stack:
        empty = memory(stack)
        started = time.perf_counter()
        async with idle_visitors(stack, SOCKETS):
            seconds, full = time.perf_counter() - started, memory(stack)
            figures = await slow_turns(stack, model)
            busy = memory(stack)
    note = f"with {SOCKETS:,} sockets"
    return [
        Figure(QUESTION, "opened a second", SOCKETS / seconds, "/s", ceiling=False),
        Figure(QUESTION, "memory of the stack, empty", sum(empty.values()), "MiB"),
        Figure(QUESTION, "memory of the stack", sum(full.values()), "MiB", 2048, note=note),
        Figure(QUESTION, "the same after the turns", sum(busy.values()), "MiB", 2048, note=note),
        *(Figure(QUESTION, f"memory of {name}", busy[name], "MiB", note=note) for name in SERVICES + SERVERS),
        *figures,
    ]


def memory(stack: RunningStack) -> dict[str, float]:
    """Returns the memory of each process in MiB."""
    return {name: _proportional_set_size(stack.process(name).pid) for name in SERVICES + SERVERS}


def _proportional_set_size(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / MIB


@contextlib.asynccontextmanager
async def idle_visitors(stack: RunningStack, count: int) -> AsyncGenerator[None]:
    """Keeps this many sockets open, each of a visitor of its own that only reads."""
    opened = asyncio.Semaphore(0)
    opening = asyncio.Semaphore(OPENING)

    async def read(http: aiohttp.ClientSession, number: int) -> None:
        async with contextlib.AsyncExitStack() as stays_open:
            async with opening:
                token = stack.mint("visitor", f"idle-{number}", COMPANY)
                address = f"10.0.{number // 250}.{number % 250}"
                socket = await stays_open.enter_async_context(open_chat(http, stack, token, address))
            opened.release()
            async for _ in socket:
                pass
            raise AssertionError(f"the gateway closed a socket: {socket.close_code}")

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http, asyncio.TaskGroup() as group:
        readers = [group.create_task(read(http, number)) for number in range(count)]
        for _ in range(count):
            await opened.acquire()
        yield
        for reader in readers:
            reader.cancel()
