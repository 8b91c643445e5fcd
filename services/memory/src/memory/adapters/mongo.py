"""The connection to MongoDB, its collections and indexes.

Only features that every MongoDB-compatible server implements correctly: no transactions, arrayFilters, pipeline
updates, Decimal128 or compound indexes; upserts set top-level fields only (on some servers dots in an upsert become
part of the name).
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from pymongo import ASCENDING, DESCENDING, AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.monitoring import ConnectionPoolListener

from memory.domain.keys import END, from_cursor, to_cursor
from memory.errors import StoreRefusedError, StoreUnavailableError
from memory.metrics import STORE_REFUSED, STORE_RUNNING
from memory.ports import PageOf
from runtime.errors import NotReadyError
from runtime.settings import MongoSettings
from runtime.stores.command_limit import TRIAL_ATTEMPTS, CommandLimit
from runtime.stores.mongo import Collection, Database, Document, driver_message, url_must_be_valid
from runtime.stores.store_format import check_format

ASKED_AT_ONCE = 24
"""Concurrent commands for callers who wait for an answer."""
ASKED_IN_LINE = 200
PATIENCE = 1.0
"""Seconds that a command waits for its turn; most callers have 2 or 3 in all."""
STORED_AT_ONCE = 8
"""Concurrent commands for storing what comes from the bus."""
STORED_IN_LINE = 1_000
"""The queue's length: more than all consumers together process at once."""

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
"""Error codes of a server that refuses a document or command for its form: bad value, parse, type, BSON, path, field
names, validation, size, key length (MongoDB's error_codes.yml)."""


_DUPLICATE_KEY = 11000
IDLE = 60
"""Seconds after which an unused connection is closed."""
SLICE = 200
"""Names (of conversations, for example) in one query."""

T = TypeVar("T")


def slices(names: Sequence[T]) -> list[list[T]]:
    """Splits the names into parts that fit one query."""
    return [list(names[start : start + SLICE]) for start in range(0, len(names), SLICE)]


class Connections(ConnectionPoolListener):
    """Counts a client's new connections before they are used: a restarted server is reached only by new ones."""

    opened = 0

    def connection_ready(self, event: object) -> None:
        """Counts one more connection."""
        self.opened += 1

    def _of_no_use(self, event: object) -> None:
        """Ignored; the driver requires a handler for each event."""

    pool_created = pool_ready = pool_cleared = pool_closed = _of_no_use
    connection_created = connection_closed = _of_no_use
    connection_check_out_started = connection_check_out_failed = _of_no_use
    connection_checked_out = connection_checked_in = _of_no_use


def connect(settings: MongoSettings, connections: Connections) -> AsyncMongoClient[Document]:
    """A client with a deadline for each operation; it connects on first use."""
    with url_must_be_valid():
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
        refusal=StoreUnavailableError,
    )


def for_requests(database: AsyncDatabase[Document]) -> Database:
    """The database for callers who wait for an answer."""
    return Database(database, limit("asked", at_once=ASKED_AT_ONCE, in_line=ASKED_IN_LINE, patience=PATIENCE))


def for_facts(database: AsyncDatabase[Document], patience: float) -> Database:
    """The database for storing what comes from the bus; callers who wait for an answer get connections first.
    `patience`: the longest time in the queue, in seconds."""
    return Database(
        database, limit("stored", at_once=STORED_AT_ONCE, in_line=STORED_IN_LINE, patience=patience, waits=True)
    )


async def prepare(database: Database) -> None:
    """Creates missing indexes, a few at a time, so that the store stays responsive."""
    gate = asyncio.Semaphore(TRIAL_ATTEMPTS)

    async def create(name: str, keys: tuple[str, ...]) -> None:
        async with gate:
            await database[name].create_indexes(keys)

    async with store_errors("create indexes"):
        await asyncio.gather(*(create(name, keys) for name, keys in INDEXES.items()))


@asynccontextmanager
async def store_errors(what: str) -> AsyncGenerator[None]:
    """Converts the driver's errors to this service's: StoreRefusedError if a retry is useless."""
    try:
        yield
    except PyMongoError as error:
        kind = StoreRefusedError if _refused(error) else StoreUnavailableError
        raise kind(f"MongoDB could not {what}: {error.__class__.__name__}: {driver_message(error)}") from error


def _refused(error: PyMongoError) -> bool:
    codes = [error.code] if isinstance(error, OperationFailure) else []
    if isinstance(error, BulkWriteError):
        codes = [one.get("code") for one in error.details.get("writeErrors", ())]
    return any(code in NEVER_TAKEN for code in codes)


def duplicate_writes(error: BulkWriteError) -> set[int]:
    """Which writes found their document already there; raises the error if anything else went wrong."""
    refused = error.details["writeErrors"]
    if error.details.get("writeConcernErrors") or any(one["code"] != _DUPLICATE_KEY for one in refused):
        raise error
    return {one["index"] for one in refused}


def keys_under(prefix: str) -> Document:
    """The range of all keys under a prefix."""
    return {"$gt": f"{prefix}/", "$lt": f"{prefix}/{END}"}


async def began_by(conversations: Collection, person: str, limit: int) -> list[str]:
    """The `personKey` of the conversations that a person (company:id) began and that belong to nobody else at the desk,
    latest activity first."""
    found: list[str] = []
    within = keys_under(person)
    while True:
        # Asked for a field that is missing, the embedded server reads all documents that miss it.
        ordered = conversations.find({"personKey": within}, {"personKey": 1, "visitorKey": 1})
        rows = await ordered.sort("personKey", DESCENDING).limit(limit).to_list()
        found += [row["personKey"] for row in rows if "visitorKey" not in row]
        if len(rows) < limit or len(found) >= limit:
            return found[:limit]
        within["$lt"] = rows[-1]["personKey"]


async def page_of(
    rows: Collection,
    key: str,
    prefix: str,
    limit: int,
    cursor: str | None,
    *,
    ascending: bool = False,
    fields: Document | None = None,
) -> PageOf[Document]:
    """A page of the rows under a prefix, in the order of `key`; raises BadCursorError."""
    within = keys_under(prefix)
    if cursor:
        within["$gt" if ascending else "$lt"] = from_cursor(cursor, prefix)
    ordered = rows.find({key: within}, fields).sort(key, ASCENDING if ascending else DESCENDING)
    found = await ordered.limit(limit + 1).to_list()
    return PageOf(found[:limit], to_cursor(found[limit - 1][key], prefix) if len(found) > limit else None)


async def replace_version(rows: Collection, row: Document, over: str | int | None) -> bool:
    """Replaces the document of version `over` (None: there is none yet).

    Returns:
        False if another version is there.
    """
    if over is None:
        try:
            await rows.insert_one(row)
        except DuplicateKeyError:
            return False
        return True
    return (await rows.replace_one({"_id": row["_id"], "version": over}, row)).matched_count == 1


async def store_if_newer(rows: Collection, row: Document) -> None:
    """Stores a document unless the existing one has a later `at`: facts may come in any order, and concurrently."""
    for _ in range(2):
        try:
            await rows.replace_one({"_id": row["_id"], "at": {"$lte": row["at"]}}, row, upsert=True)
        except DuplicateKeyError:
            # A later one is there, or somebody has made the document in this moment: then once more.
            continue
        return


class MongoPing:
    """Checks whether the server answers, with one request at a time for all callers."""

    def __init__(self, client: AsyncMongoClient[Document]) -> None:
        self._client = client
        self._limit = limit("ping", at_once=1, in_line=10, patience=PATIENCE)

    async def __call__(self) -> None:
        """Raises StoreUnavailableError when it does not answer."""
        async with store_errors("answer a ping"):
            await self._limit.run(lambda: self._client.admin.command("ping"))


async def opened(database: Database, fresh: str) -> tuple[str, int]:
    """The database with its indexes; returns its own id, whether it is new (`fresh`), and its format.

    Raises:
        NotReadyError: it does not answer, or is of a newer release.
    """
    try:
        async with store_errors("read the store's format"):
            stored_format = await check_format(database)
        await prepare(database)
        return await name_of(database, fresh), stored_format
    except StoreUnavailableError as error:
        raise NotReadyError(f"{error}; start it, or point NEXUS_MONGODB_URL at one", retryable=True) from error


async def name_of(database: Database, fresh: str) -> str:
    """The database's own id, stored once; `fresh` if it had none yet. A database that was lost and recreated gets
    another one."""
    async with store_errors("read the database's name"):
        try:
            await database["meta"].insert_one({"_id": "store", "name": fresh})
        except DuplicateKeyError:
            row = await database["meta"].find_one({"_id": "store"})
            return str(row["name"]) if row else fresh
    return fresh
