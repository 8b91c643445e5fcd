"""The connection to MongoDB, its collections and indexes.

It uses only features that every MongoDB-compatible server implements correctly: no transactions, arrayFilters,
pipeline updates, Decimal128 or compound indexes; upserts set top-level fields only (on some servers dots in an upsert
become part of the name).
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

REQUEST_CONCURRENCY = 24
"""Concurrent commands for callers who wait for an answer."""
REQUEST_QUEUE_LENGTH = 200
REQUEST_QUEUE_SECONDS = 1.0
"""How long a command waits in the queue; most callers have 2 or 3 seconds in all."""
FACT_CONCURRENCY = 8
"""Concurrent commands for storing facts of the bus."""
FACT_QUEUE_LENGTH = 1_000
"""More than all consumers together process at once."""

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

FORM_ERROR_CODES = frozenset({2, 9, 14, 22, 28, 52, 56, 57, 121, 10334, 17280})
"""Codes of errors by which a server refuses a document or command because of its form: bad value, parse, type, BSON,
path, field names, validation, size, key length (MongoDB's error_codes.yml)."""


_DUPLICATE_KEY = 11000
IDLE_SECONDS = 60
"""Seconds after which an unused connection is closed."""
SLICE_SIZE = 200
"""Names (of conversations, for example) in one query."""

T = TypeVar("T")


def slices(names: Sequence[T]) -> list[list[T]]:
    """Splits names into lists that fit into one query each."""
    return [list(names[start : start + SLICE_SIZE]) for start in range(0, len(names), SLICE_SIZE)]


class Connections(ConnectionPoolListener):
    """Counts a client's new connections before they are used: only new ones reach a restarted server."""

    opened = 0

    def connection_ready(self, event: object) -> None:
        """Counts one more connection."""
        self.opened += 1

    def _ignore(self, event: object) -> None:
        """Ignored; the driver requires a handler for each event."""

    pool_created = pool_ready = pool_cleared = pool_closed = _ignore
    connection_created = connection_closed = _ignore
    connection_check_out_started = connection_check_out_failed = _ignore
    connection_checked_out = connection_checked_in = _ignore


def connect(settings: MongoSettings, connections: Connections) -> AsyncMongoClient[Document]:
    """A client with a deadline for each operation; it connects on first use."""
    with url_must_be_valid():
        return AsyncMongoClient(
            settings.url,
            appname="nexus-memory",
            event_listeners=[connections],
            # The command limits decide who waits; four more are for commands that they do not count.
            maxPoolSize=REQUEST_CONCURRENCY + FACT_CONCURRENCY + 4,
            # A store that hung for a while has many connections open; the unused ones are closed.
            maxIdleTimeMS=IDLE_SECONDS * 1000,
            tz_aware=True,
            uuidRepresentation="standard",
            **settings.client_options,
        )


def limit(
    name: str, *, max_running: int, max_waiting: int, queue_seconds: float, queue_while_hanging: bool = False
) -> CommandLimit:
    return CommandLimit(
        STORE_RUNNING.labels(name),
        STORE_REFUSED.labels(name),
        max_running=max_running,
        max_waiting=max_waiting,
        queue_seconds=queue_seconds,
        queue_while_hanging=queue_while_hanging,
        refusal=StoreUnavailableError,
    )


def for_requests(database: AsyncDatabase[Document]) -> Database:
    """The database for callers who wait for an answer."""
    return Database(
        database,
        limit(
            "asked",
            max_running=REQUEST_CONCURRENCY,
            max_waiting=REQUEST_QUEUE_LENGTH,
            queue_seconds=REQUEST_QUEUE_SECONDS,
        ),
    )


def for_facts(database: AsyncDatabase[Document], queue_seconds: float) -> Database:
    """The database for storing facts of the bus; callers who wait for an answer are served first. `queue_seconds`: the
    longest time in the queue, in seconds."""
    return Database(
        database,
        limit(
            "stored",
            max_running=FACT_CONCURRENCY,
            max_waiting=FACT_QUEUE_LENGTH,
            queue_seconds=queue_seconds,
            queue_while_hanging=True,
        ),
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
async def store_errors(action: str) -> AsyncGenerator[None]:
    """Converts the driver's errors in the block: to StoreRefusedError if a retry is useless, else
    StoreUnavailableError."""
    try:
        yield
    except PyMongoError as error:
        kind = StoreRefusedError if _is_refused(error) else StoreUnavailableError
        raise kind(f"MongoDB could not {action}: {error.__class__.__name__}: {driver_message(error)}") from error


def _is_refused(error: PyMongoError) -> bool:
    codes = [error.code] if isinstance(error, OperationFailure) else []
    if isinstance(error, BulkWriteError):
        codes = [failure.get("code") for failure in error.details.get("writeErrors", ())]
    return any(code in FORM_ERROR_CODES for code in codes)


def duplicate_writes(error: BulkWriteError) -> set[int]:
    """The indexes of the writes whose document exists already; raises the error if anything else went wrong."""
    failures = error.details["writeErrors"]
    if error.details.get("writeConcernErrors") or any(failure["code"] != _DUPLICATE_KEY for failure in failures):
        raise error
    return {failure["index"] for failure in failures}


def keys_under(prefix: str) -> Document:
    """The range of all keys under a prefix."""
    return {"$gt": f"{prefix}/", "$lt": f"{prefix}/{END}"}


async def began_by(conversations: Collection, person: str, limit: int) -> list[str]:
    """The `personKey` of the conversations that a person (company:id) began and that were not merged with somebody
    else's, latest activity first."""
    keys: list[str] = []
    key_range = keys_under(person)
    while True:
        # For a query for a missing field, the embedded server would read every document without it.
        cursor = conversations.find({"personKey": key_range}, {"personKey": 1, "visitorKey": 1})
        rows = await cursor.sort("personKey", DESCENDING).limit(limit).to_list()
        keys += [row["personKey"] for row in rows if "visitorKey" not in row]
        if len(rows) < limit or len(keys) >= limit:
            return keys[:limit]
        key_range["$lt"] = rows[-1]["personKey"]


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
    key_range = keys_under(prefix)
    if cursor:
        key_range["$gt" if ascending else "$lt"] = from_cursor(cursor, prefix)
    sorted_rows = rows.find({key: key_range}, fields).sort(key, ASCENDING if ascending else DESCENDING)
    page = await sorted_rows.limit(limit + 1).to_list()
    return PageOf(page[:limit], to_cursor(page[limit - 1][key], prefix) if len(page) > limit else None)


async def replace_version(rows: Collection, row: Document, version: str | int | None) -> bool:
    """Replaces the document if it has this version; with None, inserts it if there is none.

    Returns:
        False if another version is stored.
    """
    if version is None:
        try:
            await rows.insert_one(row)
        except DuplicateKeyError:
            return False
        return True
    return (await rows.replace_one({"_id": row["_id"], "version": version}, row)).matched_count == 1


async def store_if_newer(rows: Collection, row: Document) -> None:
    """Stores a document unless the existing one has a later `at`, since facts come in any order, and concurrently."""
    for _ in range(2):
        try:
            await rows.replace_one({"_id": row["_id"], "at": {"$lte": row["at"]}}, row, upsert=True)
        except DuplicateKeyError:
            # A later one exists, or somebody has inserted the document at this moment: then it is tried once more.
            continue
        return


class MongoPing:
    """Checks whether the server answers, with one request at a time for all callers."""

    def __init__(self, client: AsyncMongoClient[Document]) -> None:
        self._client = client
        self._limit = limit("ping", max_running=1, max_waiting=10, queue_seconds=REQUEST_QUEUE_SECONDS)

    async def __call__(self) -> None:
        """Raises StoreUnavailableError if the server does not answer."""
        async with store_errors("answer a ping"):
            await self._limit.run(lambda: self._client.admin.command("ping"))


async def open_database(database: Database, new_id: str) -> tuple[str, int]:
    """Creates the database's indexes; returns its own id, which is `new_id` if it is new, and its format.

    Raises:
        NotReadyError: it does not answer, or its format is of a newer release.
    """
    try:
        async with store_errors("read the store's format"):
            stored_format = await check_format(database)
        await prepare(database)
        return await database_id(database, new_id), stored_format
    except StoreUnavailableError as error:
        raise NotReadyError(f"{error}; start it, or point NEXUS_MONGODB_URL at one", retryable=True) from error


async def database_id(database: Database, new_id: str) -> str:
    """The database's own id, which is stored once: `new_id` if it had none. A database that was lost and recreated gets
    another id."""
    async with store_errors("read the database's name"):
        try:
            await database["meta"].insert_one({"_id": "store", "name": new_id})
        except DuplicateKeyError:
            row = await database["meta"].find_one({"_id": "store"})
            return str(row["name"]) if row else new_id
    return new_id
