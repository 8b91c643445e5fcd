"""``python -m tool_executor``: starts from the environment, serves, survives kill -9, drains."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.envelope import CloudEvent
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallCompleted
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from runtime.auth.principals import PrincipalSigner
from runtime.calls.rpc import RpcServer
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer, ValkeyServer, eventually
from tool_executor.testing.harness import Someone, ToolRequester, listen

KEY = "a-shared-secret-of-32-characters!"
RISK = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}
PRICE = {
    "symbol": "AAPL",
    "price": 1.5,
    "change": None,
    "change_percent": None,
    "change_basis": "none",
    "volume": 0,
    "source": "sample",
    "as_of": "2013-03-01T21:00:00Z",
}


class Process:
    """One executor process and what it has logged."""

    def __init__(self, popen: subprocess.Popen[bytes], output: Path) -> None:
        self.popen = popen
        self._output = output

    def logged(self, event: str) -> dict[str, Any] | None:
        for line in self._output.read_text().splitlines():
            if line.startswith("{") and (entry := json.loads(line)).get("event") == event:
                return entry
        return None

    async def ready(self) -> int:
        """Its health port, once it is ready."""
        entry = await eventually(lambda: self.logged("service.ready") or self.popen.poll(), 60)
        assert isinstance(entry, dict), self._output.read_text()
        return int(entry["port"])


@contextmanager
def process(nats_server: NatsServer, valkey_server: ValkeyServer, output: Path, **more: str) -> Generator[Process]:
    environment = os.environ | {
        "NEXUS_NATS_URL": nats_server.url,
        "NEXUS_REDIS_URL": valkey_server.url,
        "NEXUS_PRINCIPAL_KEY": KEY,
        "NEXUS_LOG_FORMAT": "json",
        "NEXUS_DEV": "1",
        **more,
    }
    with output.open("wb") as file:
        popen = subprocess.Popen(
            [sys.executable, "-m", "tool_executor"], env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        yield Process(popen, output)
    finally:
        popen.kill()
        popen.wait(timeout=30)


def signed(ttl: int | None = None) -> Someone:
    signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(KEY)))
    return Someone(signed=signer.issue(sub="user-1", role="user", company="demo", ttl=ttl))


async def test_a_process_is_ready_answers_and_ends_in_good_order(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    with process(nats_server, valkey_server, tmp_path / "log") as executor:
        port = await executor.ready()
        async with aiohttp.ClientSession() as http:
            for path in ("healthz", "readyz", "metrics"):
                async with http.get(f"http://127.0.0.1:{port}/{path}") as response:
                    assert response.status == 200, path
        asker = ToolRequester(nats_client)
        assert (await asker.call("calculate_risk_reward", RISK, signed())).result.success
        async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/metrics") as response:
            counted = 'nexus_tool_calls_total{cached="no",outcome="ok",tool="calculate_risk_reward"} 1.0'
            assert counted in await response.text()
        for wrong in (
            Someone(),
            signed(ttl=-10),
            Someone(signed=signed().principal[:-4] + "AAAA"),
        ):
            error = await asker.failure("calculate_risk_reward", RISK, wrong)
            assert error.code == ToolCode.UNAUTHORIZED
        executor.popen.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(executor.popen.wait, 40) == 0
        assert executor.logged("service.stopped") is not None


async def test_it_does_not_start_without_a_key_and_says_what_to_set(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    with process(nats_server, valkey_server, tmp_path / "log", NEXUS_PRINCIPAL_KEY="") as executor:
        assert await asyncio.to_thread(executor.popen.wait, 60) == 1
        entry = executor.logged("service.not_ready")
        assert entry is not None
        assert "NEXUS_PRINCIPAL_KEY" in entry["error"]


async def test_a_demo_origin_off_loopback_stops_it(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    with process(nats_server, valkey_server, tmp_path / "log", NEXUS_DEMO_ORIGIN="http://10.0.0.1") as executor:
        assert await asyncio.to_thread(executor.popen.wait, 60) == 1
        entry = executor.logged("service.not_ready")
        assert entry is not None
        assert "NEXUS_DEMO_ORIGIN" in entry["error"]


async def test_a_call_in_work_at_kill_9_is_answered_by_the_next_process(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    asked: list[str] = []
    go_on = asyncio.Event()

    async def get_price(request: ToolServiceRequest) -> ToolServiceData:
        asked.append(request.call_id)
        if len(asked) == 1:
            await go_on.wait()
        return ToolServiceData(result=PRICE)

    await RpcServer(nats_client).serve(tool_service("get_price", "market-adapter"), get_price)
    answers = await listen(nats_client, "_INBOX.answers")
    with process(nats_server, valkey_server, tmp_path / "one") as first:
        await first.ready()
        asker = ToolRequester(nats_client)
        await asker.send("get_price", {"symbol": "AAPL"}, signed(), call_id="mid-call", reply_to="_INBOX.answers")
        await eventually(lambda: asked)
        first.popen.send_signal(signal.SIGKILL)
        first.popen.wait(timeout=30)
        with process(nats_server, valkey_server, tmp_path / "two") as second:
            await second.ready()
            # Nobody asks again: the work queue itself gives the call to the next process.
            answer = CloudEvent[ToolCallCompleted].model_validate_json((await answers.next_msg(timeout=40)).data)
            assert answer.data.call_id == "mid-call"
            assert answer.data.result.data == PRICE
            assert asked == ["mid-call", "mid-call"]
    go_on.set()
