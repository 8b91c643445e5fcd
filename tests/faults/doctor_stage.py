"""The stack that `make doctor-faults` breaks, and how to run the doctor. The servers run outside the stack, so that
each can be broken alone."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nats.aio.client import Client

from agent.scripted_model.server import ScriptedModel, scripted_model
from nexus_cli.testing.stacks import run_forked
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
from tests.support.running_stack import RunningStack

COMPANY, POOR = "acme", "poor"
SETTINGS: Mapping[str, Any] = {"aiAutoResponseEnabled": True, "responseDelayMs": 50}


@dataclass
class Stage:
    """The stack in which faults are staged, and the doctor that is run during them."""

    stack: RunningStack
    model: ScriptedModel
    bus: list[NatsServer]
    redis: ValkeyServer
    mongodb: MongoServer
    way_to_mongodb: Proxy
    scratch: Path
    arguments: list[str] = field(default_factory=list[str])
    program: str = "nexus_cli"
    """The module that runs the command."""

    async def look(self) -> tuple[list[dict[str, str]], float, float]:
        """Runs the command; returns its findings in order, the seconds it took, and the seconds of these in which it
        waited for a processor."""
        data = [] if "--data" in self.arguments else ["--data", str(self.stack.data)]
        company = [] if "--company" in self.arguments else ["--company", COMPANY]
        began = time.monotonic()
        command = [sys.executable, "-m", self.program, "doctor", "--live", "--json", *data, *company, *self.arguments]
        pids, waited = list[int](), 0.0
        running = asyncio.to_thread(run_forked, command, self.stack.env, timeout=60, begun=pids.append)
        ended = asyncio.create_task(running)
        while not ended.done():
            with suppress(OSError, IndexError):
                waited = int(Path(f"/proc/{pids[0]}/schedstat").read_text().split()[1]) / 1e9
            await asyncio.wait([ended], timeout=0.05)
        done = ended.result()
        took = time.monotonic() - began
        if not done.stdout:
            raise RuntimeError(done.stderr)
        return [check for check in json.loads(done.stdout) if check["state"] == "wrong"], took, waited

    async def well(self) -> None:
        """Waits until the doctor finds nothing wrong."""

        async def finds_nothing() -> bool:
            return not (await self.look())[0]

        await self.stack.whole()
        await eventually(finds_nothing, 120)

    async def api(self, method: str, **body: object) -> dict[str, Any]:
        """Sends a request to the JetStream API."""
        client = Client()
        await client.connect(urls(self.bus).split(","))
        try:
            answer = await client.request(f"$JS.API.{method}", json.dumps(body).encode(), timeout=5)
            return json.loads(answer.data)
        finally:
            await client.close()

    async def publish(self, subject: str, body: bytes) -> None:
        """Publishes a message that none of our services would publish."""
        client = Client()
        await client.connect(urls(self.bus).split(","))
        await jetstream(client).publish(subject, body)
        await client.close()


@asynccontextmanager
async def staged_stack(directory: Path) -> AsyncGenerator[Stage]:
    """Runs the servers and the stack, with MongoDB behind a proxy."""
    async with AsyncExitStack() as resources:
        model = await resources.enter_async_context(scripted_model())
        bus = resources.enter_context(run_nats_cluster(directory / "nats"))
        redis, mongodb = resources.enter_context(run_valkey_server()), resources.enter_context(run_mongo_server())
        mongodb_proxy = await resources.enter_async_context(proxy_to(mongodb.url))
        stack = RunningStack(
            directory / "stack",
            env={
                "NEXUS_NATS_URL": urls(bus),
                "NEXUS_NATS_REPLICAS": "3",
                "NEXUS_REDIS_URL": redis.url,
                "NEXUS_MONGODB_URL": mongodb_proxy.url,
                **model.environment,
            },
        )
        resources.callback(stack.stop)
        # In a thread, because the proxy and the model answer from this process meanwhile.
        await asyncio.to_thread(stack.start)
        await stack.create_company(COMPANY, **SETTINGS)
        await stack.create_company(POOR, **SETTINGS, budget={"dailyTokens": 0})
        async with stack.chat(stack.mint("user", "staged", COMPANY), locale="en") as customer:
            await customer.ask("What is a drawdown?")
        yield Stage(stack, model, bus, redis, mongodb, mongodb_proxy, directory)
