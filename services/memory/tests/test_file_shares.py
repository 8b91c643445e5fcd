"""A company's share of the object storage: counted as files come, given back as they go, put right once a day."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.file_rpc import FILE_KEEP, FileKeepRequest
from contracts.files import file_key, unsent_key
from contracts.ids import uuid7
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo import for_requests
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_file_shares import MongoFileShares
from memory.domain.erasure import Erasure
from memory.domain.keys import LogPosition
from memory.testing.harness import Servers, replica
from runtime.stores.file_store import FileMetadata
from runtime.stores.folder_store import FolderStore
from runtime.testing.clock import FakeClock

MOST = 1_000


async def stored(store: FolderStore, conversation: str, size: int, file: str | None = None) -> str:
    file, content = file or uuid7(), bytes(size)
    about = FileMetadata("a.txt", "text/plain", size, hashlib.sha256(content).hexdigest())
    for key in (unsent_key, file_key):
        await store.put(key("acme", conversation, file), BytesIO(content), about)
    return file


async def keep(shares: MongoFileShares, company: str, conversation: str, file: str, size: int) -> bool:
    """Returns whether the file may be stored."""
    request = FileKeepRequest(company_id=company, conversation_id=conversation, file_id=file, size=size)
    return (await shares.keep(request)).kept


async def test_what_comes_is_counted_once_and_what_goes_makes_room(servers: Servers, tmp_path: Path) -> None:
    store, clock = FolderStore(tmp_path), FakeClock(datetime.now(UTC))
    async with AsyncMongoClient[dict[str, Any]](servers.mongo, tz_aware=True) as client:
        database = for_requests(client[servers.database])
        shares = MongoFileShares(database, MOST)
        files = KeptFiles(store, MongoFacts(database["facts"]), shares, clock)

        async def sends(conversation: str, size: int, company: str = "acme") -> str | None:
            file = uuid7()
            if not await keep(shares, company, conversation, file, size):
                return None
            return await stored(store, conversation, size, file)

        async def used() -> int:
            row = await database["file_shares"].find_one({"_id": "acme"})
            return 0 if row is None else row["bytes"]

        first = await sends("c1", 600)
        assert first is not None
        assert await keep(shares, "acme", "c1", first, 600)
        assert await sends("c2", 401) is None
        assert await sends("c1", MOST, "other") is not None
        # A company's first files may come together.
        assert all(await asyncio.gather(*(keep(shares, "new", "c1", uuid7(), 100) for _ in range(8))))
        # Side by side no more is let in than there is room for.
        let_in = [one for one in await asyncio.gather(*(sends("c2", 100) for _ in range(8))) if one]
        assert (len(let_in), await used()) == (4, MOST)
        job = Erasure("acme", "", ("c1",), clock.now(), LogPosition(0, 0))
        await asyncio.gather(files.erase(job), files.erase(job))
        assert (await used(), await sends("c3", 600) is not None, await sends("c3", 1)) == (400, True, None)
        # No message names them: they go by the sweep in a day, or by their age.
        assert await files.delete_old("acme", clock.now() + timedelta(minutes=1)) == 5
        assert (await used(), await database["files"].count_documents({"company": "acme"})) == (0, 0)
        assert await sends("c4", MOST) is not None
        await clock.advance(2 * 86_400)
        assert await files.sweep() == 1
        assert await used() == 0
        assert await sends("c5", MOST) is not None
        assert await files.erase_company("acme") == {"files": 1}
        assert await database["file_shares"].find_one({"_id": "acme"}) is None


async def test_the_daily_run_puts_right_what_a_process_that_died_has_left(servers: Servers, tmp_path: Path) -> None:
    store, clock = FolderStore(tmp_path), FakeClock(datetime.now(UTC))
    async with AsyncMongoClient[dict[str, Any]](servers.mongo, tz_aware=True) as client:
        database = for_requests(client[servers.database])
        shares = MongoFileShares(database, MOST)
        files = KeptFiles(store, MongoFacts(database["facts"]), shares, clock)
        await stored(store, "c1", 300)
        counted = await stored(store, "c1", 70)
        assert await keep(shares, "acme", "c1", counted, 70)
        assert await keep(shares, "acme", "c2", uuid7(), 500)
        await database["file_shares"].update_one({"_id": "acme"}, {"$inc": {"bytes": 55}})
        # One that was counted a moment ago may be on its way; one of yesterday that is not there never came.
        assert await files.recount("acme") == 870
        await clock.advance(2 * 86_400)
        assert await files.recount("acme") == 370
        assert await database["file_shares"].find_one({"_id": "acme"}) == {"_id": "acme", "bytes": 370}
        assert await files.recount("nobody") == 0


async def test_the_share_is_the_installations_to_set(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_FILES_COMPANY_MEGABYTES", "3")
    async with replica(servers) as one:
        request = FileKeepRequest(company_id="acme", conversation_id="c1", file_id=uuid7(), size=3_000_000)
        replies = [
            await one.rpc.call(FILE_KEEP, request),
            await one.rpc.call(FILE_KEEP, request),
            await one.rpc.call(FILE_KEEP, request.model_copy(update={"file_id": uuid7(), "size": 1})),
        ]
        assert [reply.kept for reply in replies] == [True, True, False]
        assert {reply.most for reply in replies} == {3_000_000}
