"""Hello while memory, or whoever has the keys of tokens, is slow or away."""

import asyncio
import json
import socket

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from nats.aio.client import Client
from pydantic import SecretStr

from contracts import conversation_rpc
from gateway.adapters.identity import IdentityKeys, build_identity
from gateway.domain.close_codes import CloseCode
from gateway.ports import Visit
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("memory")


class BusyMemory(MemoryStandIn):
    """Says which conversation is the visitor's only when it is told to."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.let_go = asyncio.Event()

    async def _latest(
        self, request: conversation_rpc.LatestConversationRequest
    ) -> conversation_rpc.LatestConversationReply:
        await self.let_go.wait()
        return await super()._latest(request)


async def test_who_has_said_hello_is_not_sent_away_because_it_takes_long_to_let_them_in(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker, nats_client: Client, memory: MemoryStandIn
) -> None:
    await memory.stop()
    busy = BusyMemory(nats_client)
    busy.add_company("acme")
    await busy.start()
    async with (
        run_gateway(nats_server.url, identity, GatewaySettings(hello_seconds=1.0)) as gateway,
        ChatClient(gateway.url) as client,
    ):
        await client.send("hello", token=tokens.visitor("v1"))
        async with ChatClient(gateway.url) as silent:  # came later: when it is sent away, the time of both is over
            assert await silent.closed() == CloseCode.NO_HELLO
        busy.let_go.set()
        await client.until("welcome")
        await client.send("ping")
        await client.until("pong")
    await busy.stop()


async def test_while_memory_is_away_a_new_visitor_is_let_in_and_writes(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    await memory.stop()
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1"))
        mine = await client.next(deadline=15)
        assert (mine["type"], mine["recovered"]) == ("welcome", True)
        assert (await client.until("snapshot"))["messages"] == []
        await client.say("is anybody there?")
    await memory.start()
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
        assert [one["text"] for one in (await client.until("snapshot"))["messages"]] == ["is anybody there?"]


async def test_while_memory_is_away_and_the_log_is_a_window_a_young_conversation_is_whole_and_an_old_one_says_so(
    nats_server: NatsServer,
    nats_client: Client,
    identity: IdentityKeys,
    tokens: TokenMaker,
    memory: MemoryStandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.adapters.log.CLOCK_SKEW_SECONDS", 0.0)
    async with run_gateway(nats_server.url, identity) as gateway:

        async def begun(who: str, *said: str) -> str:
            async with ChatClient(gateway.url) as client:
                mine = (await client.hello(tokens.visitor(who)))["conversationId"]
                for text in said:
                    last = (await client.say(text))["seq"]
                    ends[who] = last
            return mine

        async def shown(who: str, conversation: str) -> tuple[list[str], bool]:
            async with ChatClient(gateway.url) as client:
                await client.send("hello", token=tokens.visitor(who), conversationId=conversation)
                frame = await client.until("snapshot")
                return [message["text"] for message in frame["messages"]], frame.get("complete", True)

        ends: dict[str, int] = {}
        old = await begun("v1", "let go of", "kept")
        await begun("v2", "another's")
        young = await begun("v3", "one", "two")
        purge = {"seq": ends["v1"]}
        answer = await nats_client.request("$JS.API.STREAM.PURGE.CHAT", json.dumps(purge).encode())
        assert "error" not in json.loads(answer.data)
        await memory.stop()
        assert await shown("v3", young) == (["one", "two"], True)
        assert await shown("v1", old) == (["kept"], False)


async def test_while_memory_is_away_a_known_conversation_goes_on(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url) as client:
        mine = await client.hello(tokens.visitor("v1"))
        await client.say("before")
    await memory.stop()
    async with ChatClient(gateway.url) as client:
        await client.send("hello", token=tokens.visitor("v1"), conversationId=mine["conversationId"])
        snapshot = await client.until("snapshot")
        assert [message["text"] for message in snapshot["messages"]] == ["before"]
        await client.say("after")


async def test_while_the_companys_key_set_is_away_a_token_is_neither_good_nor_bad(nats_server: NatsServer) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        keys = TokenSettings(
            jwt_jwks_url=f"http://127.0.0.1:{nobody.getsockname()[1]}/keys",
            principal_key=SecretStr("a secret of this test alone, 0123456789"),
        )
        identity = build_identity(keys, 3600, SystemClock())
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        token = jwt.encode({"sub": "u1", "exp": 4_000_000_000}, key, algorithm="RS256", headers={"kid": "k1"})
        async with run_gateway(nats_server.url, identity) as gateway, ChatClient(gateway.url) as client:
            await client.send("hello", token=token)
            error = await client.next(deadline=15)
            assert (error["code"], error["retryable"]) == ("UNAVAILABLE", True)
            visitor = identity.tokens.visitors.make("acme", "v1", Visit()).token
            await client.hello(visitor)
