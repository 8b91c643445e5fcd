"""message.ack: once for each message and before what comes of it, however late the log's own acknowledgement is."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from gateway.adapters.log import NatsLog
from gateway.testing.harness import ChatClient, Frame, GatewayUnderTest
from gateway.testing.tokens import TokenMaker
from runtime.bus.publisher import Appended
from runtime.conversation import ConversationWriter
from runtime.errors import PublishTimeoutError

pytestmark = pytest.mark.usefixtures("memory")


class LateLog:
    """Appends for real; what the log says of it comes when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told = asyncio.Event()
        self.told.set()
        self.lost = False
        append: Callable[..., Any] = ConversationWriter.append_event

        async def late(writer: ConversationWriter, *place: Any, **message: Any) -> Appended:
            stored: Appended = await append(writer, *place, **message)
            await self.told.wait()
            if self.lost:
                raise PublishTimeoutError("no acknowledgement came")
            return stored

        monkeypatch.setattr(ConversationWriter, "append_event", late)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> LateLog:
    """The log of the gateway under test."""
    return LateLog(monkeypatch)


def of_kind(client: ChatClient, *kinds: str) -> list[Frame]:
    """What the client has heard of these types."""
    return [frame for frame in client.seen if frame["type"] in kinds]


@pytest.mark.parametrize("role", ["visitor", "commercial"])
async def test_a_message_that_comes_back_first_is_acknowledged_by_that_and_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, late: LateLog, role: str
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as operator:
        earlier = await visitor.say("is anybody there?")
        await operator.hello(tokens.user("op", role="commercial"), conversationId=visitor.conversation)
        await visitor.fact(earlier["seq"])
        client = visitor if role == "visitor" else operator
        client.seen.clear()
        late.told.clear()
        identity = str(uuid.uuid4())
        await client.send("message.send", clientMessageId=identity, text="hello", conversationId=visitor.conversation)
        created = await client.until("message.created")
        (ack,) = of_kind(client, "message.ack")
        assert client.seen.index(ack) < client.seen.index(created)
        assert (ack["clientMessageId"], ack["duplicate"]) == (identity, False)
        assert (ack["messageId"], ack["seq"]) == (created["message"]["id"], created["message"]["seq"])
        late.told.set()
        # A frame waits for the earlier ones: what this one gets stands behind all that the message got.
        await client.send("feedback", messageId="none", rating="up", conversationId=visitor.conversation)
        await client.until("error")
        assert of_kind(client, "message.ack", "error")[:-1] == [ack]


async def test_of_two_tabs_that_send_the_same_message_at_once_one_is_told_that_it_is_a_copy(
    gateway: GatewayUnderTest, tokens: TokenMaker, late: LateLog
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as one, ChatClient(gateway.url) as other:
        await other.hello(tokens.visitor("v1"), conversationId=one.conversation)
        late.told.clear()
        identity = str(uuid.uuid4())
        for tab in (one, other):
            await tab.send("message.send", clientMessageId=identity, text="hello")
        for tab in (one, other):
            await tab.until("message.created")
        late.told.set()
        acks = [await tab.until("message.ack") for tab in (one, other)]
        assert sorted(ack["duplicate"] for ack in acks) == [False, True]
        assert len({(ack["messageId"], ack["seq"]) for ack in acks}) == 1


async def test_a_message_that_comes_back_while_a_gap_is_read_is_acknowledged_before_it_is_shown(
    gateway: GatewayUnderTest, tokens: TokenMaker, late: LateLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client, ChatClient(gateway.url) as other:
        (attachment,) = gateway.gateway.chat.hub.attachments()
        await other.hello(tokens.visitor("v1"), conversationId=client.conversation)
        reading, go_on = asyncio.Event(), asyncio.Event()
        snapshot: Callable[..., Any] = NatsLog.snapshot

        async def slow(log: NatsLog, *place: Any, **options: Any) -> Any:
            read = await snapshot(log, *place, **options)
            reading.set()
            await go_on.wait()
            return read

        monkeypatch.setattr(NatsLog, "snapshot", slow)
        resync = asyncio.create_task(gateway.gateway.chat.recovery.resync(attachment))
        await reading.wait()
        late.told.clear()
        await client.send("message.send", clientMessageId=str(uuid.uuid4()), text="hello")
        await other.until("message.created")
        go_on.set()
        await resync
        await client.until("message.created")
        late.told.set()
        told = [frame["type"] for frame in of_kind(client, "message.ack", "message.created")]
        assert told == ["message.ack", "message.created"]


async def test_an_acknowledgement_that_is_lost_is_no_failure_once_the_message_has_come_back(
    gateway: GatewayUnderTest, tokens: TokenMaker, late: LateLog
) -> None:
    late.told.clear()
    late.lost = True
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.send("message.send", clientMessageId=str(uuid.uuid4()), text="hello")
        await client.until("message.created")
        late.told.set()
        await client.send("feedback", messageId="none", rating="up")
        assert (await client.until("error"))["code"] == "NOT_FOUND"
        assert [frame["type"] for frame in of_kind(client, "message.ack", "error")] == ["message.ack", "error"]


async def test_what_is_sent_again_is_told_as_a_duplicate(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        identity = str(uuid.uuid4())
        for _ in range(2):
            await client.send("message.send", clientMessageId=identity, text="hello")
        first = await client.until("message.ack")
        second = await client.until("message.ack")
        assert (first["seq"], first["duplicate"], second["duplicate"]) == (second["seq"], False, True)
