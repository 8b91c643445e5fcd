"""The gateway as a process: it starts, says where it listens, drains on SIGTERM, and names what is wrong."""

import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from gateway.testing.harness import ChatClient
from gateway.testing.tokens import TokenMaker
from runtime.settings import TokenSettings
from runtime.testing.logged_process import LoggedProcess, logged_process
from runtime.testing.servers import NatsServer


@asynccontextmanager
async def process(
    log: Path, nats_server: NatsServer, keys: TokenSettings, **changes: str
) -> AsyncGenerator[LoggedProcess]:
    """A gateway in its own process, with these settings changed."""
    assert keys.jwt_secret is not None
    assert keys.principal_key is not None
    settings = {
        "NEXUS_NATS_URL": nats_server.url,
        "NEXUS_GATEWAY_PORT": "0",
        "NEXUS_JWT_SECRET": keys.jwt_secret.get_secret_value(),
        "NEXUS_PRINCIPAL_KEY": keys.principal_key.get_secret_value(),
        **changes,
    }
    async with logged_process("gateway", log / "log", log, **settings) as started:
        yield started


@pytest.mark.usefixtures("memory")
async def test_it_serves_chats_and_health_and_sends_its_clients_elsewhere_on_sigterm(
    nats_server: NatsServer, tokens: TokenMaker, keys: TokenSettings, tmp_path: Path
) -> None:
    async with process(tmp_path, nats_server, keys) as gateway:
        await gateway.ready()
        url = f"http://127.0.0.1:{gateway.logged('service.listening')[0]['port']}"
        async with aiohttp.ClientSession() as http:
            for path in ("/healthz", "/readyz", "/metrics"):
                async with http.get(url + path) as answer:
                    assert answer.status == 200, path
                    if path == "/metrics":
                        assert "nexus_gateway_sockets" in await answer.text()
        async with ChatClient(url) as client:
            await client.hello(tokens.visitor("v1"))
            await client.say("hello")
            gateway.process.send_signal(signal.SIGTERM)
            assert await client.closed() == 4001
        assert await gateway.end() == 0


async def test_a_taken_port_ends_it_with_one_line_that_says_what_to_do(
    nats_server: NatsServer, keys: TokenSettings, tmp_path: Path
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        async with process(tmp_path, nats_server, keys, NEXUS_GATEWAY_PORT=port) as gateway:
            assert "NEXUS_GATEWAY_PORT" in await gateway.refusal()


async def test_a_missing_key_ends_it_with_one_line_that_names_it(
    nats_server: NatsServer, keys: TokenSettings, tmp_path: Path
) -> None:
    async with process(tmp_path, nats_server, keys, NEXUS_PRINCIPAL_KEY="") as gateway:
        assert "NEXUS_PRINCIPAL_KEY" in await gateway.refusal()
