"""What happens when the server has stored an event and nobody hears of it."""

from __future__ import annotations

import asyncio

import pytest
from nats.aio.client import Client

from contracts.channels import ChatKind, chat
from runtime.bus.connection import connect
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog, fence_at
from runtime.errors import FenceRefusedError
from runtime.settings import NatsSettings
from runtime.testing.network import proxy_to
from runtime.testing.servers import NatsServer, eventually

VISITOR = chat("acme", "c1", ChatKind.VISITOR)
ANSWER = chat("acme", "c1", ChatKind.ASSISTANT)


async def stored(log: ConversationLog, count: int) -> bool:
    return (await log.bounds()).last_seq == count


async def test_an_event_is_stored_once_and_the_retry_says_duplicate(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    log = ConversationLog(nats_streams)
    async with proxy_to(nats_server.url) as proxy:
        client = await connect(NatsSettings(url=proxy.url), name="far")
        publisher = Publisher(client)
        await publisher.append(VISITOR, b"1", stream="CHAT", msg_id="m1")
        proxy.hold_replies()
        append = asyncio.create_task(publisher.append(VISITOR, b"2", stream="CHAT", msg_id="m2"))
        await eventually(lambda: stored(log, 2))
        proxy.cut()
        again = await asyncio.wait_for(append, 30)
        assert (again.seq, again.duplicate) == (2, True)
        assert await stored(log, 2)
        await client.close()


async def test_a_late_acknowledgement_counts(nats_server: NatsServer, nats_streams: Client) -> None:
    log = ConversationLog(nats_streams)
    async with proxy_to(nats_server.url) as proxy:
        client = await connect(NatsSettings(url=proxy.url), name="far")
        empty = await ConversationLog(client).snapshot("acme", "c1")
        proxy.hold_replies()
        append = asyncio.create_task(
            Publisher(client).append(ANSWER, b"a", stream="CHAT", msg_id="a", fence=fence_at("acme", "c1", empty.seq))
        )
        # The second attempt is refused by the first; the first one's acknowledgement comes before that.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(append), 0.8)
        await eventually(lambda: stored(log, 1))
        proxy.release_replies()
        assert (await asyncio.wait_for(append, 30)).seq == 1
        await client.close()


async def test_a_fenced_event_whose_acknowledgement_is_lost_is_refused_as_perhaps_its_own(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    log = ConversationLog(nats_streams)
    async with proxy_to(nats_server.url) as proxy:
        client = await connect(NatsSettings(url=proxy.url), name="far")
        empty = await ConversationLog(client).snapshot("acme", "c1")
        proxy.hold_replies()
        append = asyncio.create_task(
            Publisher(client).append(ANSWER, b"a", stream="CHAT", msg_id="a", fence=fence_at("acme", "c1", empty.seq))
        )
        await eventually(lambda: stored(log, 1))
        proxy.cut()
        with pytest.raises(FenceRefusedError) as refused:
            await asyncio.wait_for(append, 30)
        assert refused.value.maybe_own
        own = await DirectReader(nats_streams, "CHAT").last(ANSWER)
        assert own is not None
        assert own.event == b"a"
        await client.close()
