"""Three gateways behind a balancer: nobody is refused for what others do, and nobody can pass for another.

Clients come from addresses of their own (127.1.x.y), the balancer and the direct ones from 127.0.0.1.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import pytest

from gateway.adapters.identity import IdentityKeys
from gateway.settings import GatewaySettings
from gateway.testing.balancer import Balancer, balanced
from gateway.testing.harness import ChatClient, GatewayUnderTest, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("memory")

VISITORS = 500
TRUSTED = GatewaySettings.model_validate({"trusted_proxies": "127.0.0.1", "hello_seconds": 60})
PATIENCE = 120.0


@asynccontextmanager
async def three(
    nats: str, identity: IdentityKeys, settings: GatewaySettings, *, forwards: bool = True
) -> AsyncGenerator[Balancer]:
    async with AsyncExitStack() as stack:
        gateways: list[GatewayUnderTest] = [
            await stack.enter_async_context(run_gateway(nats, identity, settings)) for _ in range(3)
        ]
        ports = [gateway.server.port for gateway in gateways]
        yield await stack.enter_async_context(balanced(ports, forwards=forwards))


async def token_from(url: str, address: str) -> str:
    """What a widget on that machine is given."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0), force_close=True)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=PATIENCE)) as session,
    ):
        while True:
            async with session.post(f"{url}/v2/visitors", json={"companyId": "acme"}) as answer:
                # On a machine that is overloaded memory may be late: tried again, as the widget does. Never a 429.
                if answer.status == 503:
                    await asyncio.sleep(int(answer.headers["Retry-After"]))
                    continue
                assert answer.status == 201, await answer.text()
                return (await answer.json())["token"]


@pytest.mark.parametrize("addresses", [VISITORS, 50, 1])
async def test_five_hundred_visitors_at_once_are_let_in_and_heard(
    nats_server: NatsServer, identity: IdentityKeys, addresses: int
) -> None:
    # From one address they come behind a balancer that does not say whom it forwards.
    forwards = addresses > 1
    async with three(nats_server.url, identity, TRUSTED, forwards=forwards) as balancer, AsyncExitStack() as stack:
        arrived = asyncio.Barrier(VISITORS)

        async def visit(number: int) -> list[str]:
            n = number % addresses
            address = f"127.1.{n // 250}.{n % 250 + 1}" if forwards else "127.0.0.1"
            token = await token_from(balancer.url, address)
            await arrived.wait()
            client = await stack.enter_async_context(ChatClient(balancer.url, address=address))
            await client.send("hello", token=token)
            await client.until("welcome", deadline=PATIENCE)
            for text in ("one", "two", "three"):
                await client.send("message.send", clientMessageId=str(uuid.uuid4()), text=text)
                await client.until("message.ack", deadline=PATIENCE)
            return [frame["code"] for frame in client.seen if frame["type"] == "error"]

        async with asyncio.timeout(PATIENCE):
            refused = await asyncio.gather(*(visit(number) for number in range(VISITORS)))
    assert [codes for codes in refused if codes] == []


async def is_refused(url: str, tokens: TokenMaker, headers: dict[str, str]) -> bool:
    """Whether a new visitor's first message is refused for what others of the same address have sent."""
    async with ChatClient(url, headers=headers) as client:
        await client.hello(tokens.visitor(uuid.uuid4().hex))
        await client.send("message.send", clientMessageId=str(uuid.uuid4()), text="hi")
        while (frame := await client.next())["type"] not in {"message.ack", "error"}:
            pass
        return frame["type"] == "error" and frame["code"] == "RATE_LIMITED"


@pytest.mark.parametrize(
    ("trusted", "said"),
    [
        # Nobody to be believed.
        ("192.0.2.0/24", {"X-Forwarded-For": "203.0.113.{n}", "Forwarded": "for=203.0.113.{n}"}),
        # The left hop is the client's own word, the right one the proxy's; so is the whole of the other header.
        ("127.0.0.1", {"X-Forwarded-For": "203.0.113.{n}, 198.51.100.1", "Forwarded": "for=203.0.113.{n}"}),
        # One subscriber's network.
        ("127.0.0.1", {"X-Forwarded-For": "2001:db8:0:1::{n}"}),
    ],
)
async def test_nobody_gets_further_room_by_calling_themselves_another(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker, trusted: str, said: dict[str, str]
) -> None:
    settings = GatewaySettings.model_validate({"messages_per_address": 3, "trusted_proxies": trusted})
    async with run_gateway(nats_server.url, identity, settings) as gateway:
        for number in range(4):
            headers = {name: value.format(n=number + 1) for name, value in said.items()}
            assert await is_refused(gateway.url, tokens, headers) is (number == 3)
        if trusted == "127.0.0.1":
            assert not await is_refused(gateway.url, tokens, {"X-Forwarded-For": "2001:db8:0:2::1"})
