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
POSITIONS = "meta"
"""The collection that says how far the store has come. Read before everything else, it is a little too low, and the log
makes up for that."""
NOT_KEPT = frozenset({"doctor"})
AT_ONCE = 200
"""Documents that are written together; one has some 10 kB, and a message to MongoDB 48 MB at most."""
DEADLINE = 60.0
ANSWERS_WITHIN = 5.0
"""Seconds for its first answer: that it stands still is not told by a copy that takes long."""


@dataclass(frozen=True)
class KeptCollection:
    """A collection in its file."""

    count: int
    digest: str


@asynccontextmanager
async def database(url: str, name: str) -> AsyncGenerator[Database]:
    """The database for the length of the block; its errors become BackupFailedError."""
    client: AsyncMongoClient[RawBSONDocument] = AsyncMongoClient(
        url, document_class=RawBSONDocument, **MongoSettings(url=url, deadline=DEADLINE).client_options
    )
    try:
        with pymongo.timeout(ANSWERS_WITHIN):
            await client.admin.command("ping")
        yield client[name]
    except PyMongoError as error:
        raise BackupFailedError(f"{_said(error)}; try again when it is well") from error
    finally:
        await client.close()


def _said(error: PyMongoError) -> str:
    return f"MongoDB: {driver_message(error)}"


async def names(source: Database) -> list[str]:
    """The collections, that with the positions first."""
    found = [name for name in await source.list_collection_names() if not name.startswith("system.")]
    return sorted(set(found) - NOT_KEPT, key=lambda name: (name != POSITIONS, name))


async def save(source: Database, name: str, file: Path) -> KeptCollection:
    """Writes a collection into `file`, each document as it is when its turn comes."""
    digest, count = hashlib.sha256(), 0
    with file.open("wb") as out:
        async for document in source[name].find():
            out.write(document.raw)
            digest.update(document.raw)
            count += 1
    return KeptCollection(count, digest.hexdigest())


@asynccontextmanager
async def being_restored(target: Database, made_at: str) -> AsyncGenerator[None]:
    """Keeps services from starting on the database until the block has ended without an error."""
    try:
        await target[POSITIONS].insert_one(RawBSONDocument(encode({"_id": RESTORED, "madeAt": made_at})))
        yield
        await target[POSITIONS].delete_one({"_id": RESTORED})
    except (BackupFailedError, PyMongoError, OSError) as error:
        said = _said(error) if isinstance(error, PyMongoError) else error
        raise BackupFailedError(
            f"{said}; the restore is incomplete: fix the cause, empty bus and store, restore again"
        ) from error


async def load(target: Database, name: str, file: Path) -> int:
    """Writes the documents of `file` into a collection; how many."""
    count = 0
    batch: list[Any] = []
    with file.open("rb") as content:
        for document in decode_file_iter(content):
            batch.append(document)
            if len(batch) == AT_ONCE:
                await target[name].insert_many(batch)
                count += len(batch)
                batch = []
    if batch:
        await target[name].insert_many(batch)
    return count + len(batch)
