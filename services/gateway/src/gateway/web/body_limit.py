"""Refuses bodies that are too large before they are read into memory (413), and JSON that cannot be passed on because
it is nested too deeply or contains half a surrogate pair (422). It answers with problem documents, unlike the
framework's own limit."""

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
from gateway.web.free_json import HALF_A_CHARACTER
from gateway.web.problems import error_answer
from gateway.web.uploads import MAX_BYTES, is_form

MAX_BODY_BYTES = 1024 * 1024
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
BODY_SECONDS = 60.0
"""Seconds for a whole body to arrive; ten times that for a file. Slow clients would block others."""
DISCARD_SECONDS = 5.0
"""Seconds to read and discard the rest of a body that is too large, so that its sender gets the response."""
UPLOADS = "/v2/knowledge/documents"
"""Paths that accept multipart forms with files."""
_FILE_PATH = re.compile(r"/v2/conversations/[^/]+/files")
"""Paths whose body is a file."""
MAX_NESTING = 64
"""Maximum depth of nested arrays and objects; the JSON encoders behind the gateway fail at about 250."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\x00")
"""Matches if half a surrogate pair may be in the body: escaped, as bytes that are not UTF-8 but that Python's parser
accepts, or in UTF-16 or UTF-32."""
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")


class BodyLimit:
    """ASGI middleware that counts the bytes received, whatever Content-Length says."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _is_upload(scope):
            await self._pass_upload(scope, receive, send, MAX_BYTES, f"send a file of at most {MAX_FILE} bytes")
            return
        if _FILE_PATH.fullmatch(scope["path"]):
            await self._pass_upload(scope, receive, send, MAX_FILE_BYTES, str(TOO_LARGE))
            return
        if _declared_length(scope) > self._max_bytes:
            await _refuse(scope, receive, send, self._refusal)
            return
        body, too_large = bytearray(), False
        discarding = _discarding(receive, send)
        receive = _in_time(receive, BODY_SECONDS)

        async def counted() -> Message:
            nonlocal too_large
            message = await receive()
            body.extend(message.get("body", b""))
            if too_large := len(body) > self._max_bytes:
                raise HTTPException(413, self._refusal, headers={"Connection": "close"})
            if not message.get("more_body", False):
                if nested_too_deep(body):
                    raise HTTPException(422, f"nest at most {MAX_NESTING} arrays and objects")
                if _SURROGATE.search(body) and _has_half_a_surrogate_pair(body):
                    raise HTTPException(422, HALF_A_CHARACTER)
            return message

        await self._app(scope, counted, lambda message: (discarding if too_large else send)(message))

    async def _pass_upload(self, scope: Scope, receive: Receive, send: Send, max_bytes: int, refusal: str) -> None:
        """Passes uploads on, since their routes check the size; refuses only a Content-Length that is too large."""
        if _declared_length(scope) > max_bytes:
            await _refuse(scope, receive, send, refusal)
            return
        await self._app(scope, _in_time(receive, 10 * BODY_SECONDS), send)

    @property
    def _refusal(self) -> str:
        return f"send at most {self._max_bytes} bytes"


def nested_too_deep(body: bytes | bytearray) -> bool:
    """Whether JSON text nests arrays and objects deeper than MAX_NESTING. In other text, as many unclosed brackets
    count.

    Each step removes all innermost brackets at once, so that any body of 1 MiB takes only milliseconds.
    """
    if body.count(b"[") + body.count(b"{") <= MAX_NESTING:
        return False
    remaining = _TEXTS.sub(b"", body).translate(_ONE_KIND, _NO_BRACKETS)
    if b"[" * (MAX_NESTING + 1) in remaining:
        return True
    for _ in range(MAX_NESTING):
        if b"[]" not in remaining:
            break
        remaining = remaining.replace(b"[]", b"")
    return b"[]" in remaining or remaining.count(b"[") > MAX_NESTING


def _has_half_a_surrogate_pair(body: bytes | bytearray) -> bool:
    """Whether it is JSON with half a surrogate pair, which Python's parser accepts but no encoder can write."""
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return False
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _in_time(receive: Receive, seconds: float) -> Receive:
    """Wraps `receive` with a deadline for the whole body; raises HTTPException 408. Afterwards it may wait without
    limit for the end of the connection."""
    deadline: float | None = asyncio.get_running_loop().time() + seconds

    async def timely() -> Message:
        nonlocal deadline
        if deadline is None:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError as error:
            refusal = f"the body did not come within {seconds:g} s: send it again, in one go"
            raise HTTPException(408, refusal, headers={"Connection": "close"}) from error
        if not message.get("more_body", False):
            deadline = None
        return message

    return timely


def _discarding(receive: Receive, send: Send) -> Send:
    """Wraps `send` so that the rest of the request is read before the response ends: a connection that is closed with
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
    """Answers 413. A client with `Expect: 100-continue` (RFC 9110, section 10.1.1) has not sent its body, so that
    nothing is read from it."""
    headers = Headers(scope=scope)
    is_sending = headers.get("expect", "").lower() != "100-continue"
    accept_language, close = headers.get("accept-language"), {"Connection": "close"}
    answer = error_answer(scope["path"], 413, "TOO_LARGE", refusal, headers=close, accept_language=accept_language)
    await answer(scope, receive, _discarding(receive, send) if is_sending else send)


def _is_upload(scope: Scope) -> bool:
    return scope["path"].startswith(UPLOADS) and is_form(Headers(scope=scope))


def _declared_length(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isdecimal() else 0
