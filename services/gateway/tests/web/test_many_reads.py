"""A person who reads much at a time takes their own time, and nobody else's."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from nats.aio.client import Client

from contracts.conversation_rpc import MessagesReply, MessagesRequest
from gateway.chat.limits import READS_AT_ONCE, READS_IN_LINE, ClientLimits
from gateway.errors import RateLimitedError
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http
from gateway.testing.tokens import TokenMaker
from runtime.clock import SystemClock


class _HoldingMemory(MemoryStandIn):
    """Does not answer the first reads of messages before `may_answer` is set."""

    def begin(self) -> None:
        self.reads = 0
        self.may_answer, self.holds_all = asyncio.Event(), asyncio.Event()

    async def _messages(self, request: MessagesRequest) -> MessagesReply:
        self.reads += 1
        if self.reads == READS_AT_ONCE:
            self.holds_all.set()
        if self.reads <= READS_AT_ONCE:
            await self.may_answer.wait()
        return await super()._messages(request)


@pytest.fixture
async def memory(nats_client: Client) -> AsyncGenerator[_HoldingMemory]:
    memory = _HoldingMemory(nats_client)
    memory.begin()
    memory.add_company("acme")
    await memory.start()
    yield memory
    await memory.stop()


async def test_the_reads_of_one_person_wait_in_line_and_those_of_others_do_not(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: _HoldingMemory
) -> None:
    async with ChatClient(gateway.url) as client:
        conversation = (await client.hello(tokens.visitor("v1")))["conversationId"]
        await client.say("hello")
    memory.known_conversations[conversation] = conversation_view(conversation, "acme", "v1")
    path = f"/v2/conversations/{conversation}/messages"
    reads = [asyncio.create_task(http("GET", path, token=tokens.visitor("v1"))) for _ in range(READS_AT_ONCE + 3)]
    await memory.holds_all.wait()
    assert (await http("GET", path, token=tokens.user("ana", "commercial")))[0] == 200
    assert memory.reads == READS_AT_ONCE + 1
    memory.may_answer.set()
    assert [status for status, _, _ in await asyncio.gather(*reads)] == [200] * len(reads)


async def test_a_line_has_an_end_and_leaves_nothing_behind() -> None:
    limits = ClientLimits(GatewaySettings(), SystemClock())
    may_end = asyncio.Event()
    are_begun = asyncio.Semaphore(0)

    async def read(subject: str) -> None:
        are_begun.release()
        async with limits.read("acme", subject):
            await may_end.wait()

    reads = [asyncio.create_task(read("v1")) for _ in range(READS_IN_LINE)]
    for _ in reads:
        await asyncio.wait_for(are_begun.acquire(), 30)
    with pytest.raises(RateLimitedError):
        await read("v1")
    may_end.set()
    await read("v2")
    await asyncio.gather(*reads)
    await asyncio.gather(*(read("v1") for _ in range(READS_IN_LINE)))
    assert vars(limits)["_reads"] == {}
