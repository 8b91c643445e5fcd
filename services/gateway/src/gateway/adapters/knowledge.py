"""Passes knowledge files to the executors."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from contracts.channels import upload_piece
from contracts.events.knowledge import FileReceived
from contracts.knowledge_rpc import FILE_PUT, DocumentView, FilePut
from contracts.streams import UPLOADS
from gateway.adapters.service_calls import ask
from gateway.errors import UnavailableError
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient
from runtime.errors import PublishFailedError

PIECE_BYTES = 512 * 1024
"""Bytes of a file in one message."""
MAX_UPLOADS = 4
"""Concurrent uploads, which this process holds in memory; further ones wait."""
UPLOAD_WAIT_SECONDS = 20.0
"""Seconds for which an upload waits for others to end."""


class BusKnowledge:
    """Stores files in the stream UPLOADS, a message for each piece, and registers them with memory."""

    def __init__(self, rpc: RpcClient, publisher: Publisher) -> None:
        self._rpc = rpc
        self._publisher = publisher
        self._uploads = asyncio.Semaphore(MAX_UPLOADS)

    @asynccontextmanager
    async def upload_slot(self) -> AsyncGenerator[None]:
        """Waits for a place among the concurrent uploads and holds it; raises UnavailableError if none becomes free."""
        try:
            async with asyncio.timeout(UPLOAD_WAIT_SECONDS):
                await self._uploads.acquire()
        except TimeoutError:
            raise UnavailableError("too many files are arriving right now: try again in a while") from None
        try:
            yield
        finally:
            self._uploads.release()

    async def store_file(self, file: FileReceived, content: bytes) -> DocumentView | None:
        """Stores a file in UPLOADS and registers it with memory, which passes it to an executor; raises
        UnavailableError."""
        for piece in range(file.pieces):
            body = content[piece * PIECE_BYTES : (piece + 1) * PIECE_BYTES]
            subject = upload_piece(file.company_id, file.upload_id, piece)
            try:
                await self._publisher.append(subject, body, stream=UPLOADS.name, msg_id=f"{file.upload_id}.{piece}")
            except PublishFailedError as error:
                raise UnavailableError("files cannot be received now: try again in a while") from error
        return (await ask(self._rpc, FILE_PUT, FilePut(file=file))).document
