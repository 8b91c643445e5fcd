"""This process's search indexes of companies' knowledge: one for each company, built when first needed, then updated by
other replicas' messages (knowledge.changed.v1) and, in case one is missed, by periodic comparison with the store."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog

from contracts.company import CompanySettings
from contracts.errors import NexusError
from contracts.knowledge import KnowledgeFound, KnowledgeQuery, PageRef
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.neighbours import Nearness, Neighbours
from memory.knowledge.index import MAX_COMPANY_PASSAGES, CompanyIndex, Hit, passage
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.passages import split_sections
from memory.knowledge.question import Synonyms, parsed_question, with_earlier
from memory.knowledge.records import Record
from memory.knowledge.texts import StemmedDocument, StemmedPassage
from runtime.calls.deadlines import detached_context, part_deadline

READ_SECONDS = 3.0
"""Seconds that a search waits for documents to be read."""
SHORT_READ_SECONDS = 0.3
"""The same, for a search that is part of another call of a turn."""
MAX_PROCESS_PASSAGES = 100_000
"""Passages in a process, about 2.5 KB each; above this, the least recently searched company is dropped."""
MAX_COMPANIES = 2_000
MAX_NEAREST = 30
"""Passages considered because of their meaning."""
MAX_SECTIONS = 10_000
"""Sections of a company that get vectors, some 20 to 40 ms of one core and 1.5 KB each; others are found by words."""
FIRST_READING_SECONDS = 3.0
"""Seconds that a search waits, if its caller wants that, for the first reading of the site to end."""
CHECK_SECONDS = 0.25
"""Seconds between two looks whether it has ended; all searches of a company share a look."""
PASSAGES_BEFORE_PAUSE = 200
"""Passages after which other tasks get a turn."""
SectionKey = tuple[str, int, int]
"""A document, the place of a passage in it, and the place of a section in that."""
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class KnowledgeIndex:
    """One company's index. By document: `sections` with vectors, and `editions`, the edition that is indexed;
    `complete`: everything has been read once. `reading`: the site is being read for the first time; `site_read`: that
    has ended, or there is no site. Until then it is looked at again from `check_at` on (monotonic, in seconds)."""

    passages: CompanyIndex = field(default_factory=CompanyIndex)
    near: Neighbours[SectionKey] = field(default_factory=Neighbours[SectionKey])
    sections: dict[str, list[SectionKey]] = field(default_factory=dict[str, list[SectionKey]])
    editions: dict[str, str] = field(default_factory=dict[str, str])
    synonyms: Synonyms = field(default_factory=Synonyms)
    complete: bool = False
    reading: bool = False
    site_read: bool = False
    check_at: float = 0.0
    changed: set[str | None] = field(default_factory=set[str | None])
    work: "asyncio.Task[None] | None" = None


@dataclass(slots=True)
class KnowledgeIndexes:
    """All indexes of this process. `settings` reads a company's settings, for its synonyms; `is_first` says whether its
    site has never been read to its end."""

    documents: DocumentStore
    settings: Callable[[str], Awaitable[CompanySettings | None]]
    embeddings: Embeddings
    is_first: Callable[[str], Awaitable[bool]]
    _indexes: OrderedDict[str, KnowledgeIndex] = field(init=False, default_factory=OrderedDict)

    async def search(self, company: str, query: KnowledgeQuery, seconds: float = SHORT_READ_SECONDS) -> KnowledgeFound:
        """Returns the best passages. Waits at most this many seconds for documents to be read. It never fails: what
        cannot be read now is left out, and the reply says so."""
        reading = await self._is_being_read(company, part_deadline(seconds))
        # Without the vectors of all sections, searches do not wait for the question's.
        has_vectors = self._index(company).near.complete
        vector_task = (
            asyncio.create_task(self.embeddings.question(with_earlier(query.text, query.earlier)))
            if has_vectors
            else None
        )
        index = await self.loaded(company, part_deadline(seconds))
        vector = await vector_task if vector_task else None
        nearness = self.embeddings.nearness(index.near, vector) if vector is not None and index.near.complete else None
        hits: list[Hit] = []
        if index.passages.documents:
            nearest = nearest_passages(nearness) if nearness else None
            question = parsed_question(query.text, query.earlier, query.language, index.synonyms)
            hits = index.passages.search(question, query.text, query.limit, nearest)
        if nearness and nearness.centred:
            hits = [replace(hit, near=_nearness_of_sections(hit, nearness)) for hit in hits]
        pages = index.passages.pages(query.pages) if query.pages else []
        # Not validated: all its parts are made here.
        return KnowledgeFound.model_construct(
            passages=[passage(hit) for hit in hits],
            documents=index.passages.documents,
            pages=[PageRef(url=page.url or "", title=page.title) for page in pages],
            complete=index.complete,
            reading=reading,
        )

    async def site_read(self, company: str) -> None:
        """Waits until the first reading of the company's site has ended, for a few seconds at most."""
        for _ in range(int(part_deadline(FIRST_READING_SECONDS) / CHECK_SECONDS)):
            if not await self._is_being_read(company, CHECK_SECONDS):
                return
            await asyncio.sleep(CHECK_SECONDS)

    async def loaded(self, company: str, seconds: float) -> KnowledgeIndex:
        """Returns the company's index, as far as it can be read in this many seconds."""
        index = self._index(company)
        if not index.complete:
            index.changed.add(None)
        work = self._start_work(company, index)
        if work is not None:
            await asyncio.wait({work}, timeout=seconds)
        return index

    def mark_changed(self, company: str, document: str | None) -> None:
        """Notes that something of the company has changed; ignored if nobody has searched it here."""
        index = self._indexes.get(company)
        if index is not None:
            index.changed.add(document)
            self._start_work(company, index)

    async def refresh(self, company: str, document: str) -> None:
        """Notes a change and waits for it, so that whoever has just stored something finds it."""
        self.mark_changed(company, document)
        index = self._indexes.get(company)
        if index is not None and index.work is not None:
            await asyncio.wait({index.work}, timeout=2.0)

    def configured(self, settings: CompanySettings) -> None:
        index = self._indexes.get(settings.config.company_id)
        if index is not None:
            index.synonyms = Synonyms(settings.config.knowledge.synonyms)
            index.site_read = False  # it may be another site

    def drop(self, company: str) -> None:
        index = self._indexes.pop(company, None)
        if index is None:
            return
        index.near.closed = True
        if index.work is not None:
            index.work.cancel()

    async def mark_all_changed(self) -> None:
        """Compares everything with the store, for changes that were missed or could not be read."""
        for company in list(self._indexes):
            self.mark_changed(company, None)

    async def stop(self) -> None:
        for index in self._indexes.values():
            if index.work is not None:
                index.work.cancel()
                with suppress(asyncio.CancelledError):
                    await index.work

    def _index(self, company: str) -> KnowledgeIndex:
        index = self._indexes.get(company)
        if index is None:
            index = self._indexes[company] = KnowledgeIndex()
        self._indexes.move_to_end(company)
        return index

    async def _is_being_read(self, company: str, seconds: float) -> bool:
        """Returns whether the site is being read for the first time, as far as the store tells in this time."""
        index = self._index(company)
        if not index.site_read and time.monotonic() >= index.check_at:
            index.check_at = time.monotonic() + CHECK_SECONDS
            with suppress(NexusError, TimeoutError):
                index.reading = await asyncio.wait_for(self.is_first(company), seconds)
                index.site_read = not index.reading
                if index.site_read:
                    index.changed.add(None)  # what the run has found last
        return index.reading

    def _start_work(self, company: str, index: KnowledgeIndex) -> "asyncio.Task[None] | None":
        if index.work is None and index.changed:
            index.work = asyncio.create_task(
                self._read_changes(company, index), name=f"knowledge of {company}", context=detached_context()
            )
        return index.work

    async def _read_changes(self, company: str, index: KnowledgeIndex) -> None:
        """Reads changes until there are none; what cannot be read now is read by the next search or comparison."""
        try:
            while index.changed:
                changes = set(index.changed)
                index.changed.clear()
                try:
                    if None in changes or not index.complete:
                        await self._read_all(company, index)
                    else:
                        for document in changes:
                            record = await self.documents.get(company, str(document))
                            await self._take(company, index, str(document), record)
                except BaseException:
                    index.changed |= changes
                    raise
        except NexusError as error:
            _log.warning("knowledge.not_read", company=company, error=str(error)[:200])
        finally:
            index.work = None
        self._evict(company)

    async def _read_all(self, company: str, index: KnowledgeIndex) -> None:
        started = time.monotonic()
        settings = await self.settings(company)
        if settings is not None:
            index.synonyms = Synonyms(settings.config.knowledge.synonyms)
        records = {record.id: record async for record in self.documents.all(company) if record.found}
        if index.passages.needs_rebuild:
            index.near.closed = True
            index.passages, index.editions, index.near = CompanyIndex(), {}, Neighbours[SectionKey]()
            index.sections.clear()
        for removed in index.passages.names() - records.keys():
            _remove(index, removed)
        stale = {name for name, record in records.items() if index.editions.get(name) != record.edition}
        if len(stale) > PASSAGES_BEFORE_PAUSE:
            await self._read_texts(company, index, records, stale)
        for name in records.keys() - index.editions.keys() | stale:
            await self._take(company, index, name, records[name])
        index.complete = True
        self.embeddings.fill(index.near)
        if stale:
            seconds = round(time.monotonic() - started, 3)
            _log.info(
                "knowledge.read", company=company, documents=len(stale), passages=len(index.passages), seconds=seconds
            )

    async def _read_texts(
        self, company: str, index: KnowledgeIndex, records: dict[str, Record], stale: set[str]
    ) -> None:
        """Reads all texts of the company, which for many documents is faster than one by one."""
        current: tuple[str, str] | None = None
        texts: list[StemmedPassage] = []
        since_pause = 0

        def add_document() -> None:
            if current is not None and current[0] in stale and records[current[0]].edition == current[1]:
                self._add(index, records[current[0]], texts)
                stale.discard(current[0])

        async for document, edition, bundle in self.documents.all_texts(company):
            if (document, edition) != current:
                add_document()
                current, texts = (document, edition), []
            texts.extend(bundle)
            since_pause += len(bundle)
            if since_pause > PASSAGES_BEFORE_PAUSE:
                since_pause = 0
                await asyncio.sleep(0)
        add_document()

    async def _take(self, company: str, index: KnowledgeIndex, document: str, record: Record | None) -> None:
        if record is None or not record.found or record.edition is None:
            _remove(index, document)
        elif index.editions.get(document) != record.edition:
            self._add(index, record, await self.documents.texts(company, document, record.edition))
            self.embeddings.fill(index.near)
        else:
            index.passages.describe(record.document())

    def _add(self, index: KnowledgeIndex, record: Record, texts: Sequence[StemmedPassage]) -> None:
        free = MAX_COMPANY_PASSAGES - len(index.passages) + index.passages.passage_count(record.id)
        _remove(index, record.id)
        kept_texts = texts[: max(free, 0)]
        document = record.document()
        index.passages.put(document, kept_texts)
        index.editions[record.id] = record.edition or ""
        if self.embeddings.enabled:
            section_texts = section_texts_of(document, kept_texts)
            sections = list(section_texts)[: max(MAX_SECTIONS - index.near.size, 0)]
            index.sections[record.id] = sections
            for section in sections:
                index.near.put(section, section_texts[section])

    def _evict(self, company: str) -> None:
        passage_count = sum(len(index.passages) for index in self._indexes.values())
        for name in list(self._indexes):
            if passage_count <= MAX_PROCESS_PASSAGES and len(self._indexes) <= MAX_COMPANIES:
                return
            if name != company and self._indexes[name].work is None:
                evicted = self._indexes.pop(name)
                evicted.near.closed = True
                passage_count -= len(evicted.passages)


def section_texts_of(document: StemmedDocument, texts: Sequence[StemmedPassage]) -> dict[SectionKey, str]:
    """Returns the text of each section that gets a vector: with the title and the headings above it."""
    return {
        (document.id, place, number): "\n".join([document.title, *section.headings, section_text])
        for place, text in enumerate(texts)
        for number, (section, section_text) in enumerate(split_sections(text.text, text.sections))
    }


def nearest_passages(nearness: Nearness[SectionKey]) -> dict[tuple[str, int], float]:
    """Returns the passages of the nearest sections; the nearest section of each passage counts."""
    by_passage: dict[tuple[str, int], float] = {}
    for (document, place, _), section_nearness in nearness.nearest(MAX_NEAREST).items():
        by_passage[document, place] = max(section_nearness, by_passage.get((document, place), 0.0))
    return by_passage


def _nearness_of_sections(hit: Hit, nearness: Nearness[SectionKey]) -> tuple[float, ...]:
    return tuple(nearness.of((hit.document.id, hit.place, number)) for number in range(len(hit.sections)))


def _remove(index: KnowledgeIndex, document: str) -> None:
    for section in index.sections.pop(document, ()):
        index.near.drop(section)
    index.passages.drop(document)
    index.editions.pop(document, None)
