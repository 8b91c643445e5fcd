"""Passes knowledge files to the executors."""

import asyncio

from contracts.channels import upload_piece
from contracts.events.knowledge import FileReceived
from contracts.knowledge_rpc import FILE_PUT, DocumentView, FilePut
from contracts.streams import UPLOADS
from gateway.adapters.service_calls import ask
from gateway.errors import UnavailableError
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient
from runtime.errors import PublishFailedError

PIECE = 512 * 1024
"""Bytes of a file in one message."""
AT_ONCE = 4
"""Uploads held in this process's memory at once; further ones wait."""
PATIENCE = 20.0
"""Seconds that an upload waits."""


class BusKnowledge:
    """Puts files into UPLOADS, one message a piece, then tells memory."""

    def __init__(self, rpc: RpcClient, publisher: Publisher) -> None:
        self._rpc = rpc
        self._publisher = publisher
        self.uploads = asyncio.Semaphore(AT_ONCE)

    async def hand_over(self, file: FileReceived, content: bytes) -> DocumentView | None:
        """Puts a file into UPLOADS and tells memory, which tells an executor; raises UnavailableError."""
        for piece in range(file.pieces):
            body = content[piece * PIECE : (piece + 1) * PIECE]
            subject = upload_piece(file.company_id, file.upload_id, piece)
            try:
                await self._publisher.append(subject, body, stream=UPLOADS.name, msg_id=f"{file.upload_id}.{piece}")
            except PublishFailedError as error:
                raise UnavailableError("files cannot be received now: try again in a while") from error
        return (await ask(self._rpc, FILE_PUT, FilePut(file=file))).document
