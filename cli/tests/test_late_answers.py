"""A service that stood still and goes on: under the permissions of production, what it says late is heard."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.market_rpc import MARKET_EVENTS, MarketEventsRequest
from nexus_cli.testing.stacks import ProductionNats, production_nats
from runtime.bus.connection import connect
from runtime.calls.rpc import LONG_CALL, RpcClient
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually

ASKED = MarketEventsRequest(symbols=["IBM"])
WARM = 10


class Market:
    """The serving process, and how often it has served."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self._process = process
        self._output = output

    @property
    def lines(self) -> list[str]:
        return self._output.read_text().splitlines()

    @property
    def served(self) -> int:
        return self.lines.count("served")

    async def stop(self) -> None:
        """SIGSTOP; returns when it stands still."""
        os.kill(self._process.pid, signal.SIGSTOP)
        stat = Path(f"/proc/{self._process.pid}/stat")
        await eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)


@contextmanager
def market(server: ProductionNats, directory: Path) -> Generator[Market]:
    output = directory / "market"
    script = str(Path(__file__).with_name("serving_process.py"))
    with output.open("wb") as file:
        process = subprocess.Popen([sys.executable, script, f"nats://{server.address}", "market-adapter"], stdout=file)
    try:
        yield Market(process, output)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Generator[ProductionNats]:
    with production_nats(tmp_path) as running:
        yield running


def caller(server: ProductionNats) -> NatsSettings:
    login = {"url": f"nats://{server.address}", "user": "memory", "password": "pw-memory"}
    return NatsSettings.model_validate(login)


async def test_both_answers_of_a_server_that_was_stopped_are_let_through_and_the_first_is_taken(
    server: ProductionNats, tmp_path: Path
) -> None:
    with market(server, tmp_path) as serving:
        await eventually(lambda: "ready" in serving.lines)
        client = await connect(caller(server), name="memory")
        rpc = RpcClient(client)
        await serving.stop()
        sent = client.stats["out_msgs"]
        call = asyncio.create_task(rpc.call(MARKET_EVENTS, ASKED, deadline=LONG_CALL))
        await eventually(lambda: client.stats["out_msgs"] == sent + 2)  # at half its deadline it has asked again
        serving.go_on()
        assert (await asyncio.wait_for(call, 30)).events == []
        await eventually(lambda: serving.served == 2)
        # One more call: what was answered before it has passed the server by then.
        await rpc.call(MARKET_EVENTS, ASKED, deadline=20)
        await client.close()
    refused = [line for line in server.log.read_text().splitlines() if "Violation" in line]
    assert refused == []


async def test_what_nobody_waits_for_any_more_is_not_worked_on(server: ProductionNats, tmp_path: Path) -> None:
    with market(server, tmp_path) as serving:
        await eventually(lambda: "ready" in serving.lines)
        client = await connect(caller(server), name="memory")
        rpc = RpcClient(client)
        # The server learns the caller's clock from the quickest of these: at the first one much is made.
        for _ in range(WARM):
            await rpc.call(MARKET_EVENTS, ASKED, deadline=20)
        await serving.stop()
        for outcome in await asyncio.gather(
            *(rpc.call(MARKET_EVENTS, ASKED, deadline=1.0) for _ in range(5)), return_exceptions=True
        ):
            assert isinstance(outcome, RpcError)
            assert outcome.code == "TIMEOUT"
        # By the time that a patient caller asks again, all those are late by more than a request takes anywhere.
        sent = client.stats["out_msgs"]
        patient = asyncio.create_task(rpc.call(MARKET_EVENTS, ASKED, deadline=6.0))
        await eventually(lambda: client.stats["out_msgs"] == sent + 2)
        serving.go_on()
        await asyncio.wait_for(patient, 10)
        # One more call: what was asked before it has been taken up, or dropped, by then.
        await rpc.call(MARKET_EVENTS, ASKED, deadline=20)
        await client.close()
        assert serving.served == WARM + 3
