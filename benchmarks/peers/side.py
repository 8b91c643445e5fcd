"""One side of the comparison: the server that answers, its model, and what its turns cost."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks import cpu
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, one_turn, running, spent
from tests.support.chat_client import ChatClient

PROGRAMS = Path(__file__).parent / "programs"
QUESTION = "what is the price of AAPL?"
START_TIMEOUT = 60.0
"""Seconds in which a peer must start to listen; its libraries are slow to import."""
ANSWER_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU so far, in milliseconds: of the processes that answer, and of the servers that store their state."""

    own: float
    servers: float = 0.0

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.own - other.own, self.servers - other.servers)

    def __mul__(self, seconds: float) -> "Spent":
        return Spent(self.own * seconds, self.servers * seconds)

    def __truediv__(self, divisor: float) -> "Spent":
        return Spent(self.own / divisor, self.servers / divisor)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation over a websocket. `turn` runs a turn with this many model calls, and returns the milliseconds to
    its first token without the model's own."""

    turn: Callable[[int], Awaitable[float]]
    close: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: its name in the table, its scripted model, how a new conversation is opened, and the
    CPU so far. `bus`: the bus on which the run is calibrated, if it has one."""

    name: str
    model: ScriptedModel
    open: Callable[[], Awaitable[Conversation]]
    spent: Callable[[], Spent]
    bus: str = ""


@asynccontextmanager
async def nexus() -> AsyncGenerator[Side]:
    """Runs the stack as `nexus up` starts it."""
    async with scripted_model(default=BURST) as model, running(model) as stack:

        async def open_conversation() -> Conversation:
            client = ChatClient(stack.url, stack.mint("visitor", f"u{time.monotonic_ns()}", COMPANY))
            await client.connect()
            await client.hello(locale="en")
            return Conversation(partial(one_turn, client, model), partial(client.__aexit__, None, None, None))

        def spent_so_far() -> Spent:
            by_process = spent(stack)
            return Spent(sum(by_process[name] for name in SERVICES), sum(by_process[name] for name in SERVERS))

        yield Side("Nexus", model, open_conversation, spent_so_far, stack.facts()["urls"]["nats"])


@asynccontextmanager
async def peer(name: str, program: str, python: Path) -> AsyncGenerator[Side]:
    """Runs a program of PROGRAMS, which is one process, in the peers' own environment."""
    async with scripted_model(default=BURST) as model:
        port = _free_port()
        command = [str(python), str(PROGRAMS / program), str(port), model.base_url]
        process = await asyncio.to_thread(_start, command)

        async def open_conversation() -> Conversation:
            session = aiohttp.ClientSession()
            web = await session.ws_connect(f"ws://127.0.0.1:{port}/")

            async def close() -> None:
                await web.close()
                await session.close()

            return Conversation(partial(_turn, web, model), close)

        try:
            await _await_listening(port, process)
            yield Side(name, model, open_conversation, lambda: Spent(cpu.seconds([process.pid]) * 1000))
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 10)


async def _turn(web: aiohttp.ClientWebSocketResponse, model: ScriptedModel, calls: int) -> float:
    calls_before, first_frame = len(model.asked), 0.0
    started = time.monotonic()
    await web.send_json({"text": QUESTION})
    async with asyncio.timeout(ANSWER_TIMEOUT):
        while (await web.receive_json())["type"] != "run.finished":
            first_frame = first_frame or time.monotonic()
    model_seconds = sum(call["firstAt"] - call["at"] for call in model.asked[calls_before : calls_before + calls])
    return (first_frame - started - model_seconds) * 1000


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=sys.stderr, env={"PATH": "/usr/bin:/bin"})


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def _await_listening(port: int, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(START_TIMEOUT):
        while process.poll() is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            return
    raise RuntimeError(f"{process.args!r} ended with {process.returncode}: is the environment there? make bench-peers")
