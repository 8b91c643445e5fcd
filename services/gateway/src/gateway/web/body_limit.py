"""Refuses bodies that are too large before they are read into memory (413), and JSON that cannot be passed on (422): it
is nested too deeply, or has half a surrogate pair. With a problem document like every error: the framework's own limit
answers in plain text."""

import asyncio
import json
import re
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.files import MAX_FILE_BYTES
from contracts.knowledge import MAX_FILE
from gateway.chat.files import TOO_LARGE
from gateway.web.problems import error_answer

MAX_BODY_BYTES = 1024 * 1024
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
BODY_SECONDS = 60.0
"""Seconds for a whole body to arrive; ten times that for a file. A client that sends a byte a second blocks others."""
DISCARD_SECONDS = 5.0
"""Seconds to read the rest of a body that is too large, so that its sender gets the response."""
UPLOADS = "/v2/knowledge/documents"
"""Paths that accept multipart forms with files."""
UPLOAD_BYTES = MAX_FILE + 64 * 1024
_FILES = re.compile(r"/v2/conversations/[^/]+/files")
"""Paths whose body is a file."""
MAX_NESTING = 64
"""Nested arrays and objects; the JSON writers behind the gateway fail at some 250."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")


class BodyLimit:
    """ASGI middleware that counts the bytes received, whatever Content-Length says."""

    def __init__(self, app: ASGIApp, most: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _is_upload(scope):
            await self._files(scope, receive, send, UPLOAD_BYTES, f"send a file of at most {MAX_FILE} bytes")
            return
        if _FILES.fullmatch(scope["path"]):
            await self._files(scope, receive, send, MAX_FILE_BYTES, str(TOO_LARGE))
            return
        if _declared(scope) > self._most:
            await _refuse(scope, receive, send, self._refusal)
            return
        read, too_large = bytearray(), False
        discarding = _discarding(receive, send)
        receive = _in_time(receive, BODY_SECONDS)

        async def counted() -> Message:
            nonlocal too_large
            message = await receive()
            read.extend(message.get("body", b""))
            if too_large := len(read) > self._most:
                raise HTTPException(413, self._refusal, headers={"Connection": "close"})
            if not message.get("more_body", False):
                if nested_too_deep(read):
                    raise HTTPException(422, f"nest at most {MAX_NESTING} arrays and objects")
                if _SURROGATE.search(read) and _half_a_pair(read):
                    raise HTTPException(422, "contains half a character: write it again")
            return message

        await self._app(scope, counted, lambda message: (discarding if too_large else send)(message))

    async def _files(self, scope: Scope, receive: Receive, send: Send, most: int, refusal: str) -> None:
        """Lets bodies of file uploads pass, whose routes check the size; refuses only a larger Content-Length."""
        if _declared(scope) > most:
            await _refuse(scope, receive, send, refusal)
            return
        await self._app(scope, _in_time(receive, 10 * BODY_SECONDS), send)

    @property
    def _refusal(self) -> str:
        return f"send at most {self._most} bytes"


def nested_too_deep(body: bytes | bytearray) -> bool:
    """Whether JSON text nests more than MAX_NESTING arrays and objects. In text that is no JSON, that many unclosed
    brackets count as well.

    Each step removes all innermost brackets at once, so a body of 1 MiB costs milliseconds, whatever is in it.
    """
    if body.count(b"[") + body.count(b"{") <= MAX_NESTING:
        return False
    left = _TEXTS.sub(b"", body).translate(_ONE_KIND, _NO_BRACKETS)
    if b"[" * (MAX_NESTING + 1) in left:
        return True
    for _ in range(MAX_NESTING):
        if b"[]" not in left:
            break
        left = left.replace(b"[]", b"")
    return b"[]" in left or left.count(b"[") > MAX_NESTING


def _half_a_pair(body: bytes | bytearray) -> bool:
    """Whether it is JSON with half a surrogate pair. Python's parser takes what no writer can send on."""
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return False
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _in_time(receive: Receive, seconds: float) -> Receive:
    """The same, until the body is there; raises HTTPException 408. What comes then may take any time: a hanging up."""
    until: float | None = asyncio.get_running_loop().time() + seconds

    async def timely() -> Message:
        nonlocal until
        if until is None:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError as error:
            refusal = f"the body did not come within {seconds:g} s: send it again, in one go"
            raise HTTPException(408, refusal, headers={"Connection": "close"}) from error
        if not message.get("more_body", False):
            until = None
        return message

    return timely


def _discarding(receive: Receive, send: Send) -> Send:
    """Sends the response at once, and reads the rest of the request before its end: a connection that is closed with
    unread data would be reset before the client sees the response."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            await send({**message, "more_body": True})
            await _discard(receive)
            message = {"type": "http.response.body"}
        await send(message)

    return sent


async def _discard(receive: Receive) -> None:
    discarded = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while discarded < MAX_DISCARDED_BYTES:
                message = await receive()
                discarded += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: str) -> None:
    """A client that asks first (RFC 9110, section 10.1.1) has sent nothing yet, and sends nothing now."""
    headers = Headers(scope=scope)
    sends = headers.get("expect", "").lower() != "100-continue"
    spoken, close = headers.get("accept-language"), {"Connection": "close"}
    answer = error_answer(scope["path"], 413, "TOO_LARGE", refusal, headers=close, accept_language=spoken)
    await answer(scope, receive, _discarding(receive, send) if sends else send)


def _is_upload(scope: Scope) -> bool:
    if not scope["path"].startswith(UPLOADS):
        return False
    return any(name == b"content-type" and value.startswith(b"multipart/form-data") for name, value in scope["headers"])


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
