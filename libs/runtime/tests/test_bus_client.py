"""The short ways through nats-py's client say and hear exactly what the long ones do."""
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import BadSubjectError, ProtocolError
from nats.protocol.parser import Parser

from runtime.bus_client import BusClient, BusParser
from runtime.connection import connect, listen
from runtime.settings import NatsSettings
from runtime.testing import NatsServer, eventually

Heard = list[tuple[int, bytes, bytes, bytes, bytes]]
_subjects = st.sampled_from([b"a", b"chat.demo.c1.message.visitor.v1", b"_INBOX.x.1"])
_bodies = st.binary(max_size=60) | st.just(b"x" * 70_000) | st.just(b"MSG a 1 1\r\nx\r\n")
_heads = st.none() | st.sampled_from([b"NATS/1.0\r\nA: b\r\n\r\n", b"NATS/1.0 404 Gone\r\n\r\n", b"NATS/1.0\r\n\r\n"])
_messages = st.lists(st.tuples(_subjects, st.integers(1, 99), st.none() | _subjects, _heads, _bodies), max_size=8)
_between = st.sampled_from([b"", b"PING\r\n", b"+OK\r\n", b"PONG\r\n"])


class _Ear:
    """A client's place behind a parser."""

    def __init__(self) -> None:
        self.heard: Heard = []
        self.pings = 0

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes | None) -> None:
        self.heard.append((sid, bytes(subject), bytes(reply), data, headers or b""))

    async def _process_ping(self) -> None:
        self.pings += 1

    async def _process_pong(self) -> None:
        self.pings += 1


@settings(deadline=None)
@given(messages=_messages, between=_between, pieces=st.lists(st.integers(1, 50_000), min_size=1, max_size=12))
async def test_what_comes_is_heard_as_nats_py_hears_it(
    messages: list[tuple[bytes, int, bytes | None, bytes | None, bytes]], between: bytes, pieces: list[int]
) -> None:
    stream = between.join(_on_the_wire(*message) for message in messages)
    heard: list[tuple[Heard, int, bytes]] = []
    for parser in (Parser, BusParser):
        ear = _Ear()
        reading = parser(ear)
        rest, turn = stream, 0
        while rest:
            # A long stream byte by byte takes minutes, and tells no more than a short one.
            size = max(pieces[turn % len(pieces)], len(stream) // 500)
            await reading.parse(rest[:size])
            rest, turn = rest[size:], turn + 1
        heard.append((ear.heard, ear.pings, bytes(reading.buf)))
    assert heard[0] == heard[1]


@pytest.mark.parametrize("line", [b"MSG a one 1\r\nx\r\n", b"HMSG a 1 2 x\r\n\r\n", b"NONSENSE\r\n"])
async def test_what_is_no_protocol_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        await BusParser(_Ear()).parse(_on_the_wire(b"a", 1, None, None, b"fine") + line)


def _headers() -> st.SearchStrategy[dict[str, str] | None]:
    values = st.text(max_size=12).filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))
    return st.none() | st.dictionaries(st.sampled_from(["Nats-Msg-Id", "traceparent", " odd ", ""]), values, max_size=3)


@settings(deadline=None)
@given(body=st.binary(max_size=40), reply=st.sampled_from(["", "_INBOX.a.1"]), headers=_headers())
async def test_what_is_said_is_byte_for_byte_what_nats_py_says(
    body: bytes, reply: str, headers: dict[str, str] | None
) -> None:
    said: list[bytes] = []
    for client in (Client(), BusClient()):
        client._status, client._max_payload, client._transport = Client.CONNECTED, 1024, TcpTransport()
        await client.publish("a.b", body, reply, headers)
        said.append(b"".join(client._pending))
    assert said[0] == said[1]


@pytest.mark.parametrize("subject", ["", "a b", "a\r\nPUB x 0", "a\tb"])
async def test_a_subject_with_a_command_in_it_is_refused(nats_server: NatsServer, subject: str) -> None:
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    with pytest.raises(BadSubjectError):
        await client.publish(subject, b"")
    with pytest.raises(BadSubjectError):
        await client.publish("a", b"", reply=subject or " ")
    await client.close()


async def test_listeners_hear_everything_in_order_and_survive_their_own_errors(nats_server: NatsServer) -> None:
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    heard: list[int] = []

    def take(message: object) -> None:
        heard.append(int(message.data))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]
        if len(heard) == 1:
            raise ValueError("the first")

    subscription = await listen(client, "numbers", take)
    for number in range(5_000):
        await client.publish("numbers", b"%d" % number)
    await eventually(lambda: len(heard) == 5_000)
    assert heard == list(range(5_000))
    await subscription.unsubscribe()
    await client.publish("numbers", b"7")
    await client.flush()
    assert len(heard) == 5_000
    assert subscription._id not in client._takers  # pyright: ignore[reportAttributeAccessIssue]
    await client.close()


async def test_listeners_hear_a_large_message_without_headers(nats_server: NatsServer) -> None:
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    heard: list[int] = []
    await listen(client, "large", lambda message: heard.append(len(message.data)))
    await client.publish("large", bytes(900_000))
    await eventually(lambda: heard == [900_000])
    await client.close()


def _on_the_wire(subject: bytes, sid: int, reply: bytes | None, head: bytes | None, body: bytes) -> bytes:
    to = b"" if reply is None else reply + b" "
    if head is None:
        return b"MSG %s %d %s%d\r\n%s\r\n" % (subject, sid, to, len(body), body)
    return b"HMSG %s %d %s%d %d\r\n%s%s\r\n" % (subject, sid, to, len(head), len(head) + len(body), head, body)
