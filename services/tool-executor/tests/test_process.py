"""``python -m tool_executor``: starts from the environment, serves, survives kill -9, drains."""

import asyncio
import signal
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import aiohttp
import pytest
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.envelope import CloudEvent
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallCompleted
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from runtime.auth.principals import PrincipalSigner
from runtime.calls.rpc import RpcServer
from runtime.settings import TokenSettings
from runtime.testing.logged_process import LoggedProcess, logged_process
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


def process(
    nats_server: NatsServer, valkey_server: ValkeyServer, log: Path, **more: str
) -> AbstractAsyncContextManager[LoggedProcess]:
    environment = {"NEXUS_NATS_URL": nats_server.url, "NEXUS_REDIS_URL": valkey_server.url, "NEXUS_PRINCIPAL_KEY": KEY}
    return logged_process("tool_executor", log, log.parent, **(environment | more))


def signed(ttl: int | None = None) -> Someone:
    signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(KEY)))
    return Someone(signed=signer.issue(sub="user-1", role="user", company="demo", ttl=ttl))


async def test_a_process_is_ready_answers_and_ends_in_good_order(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    async with process(nats_server, valkey_server, tmp_path / "log") as executor:
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
        assert await executor.end(signal.SIGTERM) == 0
        assert executor.logged("service.stopped")


@pytest.mark.parametrize(("name", "value"), [("NEXUS_PRINCIPAL_KEY", ""), ("NEXUS_DEMO_ORIGIN", "http://10.0.0.1")])
async def test_it_does_not_start_without_a_key_or_with_a_demo_off_loopback_and_says_what_to_set(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path, name: str, value: str
):
    async with process(nats_server, valkey_server, tmp_path / "log", **{name: value}) as executor:
        assert name in await executor.refusal()


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
    async with process(nats_server, valkey_server, tmp_path / "one") as first:
        await first.ready()
        asker = ToolRequester(nats_client)
        await asker.send("get_price", {"symbol": "AAPL"}, signed(), call_id="mid-call", reply_to="_INBOX.answers")
        await eventually(lambda: asked)
        await first.end(signal.SIGKILL)
        async with process(nats_server, valkey_server, tmp_path / "two") as second:
            await second.ready()
            # Nobody asks again: the work queue itself gives the call to the next process.
            answer = CloudEvent[ToolCallCompleted].model_validate_json((await answers.next_msg(timeout=40)).data)
            assert answer.data.call_id == "mid-call"
            assert answer.data.result.data == PRICE
            assert asked == ["mid-call", "mid-call"]
    go_on.set()
