"""The MCP server itself, by the official SDK: revision 2026-07-28, and the handshake revisions before it.

Loaded by web/mcp_endpoint.py alone, with the first request.
"""

import asyncio
from importlib.metadata import version
from typing import Any, cast

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp

from gateway.ports import Caller
from gateway.web.deps import Api
from gateway.web.mcp_tools import McpTools

NAME = "nexus"
LIST_FRESH_MS = 60_000
"""For so long a client may keep the list of tools: it changes with a plan, a setting or a service that announces."""
CONFIRM_SECONDS = 3600.0
"""An action waits no longer for its yes."""
_INSTRUCTIONS = (
    "Market data, analysis, education, alerts, a watchlist and a paper portfolio of the user whose token this is. "
    "Orders are paper orders; none is placed before its user has confirmed it."
)


class McpServer:
    """One in a gateway."""

    def __init__(self, server: Server[Any]) -> None:
        self._manager = StreamableHTTPSessionManager(server, stateless=True)
        self._ending = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def application(self) -> ASGIApp:
        """The ASGI application of the transport."""
        return StreamableHTTPASGIApp(self._manager)

    async def start(self) -> None:
        """Serves from now on."""
        started = asyncio.Event()
        self._running = asyncio.create_task(self._run(started))
        await started.wait()

    async def stop(self) -> None:
        """Ends what still runs."""
        self._ending.set()
        if self._running is not None:
            await self._running

    async def _run(self, started: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await self._ending.wait()


def build(api: Api) -> McpServer:
    """The server over the gateway's own ports."""
    tools = McpTools(api, caller_of)
    server: Server[Any] = Server(
        NAME,
        version=version("nexus-gateway"),
        title="Nexus",
        instructions=_INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_FRESH_MS, scope="private")},
        # No tool takes arguments in headers, so none has to be looked up to check them.
        get_tool_input_schema=_no_header_arguments,
        on_list_tools=tools.list_tools,
        on_call_tool=tools.call_tool,
    )
    security = RequestStateSecurity(keys=[api.seal_key], ttl=CONFIRM_SECONDS, bind_principal=_principal)
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return McpServer(server)


def caller_of(context: ServerRequestContext[Any, Any]) -> Caller:
    """Who is calling, as the endpoint found out."""
    return cast("Caller", cast("Request", context.request).state.caller)


def _principal(context: ServerRequestContext[Any, Any]) -> str:
    caller = caller_of(context)
    return f"{caller.company}/{caller.role}/{caller.subject}"


def _no_header_arguments(_: str) -> None:
    return None
