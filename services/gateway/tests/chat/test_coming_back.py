"""A gateway that was away is back, and all who lost it come at once."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass

from nats.aio.client import Client

from contracts.rpc import LatestConversationReply, LatestConversationRequest
from gateway.adapters.identity import Identity
from gateway.chat.session import COMING_IN_AT_ONCE
from gateway.settings import GatewaySettings
from gateway.testing import ChatClient, Frame, GatewayUnderTest, MemoryStandIn, TokenMaker, run_gateway
from runtime.testing import NatsServer

MANY = 1_000


@dataclass
class SlowMemory(MemoryStandIn):
    """Takes its time, and counts how many wait for it at once."""

    waiting: int = 0
    most: int = 0

    async def _latest(self, request: LatestConversationRequest) -> LatestConversationReply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0.5)
        self.waiting -= 1
        return await super()._latest(request)


async def first_frame(everybody: AsyncExitStack, gateway: GatewayUnderTest, token: str) -> Frame:
    client = await everybody.enter_async_context(ChatClient(gateway.url))
    await client.send("hello", token=token)
    return await client.next(deadline=60)


async def test_a_thousand_who_come_at_once_are_all_let_in(
    nats_server: NatsServer, nats_client: Client, identity: Identity, tokens: TokenMaker
) -> None:
    memory = SlowMemory(nats_client)
    memory.add_company("acme")
    await memory.start()
    settings = GatewaySettings(connections_per_address=MANY)
    async with run_gateway(nats_server.url, identity, settings) as gateway, AsyncExitStack() as everybody:
        frames = await asyncio.gather(
            *(first_frame(everybody, gateway, tokens.visitor(f"v{number}")) for number in range(MANY))
        )
    assert Counter(frame["type"] for frame in frames) == {"welcome": MANY}
    assert Counter(memory.asked)["company"] == 1
    assert memory.most <= COMING_IN_AT_ONCE
    await memory.stop()
