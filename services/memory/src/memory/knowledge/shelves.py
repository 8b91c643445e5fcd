"""This process's search indexes of companies' knowledge: one for each company, built when first needed, then updated
by other replicas' messages (knowledge.changed.v1) and, if one is missed, by periodic comparison with the store."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from contracts.company import CompanySettings
from contracts.errors import NexusError
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.neighbours import Neighbours
from memory.knowledge.index import MOST_PASSAGES, CompanyIndex, Hit
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.question import Synonyms, understood
from memory.knowledge.records import Record
from memory.knowledge.texts import StemmedDocument, StemmedPassage
from runtime.deadlines import detached_context

MOST_IN_PROCESS = 100_000
"""Passages held in a process, about 2.5 KB each; the least recently searched company is dropped."""
MOST_COMPANIES = 2_000
NEAREST = 30
"""Passages considered because of their meaning."""
BREATH = 200
"""Passages after which other tasks get their turn."""
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Shelf:
    """One company's index. `editions`: by document, the edition that is indexed; `complete`: everything has been
    read once."""

    index: CompanyIndex = field(default_factory=CompanyIndex)
    near: Neighbours[tuple[str, int]] = field(default_factory=Neighbours[tuple[str, int]])
    editions: dict[str, str] = field(default_factory=dict[str, str])
    synonyms: Synonyms = field(default_factory=Synonyms)
    complete: bool = False
    changed: set[str | None] = field(default_factory=set[str | None])
    work: "asyncio.Task[None] | None" = None


@dataclass(frozen=True, slots=True)
class PassageHits:
    """The passages found, and how much was searched."""

    hits: Sequence[Hit]
    documents: int
    pages: Sequence[StemmedDocument]
    complete: bool


class Shelves:
    """All indexes of this process. `settings` reads a company's settings, for its synonyms."""

    def __init__(
        self,
        documents: Documents,
        settings: Callable[[str], Awaitable[CompanySettings | None]],
        embeddings: Embeddings,
    ) -> None:
        self._embeddings = embeddings
        self._documents = documents
        self._settings = settings
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()

    async def search(
        self,
        company: str,
        text: str,
        limit: int,
        *,
        earlier: Sequence[str] = (),
        language: str | None = None,
        pages: int = 0,
        seconds: float,
    ) -> PassageHits:
        """The best passages. Waits this long for documents to be read; then it uses what there is."""
        asking = asyncio.create_task(self._embeddings.question(text))
        shelf = await self.of(company, seconds)
        vector = await asking
        near = shelf.near.nearest(vector, NEAREST) if vector is not None else None
        hits: list[Hit] = []
        if shelf.index.documents:
            hits = shelf.index.search(understood(text, earlier, language, shelf.synonyms), text, limit, near)
        named = shelf.index.pages(pages) if pages else []
        return PassageHits(hits, shelf.index.documents, named, shelf.complete)

    async def of(self, company: str, seconds: float) -> Shelf:
        """The company's index, as far as it can be read in this many seconds."""
        shelf = self._shelf(company)
        if not shelf.complete:
            shelf.changed.add(None)
        work = self._begin(company, shelf)
        if work is not None:
            await asyncio.wait({work}, timeout=seconds)
        return shelf

    def change(self, company: str, document: str | None) -> None:
        """Something of the company has changed; ignored if nobody has searched it here."""
        shelf = self._shelves.get(company)
        if shelf is not None:
            shelf.changed.add(document)
            self._begin(company, shelf)

    async def changed(self, company: str, document: str) -> None:
        """The same, but waits, so that whoever has just stored something finds it."""
        self.change(company, document)
        shelf = self._shelves.get(company)
        if shelf is not None and shelf.work is not None:
            await asyncio.wait({shelf.work}, timeout=2.0)

    def configured(self, settings: CompanySettings) -> None:
        shelf = self._shelves.get(settings.config.company_id)
        if shelf is not None:
            shelf.synonyms = Synonyms(settings.config.knowledge.synonyms)

    def drop(self, company: str) -> None:
        shelf = self._shelves.pop(company, None)
        if shelf is None:
            return
        shelf.near.closed = True
        if shelf.work is not None:
            shelf.work.cancel()

    async def look(self) -> None:
        """Compares everything with the store, for changes that were missed or could not be read."""
        for company in list(self._shelves):
            self.change(company, None)

    async def stop(self) -> None:
        for shelf in self._shelves.values():
            if shelf.work is not None:
                shelf.work.cancel()
                with suppress(asyncio.CancelledError):
                    await shelf.work

    def _shelf(self, company: str) -> Shelf:
        shelf = self._shelves.get(company)
        if shelf is None:
            shelf = self._shelves[company] = Shelf()
        self._shelves.move_to_end(company)
        return shelf

    def _begin(self, company: str, shelf: Shelf) -> "asyncio.Task[None] | None":
        if shelf.work is None and shelf.changed:
            shelf.work = asyncio.create_task(
                self._keep_up(company, shelf), name=f"knowledge of {company}", context=detached_context()
            )
        return shelf.work

    async def _keep_up(self, company: str, shelf: Shelf) -> None:
        """Reads changes until there are none; what cannot be read now is read by the next search or comparison."""
        try:
            while shelf.changed:
                changed = set(shelf.changed)
                shelf.changed.clear()
                try:
                    if None in changed or not shelf.complete:
                        await self._read_all(company, shelf)
                    else:
                        for document in changed:
                            record = await self._documents.get(company, str(document))
                            await self._take(company, shelf, str(document), record)
                except BaseException:
                    shelf.changed |= changed
                    raise
        except NexusError as error:
            _log.warning("knowledge.not_read", company=company, error=str(error)[:200])
        finally:
            shelf.work = None
        self._make_room(company)

    async def _read_all(self, company: str, shelf: Shelf) -> None:
        started = time.monotonic()
        settings = await self._settings(company)
        if settings is not None:
            shelf.synonyms = Synonyms(settings.config.knowledge.synonyms)
        wanted = {record.id: record async for record in self._documents.all(company) if record.found}
        if shelf.index.needs_rebuild:
            shelf.near.closed = True
            shelf.index, shelf.editions, shelf.near = CompanyIndex(), {}, Neighbours[tuple[str, int]]()
        for gone in shelf.index.names() - wanted.keys():
            _out(shelf, gone)
        stale = {name for name, record in wanted.items() if shelf.editions.get(name) != record.edition}
        if len(stale) > BREATH:
            await self._read_texts(company, shelf, wanted, stale)
        for name in wanted.keys() - shelf.editions.keys() | stale:
            await self._take(company, shelf, name, wanted[name])
        shelf.complete = True
        self._embeddings.fill(shelf.near)
        if stale:
            taken = round(time.monotonic() - started, 3)
            _log.info("knowledge.read", company=company, documents=len(stale), passages=len(shelf.index), seconds=taken)

    async def _read_texts(self, company: str, shelf: Shelf, wanted: dict[str, Record], stale: set[str]) -> None:
        """Reads all texts of the company, which for many documents is faster than one by one."""
        current: tuple[str, str] | None = None
        texts: list[StemmedPassage] = []
        breath = 0

        def take() -> None:
            if current is not None and current[0] in stale and wanted[current[0]].edition == current[1]:
                self._in(shelf, wanted[current[0]], texts)
                stale.discard(current[0])

        async for document, edition, bundle in self._documents.all_texts(company):
            if (document, edition) != current:
                take()
                current, texts = (document, edition), []
            texts.extend(bundle)
            breath += len(bundle)
            if breath > BREATH:
                breath = 0
                await asyncio.sleep(0)
        take()

    async def _take(self, company: str, shelf: Shelf, document: str, record: Record | None) -> None:
        if record is None or not record.found or record.edition is None:
            _out(shelf, document)
        elif shelf.editions.get(document) != record.edition:
            self._in(shelf, record, await self._documents.texts(company, document, record.edition))
            self._embeddings.fill(shelf.near)
        else:
            shelf.index.describe(record.document())

    def _in(self, shelf: Shelf, record: Record, texts: Sequence[StemmedPassage]) -> None:
        room = MOST_PASSAGES - len(shelf.index) + shelf.index.of(record.id)
        _out(shelf, record.id)
        kept = texts[: max(room, 0)]
        document = record.document()
        shelf.index.put(document, kept)
        shelf.editions[record.id] = record.edition or ""
        if self._embeddings.on:
            for place, text in enumerate(kept):
                shelf.near.put((record.id, place), "\n".join([document.title, *text.headings, text.text]))

    def _make_room(self, company: str) -> None:
        held = sum(len(shelf.index) for shelf in self._shelves.values())
        for name in list(self._shelves):
            if held <= MOST_IN_PROCESS and len(self._shelves) <= MOST_COMPANIES:
                return
            if name != company and self._shelves[name].work is None:
                gone = self._shelves.pop(name)
                gone.near.closed = True
                held -= len(gone.index)


def _out(shelf: Shelf, document: str) -> None:
    for place in range(shelf.index.of(document)):
        shelf.near.drop((document, place))
    shelf.index.drop(document)
    shelf.editions.pop(document, None)
