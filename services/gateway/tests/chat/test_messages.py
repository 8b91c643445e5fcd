"""Messages: acknowledged when they are durable, stored once, in order, within the limits."""

import asyncio
import re
import uuid

import pytest
from nats.aio.client import Client

from contracts.channels import ChatKind
from contracts.conversation import Fact
from contracts.events.chat import VisitorMessage
from contracts.ids import derive_id
from gateway.adapters.identity import IdentityKeys
from gateway.settings import GatewaySettings
from gateway.testing.harness import AgentStandIn, ChatClient, Frame, GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.http import Http
from gateway.testing.tokens import TokenMaker
from runtime.conversation import ConversationLog, facts_of
from runtime.testing.servers import NatsServer, eventually

pytestmark = pytest.mark.usefixtures("memory")


async def stored(client: Client, conversation: str, company: str = "acme") -> list[Fact]:
    """The conversation as the log holds it."""
    log = ConversationLog(client)
    snapshot = await log.snapshot(company, conversation)
    facts = await log.read(company, conversation, 0, snapshot.seq)
    return facts_of(facts)


async def test_an_acknowledged_message_is_in_the_log_with_who_wrote_it_and_where(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    identity = str(uuid.uuid4())
    page = {"url": "https://shop.example/pricing", "title": "Pricing"}
    async with ChatClient(gateway.url) as client:
        mine = await client.hello(tokens.visitor("v1"), page=page, locale="en")
        before = [f"https://shop.example/{number}" for number in range(19)]
        visited = [page["url"], None, *before, "https://shop.example/" + 3000 * "x"]
        ack = await client.say("hello", clientMessageId=identity, visited=visited)
    (fact,) = await stored(nats_client, mine["conversationId"])
    data = VisitorMessage.model_validate(fact.data)
    derived = derive_id("acme", mine["conversationId"], "visitor", identity)
    assert (fact.seq, fact.kind, fact.event["id"]) == (ack["seq"], ChatKind.VISITOR, derived)
    assert fact.event["type"] == "chat.message.visitor.v1"
    assert (data.message_id, data.client_message_id, data.text) == (derived, identity, "hello")
    assert (data.locale, data.role) == ("en", "visitor")
    assert data.page is not None
    assert data.page.url == page["url"]
    assert data.visited is not None
    assert (data.visited[:19], len(data.visited[19])) == (before, 2048)
    assert data.principal is not None
    assert ack == {
        "v": 1,
        "type": "message.ack",
        "conversationId": mine["conversationId"],
        "clientMessageId": identity,
        "messageId": derived,
        "seq": fact.seq,
        "duplicate": False,
    }


async def test_what_a_token_was_asked_for_with_goes_with_the_messages_unless_a_hello_says_otherwise(
    gateway: GatewayUnderTest, http: Http, nats_client: Client
) -> None:
    page = {"url": "https://shop.example/pricing", "title": "x" * 500}
    visit = {"companyId": "acme", "page": page, "locale": "en-GB", "funnelStage": "lead"}
    status, body, _ = await http("POST", "/v2/visitors", json=visit)
    assert status == 201
    for said, url, locale in (({}, page["url"], "en-GB"), ({"page": {"url": "/x"}, "locale": "es"}, "/x", "es")):
        async with ChatClient(gateway.url) as client:
            conversation = (await client.hello(body["token"], **said))["conversationId"]
            await client.say("hello")
        data = VisitorMessage.model_validate((await stored(nats_client, conversation))[-1].data)
        assert data.page is not None
        assert (data.page.url, data.locale, data.funnel_stage) == (url, locale, "lead")


async def test_every_socket_of_the_conversation_is_told_of_a_message_once(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as one, ChatClient(gateway.url) as two:
        await two.hello(tokens.visitor("v1"), conversationId=one.conversation)
        await one.say("a")
        ack = await one.say("b")
        for client in (one, two):
            await client.fact(ack["seq"])
            created = [frame["message"] for frame in client.seen if frame["type"] == "message.created"]
            assert [message["text"] for message in created] == ["a", "b"]
            assert all(message["clientMessageId"] and message["role"] == "visitor" for message in created)


async def test_the_same_message_again_is_a_duplicate_with_the_first_ones_place(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    identity = str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        first = await client.say("hello", clientMessageId=identity)
        again = await client.say("hello", clientMessageId=identity)
        retried = await client.say("hello", clientMessageId=identity, retry=True)
    assert again == first | {"duplicate": True}
    assert retried == first | {"duplicate": True}
    assert len(await stored(nats_client, client.conversation)) == 1


async def test_a_retry_is_recognised_after_the_servers_deduplication_has_forgotten(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, memory: MemoryStandIn
) -> None:
    identity = str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        agent = AgentStandIn(nats_client, "acme", client.conversation)
        data = VisitorMessage(
            message_id=derive_id("acme", client.conversation, "visitor", identity),
            client_message_id=identity,
            text="long ago",
        )
        # Stored under another Msg-Id: to the server's window it is as unknown as one of yesterday.
        first = await agent.append(ChatKind.VISITOR, data, "forgotten")
        await client.until("message.created")  # its live copy would acknowledge the retry as a message of now
        for memory_is_there in (True, False):
            if not memory_is_there:
                await memory.stop()
            await client.send("message.send", clientMessageId=identity, text="long ago", retry=True)
            ack = await client.until("message.ack")
            assert (ack["seq"], ack["duplicate"]) == (first.seq, True)
    assert len(await stored(nats_client, client.conversation)) == 1


async def test_the_same_client_id_in_another_conversation_is_another_message(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    identity = str(uuid.uuid4())
    acks: list[Frame] = []
    for visitor in ("v1", "v2"):
        async with ChatClient(gateway.url, hello=tokens.visitor(visitor)) as client:
            acks.append(await client.say("hello", clientMessageId=identity))
    assert [ack["duplicate"] for ack in acks] == [False, False]
    assert acks[0]["messageId"] != acks[1]["messageId"]


async def test_messages_are_stored_in_the_order_in_which_they_were_sent(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        for number in range(20):
            await client.send("message.send", clientMessageId=str(uuid.uuid4()), text=str(number))
        for _ in range(20):
            await client.until("message.ack")
    assert [fact.data["text"] for fact in await stored(nats_client, client.conversation)] == [
        str(number) for number in range(20)
    ]


async def test_the_twenty_first_message_in_a_minute_is_refused_with_the_time_to_wait(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    refused = str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        first = await client.say("0")
        for number in range(1, 20):
            await client.say(str(number))
        await client.send("message.send", clientMessageId=refused, text="one too many")
        error = await client.until("error")
        assert (error["code"], error["retryable"], error["ref"]) == ("RATE_LIMITED", True, refused)
        assert 50_000 < error["retryAfterMs"] <= 60_001
        assert re.fullmatch(r"too many messages: try again in [56]\d s", error["message"])
        known = await client.say("0", clientMessageId=first["clientMessageId"], retry=True)
        assert known["duplicate"]
    assert len(await stored(nats_client, client.conversation)) == 20


async def test_an_address_has_a_limit_of_its_own(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    settings = GatewaySettings(messages_per_address=3)
    async with run_gateway(nats_server.url, identity, settings) as gateway:
        for number in range(4):
            async with ChatClient(gateway.url, hello=tokens.visitor(f"v{number}")) as client:
                await client.send("message.send", clientMessageId=str(uuid.uuid4()), text="hi")
                expected = "message.ack" if number < 3 else "error"
                await client.until(expected)


async def test_an_address_may_begin_a_limited_number_of_conversations_but_go_on_with_them(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    settings = GatewaySettings(conversations_per_address=2)
    async with run_gateway(nats_server.url, identity, settings) as gateway, ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v0"))
        await client.say("first")
        async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as second:
            await second.say("first")
        async with ChatClient(gateway.url, hello=tokens.visitor("v2")) as third:
            await third.send("message.send", clientMessageId=str(uuid.uuid4()), text="first")
            error = await third.until("error")
            told = "too many new conversations from one address: try again in 60 min"
            assert (error["code"], error["message"]) == ("RATE_LIMITED", told)
        await client.say("second")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": "x" * 8001}, "TEXT_TOO_LONG"),
        ({"text": "x" * 9000}, "TEXT_TOO_LONG"),
        ({"text": ""}, "EMPTY_TEXT"),
        ({"text": "hi", "clientMessageId": "7"}, "BAD_FIELD"),
        ({"text": "hi", "conversationId": "another"}, "NOT_FOUND"),
        ({"text": "hi", "conversationId": "a.b"}, "BAD_FIELD"),
    ],
)
async def test_a_bad_message_gets_its_error_and_the_socket_stays_open(
    gateway: GatewayUnderTest, tokens: TokenMaker, fields: dict[str, str], code: str
) -> None:
    identity = fields.setdefault("clientMessageId", str(uuid.uuid4()))
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.send("message.send", **fields)
        error = await client.until("error")
        assert (error["code"], error["retryable"], error["ref"]) == (code, False, identity)
        assert "conversationId" in error
        await client.send("ping")
        await client.until("pong")


async def test_eight_thousand_characters_of_any_kind_are_stored(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    text = "🦜" * 8000
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        created = await client.fact((await client.say(text))["seq"])
        assert created["message"]["text"] == text


@pytest.mark.own_servers
async def test_a_message_is_not_acknowledged_while_the_bus_is_frozen_and_is_stored_once_it_thaws(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_server: NatsServer, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        nats_server.pause()
        try:
            await client.send("message.send", clientMessageId=str(uuid.uuid4()), text="patience")
            await client.send("ping")
            await client.until("pong")
            assert not [frame for frame in client.seen if frame["type"] == "message.ack"]
        finally:
            nats_server.resume()
        ack = await client.until("message.ack")
    assert not ack["duplicate"] or ack["seq"] > 0
    assert [fact.data["text"] for fact in await stored(nats_client, client.conversation)] == ["patience"]


async def test_what_was_asked_for_is_done_even_when_the_client_leaves_at_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        for number in range(5):
            await client.send("message.send", clientMessageId=str(uuid.uuid4()), text=str(number))

    async def all_there() -> bool:
        return len(await stored(nats_client, client.conversation)) == 5

    await eventually(all_there)


async def test_when_the_last_socket_leaves_nothing_is_kept_of_the_conversation(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    chat = gateway.gateway.chat
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as one, ChatClient(gateway.url) as two:
        await two.hello(tokens.visitor("v1"), conversationId=one.conversation)
        assert chat.hub.conversations == 1
    await eventually(lambda: chat.hub.conversations == 0 and not chat.sessions)
    await asyncio.wait_for(gateway.client.flush(), 20)
