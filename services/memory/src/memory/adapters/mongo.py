"""The connection to MongoDB, its collections and their indexes.

Only what every MongoDB-compatible server does right: no transactions, arrayFilters, pipeline updates, Decimal128 or
compound indexes; upserts set top-level fields only (dots in an upsert become part of the name on some servers).
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.monitoring import ConnectionPoolListener

from memory.errors import StoreRefused, StoreUnavailable
from memory.metrics import STORE_REFUSED, STORE_RUNNING
from runtime.command_limit import TRIALS, CommandLimit
from runtime.errors import NotReady
from runtime.mongo import Collection, Database, Document, driver_says
from runtime.settings import MongoSettings
from runtime.store_format import check_format

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
    "conversations": (
        "inboxKey",
        "stateKey",
        "operatorKey",
        "unassignedKey",
        "unansweredKey",
        "personKey",
        "visitorKey",
        "waitingSince",
        "dayKey",
        "quietKey",
        "dueAt",
        "writtenKey",
    ),
    "updates": ("key",),
    "notes": ("key", "namedKeys"),
    "companies": ("unannounced", "hooks", "site"),
    "executions": ("key", "conversationId", "talkKey"),
    "erasures": ("at",),
    "receipts": ("key",),
    "erased": ("at",),
    "lessons": ("due",),
    "ratings": ("dayKey",),
    "knowledge": ("listKey", "sourceKey", "pageKey"),
    "knowledge_state": ("unsettled",),
    "knowledge_runs": ("listKey",),
    "knowledge_gaps": ("listKey",),
    "knowledge_asked": ("gapKey",),
    "files": ("company", "key"),
}

NEVER_TAKEN = frozenset({2, 9, 14, 22, 28, 52, 56, 57, 121, 10334, 17280})
"""Codes by which a server refuses a document or command for its form: bad value, parse, type, BSON, path, names of
fields, validation, size, key length (MongoDB's error_codes.yml)."""


_DUPLICATE_KEY = 11000
IDLE = 60
"""Seconds after which a connection that nobody uses is closed."""
SLICE = 200
"""Names, such as of conversations, in one query."""

T = TypeVar("T")


def slices(names: Sequence[T]) -> list[list[T]]:
    """The names in parts that one query can name."""
    return [list(names[start : start + SLICE]) for start in range(0, len(names), SLICE)]


class Connections(ConnectionPoolListener):
    """Counts a client's connections as they are made, before anything is asked over them: a server that has been
    started again is reached by new ones alone."""

    opened = 0

    def connection_ready(self, event: object) -> None:
        """One more."""
        self.opened += 1

    def _of_no_use(self, event: object) -> None:
        """The driver asks for all of its events to be taken."""

    pool_created = pool_ready = pool_cleared = pool_closed = _of_no_use
    connection_created = connection_closed = _of_no_use
    connection_check_out_started = connection_check_out_failed = _of_no_use
    connection_checked_out = connection_checked_in = _of_no_use


def connect(settings: MongoSettings, connections: Connections) -> AsyncMongoClient[Document]:
    """A client that gives up on an operation after the deadline; it connects with its first use."""
    return AsyncMongoClient(
        settings.url,
        appname="nexus-memory",
        event_listeners=[connections],
        # The limits decide who waits; this only leaves room for what they do not count.
        maxPoolSize=ASKED_AT_ONCE + STORED_AT_ONCE + 4,
        # A store that stood still had many asked at once: their connections go again.
        maxIdleTimeMS=IDLE * 1000,
        tz_aware=True,
        uuidRepresentation="standard",
        **settings.client_options,
    )


def limit(name: str, *, at_once: int, in_line: int, patience: float, waits: bool = False) -> CommandLimit:
    return CommandLimit(
        STORE_RUNNING.labels(name),
        STORE_REFUSED.labels(name),
        at_once=at_once,
        in_line=in_line,
        patience=patience,
        waits=waits,
        refusal=StoreUnavailable,
    )


def asked(database: AsyncDatabase[Document]) -> Database:
    """For those who wait for an answer."""
    return Database(database, limit("asked", at_once=ASKED_AT_ONCE, in_line=ASKED_IN_LINE, patience=PATIENCE))


def stored(database: AsyncDatabase[Document], patience: float) -> Database:
    """For what is taken in from the bus: whoever asks leaves it its connections. `patience`: seconds in line."""
    return Database(
        database, limit("stored", at_once=STORED_AT_ONCE, in_line=STORED_IN_LINE, patience=patience, waits=True)
    )


async def prepare(database: Database) -> None:
    """Creates the indexes that are missing; never so many at once that a store which is busy with them alone would be
    taken for one that hangs."""
    gate = asyncio.Semaphore(TRIALS)

    async def create(name: str, keys: tuple[str, ...]) -> None:
        async with gate:
            await database[name].create_indexes(keys)

    async with speaking("create indexes"):
        await asyncio.gather(*(create(name, keys) for name, keys in INDEXES.items()))


@asynccontextmanager
async def speaking(what: str) -> AsyncGenerator[None]:
    """Turns the driver's errors into this service's own: StoreRefused where another try is of no use."""
    try:
        yield
    except PyMongoError as error:
        kind = StoreRefused if _refused(error) else StoreUnavailable
        raise kind(f"MongoDB could not {what}: {error.__class__.__name__}: {driver_says(error)}") from error


def _refused(error: PyMongoError) -> bool:
    codes = [error.code] if isinstance(error, OperationFailure) else []
    if isinstance(error, BulkWriteError):
        codes = [one.get("code") for one in error.details.get("writeErrors", ())]
    return any(code in NEVER_TAKEN for code in codes)


def duplicates(error: BulkWriteError) -> set[int]:
    """Which of the writes found their document there already; raises the error if anything else went wrong."""
    refused = error.details["writeErrors"]
    if error.details.get("writeConcernErrors") or any(one["code"] != _DUPLICATE_KEY for one in refused):
        raise error
    return {one["index"] for one in refused}


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


async def put_newest(rows: Collection, row: Document) -> None:
    """Stores a document unless the one that is there has a later `at`: facts may come in any order, and at once."""
    for _ in range(2):
        try:
            await rows.replace_one({"_id": row["_id"], "at": {"$lte": row["at"]}}, row, upsert=True)
        except DuplicateKeyError:
            # A later one is there, or somebody has made the document in this moment: then once more.
            continue
        return


class MongoPing:
    """Whether the server answers: one question at a time, for all who want to know."""

    def __init__(self, client: AsyncMongoClient[Document]) -> None:
        self._client = client
        self._limit = limit("ping", at_once=1, in_line=10, patience=PATIENCE)

    async def __call__(self) -> None:
        """Raises StoreUnavailable when it does not answer."""
        async with speaking("answer a ping"):
            await self._limit.run(lambda: self._client.admin.command("ping"))


async def opened(database: Database, fresh: str) -> tuple[str, int]:
    """The database with its indexes; returns its name for itself, `fresh` if it is new, and its format.

    Raises:
        NotReady: it does not answer, or is of a newer release.
    """
    try:
        async with speaking("read the store's format"):
            stored_format = await check_format(database)
        await prepare(database)
        return await name_of(database, fresh), stored_format
    except StoreUnavailable as error:
        raise NotReady(f"{error}; start it, or point NEXUS_MONGODB_URL at one") from error


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
