"""Calls a company's own HTTP tools: one request to the address in the company's settings.

It uses the same guarded client as for pages: every address behind the name must be public, redirects are not followed
(they could carry the company's secrets elsewhere), and the response is limited in size and must be text or JSON.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import orjson
from yarl import URL

from contracts.own_tools import Header, HttpTool, is_local, is_nested_too_deep
from runtime.auth.seal import NotSealableError, Seal
from runtime.http.guarded_http import AddressNotAllowedError, GuardedSessions
from tool_executor.domain.declaration import CallContext, Data, Handler, ToolFailedError
from tool_executor.domain.own_request import request_of
from tool_executor.domain.plans import Arguments
from tool_executor.texts import TEXTS

MAX_RESULT_BYTES = 32 * 1024
"""Bytes of a result, which a model reads."""
MAX_REQUEST_SECONDS = 30.0
"""Upper limit of one request in seconds; the tool itself may allow fewer."""
_MAX_QUOTED_CHARS = 300
"""Characters of an error response that the model gets."""
_MAX_NESTING = 32
HEADERS = {
    "User-Agent": "NexusTools/1.0",
    "Accept": "application/json, text/plain;q=0.9",
    "Accept-Encoding": "identity",
}
SUCCESS = range(200, 300)
REDIRECTS = range(300, 400)


class OwnSessions:
    """The connections to companies' own servers. `loopback`: whether addresses on this machine are allowed."""

    def __init__(self, seal: Seal, *, loopback: bool = False) -> None:
        self._seal = seal
        self._sessions = GuardedSessions(loopback=loopback, seconds=MAX_REQUEST_SECONDS, headers=HEADERS)
        self.close = self._sessions.close

    def to(self, url: str) -> aiohttp.ClientSession:
        """Returns the session for this address; it refuses addresses that are not allowed."""
        return self._sessions.to(local=is_local(urlsplit(url)))

    def secrets(self, company: str, headers: list[Header]) -> dict[str, str]:
        """Returns the company's headers with their secrets opened. Raises ToolFailedError."""
        try:
            return {header.name: self._seal.open(header.value, company) for header in headers}
        except NotSealableError as error:
            raise ToolFailedError("secret_lost", TEXTS["own_tool.secret_lost"]) from error


class OwnHttpTools:
    """Creates handlers for companies' HTTP tools."""

    def __init__(self, sessions: OwnSessions) -> None:
        self._sessions = sessions

    def handler(self, company: str, tool: HttpTool) -> Handler:

        async def call(arguments: Arguments, context: CallContext) -> Data:
            request = request_of(tool, arguments)
            headers = self._sessions.secrets(company, tool.headers) | call_headers(context)
            if request.body is not None:
                headers["Content-Type"] = "application/json"
            async with (
                tool_errors(side_effects=tool.side_effects),
                self._sessions.to(tool.url).request(
                    request.method,
                    URL(request.url, encoded=True),
                    data=request.body,
                    headers=headers,
                    allow_redirects=False,
                ) as response,
            ):
                return {"result": await _result(response)}

        return call


def call_headers(context: CallContext) -> dict[str, str]:
    """Returns the headers that identify a call to the company's server: its id, its user and its conversation."""
    caller = context.caller
    headers = {"Idempotency-Key": context.call_id, "Nexus-User": caller.user, "Nexus-Role": caller.role}
    return headers | ({"Nexus-Conversation": caller.conversation} if caller.conversation else {})


def refuse_compressed(response: aiohttp.ClientResponse) -> None:
    """Raises ToolFailedError if the body is compressed, which was not requested: it may unpack to any size."""
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"", "identity"}:
        raise ToolFailedError("bad_encoding", TEXTS["own_tool.unasked_encoding"])


async def read_bounded(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Returns the body; raises ToolFailedError if it is longer than `max_bytes`, or compressed."""
    refuse_compressed(response)
    body = bytearray()
    if (response.content_length or 0) <= max_bytes:
        async for piece in response.content.iter_chunked(64 * 1024):
            body += piece
            if len(body) > max_bytes:
                break
        else:
            return bytes(body)
    raise ToolFailedError("too_large", TEXTS["own_tool.too_large"].format(kib=max_bytes // 1024))


async def _result(response: aiohttp.ClientResponse) -> object:
    status = response.status
    if status in REDIRECTS:
        raise ToolFailedError("redirect_refused", TEXTS["own_tool.redirects"].format(status=status))
    body = await read_bounded(response, MAX_RESULT_BYTES)
    if status not in SUCCESS:
        text = " ".join(body.decode("utf-8", "replace").split())[:_MAX_QUOTED_CHARS] if 400 <= status < 500 else ""
        suffix = f": {text}" if text else "."
        raise ToolFailedError("bad_status", TEXTS["own_tool.bad_status"].format(status=status, said=suffix))
    if not body:
        return None
    if response.content_type.lower().endswith("json"):
        return parse_json(body)
    if response.content_type.lower().startswith("text/"):
        return body.decode("utf-8", "replace")
    raise ToolFailedError("not_text", TEXTS["own_tool.not_text"])


def parse_json(body: bytes) -> object:
    """Parses JSON; raises ToolFailedError if the body is not JSON, or nested too deeply."""
    refusal = ToolFailedError("bad_result", TEXTS["own_tool.bad_result"])
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise refusal from error
    if is_nested_too_deep(value, _MAX_NESTING):
        raise refusal
    return value


@asynccontextmanager
async def tool_errors(*, side_effects: bool) -> AsyncGenerator[None]:
    """Turns connection errors within the block into a ToolFailedError, or into a TimeoutError if the call may have had
    its effect."""
    try:
        yield
    except AddressNotAllowedError as error:
        raise ToolFailedError("address_refused", TEXTS["own_tool.address_refused"]) from error
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if side_effects and not isinstance(error, aiohttp.ClientConnectorError):
            raise TimeoutError("the line broke: the server may have done it") from error
        raise ToolFailedError("unreachable", TEXTS["own_tool.unreachable"]) from error
