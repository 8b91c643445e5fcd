"""Files and pictures of conversations: uploaded for a message to name, downloaded by anybody who may read the
conversation.

A file is never a part of a page: it is a picture or a download, and nothing in it runs. Browsers may call from any
origin, since the widget is on other sites: cookies are never read, only the token counts.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.files import FileRef
from contracts.ids import ID_PATTERN
from contracts.languages import named_language
from gateway.chat.commands import ConversationPlace
from gateway.domain.file_kinds import PICTURES
from gateway.errors import RefusedError
from gateway.web.deps import ApiDep, ConversationPath, PersonDep
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage
from runtime.stores.file_store import StoredFile

router = APIRouter(tags=["files"])
FilePath = Annotated[str, Path(pattern=ID_PATTERN, alias="fileId", description="a file's id")]
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}
_BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"format": "binary"}}}}}
_CONTENT: dict[int | str, dict[str, object]] = {
    200: {"content": {"*/*": {}}, "description": "the file, of its own type"}
}


class FileLink(Wire):
    """An address of this server at which anybody may read the file until it expires."""

    url: str
    expires_at: datetime


@router.post(
    "/v2/conversations/{conversationId}/files",
    status_code=201,
    responses=described(404, 409, 429, 504),
    openapi_extra=_BODY,
)
async def send_file(
    request: Request,
    api: ApiDep,
    caller: PersonDep,
    conversation: ConversationPath,
    name: Annotated[str, Query(max_length=1000, description="as it is called where it comes from")] = "file",
    accept_language: AcceptLanguage = None,
) -> FileRef:
    """Uploads a file (the body is its content, at most 10 MB) for a message of the caller's to name in `files`. It
    is deleted if no message names it within a day."""
    await api.chat.access.check_usable(caller, conversation)
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise RefusedError(
            ErrorCode.BAD_FIELD, "file: send it as the body itself (curl --data-binary @FILE), not in a form"
        )
    language = named_language(accept_language) or "en"
    return await api.chat.files.upload(ConversationPlace(caller, conversation), name, _body(request), language)


@router.get(
    "/v2/conversations/{conversationId}/files/{fileId}",
    response_class=StreamingResponse,
    responses=described(404) | _CONTENT,
)
async def get_file(api: ApiDep, caller: PersonDep, conversation: ConversationPath, file: FilePath) -> Response:
    """A file's content."""
    await api.chat.access.check_readable(caller, conversation)
    return _file_response(await api.chat.files.open(caller.company, conversation, file))


@router.get("/v2/conversations/{conversationId}/files/{fileId}/link", responses=described(404))
async def get_file_link(api: ApiDep, caller: PersonDep, conversation: ConversationPath, file: FilePath) -> FileLink:
    """An address of the file that needs no token and is valid for five minutes: for a picture in a page, or a
    download."""
    await api.chat.access.check_readable(caller, conversation)
    url, expires_at = api.chat.files.link(ConversationPlace(caller, conversation), file)
    return FileLink(url=url, expires_at=expires_at)


@router.get("/files/{company}/{conversation}/{file}", include_in_schema=False)
async def follow_link(api: ApiDep, company: str, conversation: str, file: str, until: str, proof: str) -> Response:
    """The file behind a link."""
    return _file_response(await api.chat.files.open_link(company, conversation, file, until, proof))


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for part in request.stream():
            yield part
    except ClientDisconnect as error:
        raise OSError("whoever sent it has gone") from error


def _file_response(file: StoredFile) -> Response:
    metadata = file.about
    disposition = "inline" if metadata.type in PICTURES else "attachment"
    headers = {
        **_SAFE,
        "Content-Disposition": f"{disposition}; filename*=UTF-8''{quote(metadata.name, safe='')}",
        "Content-Length": str(metadata.size),
    }
    media = f"{metadata.type}; charset=utf-8" if metadata.type == "text/plain" else metadata.type
    return StreamingResponse(file.pieces, headers=headers, media_type=media)
