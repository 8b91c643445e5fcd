"""The servers that tests start for themselves."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from pymongo import AsyncMongoClient
from redis import Redis

from runtime.bus.connection import connect, subscribe
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.settings import NatsSettings
from runtime.testing.servers import MongoDatabase, NatsServer, ValkeyServer, eventually


@pytest.mark.own_servers
async def test_nats_server_keeps_its_port_and_data_over_a_kill(nats_server: NatsServer) -> None:
    url = nats_server.url
    client = await connect(NatsSettings(url=url), name="test")
    await ensure_streams(client)
    await Publisher(client).append("chat.acme.c1.message.visitor.v1", b"kept", stream="CHAT", msg_id="1")
    await client.close()
    nats_server.restart()
    assert nats_server.url == url
    client = await connect(NatsSettings(url=url), name="test")
    kept = await DirectReader(client, "CHAT").at(1)
    assert kept is not None
    assert kept.event == b"kept"
    await client.close()


async def test_tests_on_one_nats_server_see_nothing_of_each_other(
    nats_accounts: Iterator[NatsServer], nats_streams: Client
) -> None:
    other = next(nats_accounts)
    client = await connect(NatsSettings(url=other.url), name="test")
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    await subscribe(client, "chat.>", hear)
    await ensure_streams(client)
    await Publisher(nats_streams).append("chat.acme.c1.message.visitor.v1", b"mine", stream="CHAT", msg_id="1")
    assert await DirectReader(nats_streams, "CHAT").at(1) is not None
    assert await DirectReader(client, "CHAT").at(1) is None
    await client.flush()
    assert heard == []
    await client.close()


def test_tests_on_one_valkey_have_databases_of_their_own(
    valkey_databases: Iterator[ValkeyServer], valkey_server: ValkeyServer
) -> None:
    mine, other = (
        Redis(port=server.port, db=int(server.url.rpartition("/")[2]))
        for server in (valkey_server, next(valkey_databases))
    )
    mine.set("key", "mine")
    assert other.get("key") is None
    mine.close()
    other.close()


def test_a_shared_server_cannot_be_stopped(nats_server: NatsServer, valkey_server: ValkeyServer) -> None:
    for server in (nats_server, valkey_server):
        for control in (server.stop, server.kill, server.restart, server.pause, server.resume, server.start):
            with pytest.raises(AttributeError, match="own_servers"):
                control()
        with pytest.raises(AttributeError, match="own_servers"):
            _ = server.directory


def test_valkey_server_answers(valkey_server: ValkeyServer) -> None:
    with socket.create_connection((valkey_server.host, valkey_server.port), timeout=10) as connection:
        connection.sendall(b"PING\r\n")
        assert connection.recv(7) == b"+PONG\r\n"


async def test_mongo_server_gives_each_test_its_own_database(mongo_server: MongoDatabase) -> None:
    client: AsyncMongoClient[dict[str, object]] = AsyncMongoClient(mongo_server.url)
    collection = client[mongo_server.database]["things"]
    assert await collection.count_documents({}) == 0
    await collection.insert_one({"_id": 1})
    assert await collection.count_documents({}) == 1
    await client.close()


async def test_eventually_gives_up_at_its_deadline() -> None:
    with pytest.raises(AssertionError, match="not within"):
        await eventually(lambda: False, deadline=0.02)
