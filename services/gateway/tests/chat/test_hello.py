"""Coming in: hello, welcome, snapshot, and every way to be shown the door."""

import asyncio
import json

import pytest
from nats.aio.client import Client

from gateway.adapters.identity import IdentityKeys
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import NatsServer, eventually

pytestmark = pytest.mark.usefixtures("memory")


async def test_a_new_visitor_is_welcomed_into_an_empty_conversation_of_which_nobody_is_asked(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1"))
        welcome, snapshot = await client.next(), await client.next()
    assert welcome == {
        "v": 1,
        "type": "welcome",
        "conversationId": welcome["conversationId"],
        "epoch": welcome["epoch"],
        "seq": 0,
        "recovered": True,
        "heartbeatMs": 25_000,
        "owner": {"kind": "ai"},
        "pendingActions": [],
    }
    assert snapshot == {
        "v": 1,
        "type": "snapshot",
        "conversationId": welcome["conversationId"],
        "messages": [],
        "epoch": welcome["epoch"],
        "seq": 0,
    }
    assert "snapshot" not in memory.requested_methods


async def test_a_conversation_with_no_message_yet_can_be_come_back_to(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url) as client:
        first = await client.hello(tokens.visitor("v1"))
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"), conversationId=first["conversationId"])
    assert again["conversationId"] == first["conversationId"]
    assert again["seq"] == 0


async def test_without_an_id_the_visitors_latest_conversation_is_opened(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url) as client:
        first = await client.hello(tokens.visitor("v1"))
        await client.say("hello")
    memory.latest["acme", "v1"] = first["conversationId"]
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"))
        snapshot = await client.until("snapshot")
    assert again["conversationId"] == first["conversationId"]
    assert [message["text"] for message in snapshot["messages"]] == ["hello"]
    assert snapshot["seq"] == again["seq"] == snapshot["messages"][0]["seq"]


async def test_another_visitors_conversation_is_not_found_and_hello_may_be_said_again(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.say("client.welcome")
    async with ChatClient(gateway.url) as stranger:
        for wanted in (client.conversation, "nobody-knows-this-one"):
            await stranger.send("hello", token=tokens.visitor("v2"), conversationId=wanted)
            error = await stranger.next()
            assert error["code"] == "NOT_FOUND"
            assert "conversationId" not in error
        welcome = await stranger.hello(tokens.visitor("v2"))
        assert welcome["conversationId"] != client.conversation


async def test_a_conversation_that_another_service_began_belongs_to_its_first_visitor(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    memory.known_conversations["imported"] = conversation_view("imported", "acme", "v1")
    async with ChatClient(gateway.url) as client:
        assert (await client.hello(tokens.visitor("v1"), conversationId="imported"))["conversationId"] == "imported"
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v2"), conversationId="imported")
        assert (await client.next())["code"] == "NOT_FOUND"


@pytest.mark.parametrize("wanted", ["a.b", "a b", "*", ">", "x" * 65, ""])
async def test_an_id_with_dots_spaces_or_wildcards_is_a_bad_field(
    gateway: GatewayUnderTest, tokens: TokenMaker, wanted: str
) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1"), conversationId=wanted)
        assert (await client.next())["code"] == "BAD_FIELD"
        await client.hello(tokens.visitor("v1"))


@pytest.mark.parametrize("token", ["", "nonsense", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."])
async def test_a_bad_token_closes_4500(gateway: GatewayUnderTest, token: str) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=token)
        assert await client.closed() == 4500


async def test_a_token_with_a_changed_signature_closes_4500(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    head, body, signature = tokens.visitor("v1").split(".")
    for forged in (f"{head}.{body}.{signature[:-4]}AAAA", f"{head}.{body}."):
        async with ChatClient(gateway.url) as client:
            await client.send("hello", token=forged)
            assert await client.closed() == 4500


async def test_an_expired_token_closes_4005(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1", lifetime=-10))
        assert await client.closed() == 4005


async def test_a_token_that_expires_during_the_chat_closes_4005(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1", lifetime=4)) as client:
        assert await client.closed() == 4005


async def test_the_end_of_a_token_of_days_closes_the_chat_too(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1", lifetime=3 * 86_400)):
        (session,) = gateway.gateway.chat.sessions
        timer = await eventually(lambda: session._expiry)  # pyright: ignore[reportPrivateUsage]
    assert timer is not None


async def test_a_company_that_does_not_exist_closes_4510(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1", company="nobody"))
        assert await client.closed() == 4510


async def test_another_frame_before_hello_closes_4502(gateway: GatewayUnderTest) -> None:
    for frame in ('{"v":1,"type":"ping"}', '{"v":1,"type":"no.such"}', '{"v":1}'):
        async with ChatClient(gateway.url) as client:
            await client.socket.send(frame)
            assert await client.closed() == 4502


async def test_no_hello_in_time_closes_4502(nats_server: NatsServer, identity: IdentityKeys) -> None:
    async with (
        run_gateway(nats_server.url, identity, GatewaySettings(hello_seconds=0.1)) as gateway,
        ChatClient(gateway.url) as client,
    ):
        assert await client.closed() == 4502


async def test_a_second_hello_is_refused_and_changes_nothing(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.send("hello", token=tokens.visitor("v2"))
        assert (await client.until("error"))["code"] == "BAD_FIELD"
        await client.send("ping")
        await client.until("pong")


async def test_a_role_without_a_chat_is_forbidden(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.user("robot", role="service"))
        assert (await client.next())["code"] == "FORBIDDEN"


async def test_too_many_connections_of_an_address_or_a_person_close_4504(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    settings = GatewaySettings(connections_per_address=3, connections_per_person=1)
    async with run_gateway(nats_server.url, identity, settings) as gateway:
        async with ChatClient(gateway.url) as first, ChatClient(gateway.url) as second, ChatClient(gateway.url):
            await first.hello(tokens.visitor("v1"))
            await second.send("hello", token=tokens.visitor("v1"))
            assert await second.closed() == 4504
            async with ChatClient(gateway.url) as third, ChatClient(gateway.url) as one_too_many:
                assert await one_too_many.closed() == 4504
                await third.hello(tokens.visitor("v2"))
        async with ChatClient(gateway.url) as later:
            await later.hello(tokens.visitor("v1"))


async def test_a_blocked_address_closes_4503(nats_server: NatsServer, identity: IdentityKeys) -> None:
    settings = GatewaySettings.model_validate({"blocked_networks": "192.0.2.0/24, 127.0.0.0/8"})
    async with run_gateway(nats_server.url, identity, settings) as gateway, ChatClient(gateway.url) as client:
        assert await client.closed() == 4503


async def test_a_draining_gateway_closes_4001_and_takes_nobody_in(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await gateway.gateway.drain()
        assert await client.closed() == 4001
    async with ChatClient(gateway.url) as late:
        assert await late.closed() == 4001


async def test_a_resumed_client_of_an_unchanged_conversation_gets_nothing_twice(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url) as client:
        mine = await client.hello(tokens.visitor("v1"))
        ack = await client.say("one")
    since = {"epoch": mine["epoch"], "seq": ack["seq"]}
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"], since=since)
        await client.send("ping")
        assert (await client.next())["type"] == "pong"
    assert (again["recovered"], again["seq"]) == (True, ack["seq"])


@pytest.mark.parametrize("cursor", [{"epoch": "another", "seq": 1}, {"epoch": None, "seq": 10_000_000}])
async def test_another_epoch_or_an_impossible_cursor_gets_a_snapshot_in_place_of_the_gap(
    gateway: GatewayUnderTest, tokens: TokenMaker, cursor: dict[str, object]
) -> None:
    async with ChatClient(gateway.url) as client:
        mine = await client.hello(tokens.visitor("v1"))
        await client.say("one")
    since = {"epoch": cursor["epoch"] or mine["epoch"], "seq": cursor["seq"]}
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"], since=since)
        snapshot = await client.next()
    assert again["recovered"] is False
    assert [message["text"] for message in snapshot["messages"]] == ["one"]


async def test_idle_clients_that_answer_pings_stay_and_those_that_do_not_close_4012(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker, nats_client: Client
) -> None:
    settings = GatewaySettings(heartbeat_seconds=1.0)
    async with run_gateway(nats_server.url, identity, settings) as gateway, ChatClient(gateway.url) as alive:
        await alive.hello(tokens.visitor("v1"))
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
        writer.write(
            b"GET /v2/chat/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        async with asyncio.timeout(20):
            await reader.readuntil(b"\r\n\r\n")
            assert (await reader.readexactly(2))[0] == 0x89  # a ping, which this client does not answer
            await reader.readexactly(4)
            head = await reader.readexactly(2)
            assert head[0] == 0x88
            assert int.from_bytes((await reader.readexactly(head[1]))[:2], "big") == 4012
        writer.close()
        await alive.send("ping")
        await alive.until("pong")


async def test_frames_that_are_no_json_objects_close_4501(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    for frame in ("{no", "[1]", '"text"', b"\x00\x01", json.dumps({"v": 1, "type": "ping", "x": "y" * 131_072})):
        async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
            await client.socket.send(frame)
            assert await client.closed() == 4501


async def test_a_frame_of_exactly_128_kib_is_read(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    empty = json.dumps({"v": 1, "type": "ping", "x": ""})
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as client:
        await client.socket.send(json.dumps({"v": 1, "type": "ping", "x": "y" * (131_072 - len(empty))}))
        await client.until("pong")


async def test_a_flood_of_frames_closes_4029(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    settings = GatewaySettings(frames_per_ten_seconds=20)
    async with run_gateway(nats_server.url, identity, settings) as gateway, ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"))
        for _ in range(25):
            await client.send("ping")
        assert await client.closed() == 4029
