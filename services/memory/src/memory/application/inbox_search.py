"""Searches a company's conversations with an index in this process, updated before each search."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.adapters.mongo_conversations import MongoConversations
from memory.domain.inbox_index import Findable, InboxIndex, InboxQuery
from memory.errors import MemoryServiceError, StoreUnavailableError
from runtime.calls.deadlines import detached_context

READING = 2.0
"""Seconds that a search waits for the update; after that it uses what has been read, and says so."""
PAGE = 500
OVERLAP = 10_000
"""Milliseconds that are read again: replicas' clocks differ, and what is written at the same time is read in parts."""
MOST_COMPANIES = 20
"""Companies whose index is kept; the least recently used is dropped."""


@dataclass(slots=True)
class _Held:
    index: InboxIndex = field(default_factory=InboxIndex)
    read_to: int = 0
    reading: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class InboxHits:
    """All matches, newest activity first. `complete`: every conversation was examined."""

    rows: list[Findable]
    complete: bool


class InboxSearch:
    """Searches of companies' conversations."""

    def __init__(self, store: MongoConversations) -> None:
        self._store = store
        self._held: OrderedDict[str, _Held] = OrderedDict()

    async def find(self, company: str, wanted: InboxQuery) -> InboxHits:
        """The matches.

        Raises:
            StoreUnavailableError: nothing could be read.
        """
        held = self._held.setdefault(company, _Held())
        self._held.move_to_end(company)
        while len(self._held) > MOST_COMPANIES:
            self._let_go(next(iter(self._held)))
        if held.reading is None or held.reading.done():
            held.reading = asyncio.create_task(
                self._read(company, held), name="reading for a search", context=detached_context()
            )
            held.reading.add_done_callback(ignore_failure)
        done, _ = await asyncio.wait({held.reading}, timeout=READING)
        if done:
            try:
                held.reading.result()
            except asyncio.CancelledError:
                raise StoreUnavailableError("memory is stopping: try again") from None
        return InboxHits(held.index.find(wanted), bool(done))

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        held = self._held.get(company)
        if held is not None:
            for name in conversations:
                held.index.drop(name)

    async def stop(self) -> None:
        for company in list(self._held):
            held = self._held[company]
            self._let_go(company)
            if held.reading is not None:
                with contextlib.suppress(asyncio.CancelledError, MemoryServiceError):
                    await held.reading

    def _let_go(self, company: str) -> None:
        held = self._held.pop(company)
        if held.reading is not None:
            held.reading.cancel()

    async def _read(self, company: str, held: _Held) -> None:
        if held.index.needs_rebuild:
            held.index, held.read_to = InboxIndex(), 0
        since, after = held.read_to - OVERLAP, ""
        while True:
            rows, after = await self._store.findable(company, since, after, PAGE)
            held.index.put(rows)
            if rows:
                held.read_to = max(held.read_to, rows[-1].written)
            if len(rows) < PAGE:
                return
            await asyncio.sleep(0)


def ignore_failure(task: asyncio.Task[Any]) -> None:
    """Ignores the failure of an update that nobody waits for any more; the next search repeats it."""
    if not task.cancelled():
        task.exception()
