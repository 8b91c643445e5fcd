"""This process's search indexes of companies' knowledge: one for each company, built when first needed, then updated
by other replicas' messages (knowledge.changed.v1) and, if one is missed, by periodic comparison with the store."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog

from contracts.company import CompanySettings
from contracts.errors import NexusError
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.neighbours import Nearness, Neighbours
from memory.knowledge.index import MOST_PASSAGES, CompanyIndex, Hit
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.passages import parted
from memory.knowledge.question import Synonyms, parsed_question, with_earlier
from memory.knowledge.records import Record
from memory.knowledge.texts import StemmedDocument, StemmedPassage
from runtime.calls.deadlines import detached_context

MOST_IN_PROCESS = 100_000
"""Passages held in a process, about 2.5 KB each; the least recently searched company is dropped."""
MOST_COMPANIES = 2_000
NEAREST = 30
"""Passages considered because of their meaning."""
MOST_SECTIONS = 10_000
"""Sections of a company that get vectors, some 20 to 40 ms of one core and 1.5 KB each; others are found by words."""
BREATH = 200
"""Passages after which other tasks get their turn."""
SectionKey = tuple[str, int, int]
"""A document, the place of a passage in it, and of a section in that."""
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class KnowledgeIndex:
    """One company's index. By document: `sections` with vectors, and `editions`, the edition that is indexed;
    `complete`: everything has been read once."""

    passages: CompanyIndex = field(default_factory=CompanyIndex)
    near: Neighbours[SectionKey] = field(default_factory=Neighbours[SectionKey])
    sections: dict[str, list[SectionKey]] = field(default_factory=dict[str, list[SectionKey]])
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


class KnowledgeIndexes:
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
        self._indexes: OrderedDict[str, KnowledgeIndex] = OrderedDict()

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
        # Nobody waits for a model while there is nothing, or not all, to compare a question with.
        compared = self._index(company).near.complete
        asking = asyncio.create_task(self._embeddings.question(with_earlier(text, earlier))) if compared else None
        index = await self.of(company, seconds)
        vector = await asking if asking else None
        near = index.near.to(vector, self._embeddings.usual) if vector is not None and index.near.complete else None
        hits: list[Hit] = []
        if index.passages.documents:
            meant = nearest_passages(near) if near else None
            hits = index.passages.search(parsed_question(text, earlier, language, index.synonyms), text, limit, meant)
        if near and near.centred:
            hits = [replace(one, near=_of_sections(one, near)) for one in hits]
        named = index.passages.pages(pages) if pages else []
        return PassageHits(hits, index.passages.documents, named, index.complete)

    async def of(self, company: str, seconds: float) -> KnowledgeIndex:
        """The company's index, as far as it can be read in this many seconds."""
        index = self._index(company)
        if not index.complete:
            index.changed.add(None)
        work = self._begin(company, index)
        if work is not None:
            await asyncio.wait({work}, timeout=seconds)
        return index

    def change(self, company: str, document: str | None) -> None:
        """Something of the company has changed; ignored if nobody has searched it here."""
        index = self._indexes.get(company)
        if index is not None:
            index.changed.add(document)
            self._begin(company, index)

    async def changed(self, company: str, document: str) -> None:
        """The same, but waits, so that whoever has just stored something finds it."""
        self.change(company, document)
        index = self._indexes.get(company)
        if index is not None and index.work is not None:
            await asyncio.wait({index.work}, timeout=2.0)

    def configured(self, settings: CompanySettings) -> None:
        index = self._indexes.get(settings.config.company_id)
        if index is not None:
            index.synonyms = Synonyms(settings.config.knowledge.synonyms)

    def drop(self, company: str) -> None:
        index = self._indexes.pop(company, None)
        if index is None:
            return
        index.near.closed = True
        if index.work is not None:
            index.work.cancel()

    async def look(self) -> None:
        """Compares everything with the store, for changes that were missed or could not be read."""
        for company in list(self._indexes):
            self.change(company, None)

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

    def _begin(self, company: str, index: KnowledgeIndex) -> "asyncio.Task[None] | None":
        if index.work is None and index.changed:
            index.work = asyncio.create_task(
                self._keep_up(company, index), name=f"knowledge of {company}", context=detached_context()
            )
        return index.work

    async def _keep_up(self, company: str, index: KnowledgeIndex) -> None:
        """Reads changes until there are none; what cannot be read now is read by the next search or comparison."""
        try:
            while index.changed:
                changed = set(index.changed)
                index.changed.clear()
                try:
                    if None in changed or not index.complete:
                        await self._read_all(company, index)
                    else:
                        for document in changed:
                            record = await self._documents.get(company, str(document))
                            await self._take(company, index, str(document), record)
                except BaseException:
                    index.changed |= changed
                    raise
        except NexusError as error:
            _log.warning("knowledge.not_read", company=company, error=str(error)[:200])
        finally:
            index.work = None
        self._make_room(company)

    async def _read_all(self, company: str, index: KnowledgeIndex) -> None:
        started = time.monotonic()
        settings = await self._settings(company)
        if settings is not None:
            index.synonyms = Synonyms(settings.config.knowledge.synonyms)
        wanted = {record.id: record async for record in self._documents.all(company) if record.found}
        if index.passages.needs_rebuild:
            index.near.closed = True
            index.passages, index.editions, index.near = CompanyIndex(), {}, Neighbours[SectionKey]()
            index.sections.clear()
        for gone in index.passages.names() - wanted.keys():
            _out(index, gone)
        stale = {name for name, record in wanted.items() if index.editions.get(name) != record.edition}
        if len(stale) > BREATH:
            await self._read_texts(company, index, wanted, stale)
        for name in wanted.keys() - index.editions.keys() | stale:
            await self._take(company, index, name, wanted[name])
        index.complete = True
        self._embeddings.fill(index.near)
        if stale:
            taken = round(time.monotonic() - started, 3)
            _log.info(
                "knowledge.read", company=company, documents=len(stale), passages=len(index.passages), seconds=taken
            )

    async def _read_texts(
        self, company: str, index: KnowledgeIndex, wanted: dict[str, Record], stale: set[str]
    ) -> None:
        """Reads all texts of the company, which for many documents is faster than one by one."""
        current: tuple[str, str] | None = None
        texts: list[StemmedPassage] = []
        breath = 0

        def take() -> None:
            if current is not None and current[0] in stale and wanted[current[0]].edition == current[1]:
                self._in(index, wanted[current[0]], texts)
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

    async def _take(self, company: str, index: KnowledgeIndex, document: str, record: Record | None) -> None:
        if record is None or not record.found or record.edition is None:
            _out(index, document)
        elif index.editions.get(document) != record.edition:
            self._in(index, record, await self._documents.texts(company, document, record.edition))
            self._embeddings.fill(index.near)
        else:
            index.passages.describe(record.document())

    def _in(self, index: KnowledgeIndex, record: Record, texts: Sequence[StemmedPassage]) -> None:
        room = MOST_PASSAGES - len(index.passages) + index.passages.of(record.id)
        _out(index, record.id)
        kept = texts[: max(room, 0)]
        document = record.document()
        index.passages.put(document, kept)
        index.editions[record.id] = record.edition or ""
        if self._embeddings.on:
            meanings = meanings_of(document, kept)
            mine = list(meanings)[: max(MOST_SECTIONS - index.near.size, 0)]
            index.sections[record.id] = mine
            for section in mine:
                index.near.put(section, meanings[section])

    def _make_room(self, company: str) -> None:
        held = sum(len(index.passages) for index in self._indexes.values())
        for name in list(self._indexes):
            if held <= MOST_IN_PROCESS and len(self._indexes) <= MOST_COMPANIES:
                return
            if name != company and self._indexes[name].work is None:
                gone = self._indexes.pop(name)
                gone.near.closed = True
                held -= len(gone.passages)


def meanings_of(document: StemmedDocument, texts: Sequence[StemmedPassage]) -> dict[SectionKey, str]:
    """The text of each section that gets a vector: with the title and the headings above it."""
    return {
        (document.id, place, number): "\n".join([document.title, *section.headings, said])
        for place, text in enumerate(texts)
        for number, (section, said) in enumerate(parted(text.text, text.sections))
    }


def nearest_passages(near: Nearness[SectionKey]) -> dict[tuple[str, int], float]:
    """The passages of the nearest sections; of each passage its nearest one counts."""
    found: dict[tuple[str, int], float] = {}
    for (document, place, _), share in near.nearest(NEAREST).items():
        found[document, place] = max(share, found.get((document, place), 0.0))
    return found


def _of_sections(hit: Hit, near: Nearness[SectionKey]) -> tuple[float, ...]:
    return tuple(near.of((hit.document.id, hit.place, number)) for number in range(len(hit.sections)))


def _out(index: KnowledgeIndex, document: str) -> None:
    for section in index.sections.pop(document, ()):
        index.near.drop(section)
    index.passages.drop(document)
    index.editions.pop(document, None)
