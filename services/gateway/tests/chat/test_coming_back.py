"""A gateway that was away is back, and all who lost it come at once."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass

from nats.aio.client import Client

from contracts.conversation_rpc import LatestConversationReply, LatestConversationRequest
from gateway.adapters.identity import IdentityKeys
from gateway.chat.session import MAX_CONCURRENT_HELLOS
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, Frame, MemoryStandIn, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import MAX_IN_FLIGHT
from runtime.testing.servers import NatsServer

MANY = 1_000


@dataclass
class SlowMemory(MemoryStandIn):
    """Takes its time, and counts how many wait for it at once."""

    waiting: int = 0
    most: int = 0

    async def _latest(self, request: LatestConversationRequest) -> LatestConversationReply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        try:
            await asyncio.sleep(0.5)  # the slowness that is played
        finally:
            self.waiting -= 1  # also of those that are broken off, since their caller has gone
        return await super()._latest(request)


async def first_frame(client: ChatClient, token: str) -> Frame:
    await client.send("hello", token=token)
    return await client.next(deadline=120)


async def test_a_thousand_who_come_at_once_are_all_let_in(
    nats_server: NatsServer, nats_client: Client, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    memory = SlowMemory(nats_client)
    memory.add_company("acme")
    await memory.start()
    settings = GatewaySettings(connections_per_address=MANY, hello_seconds=60)
    async with run_gateway(nats_server.url, identity, settings) as gateway, AsyncExitStack() as everybody:
        # Opened one after another, since this process has the work of all thousand; then all say hello at once.
        clients = [await everybody.enter_async_context(ChatClient(gateway.url)) for _ in range(MANY)]
        frames = await asyncio.gather(
            *(first_frame(client, tokens.visitor(f"v{number}")) for number, client in enumerate(clients))
        )
    assert Counter(frame["type"] for frame in frames) == {"welcome": MANY}
    assert Counter(memory.requested_methods)["company"] == 1
    # Some are asked for twice on a busy machine; what is beyond this limit would be refused.
    assert MAX_CONCURRENT_HELLOS < MAX_IN_FLIGHT
    assert memory.most < MAX_IN_FLIGHT
    await memory.stop()
