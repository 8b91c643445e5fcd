"""An MCP client that hangs up: "The server MUST treat a client disconnect as cancellation of that request"."""

import asyncio
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from pydantic import SecretStr

from gateway.adapters.identity import build_identity
from gateway.testing.harness import MemoryStandIn, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.bus.direct import DirectReader
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer, eventually
from tests.support.mcp_client import connected

KEYS = TokenSettings(
    jwt_secret=SecretStr("a secret of these tests alone, 0123456789"),
    principal_key=SecretStr("another secret of these tests, 0123456789"),
)


@pytest.mark.parametrize(
    ("meta", "told"),
    [(None, "CANCELLED"), ({"nexus/idempotencyKey": "one"}, "running")],
    ids=["nobody finds it again", "the same call finds it again"],
)
async def test_who_hangs_up_has_stopped_what_nobody_finds_again(
    nats_server: NatsServer, nats_client: Client, meta: Any, told: str
) -> None:
    memory = MemoryStandIn(nats_client)
    memory.add_company("demo")
    await memory.start()
    heard = asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        del progress, total, message
        heard.set()

    async def kept() -> str:
        """How the one analysis stands; no agent is there to make it."""
        facts = (await DirectReader(nats_client, "TURNS").batch("turn.demo.ana.*.analysis.v1", 1, 10)).facts
        (data,) = [orjson.loads(fact.event)["data"] for fact in facts]
        return data["error"]["code"] if data.get("error") else data["status"]

    async with run_gateway(nats_server.url, build_identity(KEYS, 3600, SystemClock())) as gateway:
        async with connected(gateway.url, TokenMaker(KEYS).user("ana", company="demo")) as client:
            calling = asyncio.create_task(
                client.call_tool("market_analysis", {"query": "IBM?"}, progress_callback=progress, meta=meta)
            )
            await asyncio.wait_for(heard.wait(), 30)
            assert await kept() == "running"
            calling.cancel()
            await asyncio.wait([calling])

        async def as_told() -> bool:
            return await kept() == told

        await eventually(as_told)
    # A gateway that has ended has nothing more to say.
    assert await kept() == told
    await memory.stop()
