"""Reads files of a conversation for the agent's prompts: texts with the readers of companies' documents, in a separate
process; pictures unchanged, in pieces."""

from base64 import b64encode
from collections.abc import Generator
from contextlib import aclosing, contextmanager

import structlog

from contracts.files import MAX_FILE_BYTES, file_key
from contracts.knowledge import Block
from contracts.tools_rpc import PIECE_BYTES, FilePieceReply, FilePieceRequest, FileTextReply, FileTextRequest
from runtime.errors import RpcError
from runtime.stores.file_store import FileStore, FilesUnavailableError, read_whole
from tool_executor.extraction.document import UnreadableError
from tool_executor.extraction.isolation import Extraction
from tool_executor.texts import TEXTS

log = structlog.get_logger(__name__)


class FileTexts:
    """Answers rpc.tools.file.text.v1 and rpc.tools.file.piece.v1."""

    def __init__(self, store: FileStore | None, extraction: Extraction) -> None:
        self._store = store
        self._extraction = extraction

    async def read(self, request: FileTextRequest) -> FileTextReply:
        """Returns the beginning of the file's text, or the reason why there is none; raises RpcError (UNAVAILABLE)."""
        language = request.language
        key = file_key(request.company_id, request.conversation_id, request.file_id)
        with _unavailable_errors(request.company_id):
            description = await self._store.about(key) if self._store is not None else None
            if self._store is None or description is None:
                return FileTextReply(problem=TEXTS["document.gone"].in_language(language))
            if description.type.startswith("image/"):
                return FileTextReply(problem=TEXTS["document.unreadable_kind"].in_language(language))
            body = await read_whole(self._store, key, MAX_FILE_BYTES)
        try:
            document = await self._extraction.extract(body or b"", description.type, name=description.name)
        except UnreadableError as unreadable:
            problem = TEXTS["document.unreadable_kind"] if unreadable.reason == "unknown_type" else unreadable.text
            return FileTextReply(problem=problem.in_language(language))
        text = "\n".join(map(_block_text, document.blocks))
        return FileTextReply(text=text[: request.most], truncated=len(text) > request.most)

    async def piece(self, request: FilePieceRequest) -> FilePieceReply:
        """Returns a part of a picture in base64; raises RpcError (UNAVAILABLE)."""
        key = file_key(request.company_id, request.conversation_id, request.file_id)
        content, position = bytearray(), 0
        with _unavailable_errors(request.company_id):
            file = await self._store.open(key) if self._store is not None else None
            if file is None or not file.about.type.startswith("image/"):
                return FilePieceReply()
            async with aclosing(file.pieces) as pieces:
                async for piece in pieces:
                    content += piece[max(request.offset - position, 0) :]
                    position += len(piece)
                    if len(content) >= PIECE_BYTES:
                        break
        return FilePieceReply(content=b64encode(content[:PIECE_BYTES]).decode())


@contextmanager
def _unavailable_errors(company: str) -> Generator[None]:
    try:
        yield
    except FilesUnavailableError as error:
        log.warning("files.not_read", company=company, error=str(error)[:300])
        raise RpcError("UNAVAILABLE", "the file cannot be read now", retryable=True) from error


def _block_text(block: Block) -> str:
    return "\n".join(" | ".join(row) for row in block.rows if any(row)) if block.rows else block.text
