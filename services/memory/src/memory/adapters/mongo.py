"""The connection to MongoDB, its collections and their indexes.

Only what every MongoDB-compatible server does right: no transactions, arrayFilters, pipeline updates, Decimal128 or
compound indexes; upserts set top-level fields only (dots in an upsert become part of the name on some servers).
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from pymongo import AsyncMongoClient, IndexModel, InsertOne, ReplaceOne, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.results import BulkWriteResult, DeleteResult, InsertOneResult, UpdateResult

from memory.adapters.command_limit import CommandLimit
from memory.errors import StoreRefused, StoreUnavailable
from runtime.settings import MongoSettings

Document = dict[str, Any]
ASKED_AT_ONCE = 24
"""Commands for those who wait for an answer."""
ASKED_IN_LINE = 200
PATIENCE = 1.0
"""Seconds that a command waits for its turn: most who ask have 2 or 3 in all."""
STORED_AT_ONCE = 8
"""Commands for what is taken in from the bus."""
STORED_IN_LINE = 1_000
"""More than all consumers have in work."""

INDEXES: dict[str, tuple[str, ...]] = {
    "facts": ("key", "messageKey", "messageId"),
    "conversations": ("inboxKey", "stateKey", "operatorKey", "personKey", "waitingSince", "dayKey"),
    "companies": ("unannounced", "hooks", "site"),
    "executions": ("key", "conversationId", "talkKey"),
    "erasures": ("at",),
    "ratings": ("dayKey",),
    "knowledge": ("listKey", "sourceKey", "pageKey"),
    "knowledge_state": ("unsettled",),
    "knowledge_runs": ("listKey",),
    "knowledge_gaps": ("listKey",),
    "knowledge_asked": ("gapKey",),
}

NEVER_TAKEN = frozenset({2, 9, 14, 22, 28, 52, 56, 57, 121, 10334, 17280})
"""Codes by which a server refuses a document or command for its form: bad value, parse, type, BSON, path, names of
fields, validation, size, key length (MongoDB's error_codes.yml)."""


def connect(settings: MongoSettings) -> AsyncMongoClient[Document]:
    """A client that gives up on an operation after the deadline; it connects with its first use."""
    return AsyncMongoClient(
        settings.url,
        appname="nexus-memory",
        # The limits decide who waits; this only leaves room for what they do not count.
        maxPoolSize=ASKED_AT_ONCE + STORED_AT_ONCE + 4,
        tz_aware=True,
        uuidRepresentation="standard",
        **settings.client_options,
    )


class Found:
    """A query that has not been asked yet."""

    def __init__(
        self, rows: AsyncCollection[Document], limit: CommandLimit, where: Document, fields: Document | None
    ) -> None:
        self._cursor = rows.find(where, fields)
        self._limit = limit

    def sort(self, key: str, direction: int) -> Self:
        """In this order."""
        self._cursor = self._cursor.sort(key, direction)
        return self

    def limit(self, most: int) -> Self:
        """At most so many."""
        self._cursor = self._cursor.limit(most)
        return self

    async def to_list(self) -> list[Document]:
        """The documents."""
        return await self._limit.run(lambda: self._cursor.to_list())


class Collection:
    """What this service does with a collection, each command within a limit (see command_limit)."""

    def __init__(self, rows: AsyncCollection[Document], limit: CommandLimit) -> None:
        self._rows = rows
        self._limit = limit

    def find(self, where: Document, fields: Document | None = None) -> Found:
        return Found(self._rows, self._limit, where, fields)

    async def find_one(self, where: Document, fields: Document | None = None) -> Document | None:
        return await self._limit.run(lambda: self._rows.find_one(where, fields))

    async def insert_one(self, row: Document) -> InsertOneResult:
        return await self._limit.run(lambda: self._rows.insert_one(row))

    async def update_one(self, where: Document, update: Mapping[str, Any], *, upsert: bool = False) -> UpdateResult:
        return await self._limit.run(lambda: self._rows.update_one(where, update, upsert=upsert))

    async def replace_one(self, where: Document, row: Document, *, upsert: bool = False) -> UpdateResult:
        return await self._limit.run(lambda: self._rows.replace_one(where, row, upsert=upsert))

    async def bulk_write(
        self, writes: Sequence[InsertOne[Document] | ReplaceOne[Document] | UpdateOne], *, ordered: bool
    ) -> BulkWriteResult:
        return await self._limit.run(lambda: self._rows.bulk_write(writes, ordered=ordered))

    async def delete_one(self, where: Document) -> DeleteResult:
        return await self._limit.run(lambda: self._rows.delete_one(where))

    async def delete_many(self, where: Document) -> DeleteResult:
        return await self._limit.run(lambda: self._rows.delete_many(where))

    async def create_indexes(self, keys: Sequence[str]) -> None:
        await self._limit.run(lambda: self._rows.create_indexes([IndexModel(key) for key in keys]))


class Database:
    """A database of which each command is within a limit."""

    def __init__(self, database: AsyncDatabase[Document], limit: CommandLimit) -> None:
        self._database = database
        self._limit = limit

    def __getitem__(self, name: str) -> Collection:
        return Collection(self._database[name], self._limit)

    async def command(self, name: str) -> Document:
        return await self._limit.run(lambda: self._database.command(name))


def asked(database: AsyncDatabase[Document]) -> Database:
    """For those who wait for an answer."""
    return Database(database, CommandLimit("asked", at_once=ASKED_AT_ONCE, in_line=ASKED_IN_LINE, patience=PATIENCE))


def stored(database: AsyncDatabase[Document], patience: float) -> Database:
    """For what is taken in from the bus: whoever asks leaves it its connections. `patience`: seconds in line."""
    return Database(
        database, CommandLimit("stored", at_once=STORED_AT_ONCE, in_line=STORED_IN_LINE, patience=patience, waits=True)
    )


async def prepare(database: Database) -> None:
    """Creates the indexes that are missing."""
    async with speaking("create indexes"):
        await asyncio.gather(*(database[name].create_indexes(keys) for name, keys in INDEXES.items()))


@asynccontextmanager
async def speaking(what: str) -> AsyncGenerator[None]:
    """Turns the driver's errors into this service's own: StoreRefused where another try is of no use."""
    try:
        yield
    except PyMongoError as error:
        kind = StoreRefused if _refused(error) else StoreUnavailable
        raise kind(f"MongoDB could not {what}: {error.__class__.__name__}: {str(error)[:300]}") from error


def _refused(error: PyMongoError) -> bool:
    codes = [error.code] if isinstance(error, OperationFailure) else []
    if isinstance(error, BulkWriteError):
        codes = [one.get("code") for one in error.details.get("writeErrors", ())]
    return any(code in NEVER_TAKEN for code in codes)


async def put_over(rows: Collection, row: Document, over: str | int | None) -> bool:
    """Stores a document with a `version` over the one that has the version `over` (None: there is none yet).

    Returns:
        False when another one is there.
    """
    if over is None:
        try:
            await rows.insert_one(row)
        except DuplicateKeyError:
            return False
        return True
    return (await rows.replace_one({"_id": row["_id"], "version": over}, row)).matched_count == 1


class Ping:
    """Whether the server answers: one question at a time, for all who want to know."""

    def __init__(self, client: AsyncMongoClient[Document]) -> None:
        self._client = client
        self._limit = CommandLimit("ping", at_once=1, in_line=10, patience=PATIENCE)

    async def __call__(self) -> None:
        """Raises StoreUnavailable when it does not answer."""
        async with speaking("answer a ping"):
            await self._limit.run(lambda: self._client.admin.command("ping"))


async def name_of(database: Database, fresh: str) -> str:
    """The database's own name for itself, given to it once: `fresh` when it has none yet. A database that was lost and
    made anew has another one."""
    async with speaking("read the database's name"):
        try:
            await database["meta"].insert_one({"_id": "store", "name": fresh})
        except DuplicateKeyError:
            row = await database["meta"].find_one({"_id": "store"})
            return str(row["name"]) if row else fresh
    return fresh
