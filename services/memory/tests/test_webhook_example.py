"""examples/receive_webhooks.py works as it stands, beside a running memory."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import aiohttp
import pytest

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from memory.testing.harness import Servers, Writer, replica
from runtime.settings import DevSettings
from runtime.testing.servers import eventually

EXAMPLE = Path(__file__).parents[3] / "examples/receive_webhooks.py"


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 60


@pytest.mark.parametrize("secret", ["whsec_c2VjcmV0IG9mIHR3ZW50eS1mb3Vy", "a secret in plain words"])
async def test_the_example_takes_what_is_signed_and_nothing_else(servers: Servers, secret: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    environment = os.environ | {"WEBHOOK_SECRET": secret, "PORT": str(port)}
    example = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLE), env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert example.stdout is not None
    try:
        async with aiohttp.ClientSession() as http, replica(servers, dev=DevSettings(dev=True)) as one:

            async def forged() -> int:
                try:
                    async with http.post(url, data=b"{}", headers={"webhook-id": "x"}) as answer:
                        return answer.status
                except aiohttp.ClientError:
                    return 0

            assert await eventually(forged) == 401
            hook = {"url": url, "events": ["message.visitor"], "secret": secret}
            await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme", "webhooks": [hook]}))
            writer = Writer(one.client)
            await writer.visitor("hello, shop")
            async with asyncio.timeout(40):
                line = (await example.stdout.readline()).decode().strip()
            assert line == f"chat.message.visitor.v1 acme/{writer.conversation} hello, shop"
    finally:
        example.kill()
        await example.communicate()
