"""The websocket under slow, broken and hostile clients."""

import asyncio
import os
import socket as sockets
import uuid
from collections.abc import Callable

import pytest
from nats.aio.client import Client

from contracts.channels import ChatKind
from contracts.events.chat import SystemMessage
from gateway.adapters.identity import IdentityKeys
from gateway.settings import GatewaySettings
from gateway.testing.harness import AgentStandIn, ChatClient, GatewayUnderTest, run_gateway
from gateway.testing.tokens import TokenMaker
from gateway.web import http_transport
from gateway.web.http_transport import MAX_HEAD_BYTES, BoundedHttp
from gateway.web.slow_readers import SLOW_READERS
from gateway.web.transport import MAX_BUFFERED_BYTES
from runtime.testing.servers import NatsServer, eventually

pytestmark = pytest.mark.usefixtures("memory")

HANDSHAKE = (
    b"GET /v2/chat/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def masked(opcode: int, payload: bytes, *, declared: int | None = None) -> bytes:
    """One client frame (RFC 6455, section 5.2); `declared` lies about the length."""
    length = len(payload) if declared is None else declared
    mask = os.urandom(4)
    head = bytes([0x80 | opcode])
    if length < 126:
        head += bytes([0x80 | length])
    elif length < 65536:
        head += bytes([0x80 | 126]) + length.to_bytes(2, "big")
    else:
        head += bytes([0x80 | 127]) + length.to_bytes(8, "big")
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


async def test_what_is_written_leaves_at_once(gateway: GatewayUnderTest) -> None:
    with sockets.create_connection(("127.0.0.1", gateway.server.port)):
        open_here = gateway.server._server.server_state.connections  # pyright: ignore[reportPrivateUsage]
        (protocol,) = await eventually(lambda: tuple(open_here))
        accepted = protocol.transport.get_extra_info("socket")
        assert accepted.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY) == 1


async def test_a_request_that_came_while_the_process_stood_still_is_answered(gateway: GatewayUnderTest) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
    ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    writer.write(ask)
    assert (await reader.readline()).startswith(b"HTTP/1.1 ")
    open_here = gateway.server._server.server_state.connections  # pyright: ignore[reportPrivateUsage]
    (protocol,) = (one for one in open_here if isinstance(one, BoundedHttp))
    await eventually(lambda: protocol.timeout_keep_alive_task)
    writer.write(ask)
    protocol.timeout_keep_alive_handler()  # as on waking: its time is over, and the request lies unread
    await asyncio.wait_for(reader.readuntil(b"HTTP/1.1 "), 20)
    writer.close()


@pytest.mark.parametrize(("begun", "answer"), [(b"GET /healthz HT", b"HTTP/1.1 400"), (b"", b"")])
async def test_a_head_that_does_not_come_holds_no_connection(
    gateway: GatewayUnderTest, monkeypatch: pytest.MonkeyPatch, begun: bytes, answer: bytes
) -> None:
    monkeypatch.setattr(http_transport, "HEAD_SECONDS", 0.2)
    with sockets.create_connection(("127.0.0.1", gateway.server.port)) as raw:
        raw.sendall(begun)
        raw.setblocking(False)
        async with asyncio.timeout(20):
            assert (await asyncio.get_running_loop().sock_recv(raw, 100)).startswith(answer)


@pytest.mark.parametrize("path", [b"GET /healthz", b"GET /v2/chat/ws"])
@pytest.mark.parametrize("hosts", [[b"127.0.0.1", b"evil.example"], [b"127.0.0.1"] * 2, []])
async def test_a_request_with_two_hosts_or_none_is_refused(
    gateway: GatewayUnderTest, path: bytes, hosts: list[bytes]
) -> None:
    upgrade = HANDSHAKE.partition(b"Host: x\r\n")[2] if path.endswith(b"ws") else b"\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
    writer.write(path + b" HTTP/1.1\r\n" + b"".join(b"Host: %s\r\n" % host for host in hosts) + upgrade)
    assert (await asyncio.wait_for(reader.read(), 20)).startswith(b"HTTP/1.1 400 ")
    writer.close()


async def slow_client(gateway: GatewayUnderTest, token: str, conversation: str | None) -> sockets.socket:
    """A client that has said hello and reads no further."""
    raw = sockets.socket()
    raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    raw.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(raw, ("127.0.0.1", gateway.server.port))
    await loop.sock_sendall(raw, HANDSHAKE)
    async with asyncio.timeout(20):
        assert (await loop.sock_recv(raw, 4096)).startswith(b"HTTP/1.1 101")
    await loop.sock_sendall(
        raw, masked(1, f'{{"v":1,"type":"hello","token":"{token}","conversationId":"{conversation}"}}'.encode())
    )
    return raw


async def append_until(closed: Callable[[], bool], agent: AgentStandIn, quick: ChatClient, size: int) -> int:
    """Appends system messages of this size, which the quick client reads, until `closed`; returns their number."""
    for number in range(200):
        if closed():
            return number
        data = SystemMessage(message_id=str(uuid.uuid4()), text="x" * size, code="INTERNAL")
        await quick.fact((await agent.append(ChatKind.SYSTEM, data, str(uuid.uuid4()))).seq)
    raise AssertionError("nobody was disconnected")


async def test_a_client_that_does_not_read_is_closed_4008_and_holds_nobody_up(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as quick:
        raw = await slow_client(gateway, tokens.visitor("v1"), quick.conversation)
        loop = asyncio.get_running_loop()
        chat = gateway.gateway.chat
        await eventually(lambda: len(list(chat.hub.attachments())) == 2)
        agent = AgentStandIn(nats_client, "acme", quick.conversation)
        sent = 100_000 * await append_until(lambda: len(chat.sessions) == 1, agent, quick, 100_000)
        assert MAX_BUFFERED_BYTES < sent < 2 * MAX_BUFFERED_BYTES  # the kernel takes hardly more for it
        await quick.send("ping")
        await quick.until("pong")
        received = b""
        async with asyncio.timeout(30):
            while chunk := await loop.sock_recv(raw, 1 << 20):
                received += chunk
        assert (4008).to_bytes(2, "big") in received[-200:]
        raw.close()


async def test_what_is_held_for_all_slow_clients_together_is_bounded(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SLOW_READERS, "max_total_bytes", 1_000_000)
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as quick:
        chat = gateway.gateway.chat
        slow = [await slow_client(gateway, tokens.visitor("v1"), quick.conversation) for _ in range(5)]
        await eventually(lambda: len(list(chat.hub.attachments())) == 6)
        agent = AgentStandIn(nats_client, "acme", quick.conversation)
        sent = await append_until(lambda: len(chat.sessions) < 6, agent, quick, 50_000)
        assert sent * 50_000 < MAX_BUFFERED_BYTES  # none of them has reached its own bound
        assert len(chat.sessions) > 1
        await append_until(lambda: len(chat.sessions) == 1, agent, quick, 50_000)
        assert SLOW_READERS.total == 0
        await quick.send("ping")
        await quick.until("pong")
        for raw in slow:
            raw.close()


def fragment(opcode: int) -> bytes:
    """A part of a message that is not its last one."""
    frame = bytearray(masked(opcode, b"x" * 60_000))
    frame[0] &= 0x7F
    return bytes(frame)


@pytest.mark.parametrize(
    "frames",
    [masked(1, b"x" * 1000, declared=1 << 40), fragment(1) + fragment(0) + fragment(0)],
    ids=["declares gigabytes, and is refused before they are read", "in fragments, bounded as a whole"],
)
async def test_a_message_that_is_too_large_closes_4501(gateway: GatewayUnderTest, frames: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
    writer.write(HANDSHAKE)
    async with asyncio.timeout(20):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frames)
        head = await reader.readexactly(2)
        assert head[0] == 0x88
        assert int.from_bytes((await reader.readexactly(head[1]))[:2], "big") == 4501
        assert await reader.read() == b""
    writer.close()


async def test_clients_that_break_off_leave_nothing_behind(gateway: GatewayUnderTest, tokens: TokenMaker) -> None:
    chat = gateway.gateway.chat
    hello = f'{{"v":1,"type":"hello","token":"{tokens.visitor("v1")}"}}'.encode()
    for sent in (b"", HANDSHAKE[:40], HANDSHAKE, HANDSHAKE + masked(1, hello), HANDSHAKE + masked(1, hello)[:20]):
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
        writer.write(sent)
        await writer.drain()
        writer.transport.abort()
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v2"))
    await eventually(lambda: not chat.sessions and chat.hub.conversations == 0)


async def test_compression_is_not_agreed_to(gateway: GatewayUnderTest) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
    writer.write(HANDSHAKE[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
    async with asyncio.timeout(20):
        answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 101")
    assert b"permessage-deflate" not in answer
    writer.close()


async def test_only_a_trusted_proxy_says_whose_address_it_is(
    nats_server: NatsServer, identity: IdentityKeys, tokens: TokenMaker
) -> None:
    said = {"X-Forwarded-For": "192.0.2.7"}
    for trusted, code in (("127.0.0.1", 4503), ("", None)):
        settings = GatewaySettings.model_validate({"blocked_networks": "192.0.2.0/24", "trusted_proxies": trusted})
        async with (
            run_gateway(nats_server.url, identity, settings) as gateway,
            ChatClient(gateway.url, headers=said) as client,
        ):
            if code is None:
                await client.hello(tokens.visitor("v1"))
            else:
                assert await client.closed() == code


LONG = b"x" * (MAX_HEAD_BYTES // 2)
CHUNKED = b"POST /v2/visitors HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ((b"GET /" + LONG, LONG, LONG), b"400"),
        ((b"GET / HTTP/1.1\r\nX: " + LONG, LONG, LONG), b"400"),
        ((b"GET / HTTP/1.1\r\n", *((b"X: y\r\n" * 5_000,) * 3)), b"400"),
        ((CHUNKED + b"0\r\nX: ", *((LONG,) * 20)), b"400"),
        ((CHUNKED + b"".join(b"1;%s\r\n \r\n" % (b"y" * 100) for _ in range(1_000)) + b"0\r\n\r\n",), b"422"),
    ],
    ids=["line", "header", "headers", "trailer", "many chunks"],
)
async def test_what_is_said_about_a_request_is_bounded(
    gateway: GatewayUnderTest, sent: tuple[bytes, ...], status: bytes
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.server.port)
    for piece in sent:
        writer.write(piece)
    async with asyncio.timeout(20):
        assert (await reader.readline()).split(b" ")[1] == status
    writer.close()
