"""The methods about companies' knowledge, one thin function each; the gateway checks who may call them."""

from contracts import knowledge_rpc
from contracts.ids import uuid7
from contracts.knowledge import KnowledgeFound, KnowledgeQuery, PageRef, Passage, PassageSection, document_id
from memory.knowledge.bus import KnowledgeBus
from memory.knowledge.index import Hit
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.passages import Section
from memory.knowledge.records import FAILED, GONE, READY, Record
from memory.knowledge.runs import RunScheduler
from memory.knowledge.texts import StemmedDocument, StemmedPassage
from runtime.calls.deadlines import part_deadline
from runtime.lifecycle.service import Service

READ_SECONDS = 3.0
"""Seconds that a search waits for documents to be read."""
SHORT_READ_SECONDS = 0.3
"""The same, for a search that is part of another call of a turn."""
MAX_REPLY_PASSAGES = 200
"""The most passages of one document in a reply."""


def passage(hit: Hit) -> Passage:
    document, section = hit.document, hit.section
    sections = [
        PassageSection(start=part.start, heading=list(part.headings), url=_url(document, part)) for part in hit.sections
    ]
    return Passage(
        id=f"{document.id.replace('-', '')}-{hit.place}",
        document_id=document.id,
        source=document.source,  # pyright: ignore[reportArgumentType] - an open list
        title=document.title,
        url=_url(document, section),
        heading=list(section.headings),
        anchor=section.anchor,
        language=document.language,
        text=hit.text,
        score=hit.score,
        read_at=document.read_at,
        hash=document.hash,
        exact=hit.exact,
        sections=sections if len(sections) > 1 else None,
        near=list(hit.near) or None,
    )


def _url(document: StemmedDocument, section: Section) -> str | None:
    if document.url and section.anchor and document.source == "site":
        return f"{document.url}#{section.anchor}"
    return document.url


class Searcher:
    """Searches requested over the bus."""

    def __init__(self, indexes: KnowledgeIndexes) -> None:
        self._indexes = indexes

    async def search(self, request: knowledge_rpc.KnowledgeSearch) -> KnowledgeFound:
        return await self.ask(request.company_id, request, READ_SECONDS)

    async def ask(self, company: str, query: KnowledgeQuery, seconds: float = SHORT_READ_SECONDS) -> KnowledgeFound:
        """Returns the best passages. It never fails: what cannot be read now is left out, and the reply says so."""
        hits = await self._indexes.search(
            company,
            query.text,
            query.limit,
            earlier=query.earlier,
            language=query.language,
            pages=query.pages,
            seconds=part_deadline(seconds),
        )
        # Not validated: all its parts are made here.
        return KnowledgeFound.model_construct(
            passages=[passage(hit) for hit in hits.hits],
            documents=hits.documents,
            pages=[PageRef(url=page.url or "", title=page.title) for page in hits.pages],
            complete=hits.complete,
        )


class DocumentMethods:
    def __init__(self, library: Library, documents: DocumentStore, bus: KnowledgeBus) -> None:
        self._library = library
        self._documents = documents
        self._bus = bus

    async def list(self, request: knowledge_rpc.DocumentsRequest) -> knowledge_rpc.DocumentsReply:
        page = await self._documents.page(request.company_id, request.source, request.limit, request.cursor)
        return knowledge_rpc.DocumentsReply(items=[record.view() for record in page.items], next=page.next)

    async def get(self, request: knowledge_rpc.DocumentRequest) -> knowledge_rpc.DocumentReply:
        record = await self._library.named(request.company_id, request.id)
        return await self._reply(request.company_id, record) if record else knowledge_rpc.DocumentReply()

    async def put(self, request: knowledge_rpc.DocumentPut) -> knowledge_rpc.DocumentReply:
        company = request.company_id
        known = await self._library.named(company, request.id) if request.id else None
        name = known.id if known else document_id(company, "document", request.id) if request.id else uuid7()
        external = known.external_id if known else request.id
        stored = await self._library.put_text(
            company, name, external, request.title, request.text, request.url, request.language
        )
        return await self._reply(company, stored)

    async def delete(self, request: knowledge_rpc.DocumentRequest) -> knowledge_rpc.DocumentGone:
        record = await self._library.named(request.company_id, request.id)
        return knowledge_rpc.DocumentGone(
            deleted=record is not None and await self._library.remove(request.company_id, record.id)
        )

    async def put_file(self, request: knowledge_rpc.FilePut) -> knowledge_rpc.DocumentReply:
        file = request.file
        known = await self._library.named(file.company_id, file.external_id) if file.external_id else None
        if known is not None:
            file = file.model_copy(update={"document_id": known.id, "external_id": known.external_id})
        stored = await self._library.file_received(file.company_id, file)
        await self._bus.file(file)
        return knowledge_rpc.DocumentReply(document=stored.view())

    async def known_pages(self, request: knowledge_rpc.KnownPagesRequest) -> knowledge_rpc.KnownPagesReply:
        pages = await self._documents.site_pages(request.company_id, request.limit, request.cursor or "")
        items = [
            knowledge_rpc.KnownPage(
                document_id=page.id, url=page.url, hash=page.hash, etag=page.etag, last_modified=page.last_modified
            )
            for page in pages
            if page.url and page.hash and page.state in (READY, FAILED)
        ]
        return knowledge_rpc.KnownPagesReply(items=items, next=pages[-1].id if len(pages) == request.limit else None)

    async def _reply(self, company: str, record: Record) -> knowledge_rpc.DocumentReply:
        texts: list[StemmedPassage] = []
        if record.edition is not None and record.state != GONE:
            texts = await self._documents.texts(company, record.id, record.edition)
        document = record.document()
        passages = [
            passage(Hit(document, place, text.text, text.sections[0], text.sections[:1], 0.0))
            for place, text in enumerate(texts[:MAX_REPLY_PASSAGES])
        ]
        return knowledge_rpc.DocumentReply(document=record.view(), passages=passages)


def serve(service: Service, searcher: Searcher, documents: DocumentMethods, refreshing: RunScheduler) -> None:
    """Serves the methods of searches, documents and runs."""
    service.serve(knowledge_rpc.SEARCH, searcher.search)
    service.serve(knowledge_rpc.DOCUMENTS, documents.list)
    service.serve(knowledge_rpc.DOCUMENT_GET, documents.get)
    service.serve(knowledge_rpc.DOCUMENT_PUT, documents.put)
    service.serve(knowledge_rpc.DOCUMENT_DELETE, documents.delete)
    service.serve(knowledge_rpc.FILE_PUT, documents.put_file)
    service.serve(knowledge_rpc.KNOWN_PAGES, documents.known_pages)
    service.serve(knowledge_rpc.REFRESH, refreshing.ask)
    service.serve(knowledge_rpc.RUN_GET, refreshing.get)
    service.serve(knowledge_rpc.RUN_DECIDE, refreshing.decide)
