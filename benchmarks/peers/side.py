"""One side of the comparison: the server that answers, its model, and what its turns cost."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import aiohttp

from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks import cpu
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, one_turn, running, spent
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

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


class Conversation(Protocol):
    """One conversation over a websocket."""

    async def turn(self, calls: int) -> float:
        """Runs a turn with this many model calls; returns the milliseconds to its first token without the model's
        own."""
        ...

    async def close(self) -> None:
        """Closes the conversation."""
        ...


class Side(Protocol):
    """One side of the comparison."""

    @property
    def name(self) -> str:
        """The name in the table."""
        ...

    @property
    def model(self) -> ScriptedModel:
        """Its scripted model."""
        ...

    async def open(self) -> Conversation:
        """Opens a new conversation."""
        ...

    def spent(self) -> Spent:
        """Returns the CPU time so far."""
        ...


class _NexusConversation:
    def __init__(self, client: ChatClient, model: ScriptedModel) -> None:
        self._client = client
        self._model = model

    async def turn(self, calls: int) -> float:
        return await one_turn(self._client, self._model, calls)

    async def close(self) -> None:
        await self._client.__aexit__(None, None, None)


class Nexus:
    """The Nexus side: the whole stack."""

    name = "Nexus"

    def __init__(self, stack: RunningStack, model: ScriptedModel) -> None:
        self._stack = stack
        self.model = model

    @property
    def bus(self) -> str:
        """The URL of the bus on which the run is calibrated."""
        return self._stack.facts()["urls"]["nats"]

    async def open(self) -> Conversation:
        """Opens a conversation of a new visitor."""
        client = ChatClient(self._stack.url, self._stack.mint("visitor", f"u{time.monotonic_ns()}", COMPANY))
        await client.connect()
        await client.hello(locale="en")
        return _NexusConversation(client, self.model)

    def spent(self) -> Spent:
        """Returns the CPU of the five services, and of the three servers."""
        by_process = spent(self._stack)
        return Spent(sum(by_process[name] for name in SERVICES), sum(by_process[name] for name in SERVERS))


class _PeerConversation:
    def __init__(
        self, session: aiohttp.ClientSession, web: aiohttp.ClientWebSocketResponse, model: ScriptedModel
    ) -> None:
        self._session = session
        self._web = web
        self._model = model

    @classmethod
    async def open(cls, url: str, model: ScriptedModel) -> Self:
        session = aiohttp.ClientSession()
        return cls(session, await session.ws_connect(url), model)

    async def turn(self, calls: int) -> float:
        calls_before, first_frame = len(self._model.asked), 0.0
        started = time.monotonic()
        await self._web.send_json({"text": QUESTION})
        async with asyncio.timeout(ANSWER_TIMEOUT):
            while (frame := await self._web.receive_json())["type"] != "run.finished":
                first_frame = first_frame or time.monotonic()
                del frame
        model_seconds = sum(
            call["firstAt"] - call["at"] for call in self._model.asked[calls_before : calls_before + calls]
        )
        return (first_frame - started - model_seconds) * 1000

    async def close(self) -> None:
        await self._web.close()
        await self._session.close()


class Peer:
    """A peer's side: one process."""

    def __init__(self, name: str, url: str, pid: int, model: ScriptedModel) -> None:
        self.name = name
        self.model = model
        self._url = url
        self._pid = pid

    async def open(self) -> Conversation:
        """Opens a new socket."""
        return await _PeerConversation.open(self._url, self.model)

    def spent(self) -> Spent:
        """Returns the CPU of its process."""
        return Spent(cpu.seconds([self._pid]) * 1000)


@asynccontextmanager
async def nexus() -> AsyncGenerator[Nexus]:
    """Runs the stack as `nexus up` starts it."""
    async with scripted_model(default=BURST) as model, running(model) as stack:
        yield Nexus(stack, model)


@asynccontextmanager
async def peer(name: str, program: str, python: Path) -> AsyncGenerator[Peer]:
    """Runs a program of PROGRAMS in the peers' own environment."""
    async with scripted_model(default=BURST) as model:
        port = _free_port()
        command = [str(python), str(PROGRAMS / program), str(port), model.base_url]
        process = await asyncio.to_thread(_start, command)
        try:
            await _await_listening(port, process)
            yield Peer(name, f"ws://127.0.0.1:{port}/", process.pid, model)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 10)


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
