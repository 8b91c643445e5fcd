"""The short ways through nats-py's client say and hear exactly what the long ones do."""
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport
from nats.errors import BadSubjectError

from runtime.bus.bus_client import BusClient
from runtime.bus.connection import connect, listen
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer, eventually

_lines = st.lists(
    st.sampled_from([b"A: b", b"a:b", b"Nats-Msg-Id: x ", b"none", b"", b" : ", b"caf\xc3\xa9: \xc3\xa9", b"B:"])
    | st.binary(max_size=9),
    max_size=4,
)


@settings(deadline=None)
@given(lines=_lines)
def test_headers_are_read_as_nats_py_reads_them(lines: list[bytes]) -> None:
    raw = b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    for _ in range(2):  # the second time their names are known
        assert BusClient._parse_header_lines(raw) == Client._parse_header_lines(raw)


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
    assert subscription._id not in client._listeners  # pyright: ignore[reportAttributeAccessIssue]
    await client.close()


_messages = st.lists(
    st.sampled_from(
        [
            b"MSG a 1 3\r\nabc\r\n",
            b"MSG a 1 r 3\r\n\r\nc\r\n",
            b"MSG a 1 0\r\n\r\n",
            b"MSG b 2 r 1\r\nb\r\n",
            b"MSG c 3 1\r\nc\r\n",
            b"HMSG a 1 12 13\r\nNATS/1.0\r\n\r\nh\r\n",
            b"HMSG a 1 r 18 18\r\nNATS/1.0\r\nA: b\r\n\r\n\r\n",
            b"HMSG a 1 r 16 16\r\nNATS/1.0 503\r\n\r\n\r\n",
            b"HMSG a 1 0 1\r\nx\r\n",
            b"MSG  a 1  1\r\nx\r\n",
            b"MSG\ta 1 1\r\nx\r\n",
            b"PING\r\n",
            b"+OK\r\n",
            b"MSG a x 1\r\nx\r\n",
            b"HMSG a 1 9 2\r\nNATS/1.0\r\n\r\n",
            b"MSG a 1 1\n",
            b"\r\n",
        ]
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=300)
@given(messages=_messages, cuts=st.lists(st.integers(0, 200), max_size=6), slow=st.booleans())
async def test_what_is_heard_at_once_is_what_nats_py_hears(messages: list[bytes], cuts: list[int], slow: bool) -> None:
    said = b"".join(messages)
    edges = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    pieces = [said[begin:end] for begin, end in itertools.pairwise(edges)]
    assert await _heard(pieces, at_once=True, slow=slow) == await _heard(pieces, at_once=False, slow=slow)


class _Reader(asyncio.StreamReader):
    """`waits` is set when somebody waits for its data."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = asyncio.Event()

    async def _wait_for_data(self, func_name: str) -> None:
        self.waits.set()
        await super()._wait_for_data(func_name)  # type: ignore[misc]

    async def read_out(self) -> None:
        """Waits until the loop that reads it waits for more."""
        async with asyncio.timeout(10):
            await self.waits.wait()


async def _heard(pieces: list[bytes], *, at_once: bool, slow: bool) -> list[object]:
    """What a client hears of these pieces, the faults that it finds, and how it ends. `slow`: its loop has no time to
    read between two of them."""
    client, heard = BusClient(), list[object]()
    reader: Any = _Reader()

    async def fault(error: Exception) -> None:
        heard.append(repr(error))

    def take(message: Msg) -> None:
        heard.append((message.subject, message.reply, message.data, message.headers))
        if message.data == b"h":
            raise ValueError("a listener's")

    client._error_cb, client._status, client._transport = fault, Client.CONNECTED, TcpTransport()
    client._transport._io_reader = client._transport._bare_io_reader = reader
    ended = list[object]()
    client._process_op_err = lambda e: _noted(ended, type(e))
    client._process_ping = lambda: _noted(heard, "PING")
    for number in (1, 2):
        client.listen(number, take)
    loop = asyncio.create_task(client._read_loop())
    loop.add_done_callback(lambda _: reader.waits.set())
    await reader.read_out()
    if at_once:
        client.read_directly(reader)
    for piece in pieces:
        before = len(reader._buffer)
        reader.feed_data(piece)
        if not (slow or loop.done()) and len(reader._buffer) > before:  # else all of it was heard at once
            reader.waits.clear()
            await reader.read_out()
    reader.feed_eof()
    await loop
    # A listener's fault is told a moment later than it was made.
    return [*(one for one in heard if not isinstance(one, str)), sorted(map(str, heard)), ended, dict(client.stats)]


async def _noted(where: list[object], what: object) -> None:
    where.append(what)


async def test_listeners_hear_a_large_message_without_headers(nats_server: NatsServer) -> None:
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    heard: list[int] = []
    await listen(client, "large", lambda message: heard.append(len(message.data)))
    await client.publish("large", bytes(900_000))
    await eventually(lambda: heard == [900_000])
    await client.close()
