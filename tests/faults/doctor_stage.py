"""The stack that `make doctor-faults` breaks, and how the doctor is asked: its servers stand beside it, so that each of
them can be broken for itself."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nats.aio.client import Client

from agent.scripted_model.server import ScriptedModel, scripted_model
from runtime.bus.connection import jetstream
from runtime.faulty_proxy import Proxy
from runtime.testing.cluster import run_nats_cluster, urls
from runtime.testing.network import proxy_to
from runtime.testing.servers import (
    MongoServer,
    NatsServer,
    ValkeyServer,
    eventually,
    run_mongo_server,
    run_valkey_server,
)
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

COMPANY, POOR = "acme", "poor"
SETTINGS: Mapping[str, Any] = {"aiAutoResponseEnabled": True, "responseDelayMs": 50}


@dataclass
class Stage:
    """What the faults are staged at, and how the doctor is asked while one is."""

    stack: RunningStack
    model: ScriptedModel
    bus: list[NatsServer]
    redis: ValkeyServer
    mongodb: MongoServer
    way_to_mongodb: Proxy
    scratch: Path
    arguments: list[str] = field(default_factory=list[str])
    environment: dict[str, str] = field(default_factory=dict[str, str])

    async def look(self) -> tuple[list[dict[str, str]], float, float]:
        """What the command finds wrong, in its order, how many seconds it took, and for how many of them it waited
        for a processor: those are the machine's."""
        data = [] if "--data" in self.arguments else ["--data", str(self.stack.data)]
        company = [] if "--company" in self.arguments else ["--company", COMPANY]
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "nexus_cli", "doctor", "--live", "--json", *data, *company, *self.arguments),
            env=self.stack.env | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        ended, waited = asyncio.create_task(process.communicate()), 0.0
        async with asyncio.timeout(60):
            while not ended.done():
                with suppress(OSError):
                    waited = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9
                await asyncio.wait([ended], timeout=0.05)
        output, errors = ended.result()
        took = time.monotonic() - began
        if not output:
            raise RuntimeError(errors.decode())
        return [check for check in json.loads(output) if check["state"] == "wrong"], took, waited

    async def well(self) -> None:
        """Waits until nothing is wrong."""

        async def nothing() -> bool:
            return not (await self.look())[0]

        await self.stack.whole()
        await eventually(nothing, 120)

    async def api(self, method: str, **body: object) -> dict[str, Any]:
        """Asks JetStream."""
        client = Client()
        await client.connect(urls(self.bus).split(","))
        try:
            answer = await client.request(f"$JS.API.{method}", json.dumps(body).encode(), timeout=5)
            return json.loads(answer.data)
        finally:
            await client.close()

    async def publish(self, subject: str, body: bytes) -> None:
        """Puts something onto the bus that no service of ours would."""
        client = Client()
        await client.connect(urls(self.bus).split(","))
        await jetstream(client).publish(subject, body)
        await client.close()


@asynccontextmanager
async def staged_stack(directory: Path) -> AsyncGenerator[Stage]:
    """The stack, its servers beside it, MongoDB behind a proxy."""
    async with AsyncExitStack() as kept:
        model = await kept.enter_async_context(scripted_model())
        bus = kept.enter_context(run_nats_cluster(directory / "nats"))
        redis, mongodb = kept.enter_context(run_valkey_server()), kept.enter_context(run_mongo_server())
        way = await kept.enter_async_context(proxy_to(mongodb.url))
        stack = RunningStack(
            directory / "stack",
            env={
                "NEXUS_NATS_URL": urls(bus),
                "NEXUS_NATS_REPLICAS": "3",
                "NEXUS_REDIS_URL": redis.url,
                "NEXUS_MONGODB_URL": way.url,
                **model.environment,
            },
        )
        kept.callback(stack.stop)
        # The proxy and the model live in this process: they answer meanwhile.
        await asyncio.to_thread(stack.start)
        await stack.create_company(COMPANY, **SETTINGS)
        await stack.create_company(POOR, **SETTINGS, budget={"dailyTokens": 0})
        async with ChatClient(stack.url, stack.mint("user", "staged", COMPANY)) as customer:
            await customer.hello(locale="en")
            await customer.ask("What is a drawdown?")
        yield Stage(stack, model, bus, redis, mongodb, way, directory)
