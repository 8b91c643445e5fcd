"""One side of the comparison: who answers, the model that it asks, and what its turns cost."""

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
STARTED = 60.0
"""Seconds in which a peer must listen: its libraries take their time."""
ANSWERED = 30.0


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU so far, in milliseconds: of who answers, and of the servers that it keeps its state in."""

    own: float
    servers: float = 0.0

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.own - other.own, self.servers - other.servers)

    def __mul__(self, seconds: float) -> "Spent":
        return Spent(self.own * seconds, self.servers * seconds)

    def __truediv__(self, many: float) -> "Spent":
        return Spent(self.own / many, self.servers / many)


class Conversation(Protocol):
    """One conversation over a websocket."""

    async def turn(self, calls: int) -> float:
        """One turn in which the model is asked so often; the milliseconds to its first token that are not the
        model's."""
        ...

    async def close(self) -> None:
        """Hangs up."""
        ...


class Side(Protocol):
    """Who answers."""

    @property
    def name(self) -> str:
        """For the table."""
        ...

    @property
    def model(self) -> ScriptedModel:
        """The model that it asks."""
        ...

    async def open(self) -> Conversation:
        """A new conversation."""
        ...

    def spent(self) -> Spent:
        """The CPU time so far."""
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
    """The whole stack."""

    name = "Nexus"

    def __init__(self, stack: RunningStack, model: ScriptedModel) -> None:
        self._stack = stack
        self.model = model

    @property
    def bus(self) -> str:
        """Where the run is calibrated."""
        return self._stack.facts()["urls"]["nats"]

    async def open(self) -> Conversation:
        """A new visitor."""
        client = ChatClient(self._stack.url, self._stack.mint("visitor", f"u{time.monotonic_ns()}", COMPANY))
        await client.connect()
        await client.hello(locale="en")
        return _NexusConversation(client, self.model)

    def spent(self) -> Spent:
        """Five services; three servers."""
        found = spent(self._stack)
        return Spent(sum(found[name] for name in SERVICES), sum(found[name] for name in SERVERS))


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
        asked, first = len(self._model.asked), 0.0
        began = time.monotonic()
        await self._web.send_json({"text": QUESTION})
        async with asyncio.timeout(ANSWERED):
            while (frame := await self._web.receive_json())["type"] != "run.finished":
                first = first or time.monotonic()
                del frame
        own = sum(seen["firstAt"] - seen["at"] for seen in self._model.asked[asked : asked + calls])
        return (first - began - own) * 1000

    async def close(self) -> None:
        await self._web.close()
        await self._session.close()


class Peer:
    """One process."""

    def __init__(self, name: str, url: str, pid: int, model: ScriptedModel) -> None:
        self.name = name
        self.model = model
        self._url = url
        self._pid = pid

    async def open(self) -> Conversation:
        """A new socket."""
        return await _PeerConversation.open(self._url, self.model)

    def spent(self) -> Spent:
        """Its one process."""
        return Spent(cpu.seconds([self._pid]) * 1000)


@asynccontextmanager
async def nexus() -> AsyncGenerator[Nexus]:
    """The stack as `nexus up` starts it."""
    async with scripted_model(default=BURST) as model, running(model) as stack:
        yield Nexus(stack, model)


@asynccontextmanager
async def peer(name: str, program: str, python: Path) -> AsyncGenerator[Peer]:
    """A program of PROGRAMS, in the peers' own environment."""
    async with scripted_model(default=BURST) as model:
        port = _free_port()
        command = [str(python), str(PROGRAMS / program), str(port), model.base_url]
        process = await asyncio.to_thread(_start, command)
        try:
            await _listens(port, process)
            yield Peer(name, f"ws://127.0.0.1:{port}/", process.pid, model)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 10)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=sys.stderr, env={"PATH": "/usr/bin:/bin"})


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def _listens(port: int, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(STARTED):
        while process.poll() is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            return
    raise RuntimeError(f"{process.args!r} ended with {process.returncode}: is the environment there? make bench-peers")
