"""What MongoDB has acknowledged is there after a kill -9, and was asked for from the journal."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import PyMongoError
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from runtime.settings import MongoSettings
from runtime.testing.servers import MongoServer, eventually, run_mongo_server

ROUNDS, WRITERS = 4, 6
Documents = AsyncCollection[dict[str, Any]]


class Commands(CommandListener):
    """The write concerns of the writes that were sent."""

    def __init__(self) -> None:
        self.concerns: list[Any] = []

    def started(self, event: CommandStartedEvent) -> None:
        if event.command_name in {"insert", "update", "delete"}:
            self.concerns.append(event.command.get("writeConcern"))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        del event

    def failed(self, event: CommandFailedEvent) -> None:
        del event


@asynccontextmanager
async def documents(server: MongoServer, *listeners: CommandListener) -> AsyncGenerator[Documents]:
    settings = MongoSettings(url=server.url, deadline=5.0)
    client = AsyncMongoClient[dict[str, Any]](settings.url, event_listeners=listeners, **settings.client_options)
    try:
        yield client["acknowledged"]["documents"]
    finally:
        await client.close()


async def test_every_write_asks_for_the_journal_of_a_majority() -> None:
    heard = Commands()
    with run_mongo_server() as server:
        async with documents(server, heard) as found:
            await found.insert_one({"_id": 1})
            await found.update_one({"_id": 1}, {"$set": {"a": 1}})
            await found.delete_one({"_id": 1})
    assert heard.concerns == [{"w": "majority", "j": True}] * 3


async def test_what_was_acknowledged_outlives_a_kill_in_the_middle_of_other_writes() -> None:
    acknowledged: dict[str, int] = {}

    async def write(found: Documents, writer: str) -> None:
        """A document that counts up, by compare-and-set, until the server is gone."""
        await found.insert_one({"_id": writer, "version": 0})
        acknowledged[writer] = 0
        while True:
            version = acknowledged[writer]
            changed = await found.replace_one(
                {"_id": writer, "version": version}, {"_id": writer, "version": version + 1}
            )
            assert changed.matched_count == 1
            acknowledged[writer] = version + 1

    with run_mongo_server() as server:
        for number in range(ROUNDS):
            async with documents(server) as found:
                writers = [asyncio.create_task(write(found, f"{number}-{one}")) for one in range(WRITERS)]
                enough = 40 * (number + 1)
                await eventually(lambda enough=enough: sum(acknowledged.values()) >= enough)
                server.kill()
                ended = await asyncio.gather(*writers, return_exceptions=True)
                assert all(isinstance(one, PyMongoError) for one in ended), ended
            server.start()
            async with documents(server) as found:
                stored = {one["_id"]: one["version"] async for one in found.find({})}
            # The last write of each may have been carried out with its answer lost.
            missing = {item: (version, stored.get(item)) for item, version in acknowledged.items()
                       if stored.get(item) not in (version, version + 1)}  # fmt: skip
            assert missing == {}
