"""Serves one method under a service's own user, as a process that a test can stop and let go on."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from contracts.market_rpc import MARKET_EVENTS, MarketEventsReply, MarketEventsRequest
from runtime.bus.connection import connect
from runtime.calls.rpc import RpcServer
from runtime.settings import NatsSettings


async def main(url: str, user: str) -> None:
    client = await connect(NatsSettings.model_validate({"url": url, "user": user, "password": f"pw-{user}"}), name=user)

    async def events(request: MarketEventsRequest) -> MarketEventsReply:
        del request
        sys.stdout.write("served\n")
        sys.stdout.flush()
        return MarketEventsReply(events=[], source="test", as_of=datetime.now(UTC))

    await RpcServer(client).serve(MARKET_EVENTS, events)
    await client.flush()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
