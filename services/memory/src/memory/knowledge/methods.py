"""The methods about companies' knowledge, one thin function each; the gateway checks who may call them."""

from collections.abc import Awaitable, Callable

from contracts.company_rpc import CompanyRequest
from contracts.ids import uuid7
from contracts.knowledge import KnowledgeFound, KnowledgeQuery, PageRef, Passage, PassageSection, document_id
from contracts.knowledge_rpc import (
    DOCUMENT_DELETE,
    DOCUMENT_GET,
    DOCUMENT_PUT,
    DOCUMENTS,
    FILE_PUT,
    KNOWN_PAGES,
    OVERVIEW,
    REFRESH,
    RUN_DECIDE,
    RUN_GET,
    SEARCH,
    DocumentGone,
    DocumentPut,
    DocumentReply,
    DocumentRequest,
    DocumentsReply,
    DocumentsRequest,
    FilePut,
    KnowledgeOverview,
    KnowledgeSearch,
    KnownPage,
    KnownPagesReply,
    KnownPagesRequest,
    RefreshAsk,
    RunDecide,
    RunReply,
    RunRequest,
)
from memory.knowledge.bus import KnowledgeBus
from memory.knowledge.index import Hit
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.passages import Section
from memory.knowledge.records import FAILED, GONE, READY, Record
from memory.knowledge.runs import Refreshing
from memory.knowledge.texts import StemmedDocument, StemmedPassage
from runtime.calls.deadlines import part_deadline
from runtime.lifecycle.service import Service

READING = 3.0
"""Seconds that a search waits for documents to be read."""
IN_PASSING = 0.3
"""The same, for a search that is part of another call of a turn."""
SHOWN = 200
"""The most passages of one document in a reply."""


def passage(hit: Hit) -> Passage:
    about = hit.document
    found = _passage(about, hit.place, hit.text, hit.section, hit.score, exact=hit.exact)
    if hit.near:
        found = found.model_copy(update={"near": list(hit.near)})
    if len(hit.sections) == 1:
        return found
    sections = [
        PassageSection(start=one.start, heading=list(one.headings), url=_url(about, one)) for one in hit.sections
    ]
    return found.model_copy(update={"sections": sections})


def _url(about: StemmedDocument, section: Section) -> str | None:
    if about.url and section.anchor and about.source == "site":
        return f"{about.url}#{section.anchor}"
    return about.url


def _passage(
    about: StemmedDocument,
    place: int,
    text: str,
    section: Section,
    score: float,
    *,
    exact: bool = False,
) -> Passage:
    return Passage(
        id=f"{about.id.replace('-', '')}-{place}",
        document_id=about.id,
        source=about.source,  # pyright: ignore[reportArgumentType] - an open list
        title=about.title,
        url=_url(about, section),
        heading=list(section.headings),
        anchor=section.anchor,
        language=about.language,
        text=text,
        score=score,
        read_at=about.read_at,
        hash=about.hash,
        exact=exact,
    )


class Searcher:
    """Searches requested over the bus."""

    def __init__(self, indexes: KnowledgeIndexes) -> None:
        self._indexes = indexes

    async def search(self, request: KnowledgeSearch) -> KnowledgeFound:
        return await self.ask(request.company_id, request, READING)

    async def ask(self, company: str, query: KnowledgeQuery, seconds: float = IN_PASSING) -> KnowledgeFound:
        """The best passages. It never fails: what cannot be read now is left out, and the reply says so."""
        found = await self._indexes.search(
            company,
            query.text,
            query.limit,
            earlier=query.earlier,
            language=query.language,
            pages=query.pages,
            seconds=part_deadline(seconds),
        )
        # Its parts are made here: checking them again would only cost time.
        return KnowledgeFound.model_construct(
            passages=[passage(hit) for hit in found.hits],
            documents=found.documents,
            pages=[PageRef(url=page.url or "", title=page.title) for page in found.pages],
            complete=found.complete,
        )


class DocumentMethods:
    def __init__(self, library: Library, documents: Documents, bus: KnowledgeBus) -> None:
        self._library = library
        self._documents = documents
        self._bus = bus

    async def list(self, request: DocumentsRequest) -> DocumentsReply:
        found = await self._documents.page(request.company_id, request.source, request.limit, request.cursor)
        return DocumentsReply(items=[one.view() for one in found.items], next=found.next)

    async def get(self, request: DocumentRequest) -> DocumentReply:
        found = await self._library.named(request.company_id, request.id)
        return await self._reply(request.company_id, found) if found else DocumentReply()

    async def put(self, request: DocumentPut) -> DocumentReply:
        company = request.company_id
        known = await self._library.named(company, request.id) if request.id else None
        name = known.id if known else document_id(company, "document", request.id) if request.id else uuid7()
        external = known.external_id if known else request.id
        stored = await self._library.put_text(
            company, name, external, request.title, request.text, request.url, request.language
        )
        return await self._reply(company, stored)

    async def delete(self, request: DocumentRequest) -> DocumentGone:
        found = await self._library.named(request.company_id, request.id)
        return DocumentGone(deleted=found is not None and await self._library.remove(request.company_id, found.id))

    async def put_file(self, request: FilePut) -> DocumentReply:
        file = request.file
        known = await self._library.named(file.company_id, file.external_id) if file.external_id else None
        if known is not None:
            file = file.model_copy(update={"document_id": known.id, "external_id": known.external_id})
        stored = await self._library.file_received(file.company_id, file)
        await self._bus.file(file)
        return DocumentReply(document=stored.view())

    async def known_pages(self, request: KnownPagesRequest) -> KnownPagesReply:
        pages = await self._documents.site_pages(request.company_id, request.limit, request.cursor or "")
        items = [
            KnownPage(document_id=one.id, url=one.url, hash=one.hash, etag=one.etag, last_modified=one.last_modified)
            for one in pages
            if one.url and one.hash and one.state in (READY, FAILED)
        ]
        return KnownPagesReply(items=items, next=pages[-1].id if len(pages) == request.limit else None)

    async def _reply(self, company: str, record: Record) -> DocumentReply:
        texts: list[StemmedPassage] = []
        if record.edition is not None and record.state != GONE:
            texts = await self._documents.texts(company, record.id, record.edition)
        about = record.document()
        passages = [
            _passage(about, place, text.text, text.sections[0], 0.0) for place, text in enumerate(texts[:SHOWN])
        ]
        return DocumentReply(document=record.view(), passages=passages)


def serve(
    service: Service,
    searcher: Searcher,
    documents: DocumentMethods,
    refreshing: Refreshing,
    look: Callable[[str], Awaitable[KnowledgeOverview]],
) -> None:
    """The methods of searches, documents and runs; `look`: at a company's knowledge."""

    async def refresh(request: RefreshAsk) -> RunReply:
        return RunReply(run=await refreshing.ask(request.company_id, request.url, request.by))

    async def get_run(request: RunRequest) -> RunReply:
        return RunReply(run=await refreshing.get(request.company_id, request.id))

    async def decide(request: RunDecide) -> RunReply:
        return RunReply(run=await refreshing.decide(request.company_id, request.id, remove=request.remove))

    async def overview(request: CompanyRequest) -> KnowledgeOverview:
        return await look(request.company_id)

    service.serve(SEARCH, searcher.search)
    service.serve(DOCUMENTS, documents.list)
    service.serve(DOCUMENT_GET, documents.get)
    service.serve(DOCUMENT_PUT, documents.put)
    service.serve(DOCUMENT_DELETE, documents.delete)
    service.serve(FILE_PUT, documents.put_file)
    service.serve(KNOWN_PAGES, documents.known_pages)
    service.serve(REFRESH, refresh)
    service.serve(RUN_GET, get_run)
    service.serve(RUN_DECIDE, decide)
    service.serve(OVERVIEW, overview)
