"""The bytes that each company has in the object storage: `files` {_id: file, company, key: company/conversation,
bytes} and `file_shares` {_id: company, bytes}, the sum, so that a new file can be checked without adding up.

A process that dies between the two writes leaves a wrong sum; the daily run corrects it.
"""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import suppress

from pymongo.errors import DuplicateKeyError

from contracts.file_rpc import FileKeepReply, FileKeepRequest
from memory.adapters.mongo import store_errors
from memory.domain.keys import conversation_key
from runtime.stores.mongo import Database, Document

BATCH = 500
"""Rows in one query."""


class MongoFileShares:
    """Counts companies' files against their quota; each method raises StoreUnavailableError."""

    def __init__(self, database: Database, quota: int) -> None:
        """`quota`: what one company may store, in bytes."""
        self._files = database["files"]
        self._sums = database["file_shares"]
        self._quota = quota

    async def keep(self, request: FileKeepRequest) -> FileKeepReply:
        """Counts a file, once, unless the company's quota is used up."""
        company, file, size = request.company_id, request.file_id, request.size
        async with store_errors("count a file"):
            is_new = await self._insert(company, request.conversation_id, file, size)
            is_counted = not is_new or await self._add(company, size)
            if not is_counted:
                await self._files.delete_one({"_id": file})
        return FileKeepReply(kept=is_counted, most=self._quota)

    async def record_uncounted(self, company: str, conversation: str, file: str, size: int) -> None:
        """Records a stored file that was never counted; the next sum includes it."""
        async with store_errors("count a file"):
            await self._insert(company, conversation, file, size)

    async def unknown(self, files: Collection[str]) -> set[str]:
        """The files among these that were never counted."""
        async with store_errors("look for counted files"):
            rows = await self._files.find({"_id": {"$in": list(files)}}, {"_id": 1}).to_list()
        return set(files) - {row["_id"] for row in rows}

    async def of(self, company: str) -> set[str]:
        """The files that are counted for the company."""
        async with store_errors("read counted files"):
            return {row["_id"] async for row in self._rows(company)}

    async def drop(self, files: Iterable[str]) -> None:
        names = list(files)
        for start in range(0, len(names), BATCH):
            await self._drop({"_id": {"$in": names[start : start + BATCH]}})

    async def drop_conversation(self, company: str, conversation: str) -> None:
        await self._drop({"key": conversation_key(company, conversation)})

    async def drop_company(self, company: str) -> None:
        await self._drop({"company": company})
        async with store_errors("delete a company's share"):
            await self._sums.delete_one({"_id": company})

    async def recompute_sum(self, company: str) -> int:
        """Corrects the sum, unless files came or went meanwhile; returns it."""
        async with store_errors("add up a company's files"):
            row = await self._sums.find_one({"_id": company})
            total = sum([file_row["bytes"] async for file_row in self._rows(company)])
            if row is None and total:
                with suppress(DuplicateKeyError):
                    await self._sums.insert_one({"_id": company, "bytes": total})
            elif row is not None and row["bytes"] != total:
                await self._sums.update_one({"_id": company, "bytes": row["bytes"]}, {"$set": {"bytes": total}})
        return total

    async def _rows(self, company: str) -> AsyncIterator[Document]:
        after = ""
        while rows := await self._page(company, after):
            for row in rows:
                yield row
            after = rows[-1]["_id"]

    async def _page(self, company: str, after: str) -> list[Document]:
        cursor = self._files.find({"company": company, "_id": {"$gt": after}}, {"bytes": 1})
        return await cursor.sort("_id", 1).limit(BATCH).to_list()

    async def _insert(self, company: str, conversation: str, file: str, size: int) -> bool:
        row = {"_id": file, "company": company, "key": conversation_key(company, conversation), "bytes": size}
        try:
            await self._files.insert_one(row)
        except DuplicateKeyError:
            return False
        return True

    async def _add(self, company: str, size: int) -> bool:
        with_room = {"_id": company, "bytes": {"$lte": self._quota - size}}
        if (await self._sums.update_one(with_room, {"$inc": {"bytes": size}})).matched_count:
            return True
        with suppress(DuplicateKeyError):  # several first files at once: each is counted
            await self._sums.insert_one({"_id": company, "bytes": 0})
        return bool((await self._sums.update_one(with_room, {"$inc": {"bytes": size}})).matched_count)

    async def _drop(self, query: dict[str, object]) -> None:
        async with store_errors("remove files from the count"):
            while rows := await self._files.find(query).limit(BATCH).to_list():
                deleted_bytes = Counter[str]()
                for row in rows:  # one by one: of several replicas, each subtracts only what it deleted itself
                    if (await self._files.delete_one({"_id": row["_id"]})).deleted_count:
                        deleted_bytes[row["company"]] += row["bytes"]
                for company, size in deleted_bytes.items():
                    await self._sums.update_one({"_id": company}, {"$inc": {"bytes": -size}})
