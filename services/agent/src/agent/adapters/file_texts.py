"""The texts and pictures in files of a conversation, read by an executor (ports.FileReader)."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from agent.domain.pictures import is_whole
from agent.domain.sent_files import MAX_FILE_CHARACTERS, ReadFile, is_picture
from agent.ports import ConversationKey
from contracts.files import FileRef
from contracts.languages import Language
from contracts.tools_rpc import FILE_PIECE, FILE_TEXT, PIECE_BYTES, FilePieceRequest, FileTextRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 8.0
"""Seconds for the executor's answer; then the turn continues without the file."""


class ExecutorFiles:
    """Requests the texts and pictures of all files from an executor at the same time."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def read(self, key: ConversationKey, files: Sequence[FileRef], language: Language) -> tuple[ReadFile, ...]:
        """Returns each file with its text, or with the reason why there is none."""
        return tuple(await asyncio.gather(*(self._file_text(key, file, language) for file in files)))

    async def pictures(self, key: ConversationKey, files: Sequence[FileRef]) -> Mapping[str, str]:
        """Returns the content of pictures in base64, by file id; incomplete ones are missing."""
        contents = await asyncio.gather(*(self._picture(key, file) for file in files))
        return {file.id: content for file, content in zip(files, contents, strict=True) if content is not None}

    async def _picture(self, key: ConversationKey, file: FileRef) -> str | None:
        try:
            async with asyncio.timeout(DEADLINE):
                content = "".join([await self._piece(key, file, offset) for offset in range(0, file.size, PIECE_BYTES)])
        except (RpcError, TimeoutError) as error:
            log.warning("files.not_read", conversation=key.conversation, reason=getattr(error, "code", "TIMEOUT"))
            return None
        return content if is_whole(file, content) else None

    async def _piece(self, key: ConversationKey, file: FileRef, offset: int) -> str:
        request = FilePieceRequest(
            company_id=key.company, conversation_id=key.conversation, file_id=file.id, offset=offset
        )
        return (await self._rpc.call(FILE_PIECE, request, deadline=DEADLINE)).content

    async def _file_text(self, key: ConversationKey, file: FileRef, language: Language) -> ReadFile:
        if is_picture(file):
            return ReadFile(file)
        request = FileTextRequest(
            company_id=key.company,
            conversation_id=key.conversation,
            file_id=file.id,
            language=language,
            most=MAX_FILE_CHARACTERS,
        )
        try:
            reply = await self._rpc.call(FILE_TEXT, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("files.not_read", conversation=key.conversation, reason=error.code)
            return ReadFile(file)
        return ReadFile(file, reply.text, truncated=reply.truncated, problem=reply.problem)
