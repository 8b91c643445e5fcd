"""Deletes conversations' files from the object storage: with their conversation or company, by age, and uploads that
no message names. The company's quota is reduced before a file is deleted, so that an interrupted and repeated
deletion leaves nothing counted that is gone. Without a storage there are no files."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from contracts.events.chat import OperatorMessage, VisitorMessage
from contracts.files import UNSENT, folder_of, unsent_key, uploaded_at
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_file_shares import MongoFileShares
from memory.domain.erasure import Erasure
from memory.errors import StoreUnavailableError
from runtime.clock import Clock
from runtime.stores.file_store import FileStore, FilesUnavailableError

PAGE = 500
UNSENT_FOR = timedelta(days=1)
"""How long an uploaded file waits for a message that names it."""
MESSAGES = 200


class KeptFiles:
    """Deletes files; each method raises StoreUnavailableError."""

    def __init__(self, store: FileStore | None, facts: MongoFacts, shares: MongoFileShares, clock: Clock) -> None:
        self._store = store
        self._facts = facts
        self._shares = shares
        self._clock = clock

    async def count(self, job: Erasure) -> int:
        return len([key for name in job.conversations async for key in self._keys(folder_of(job.company, name))])

    async def erase(self, job: Erasure) -> None:
        for name in job.conversations:
            await self._shares.drop_conversation(job.company, name)
            await self._delete([key async for key in self._keys(folder_of(job.company, name))])

    async def erase_company(self, company: str) -> dict[str, int]:
        await self._shares.drop_company(company)
        keys = [key async for key in self._keys(folder_of(company))]
        await self._delete(keys)
        return {"files": len(keys)}

    async def count_old(self, company: str, before: datetime, most: int) -> int:
        """Counts the files that were uploaded before then, up to `most`."""
        found = 0
        async for key in self._keys(folder_of(company)):
            found += _older(key, before)
            if found == most:
                break
        return found

    async def delete_old(self, company: str, before: datetime) -> int:
        """Deletes the files uploaded before then; returns how many."""
        old = [key async for key in self._keys(folder_of(company)) if _older(key, before)]
        await self._shares.drop(_place(key)[2] for key in old)
        await self._delete(old)
        return len(old)

    async def recount(self, company: str) -> int:
        """Recounts the company's files from the storage; returns their bytes."""
        there = set[str]()
        if self._store is not None:
            async for keys in self._pages(folder_of(company)):
                by_id = {_place(key)[2]: key for key in keys}
                there.update(by_id)
                for file in await self._shares.unknown(by_id):
                    async with _speaking("looked for"):
                        about = await self._store.about(by_id[file])
                    if about is not None:
                        await self._shares.found(*_place(by_id[file]), about.size)
        # One that has just been counted may be on its way.
        before = self._clock.now() - UNSENT_FOR
        await self._shares.drop(file for file in await self._shares.of(company) - there if _older(file, before))
        return await self._shares.add_up(company)

    async def sweep(self) -> int:
        """Deletes files uploaded a day ago that no message names, and their marks; returns how many files."""
        gone = 0
        async for mark in self._keys(UNSENT):
            if not _older(mark, self._clock.now() - UNSENT_FOR):
                break  # marks stand in the order of their days
            company, conversation, file = mark.split("/")[-3:]
            if not await self._is_named(company, conversation, file):
                await self._shares.drop([file])
                await self._delete([folder_of(company, conversation) + file])
                gone += 1
            else:
                await self._delete([mark], marks=False)
        return gone

    async def _is_named(self, company: str, conversation: str, file: str) -> bool:
        """Whether a message of the conversation names the file, newest first."""
        cursor: str | None = None
        while True:
            page = await self._facts.messages(company, conversation, MESSAGES, cursor, latest=True)
            for fact in page.items:
                sent = fact.data.files if isinstance(fact.data, VisitorMessage | OperatorMessage) else None
                if any(one.id == file for one in sent or ()):
                    return True
            cursor = page.next
            if cursor is None:
                return False

    async def _keys(self, prefix: str) -> AsyncIterator[str]:
        async for page in self._pages(prefix):
            for key in page:
                yield key

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[str]]:
        after = ""
        while self._store is not None:
            async with _speaking("listed"):
                page = await self._store.list(prefix, PAGE, after)
            if not page:  # a server may give fewer than it is asked for
                return
            yield page
            after = page[-1]

    async def _delete(self, keys: Sequence[str], *, marks: bool = True) -> None:
        if self._store is None or not keys:
            return
        also = [unsent_key(*_place(key)) for key in keys] if marks else []
        async with _speaking("deleted"):
            await self._store.delete([*keys, *also])


def _place(key: str) -> tuple[str, str, str]:
    company, conversation, file = key.split("/")[-3:]
    return company, conversation, file


def _older(key: str, before: datetime) -> bool:
    try:
        return uploaded_at(key.rpartition("/")[2]) < before
    except ValueError:
        return False  # no file of ours


@asynccontextmanager
async def _speaking(done: str) -> AsyncGenerator[None]:
    try:
        yield
    except FilesUnavailableError as error:
        raise StoreUnavailableError(f"files could not be {done}: {error}") from error
