"""The embedded MongoDB-wire server stores what a command writes in one transaction, and never tells of more than it has
stored."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pymongo import AsyncMongoClient, InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, PyMongoError

from nexus_cli.stack.servers import embedded
from nexus_cli.stack.supervisor import Supervisor
from runtime.stores.mongo import Document
from runtime.testing.disk import SmallDisk
from runtime.testing.servers import eventually


@asynccontextmanager
async def wire_server(path: Path) -> AsyncGenerator[AsyncMongoClient[Document]]:
    addresses: dict[str, str] = {}
    supervisor = Supervisor(
        [embedded("mongodb", path, {})],
        logs=path,
        urls={},
        say=lambda _: None,
        changed=lambda _, urls: addresses.update(urls),
    )
    try:
        await supervisor.start()
        async with AsyncMongoClient[Document](addresses["mongodb"]) as client:
            yield client
    finally:
        await supervisor.stop()


async def test_the_documents_of_a_command_are_one_transaction_in_which_a_refused_one_takes_only_itself_back(
    tmp_path: Path,
) -> None:
    async with wire_server(tmp_path) as client:
        rows = client["one"]["rows"]
        await rows.create_index("key")
        written = tmp_path / "mongodb" / "one.db-wal"
        before = written.stat().st_size
        new: list[InsertOne[Document]] = [InsertOne({"_id": number % 199, "key": number}) for number in range(200)]
        with pytest.raises(BulkWriteError) as refused:
            await rows.bulk_write(new, ordered=False)
        assert [(detail["index"], detail["code"]) for detail in refused.value.details["writeErrors"]] == [(199, 11000)]
        changed = [UpdateOne({"_id": number}, {"$set": {"key": -number}}, upsert=True) for number in range(250)]
        result = await rows.bulk_write(changed, ordered=False)
        assert (result.matched_count, result.upserted_count) == (199, 51)
        assert await rows.count_documents({"key": {"$lte": 0}}) == 250
        # Each transaction writes all pages that it touches: 450 of them would be four megabytes.
        assert written.stat().st_size - before < 500_000


async def test_what_is_deleted_leaves_no_bytes(tmp_path: Path) -> None:
    async with wire_server(tmp_path) as client:
        rows = client["one"]["rows"]
        new: list[Document] = [{"_id": number, "text": f"{number}: forgetmenot"} for number in range(200)]
        await rows.insert_many(new)
        assert b"forgetmenot" in stored_bytes(tmp_path)
        await rows.update_one({"_id": 1}, {"$set": {"text": "other"}})
        await rows.delete_many({"_id": {"$ne": 1}})

        async def gone() -> bool:
            return b"forgetmenot" not in stored_bytes(tmp_path)

        await eventually(gone)


def stored_bytes(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in (path / "mongodb").iterdir() if one.is_file())


async def test_on_a_full_disk_no_command_tells_of_documents_that_are_not_stored(small_disk: SmallDisk) -> None:
    async with wire_server(small_disk.path) as client:
        rows = client["one"]["rows"]
        told = 0

        async def store(count: int) -> int:
            new: list[InsertOne[Document]] = [InsertOne({"text": "x" * 100_000}) for _ in range(count)]
            try:
                return (await rows.bulk_write(new, ordered=False)).inserted_count
            except BulkWriteError as error:
                return error.details["nInserted"]
            except PyMongoError:
                return 0

        # 6 MB are more than SQLite keeps in memory: it is not the commit that finds the disk full.
        while (stored := await store(60)) == 60:
            told += stored
        told += stored

        async def made(name: str) -> bool:
            try:
                await client["one"][name].update_one({"_id": 1}, {"$set": {"text": "x" * 100_000}}, upsert=True)
            except PyMongoError:
                return False
            return True

        number = 0
        while await made(f"new{number}"):
            number += 1
        small_disk.enlarge()
        assert await rows.count_documents({}) == told > 0
        assert await store(1) == 1
        assert await made(f"new{number}")
