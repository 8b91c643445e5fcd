"""A log that fills: whose share is used up, and what clients are told when there is no room at all."""

import uuid
from dataclasses import replace

import pytest
from nats.aio.client import Client

from contracts.streams import CHAT
from gateway.chat.shares import ALWAYS_ALLOWED_BYTES, COUNTED_HOURS, HOUR, CompanyShares
from gateway.errors import RateLimitedError
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.tokens import TokenMaker
from runtime.bus.connection import jetstream
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.errors import NotStoredError
from runtime.testing.clock import FakeClock

MIB = 1024 * 1024
SMALL = (replace(CHAT, max_bytes=4 * MIB),)


class SmallLog:
    """A log of 100 MiB, and companies that write as long as they may."""

    def __init__(self, share: float = 0.8) -> None:
        self.free = 100 * MIB
        self.clock = FakeClock()
        self.shares = CompanyShares(self.room, share, self.clock)

    async def room(self) -> int:
        return self.free

    async def write(self, company: str, most: int = 1_000) -> int:
        """How many MiB the company may write, one after the other."""
        for number in range(most):
            try:
                await self.shares.admit(company)
            except RateLimitedError:
                return number
            self.shares.count_write(company, MIB)
            self.free -= MIB
        return most


async def test_one_company_cannot_fill_the_log_for_all() -> None:
    log = SmallLog()
    assert await log.write("flood") == 81
    # The others have room, and also among each other nobody takes all.
    assert await log.write("quiet", 5) == 5
    assert await log.write("second") < 14
    assert await log.write("third", 1) == 1
    assert log.free > 0


async def test_a_company_may_write_again_when_what_it_wrote_is_old_or_gone() -> None:
    log = SmallLog()
    await log.write("flood")
    log.free += 80 * MIB
    assert await log.write("flood", 3) == 3
    log.free = MIB
    assert await log.write("flood") == 0
    await log.clock.advance(HOUR * COUNTED_HOURS)
    assert await log.write("flood", 1) == 1


async def test_a_company_that_writes_little_is_never_asked_for() -> None:
    async def never() -> int:
        raise AssertionError

    shares = CompanyShares(never, 0.8, FakeClock())
    shares.count_write("small", ALWAYS_ALLOWED_BYTES)
    await shares.admit("small")


async def fill(client: Client, company: str, count: int, size: int = 200_000) -> None:
    for _ in range(count):
        subject, name = f"chat.{company}.{uuid.uuid4()}.message.visitor.v1", str(uuid.uuid4())
        await Publisher(client).append(subject, b"x" * size, stream=CHAT.name, msg_id=name, deadline=1.0)


async def test_who_fills_the_log_is_refused_and_nobody_else(
    gateway: GatewayUnderTest, memory: MemoryStandIn, tokens: TokenMaker, nats_client: Client
) -> None:
    memory.add_company("flood", aiAutoResponseEnabled=True)
    await ensure_streams(nats_client, SMALL)
    await fill(nats_client, "flood", 18)
    async with ChatClient(gateway.url) as flood, ChatClient(gateway.url) as other:
        await flood.hello(tokens.visitor("v1", company="flood"))
        await other.hello(tokens.visitor("v2"))
        await flood.send("message.send", clientMessageId=str(uuid.uuid4()), text="more")
        error = await flood.until("error")
        assert (error["code"], error["retryable"]) == ("RATE_LIMITED", True)
        assert error["retryAfterMs"] >= 60_000
        assert (await other.say("hello"))["duplicate"] is False


async def test_on_a_full_log_a_message_is_refused_for_now_and_taken_when_there_is_room(
    gateway: GatewayUnderTest, memory: MemoryStandIn, tokens: TokenMaker, nats_client: Client
) -> None:
    await ensure_streams(nats_client, SMALL)
    with pytest.raises(NotStoredError):
        await fill(nats_client, "others", 100)
    with pytest.raises(NotStoredError):
        await fill(nats_client, "others", 10_000, size=500)  # the last bytes too
    text, identity = "x" * 4_000, str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.send("message.send", clientMessageId=identity, text=text)
        frame = await client.until("error")
        assert (frame["code"], frame["retryable"], frame["ref"]) == ("UNAVAILABLE", True, identity)
        await jetstream(nats_client).purge_stream(CHAT.name)
        again = await client.say(text, clientMessageId=identity)
        assert again["duplicate"] is False
