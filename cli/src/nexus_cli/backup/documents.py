"""Saves MongoDB's documents as files, one for each collection, as a sequence of BSON documents; and loads them."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
from bson import decode_file_iter, encode
from bson.raw_bson import RawBSONDocument
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import PyMongoError

from nexus_cli.backup.streams import BackupFailedError
from runtime.settings import MongoSettings
from runtime.stores.mongo import driver_message
from runtime.stores.store_format import RESTORED

Database = AsyncDatabase[RawBSONDocument]
POSITIONS_COLLECTION = "meta"
"""The collection with the log positions of the store. It is saved first, so that its positions are at most too low;
then memory reads the rest again from the log."""
SKIPPED_COLLECTIONS = frozenset({"doctor"})
BATCH_SIZE = 200
"""Documents in one write; a document has about 10 kB, and a message to MongoDB 48 MB at most."""
DEADLINE = 60.0
FIRST_ANSWER_SECONDS = 5.0
"""Seconds for the first answer, so that a server that hangs is not mistaken for a slow copy."""


@dataclass(frozen=True)
class SavedCollection:
    """A saved collection: its number of documents and the digest of its file."""

    count: int
    digest: str


@asynccontextmanager
async def database(url: str, name: str) -> AsyncGenerator[Database]:
    """Connects to the database for the length of the block. Its errors become BackupFailedError."""
    client: AsyncMongoClient[RawBSONDocument] = AsyncMongoClient(
        url, document_class=RawBSONDocument, **MongoSettings(url=url, deadline=DEADLINE).client_options
    )
    try:
        with pymongo.timeout(FIRST_ANSWER_SECONDS):
            await client.admin.command("ping")
        yield client[name]
    except PyMongoError as error:
        raise BackupFailedError(f"{_error_text(error)}; try again when it is well") from error
    finally:
        await client.close()


def _error_text(error: PyMongoError) -> str:
    return f"MongoDB: {driver_message(error)}"


async def names(source: Database) -> list[str]:
    """The names of the collections to save, the one with the positions first."""
    collections = [name for name in await source.list_collection_names() if not name.startswith("system.")]
    return sorted(set(collections) - SKIPPED_COLLECTIONS, key=lambda name: (name != POSITIONS_COLLECTION, name))


async def save(source: Database, name: str, file: Path) -> SavedCollection:
    """Writes the documents of a collection into `file`. Documents may change meanwhile."""
    digest, count = hashlib.sha256(), 0
    with file.open("wb") as output:
        async for document in source[name].find():
            output.write(document.raw)
            digest.update(document.raw)
            count += 1
    return SavedCollection(count, digest.hexdigest())


@asynccontextmanager
async def being_restored(target: Database, made_at: str) -> AsyncGenerator[None]:
    """Marks the database so that no service starts on it until the block has ended without an error."""
    try:
        await target[POSITIONS_COLLECTION].insert_one(RawBSONDocument(encode({"_id": RESTORED, "madeAt": made_at})))
        yield
        await target[POSITIONS_COLLECTION].delete_one({"_id": RESTORED})
    except (BackupFailedError, PyMongoError, OSError) as error:
        failure = _error_text(error) if isinstance(error, PyMongoError) else error
        raise BackupFailedError(
            f"{failure}; the restore is incomplete: fix the cause, empty bus and store, restore again"
        ) from error


async def load(target: Database, name: str, file: Path) -> int:
    """Writes the documents of `file` into a collection and returns their number."""
    count = 0
    batch: list[Any] = []
    with file.open("rb") as content:
        for document in decode_file_iter(content):
            batch.append(document)
            if len(batch) == BATCH_SIZE:
                await target[name].insert_many(batch)
                count += len(batch)
                batch = []
    if batch:
        await target[name].insert_many(batch)
    return count + len(batch)
