"""Tools of companies' MCP servers: streamable HTTP with the official client, over the guarded sessions.

The client negotiates either server/discover of 2026-07-28 or the handshake of earlier versions. It offers the server
nothing (no sampling, elicitation or roots) and exists for one call only, so no server can hold a connection open.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast
from urllib.parse import urlsplit

import aiohttp
import httpx2
import mcp_types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from yarl import URL

from contracts.enumerations import INPUT_CONTEXT
from contracts.own_tools import McpServer, McpTool
from tool_executor.adapters.own_http import MAX_RESULT_BYTES, OwnSessions, call_headers, refuse_compressed, tool_errors
from tool_executor.domain.declaration import CallContext, Data, ToolFailedError
from tool_executor.domain.plans import Arguments
from tool_executor.texts import TEXTS

MAX_REPLY_BYTES = 1024 * 1024
"""Bytes of one HTTP reply; larger than a result, because the list of a server's tools may be long."""
MAX_PAGES = 10
MAX_TOOLS = 200
MAX_DESCRIPTION_CHARS = 1024
_CLIENT = mcp_types.Implementation(name="nexus", version="1")


class McpClient:
    """Talks to MCP servers, with a new connection for each call."""

    def __init__(self, sessions: OwnSessions) -> None:
        self._sessions = sessions

    async def call(
        self, company: str, server: McpServer, tool: McpTool, arguments: Arguments, context: CallContext
    ) -> Data:
        """Calls a tool. Raises ToolFailedError, or TimeoutError if the call may have had its effect."""
        async with self._connected(company, server, call_headers(context), side_effects=tool.side_effects) as client:
            answer = await client.call_tool(tool.name, dict(arguments))
        text = "\n".join(part.text for part in answer.content if isinstance(part, mcp_types.TextContent))
        if answer.is_error:
            raise ToolFailedError("tool_error", TEXTS["own_tool.mcp.answered"].format(text=text[:300]))
        result: object = answer.structured_content if answer.structured_content is not None else text
        if len(str(result).encode()) > MAX_RESULT_BYTES:
            raise ToolFailedError("too_large", TEXTS["own_tool.too_large"].format(kib=MAX_RESULT_BYTES // 1024))
        return {"result": result}

    async def listed(self, company: str, server: McpServer) -> list[McpTool]:
        """Returns the server's tools in the form of settings, without unusable ones. Raises ToolFailedError."""
        tools: list[McpTool] = []
        async with self._connected(company, server, {}, side_effects=False) as client:
            cursor: str | None = None
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += [tool for listed in page.tools if (tool := _as_setting(listed)) is not None]
                cursor = page.next_cursor
                if not cursor or len(tools) >= MAX_TOOLS:
                    break
        return tools[:MAX_TOOLS]

    @asynccontextmanager
    async def _connected(
        self, company: str, server: McpServer, call_headers_: dict[str, str], *, side_effects: bool
    ) -> AsyncGenerator[Client]:
        headers = self._sessions.secrets(company, server.headers) | call_headers_
        transport = _GuardedTransport(self._sessions.to(server.url), server.url)
        try:
            async with tool_errors(side_effects=side_effects), AsyncExitStack() as stack:
                http = await stack.enter_async_context(
                    httpx2.AsyncClient(transport=transport, headers=headers, trust_env=False)
                )
                stream = streamable_http_client(server.url, http_client=http, terminate_on_close=False)
                yield await stack.enter_async_context(Client(stream, client_info=_CLIENT, cache=None))
        except (ToolFailedError, TimeoutError, MCPError, ValueError, RuntimeError) as error:
            raise _tool_error(error, transport.refusal) from error
        except BaseExceptionGroup as group:
            inner = _innermost(group)
            raise _tool_error(inner, transport.refusal) from group


def _tool_error(error: BaseException, refusal: BaseException | None) -> BaseException:
    """Returns the error to raise: first the connection's own reason, which the client hides in one of its errors."""
    if refusal is not None:
        return refusal
    if isinstance(error, ToolFailedError | TimeoutError):
        return error
    reason = error.error.message if isinstance(error, MCPError) else "it does not speak MCP"
    return ToolFailedError("tool_error", TEXTS["own_tool.mcp.failed"].format(said=reason[:300]))


def _innermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return (
        _innermost(cast("BaseExceptionGroup[BaseException]", first)) if isinstance(first, BaseExceptionGroup) else first
    )


def _as_setting(tool: mcp_types.Tool) -> McpTool | None:
    """Returns the tool in the form of settings; None if its name or schema is unusable."""
    schema: dict[str, object] = {**tool.input_schema, "additionalProperties": False}
    schema.pop("$schema", None)
    hints = tool.annotations
    try:
        return McpTool.model_validate(
            {
                "name": tool.name,
                "description": (tool.description or tool.title or tool.name)[:MAX_DESCRIPTION_CHARS],
                "inputSchema": schema,
                # The server's annotation is only a hint; an admin sees it and decides.
                "sideEffects": not (hints is not None and hints.read_only_hint),
            },
            context=INPUT_CONTEXT,
        )
    except ValueError:
        return None


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends the MCP client's requests over our guarded session, to one origin, with bounded replies."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._origin = _origin(url)
        self.refusal: BaseException | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(str(request.url)) != self._origin:
            raise httpx2.ConnectError("not the server's origin", request=request)
        # The stream of server notifications is not opened.
        if request.method == "GET":
            return httpx2.Response(405, request=request)
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "accept-encoding"}}
        try:
            async with tool_errors(side_effects=False):
                response = await self._session.request(
                    request.method,
                    URL(str(request.url), encoded=True),
                    data=await request.aread(),
                    headers=headers,
                    allow_redirects=False,
                )
                # The MCP client would decompress it to any size.
                refuse_compressed(response)
        except ToolFailedError as refused:
            self.refusal = refused
            raise httpx2.ConnectError(str(refused), request=request) from refused
        if response.status in {401, 403}:
            status = response.status
            self.refusal = ToolFailedError("bad_status", TEXTS["own_tool.mcp.not_let_in"].format(status=status))
        return httpx2.Response(
            response.status, headers=list(response.headers.items()), stream=_BoundedStream(response), request=request
        )


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = MAX_REPLY_BYTES
        async for piece in self._response.content.iter_any():
            remaining -= len(piece)
            if remaining < 0:
                raise httpx2.ReadError("the reply is too long")
            yield piece

    async def aclose(self) -> None:
        self._response.close()


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)
