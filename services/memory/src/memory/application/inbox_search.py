"""Searches a company's conversations with an index in this process, updated before each search."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.adapters.mongo_conversations import MongoConversations
from memory.domain.inbox_index import Findable, InboxIndex, InboxQuery
from memory.errors import MemoryServiceError, StoreUnavailableError
from runtime.background import start_early
from runtime.calls.deadlines import detached_context

UPDATE_TIMEOUT_SECONDS = 2.0
"""How long a search waits for the update; after that it uses what has been read, and reports itself incomplete."""
PAGE_SIZE = 500
OVERLAP_MS = 10_000
"""How far back an update reads again: replicas' clocks differ, and rows written at the same time can be read in
parts."""
MAX_COMPANIES = 20
"""Companies whose index is cached; the least recently used is dropped."""


@dataclass(slots=True)
class _CompanyIndex:
    index: InboxIndex = field(default_factory=InboxIndex)
    read_to: int = 0
    update: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class InboxHits:
    """All matches, latest activity first. `complete`: every conversation was examined."""

    rows: list[Findable]
    complete: bool


class InboxSearch:
    """Searches companies' conversations."""

    def __init__(self, store: MongoConversations) -> None:
        self._store = store
        self._indexes: OrderedDict[str, _CompanyIndex] = OrderedDict()

    async def find(self, company: str, query: InboxQuery) -> InboxHits:
        """Returns the matches.

        Raises:
            StoreUnavailableError: the index could not be updated.
        """
        entry = self._indexes.setdefault(company, _CompanyIndex())
        self._indexes.move_to_end(company)
        while len(self._indexes) > MAX_COMPANIES:
            self._evict(next(iter(self._indexes)))
        if entry.update is None or entry.update.done():
            entry.update = start_early(
                self._update(company, entry), name="reading for a search", context=detached_context()
            )
        done, _ = await asyncio.wait({entry.update}, timeout=UPDATE_TIMEOUT_SECONDS)
        if done:
            try:
                entry.update.result()
            except asyncio.CancelledError:
                raise StoreUnavailableError("memory is stopping: try again") from None
        return InboxHits(entry.index.find(query), bool(done))

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        entry = self._indexes.get(company)
        if entry is not None:
            for name in conversations:
                entry.index.drop(name)

    async def stop(self) -> None:
        for company in list(self._indexes):
            entry = self._indexes[company]
            self._evict(company)
            if entry.update is not None:
                with contextlib.suppress(asyncio.CancelledError, MemoryServiceError):
                    await entry.update

    def _evict(self, company: str) -> None:
        entry = self._indexes.pop(company)
        if entry.update is not None:
            entry.update.cancel()

    async def _update(self, company: str, entry: _CompanyIndex) -> None:
        if entry.index.needs_rebuild:
            entry.index, entry.read_to = InboxIndex(), 0
        since_ms, after = entry.read_to - OVERLAP_MS, ""
        while True:
            rows, after = await self._store.findable(company, since_ms, after, PAGE_SIZE)
            entry.index.put(rows)
            if rows:
                entry.read_to = max(entry.read_to, rows[-1].written)
            if len(rows) < PAGE_SIZE:
                return
            await asyncio.sleep(0)
