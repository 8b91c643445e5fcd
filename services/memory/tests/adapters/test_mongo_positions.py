"""Positions in MongoDB: moved with one command where nobody else moves them, and by one replica only."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from pymongo import AsyncMongoClient
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from memory.adapters.mongo import Connections, for_requests
from memory.adapters.mongo_positions import MongoPositions
from memory.domain.keys import BEGINNING, LogPosition
from runtime.stores.mongo import Document
from runtime.testing.servers import MongoDatabase

NEXT = LogPosition(1, 7)


class _Commands(CommandListener):
    """Lists the commands on the collection of positions."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        if event.command.get(event.command_name) == "meta":
            self.names.append(event.command_name)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        del event

    def failed(self, event: CommandFailedEvent) -> None:
        del event


Replica = tuple[MongoPositions, _Commands]


@pytest.fixture
async def replicas(mongo_server: MongoDatabase) -> AsyncGenerator[list[Replica]]:
    commands = [_Commands(), _Commands()]
    clients = [AsyncMongoClient[Document](mongo_server.url, event_listeners=[listener]) for listener in commands]
    names = [for_requests(client[mongo_server.database]) for client in clients]
    yield [(MongoPositions(database, Connections()), at) for database, at in zip(names, commands, strict=True)]
    for client in clients:
        await client.close()


async def test_a_position_is_moved_with_one_command_once_the_row_is_known(replicas: list[Replica]) -> None:
    positions, commands = replicas[0]
    assert await positions.load() == {}
    assert await positions.move("a", None, BEGINNING)
    assert await positions.move("b", None, BEGINNING)
    assert await positions.move("a", BEGINNING, NEXT)
    assert commands.names == ["find", "insert", "update", "update"]
    assert await positions.load() == {"a": NEXT, "b": BEGINNING}


async def test_what_another_replica_has_moved_is_seen_and_kept(replicas: list[Replica]) -> None:
    (one, _), (other, _) = replicas
    assert await one.move("a", None, BEGINNING)
    assert await other.move("b", None, BEGINNING)  # it has never read the row
    assert await one.move("a", BEGINNING, NEXT)
    assert not await other.move("a", BEGINNING, LogPosition(1, 9))
    assert await other.move("b", BEGINNING, NEXT)
    assert await one.load() == await other.load() == {"a": NEXT, "b": NEXT}


async def test_of_many_who_move_one_position_at_once_one_does(replicas: list[Replica]) -> None:
    await asyncio.gather(*(positions.load() for positions, _ in replicas))
    news = [LogPosition(1, seq) for seq in range(10)]
    moved = await asyncio.gather(*(replicas[new.seq % 2][0].move("a", None, new) for new in news))
    assert moved.count(True) == 1
    assert (await replicas[0][0].load())["a"] == news[moved.index(True)]


async def test_a_database_without_the_row_is_believed(replicas: list[Replica], mongo_server: MongoDatabase) -> None:
    positions, _ = replicas[0]
    assert await positions.move("a", None, BEGINNING)
    async with AsyncMongoClient[Document](mongo_server.url) as client:
        await client[mongo_server.database]["meta"].delete_many({})
    assert not await positions.move("a", BEGINNING, NEXT)
    assert await positions.move("a", None, NEXT)
