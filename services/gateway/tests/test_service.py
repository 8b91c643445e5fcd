"""The gateway as a process: it starts, says where it listens, drains on SIGTERM, and names what is wrong."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from gateway.testing.harness import ChatClient
from gateway.testing.tokens import TokenMaker
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer

DEADLINE = 30.0


def environment(nats_url: str, keys: TokenSettings, **changes: str) -> dict[str, str]:
    """What a gateway of these tests is started with."""
    assert keys.jwt_secret is not None
    assert keys.principal_key is not None
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
    return kept | {
        "NEXUS_NATS_URL": nats_url,
        "NEXUS_DEV": "1",
        "NEXUS_LOG_FORMAT": "json",
        "NEXUS_GATEWAY_PORT": "0",
        "NEXUS_JWT_SECRET": keys.jwt_secret.get_secret_value(),
        "NEXUS_PRINCIPAL_KEY": keys.principal_key.get_secret_value(),
        **changes,
    }


@asynccontextmanager
async def started(env: dict[str, str]) -> AsyncGenerator[Process]:
    """python -m gateway, killed at the end of the block if it is still there."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "gateway", env=env, stdout=PIPE, stderr=STDOUT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def logged(process: Process, event: str) -> dict[str, Any]:
    """The next log line of this event."""
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE):
        async for line in process.stdout:
            entry: dict[str, Any] = json.loads(line)
            if entry.get("event") == event:
                return entry
    raise AssertionError(f"the gateway ended before {event}")


@pytest.mark.usefixtures("memory")
async def test_it_serves_chats_and_health_and_sends_its_clients_elsewhere_on_sigterm(
    nats_server: NatsServer, tokens: TokenMaker, keys: TokenSettings
) -> None:
    async with started(environment(nats_server.url, keys)) as process:
        port = (await logged(process, "service.listening"))["port"]
        await logged(process, "service.ready")
        url = f"http://127.0.0.1:{port}"
        async with aiohttp.ClientSession() as http:
            for path in ("/healthz", "/readyz", "/metrics"):
                async with http.get(url + path) as answer:
                    assert answer.status == 200, path
                    if path == "/metrics":
                        assert "nexus_gateway_sockets" in await answer.text()
        async with ChatClient(url) as client:
            await client.hello(tokens.visitor("v1"))
            await client.say("hello")
            process.send_signal(signal.SIGTERM)
            assert await client.closed() == 4001
        async with asyncio.timeout(DEADLINE):
            assert await process.wait() == 0


async def test_a_taken_port_ends_it_with_one_line_that_says_what_to_do(
    nats_server: NatsServer, keys: TokenSettings
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        env = environment(nats_server.url, keys, NEXUS_GATEWAY_PORT=str(other.getsockname()[1]))
        async with started(env) as process:
            error = (await logged(process, "service.not_ready"))["error"]
            assert "NEXUS_GATEWAY_PORT" in error
            assert await process.wait() == 1


async def test_a_missing_key_ends_it_with_one_line_that_names_it(nats_server: NatsServer, keys: TokenSettings) -> None:
    async with started(environment(nats_server.url, keys, NEXUS_PRINCIPAL_KEY="")) as process:
        error = (await logged(process, "service.not_ready"))["error"]
        assert "NEXUS_PRINCIPAL_KEY" in error
        assert await process.wait() == 1
