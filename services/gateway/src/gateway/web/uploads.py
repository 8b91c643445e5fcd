"""A file in a multipart form, held in memory, since the gateway uses no disk."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from contracts.errors import ErrorCode
from contracts.knowledge import MAX_FILE
from gateway.errors import RefusedError, bad_field

FORM_BYTES = 64 * 1024
"""Bytes of a form besides its file at most."""
MAX_BYTES = MAX_FILE + FORM_BYTES


@dataclass(frozen=True, slots=True)
class Upload:
    """A file and the form's other fields."""

    content: bytes
    filename: str
    content_type: str
    fields: dict[str, str]


class _InMemory(MultiPartParser):
    spool_max_size = MAX_BYTES


def is_form(headers: Headers) -> bool:
    return headers.get("content-type", "").lower().startswith("multipart/form-data")


async def read_upload(request: Request) -> Upload:
    """Reads a form with the file `file`. Raises BAD_FIELD (422), or 413 if it is too large."""
    parser = _InMemory(request.headers, _limited(request), max_files=1, max_fields=10, max_part_size=FORM_BYTES)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise RefusedError(ErrorCode.BAD_FIELD, f"the form cannot be read: {error}") from error
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise bad_field("file", "send the file as the form's field `file`")
        content = await file.read()
        if not content:
            raise bad_field("file", "the file is empty")
        if len(content) > MAX_FILE:
            raise HTTPException(413, f"send a file of at most {MAX_FILE} bytes")
        fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        return Upload(content, (file.filename or "")[:300], (file.content_type or "")[:200], fields)
    finally:
        await form.close()


async def _limited(request: Request) -> AsyncGenerator[bytes, None]:
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BYTES:
            raise HTTPException(413, f"send a file of at most {MAX_FILE} bytes")
        yield part
