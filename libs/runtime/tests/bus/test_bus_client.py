"""The short ways through nats-py's client say and hear exactly what the long ones do."""
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nats.aio.client import Client
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
    assert subscription._id not in client._takers  # pyright: ignore[reportAttributeAccessIssue]
    await client.close()


async def test_listeners_hear_a_large_message_without_headers(nats_server: NatsServer) -> None:
    client = await connect(NatsSettings(url=nats_server.url), name="test")
    heard: list[int] = []
    await listen(client, "large", lambda message: heard.append(len(message.data)))
    await client.publish("large", bytes(900_000))
    await eventually(lambda: heard == [900_000])
    await client.close()
