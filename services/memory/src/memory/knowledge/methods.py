"""The methods about companies' knowledge, one thin function each; the gateway checks who may call them."""

from contracts import knowledge_rpc
from contracts.ids import uuid7
from contracts.knowledge import KnowledgeFound, document_id
from memory.knowledge.bus import KnowledgeBus
from memory.knowledge.index import Hit, passage
from memory.knowledge.indexes import READ_SECONDS, KnowledgeIndexes
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.records import FAILED, GONE, READY, Record
from memory.knowledge.runs import RunScheduler
from memory.knowledge.texts import StemmedPassage
from runtime.lifecycle.service import Service

MAX_REPLY_PASSAGES = 200
"""The most passages of one document in a reply."""


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


def serve(service: Service, indexes: KnowledgeIndexes, documents: DocumentMethods, refreshing: RunScheduler) -> None:
    """Serves the methods of searches, documents and runs."""

    async def search(request: knowledge_rpc.KnowledgeSearch) -> KnowledgeFound:
        if request.when_read:
            await indexes.site_read(request.company_id)
        return await indexes.search(request.company_id, request, READ_SECONDS)

    service.serve(knowledge_rpc.SEARCH, search)
    service.serve(knowledge_rpc.DOCUMENTS, documents.list)
    service.serve(knowledge_rpc.DOCUMENT_GET, documents.get)
    service.serve(knowledge_rpc.DOCUMENT_PUT, documents.put)
    service.serve(knowledge_rpc.DOCUMENT_DELETE, documents.delete)
    service.serve(knowledge_rpc.FILE_PUT, documents.put_file)
    service.serve(knowledge_rpc.KNOWN_PAGES, documents.known_pages)
    service.serve(knowledge_rpc.REFRESH, refreshing.ask)
    service.serve(knowledge_rpc.RUN_GET, refreshing.get)
    service.serve(knowledge_rpc.RUN_DECIDE, refreshing.decide)
