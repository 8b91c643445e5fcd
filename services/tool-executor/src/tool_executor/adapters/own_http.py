"""Calls a company's own HTTP tools: one request, to the address that the company named.

It uses the same guarded client as pages: every address behind the name must be public, redirects are not followed (they
could carry the company's secrets elsewhere), and the response is limited in size and must be plain text or JSON.
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

LARGEST = 32 * 1024
"""Bytes of an answer: a model reads it."""
MOST_SECONDS = 30.0
"""Seconds for one request; the tool itself may allow fewer."""
_QUOTED = 300
"""Characters of a refusal's words that the model is told."""
_DEEPEST = 32
HEADERS = {
    "User-Agent": "NexusTools/1.0",
    "Accept": "application/json, text/plain;q=0.9",
    "Accept-Encoding": "identity",
}
SUCCESS = range(200, 300)
REDIRECTS = range(300, 400)


class OwnSessions:
    """The connections to companies' own servers. `loopback`: to this machine's too, where an address names it so."""

    def __init__(self, seal: Seal, *, loopback: bool = False) -> None:
        self._seal = seal
        self._sessions = GuardedSessions(loopback=loopback, seconds=MOST_SECONDS, headers=HEADERS)
        self.close = self._sessions.close

    def to(self, url: str) -> aiohttp.ClientSession:
        """The session that may reach this address, if any may."""
        return self._sessions.to(local=is_local(urlsplit(url)))

    def secrets(self, company: str, headers: list[Header]) -> dict[str, str]:
        """The company's headers, opened. Raises ToolFailedError."""
        try:
            return {header.name: self._seal.open(header.value, company) for header in headers}
        except NotSealableError as error:
            raise ToolFailedError("secret_lost", TEXTS["own_tool.secret_lost"]) from error


class OwnHttpTools:
    """Makes handlers of companies' HTTP tools."""

    def __init__(self, sessions: OwnSessions) -> None:
        self._sessions = sessions

    def handler(self, company: str, tool: HttpTool) -> Handler:

        async def call(arguments: Arguments, context: CallContext) -> Data:
            request = request_of(tool, arguments)
            headers = self._sessions.secrets(company, tool.headers) | call_headers(context)
            if request.body is not None:
                headers["Content-Type"] = "application/json"
            async with (
                in_words(side_effects=tool.side_effects),
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
    """The headers that identify a call to the company's server: its id, its user, and where it was made."""
    caller = context.caller
    told = {"Idempotency-Key": context.call_id, "Nexus-User": caller.user, "Nexus-Role": caller.role}
    return told | ({"Nexus-Conversation": caller.conversation} if caller.conversation else {})


def refuse_packed(response: aiohttp.ClientResponse) -> None:
    """Raises ToolFailedError where the body is packed, which was not asked for: a small one may unpack to any size."""
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"", "identity"}:
        raise ToolFailedError("bad_encoding", TEXTS["own_tool.unasked_encoding"])


async def read_bounded(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body; raises ToolFailedError where it is longer, or packed."""
    refuse_packed(response)
    body = bytearray()
    if (response.content_length or 0) <= most:
        async for piece in response.content.iter_chunked(64 * 1024):
            body += piece
            if len(body) > most:
                break
        else:
            return bytes(body)
    raise ToolFailedError("too_large", TEXTS["own_tool.too_large"].format(kib=most // 1024))


async def _result(response: aiohttp.ClientResponse) -> object:
    status = response.status
    if status in REDIRECTS:
        raise ToolFailedError("redirect_refused", TEXTS["own_tool.redirects"].format(status=status))
    body = await read_bounded(response, LARGEST)
    if status not in SUCCESS:
        words = " ".join(body.decode("utf-8", "replace").split())[:_QUOTED] if 400 <= status < 500 else ""
        said = f": {words}" if words else "."
        raise ToolFailedError("bad_status", TEXTS["own_tool.bad_status"].format(status=status, said=said))
    if not body:
        return None
    if response.content_type.lower().endswith("json"):
        return readable(body)
    if response.content_type.lower().startswith("text/"):
        return body.decode("utf-8", "replace")
    raise ToolFailedError("not_text", TEXTS["own_tool.not_text"])


def readable(body: bytes) -> object:
    """The JSON; raises ToolFailedError if it is not JSON, or nested too deeply."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _no_json() from error
    if is_nested_too_deep(value, _DEEPEST):
        raise _no_json()
    return value


def _no_json() -> ToolFailedError:
    return ToolFailedError("bad_result", TEXTS["own_tool.bad_result"])


@asynccontextmanager
async def in_words(*, side_effects: bool) -> AsyncGenerator[None]:
    """Turns errors on the way into a ToolFailedError, or into a TimeoutError if the call may have had its effect all
    the same."""
    try:
        yield
    except AddressNotAllowedError as error:
        raise ToolFailedError("address_refused", TEXTS["own_tool.address_refused"]) from error
    except aiohttp.ClientConnectorError as error:
        raise _unreachable() from error
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if side_effects:
            raise TimeoutError("the line broke: the server may have done it") from error
        raise _unreachable() from error


def _unreachable() -> ToolFailedError:
    return ToolFailedError("unreachable", TEXTS["own_tool.unreachable"])
