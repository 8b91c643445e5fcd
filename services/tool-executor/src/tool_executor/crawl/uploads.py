"""Turns an uploaded file into a document: collects its pieces from the bus, extracts the text, publishes it."""

import asyncio
from datetime import UTC, datetime

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.channels import upload, upload_piece
from contracts.events.knowledge import DocumentFailed, DocumentUpserted, FileReceived
from contracts.knowledge import document_id
from contracts.streams import UPLOADS
from runtime.bus.direct import DirectReader
from runtime.bus.replies import ReplyInbox
from tool_executor.adapters.metrics import FILES
from tool_executor.crawl.facts import KnowledgeFacts
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.isolation import Extraction
from tool_executor.texts import TEXTS

_MAX_PARALLEL_PIECES = 4
"""Pieces of a file that are read at the same time."""
_PURGE_DEADLINE = 2.0
"""Seconds for the bus to delete a file's pieces."""


class Uploads:
    """Files on their way from the gateway to memory."""

    def __init__(self, client: Client, extraction: Extraction, facts: KnowledgeFacts) -> None:
        self._pieces = DirectReader(client, UPLOADS.name)
        self._inbox = ReplyInbox.of(client)
        self._extraction = extraction
        self._facts = facts

    async def read(self, file: FileReceived) -> None:
        """Reads one file, and publishes its text or the reason why it cannot be read. Raises ReadFailedError,
        PublishFailedError."""
        try:
            body = await self._body(file)
            document = await self._extraction.extract(body, file.content_type, name=file.filename)
        except UnreadableError as unreadable:
            failure = DocumentFailed(
                company_id=file.company_id,
                document_id=file.document_id,
                reason=unreadable.reason,
                message=str(unreadable.text),
            )
            await self._facts.failed(failure, file.upload_id)
            FILES.labels(unreadable.reason).inc()
        else:
            content_hash = await asyncio.to_thread(document.hash)
            await self._facts.upserted(_upserted(file, document, content_hash))
            FILES.labels("read").inc()
        await self._purge(file)

    async def _body(self, file: FileReceived) -> bytes:
        places = asyncio.Semaphore(_MAX_PARALLEL_PIECES)

        async def piece(number: int) -> bytes:
            async with places:
                stored = await self._pieces.last(upload_piece(file.company_id, file.upload_id, number))
            if stored is None:
                raise UnreadableError("lost", TEXTS["document.lost"])
            return stored.event

        pieces = await asyncio.gather(*(piece(number) for number in range(file.pieces)))
        body = b"".join(pieces)
        if len(body) != file.size:
            raise UnreadableError("lost", TEXTS["document.lost"])
        return body

    async def _purge(self, file: FileReceived) -> None:
        """Deletes the pieces from the bus. Pieces that cannot be deleted now expire by their age."""
        body = orjson.dumps({"filter": upload(file.company_id, file.upload_id)})
        try:
            await self._inbox.request(f"$JS.API.STREAM.PURGE.{UPLOADS.name}", body, deadline=_PURGE_DEADLINE)
        except (TimeoutError, NatsError):
            return


def _upserted(file: FileReceived, document: Extracted, content_hash: str) -> DocumentUpserted:
    return DocumentUpserted(
        company_id=file.company_id,
        document_id=file.document_id,
        external_id=file.external_id,
        source="document",
        title=file.title or document.title or file.filename or document_id(file.company_id, "document", file.upload_id),
        url=file.url,
        language=document.language,
        blocks=document.blocks,
        # The run is the upload, so the same bytes uploaded again count as read again: the document stored under this id
        # may have had another content.
        hash=content_hash,
        read_at=datetime.now(UTC),
        run_id=file.upload_id,
    )
