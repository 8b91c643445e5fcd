"""The servers that tests start for themselves."""

from __future__ import annotations

import socket

import nats
import pytest
from pymongo import AsyncMongoClient

from runtime.testing import MongoDatabase, NatsServer, ValkeyServer, eventually


async def test_nats_server_keeps_its_port_and_data_over_a_kill(nats_server: NatsServer) -> None:
    client = await nats.connect(nats_server.url)
    js = client.jetstream()
    await js.add_stream(name="S", subjects=["s.>"])
    await js.publish("s.a", b"kept")
    await client.close()
    url = nats_server.url
    nats_server.restart()
    assert nats_server.url == url
    client = await nats.connect(url)
    message = await client.jetstream().get_last_msg("S", "s.a")
    assert message.data == b"kept"
    await client.close()


def test_valkey_server_answers(valkey_server: ValkeyServer) -> None:
    with socket.create_connection((valkey_server.host, valkey_server.port), timeout=2) as connection:
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
