"""The connection to MongoDB, its collections and their indexes.

Only what every MongoDB-compatible server does right: no transactions, arrayFilters, pipeline updates, Decimal128 or
compound indexes; upserts set top-level fields only (dots in an upsert become part of the name on some servers).
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import DuplicateKeyError, PyMongoError

from memory.errors import StoreUnavailable
from runtime.settings import MongoSettings

Document = dict[str, Any]
Collection = AsyncCollection[Document]

INDEXES: dict[str, tuple[str, ...]] = {
    "facts": ("key", "messageKey", "messageId"),
    "conversations": ("inboxKey", "stateKey", "operatorKey", "personKey", "waitingSince", "dayKey"),
    "companies": ("unannounced", "hooks"),
    "executions": ("key", "conversationId", "talkKey"),
    "erasures": ("at",),
    "ratings": ("dayKey",),
}


def connect(settings: MongoSettings) -> AsyncMongoClient[Document]:
    """A client that gives up on an operation after the deadline; it connects with its first use."""
    milliseconds = int(settings.deadline * 1000)
    return AsyncMongoClient(
        settings.url,
        appname="nexus-memory",
        timeoutMS=milliseconds,
        serverSelectionTimeoutMS=milliseconds,
        connectTimeoutMS=milliseconds,
        tz_aware=True,
        retryWrites=False,
        uuidRepresentation="standard",
    )


async def prepare(database: AsyncDatabase[Document]) -> None:
    """Creates the indexes that are missing."""
    async with speaking("create indexes"):
        for collection, keys in INDEXES.items():
            for key in keys:
                await database[collection].create_index(key)


@asynccontextmanager
async def speaking(what: str) -> AsyncGenerator[None]:
    """Turns the driver's errors into this service's own."""
    try:
        yield
    except PyMongoError as error:
        raise StoreUnavailable(f"MongoDB could not {what}: {error.__class__.__name__}: {str(error)[:300]}") from error


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


async def ping(client: AsyncMongoClient[Document]) -> None:
    """Raises StoreUnavailable when the server does not answer."""
    async with speaking("answer a ping"):
        await client.admin.command("ping")


async def name_of(database: AsyncDatabase[Document], fresh: str) -> str:
    """The database's own name for itself, given to it once: `fresh` when it has none yet. A database that was lost and
    made anew has another one."""
    async with speaking("read the database's name"):
        try:
            await database["meta"].insert_one({"_id": "store", "name": fresh})
        except DuplicateKeyError:
            row = await database["meta"].find_one({"_id": "store"})
            return str(row["name"]) if row else fresh
    return fresh
