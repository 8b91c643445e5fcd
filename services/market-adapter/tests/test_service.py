"""The service as a process: it serves, agrees with its replica, and goes on after a kill -9."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import urllib.request
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.market_rpc import QUEUE
from contracts.rpc import Caller, ToolServiceRequest, tool_service
from market_adapter.adapters.sample_files import load_sample
from runtime.rpc import RpcClient
from runtime.testing import MongoDatabase, NatsServer, eventually

SESSIONS = [str(session) for session in load_sample().sessions[-121:]]


class Process:
    """`python -m market_adapter`, and what it logs."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self.process = process
        self.log = log

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The log lines of one event, so far."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    async def ready(self) -> None:
        """Waits until /readyz says so."""

        async def ok() -> bool:
            assert self.process.returncode is None, self.log.read_text()
            listening = self.logged("service.listening")
            return bool(listening) and await asyncio.to_thread(is_ready, listening[0]["port"])

        await eventually(ok, deadline=20)

    async def end(self, how: signal.Signals) -> int:
        """Sends a signal and waits for the end."""
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), 20)


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


class Stack:
    """Starts service processes against one NATS and one MongoDB."""

    def __init__(self, nats: NatsServer, mongo: MongoDatabase, directory: Path) -> None:
        self._nats, self._mongo, self._directory = nats, mongo, directory
        self._count = 0

    @contextlib.asynccontextmanager
    async def service(self, seconds_per_bar: float = 0, **env: str) -> AsyncGenerator[Process]:
        self._count += 1
        log = self._directory / f"{self._count}.log"
        settings = {
            "NEXUS_DEV": "1",
            "NEXUS_NATS_URL": self._nats.url,
            "NEXUS_MONGODB_URL": self._mongo.url,
            "NEXUS_MONGODB_DATABASE": self._mongo.database,
            "NEXUS_SAMPLE_SECONDS_PER_BAR": str(seconds_per_bar),
            "NEXUS_LOG_FORMAT": "json",
        }
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "market_adapter",
                env={**os.environ, **settings, **env},
                cwd=self._directory,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
            )
        try:
            yield Process(process, log)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


@pytest.fixture
def stack(nats_server: NatsServer, mongo_server: MongoDatabase, tmp_path: Path) -> Stack:
    return Stack(nats_server, mongo_server, tmp_path)


async def price(client: Client, symbol: str = "IBM") -> dict[str, Any]:
    request = ToolServiceRequest(
        call_id="call-1",
        tool="get_price",
        arguments={"symbol": symbol},
        caller=Caller(company_id="demo", role="visitor", plan="free"),
    )
    return (await RpcClient(client).call(tool_service("get_price", QUEUE), request, deadline=10)).result


async def session(client: Client) -> int:
    """Where the sample market stands: 0 is its first session, 120 its last."""
    return SESSIONS.index((await price(client))["as_of"][:10])


async def test_frozen_it_serves_the_last_bar_and_ends_on_sigterm(stack: Stack, nats_client: Client) -> None:
    async with stack.service() as service:
        await service.ready()
        answer = await price(nats_client, "AAPL")
        assert (answer["price"], answer["as_of"], answer["source"]) == (430.47, "2013-03-01T21:00:00Z", "sample")
        assert await service.end(signal.SIGTERM) == 0


async def test_the_clock_moves_and_survives_a_kill(stack: Stack, nats_client: Client) -> None:
    async with stack.service(0.2) as service:
        await service.ready()

        async def moved() -> bool:
            return await session(nats_client) >= 3

        await eventually(moved, deadline=10)
        await service.end(signal.SIGKILL)
    stood = service.logged("market.clock.moved")[-1]["session"]
    async with stack.service(60) as service:
        await service.ready()
        # The last move may have been stored and not yet logged.
        assert await session(nats_client) - SESSIONS.index(stood) in (0, 1)


async def test_two_replicas_share_one_clock(stack: Stack, nats_client: Client) -> None:
    async with stack.service(0.2) as one, stack.service(0.2) as two:
        await one.ready()
        await two.ready()

        async def far() -> bool:
            return await session(nats_client) >= 10

        await eventually(far, deadline=20)
        moves = [line["session"] for service in (one, two) for line in service.logged("market.clock.moved")]
        # Every move was made by one of them, none by both, none left out.
        assert sorted(moves) == SESSIONS[1 : len(moves) + 1]
        assert await one.end(signal.SIGTERM) == await two.end(signal.SIGTERM) == 0


async def test_without_its_database_it_does_not_start_and_says_what_to_do(stack: Stack) -> None:
    env = {"NEXUS_MONGODB_URL": "mongodb://user:hidden@127.0.0.1:1", "NEXUS_MONGODB_DEADLINE": "0.5"}
    async with stack.service(60, **env) as service:
        assert await asyncio.wait_for(service.process.wait(), 30) == 1
        (line,) = service.logged("service.not_ready")
        assert "NEXUS_MONGODB_URL" in line["error"]
        assert "hidden" not in service.log.read_text()
