"""The servers that tests start for themselves."""

from __future__ import annotations

import socket

import pytest
from pymongo import AsyncMongoClient

from runtime.bus.connection import connect
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
