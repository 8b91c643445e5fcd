"""Deletes conversations' files from the object storage: with their conversation or company, by age, and uploads that
no message names.

The company's quota is reduced before a file is deleted, so that after an interruption no deleted file is still counted.
Without an object storage there are no files.
"""

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

PAGE_SIZE = 500
UNSENT_FOR = timedelta(days=1)
"""How long an uploaded file waits for a message that names it."""
MESSAGES_PER_READ = 200


class KeptFiles:
    """Deletes files; each method raises StoreUnavailableError."""

    def __init__(self, store: FileStore | None, facts: MongoFacts, shares: MongoFileShares, clock: Clock) -> None:
        self._store = store
        self._facts = facts
        self._shares = shares
        self._clock = clock

    async def count(self, job: Erasure) -> int:
        folders = [folder_of(job.company, conversation) for conversation in job.conversations]
        return len([key for folder in folders async for key in self._keys(folder)])

    async def erase(self, job: Erasure) -> None:
        for conversation in job.conversations:
            await self._shares.drop_conversation(job.company, conversation)
            await self._delete([key async for key in self._keys(folder_of(job.company, conversation))])

    async def erase_company(self, company: str) -> dict[str, int]:
        await self._shares.drop_company(company)
        keys = [key async for key in self._keys(folder_of(company))]
        await self._delete(keys)
        return {"files": len(keys)}

    async def count_old(self, company: str, before: datetime, limit: int) -> int:
        """Counts the files that were uploaded before then, up to `limit`."""
        count = 0
        async for key in self._keys(folder_of(company)):
            count += _is_older(key, before)
            if count == limit:
                break
        return count

    async def delete_old(self, company: str, before: datetime) -> int:
        """Deletes the files uploaded before then; returns how many."""
        old = [key async for key in self._keys(folder_of(company)) if _is_older(key, before)]
        await self._shares.drop(_key_parts(key)[2] for key in old)
        await self._delete(old)
        return len(old)

    async def recount(self, company: str) -> int:
        """Recounts the company's files from the storage; returns their bytes."""
        stored = set[str]()
        if self._store is not None:
            async for keys in self._pages(folder_of(company)):
                by_id = {_key_parts(key)[2]: key for key in keys}
                stored.update(by_id)
                for file in await self._shares.unknown(by_id):
                    async with _store_errors("looked for"):
                        info = await self._store.about(by_id[file])
                    if info is not None:
                        await self._shares.record_uncounted(*_key_parts(by_id[file]), info.size)
        # A file that was counted recently may still be on its way into the storage.
        before = self._clock.now() - UNSENT_FOR
        await self._shares.drop(file for file in await self._shares.of(company) - stored if _is_older(file, before))
        return await self._shares.recompute_sum(company)

    async def sweep(self) -> int:
        """Deletes files that were uploaded a day ago and that no message names, with their marks; returns how many
        files."""
        count = 0
        async for mark in self._keys(UNSENT):
            if not _is_older(mark, self._clock.now() - UNSENT_FOR):
                break  # marks are in the order of their upload
            company, conversation, file = mark.split("/")[-3:]
            if not await self._is_named(company, conversation, file):
                await self._shares.drop([file])
                await self._delete([folder_of(company, conversation) + file])
                count += 1
            else:
                await self._delete([mark], marks=False)
        return count

    async def _is_named(self, company: str, conversation: str, file: str) -> bool:
        """Whether a message of the conversation names the file; the newest messages are read first."""
        cursor: str | None = None
        while True:
            page = await self._facts.messages(company, conversation, MESSAGES_PER_READ, cursor, latest=True)
            for fact in page.items:
                files = fact.data.files if isinstance(fact.data, VisitorMessage | OperatorMessage) else None
                if any(attached.id == file for attached in files or ()):
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
            async with _store_errors("listed"):
                page = await self._store.list(prefix, PAGE_SIZE, after)
            if not page:  # a server may return fewer keys than were asked for
                return
            yield page
            after = page[-1]

    async def _delete(self, keys: Sequence[str], *, marks: bool = True) -> None:
        if self._store is None or not keys:
            return
        mark_keys = [unsent_key(*_key_parts(key)) for key in keys] if marks else []
        async with _store_errors("deleted"):
            await self._store.delete([*keys, *mark_keys])


def _key_parts(key: str) -> tuple[str, str, str]:
    company, conversation, file = key.split("/")[-3:]
    return company, conversation, file


def _is_older(key: str, before: datetime) -> bool:
    try:
        return uploaded_at(key.rpartition("/")[2]) < before
    except ValueError:
        return False  # not a name that Nexus gives


@asynccontextmanager
async def _store_errors(action: str) -> AsyncGenerator[None]:
    try:
        yield
    except FilesUnavailableError as error:
        raise StoreUnavailableError(f"files could not be {action}: {error}") from error
