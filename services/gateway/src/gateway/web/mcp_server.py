"""The MCP server itself, by the official SDK: revision 2026-07-28, and the handshake revisions before it.

Loaded by web/mcp_endpoint.py alone, with the first request.
"""

import asyncio
from importlib.metadata import version
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.types import ASGIApp

from gateway.web.deps import Api
from gateway.web.mcp_offer import Offer, caller_of
from gateway.web.mcp_tools import McpTools

NAME = "nexus"
CONFIRM_SECONDS = 3600.0
"""An action waits no longer for its yes."""


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
    """The server of the product, over the gateway's own ports."""
    return serve(McpTools(api).offer(), api.seal_key)


def serve(offer: Offer, seal_key: bytes) -> McpServer:
    """A server of this offer; what travels with its clients is sealed under `seal_key`, which all replicas share."""
    server: Server[Any] = Server(
        NAME,
        version=version("nexus-gateway"),
        title="Nexus",
        instructions=offer.instructions,
        cache_hints=offer.cache_hints,
        get_tool_input_schema=offer.header_schema,
        **offer.handlers,
    )
    security = RequestStateSecurity(keys=[seal_key], ttl=CONFIRM_SECONDS, bind_principal=_principal)
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return McpServer(server)


def _principal(context: ServerRequestContext[Any, Any]) -> str:
    caller = caller_of(context)
    return f"{caller.company}/{caller.role}/{caller.subject}"
