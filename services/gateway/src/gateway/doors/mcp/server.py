"""The MCP server, built on the official SDK: revision 2026-07-28, and the handshake revisions before it.

Only endpoint.py imports it, with the first request.
"""

import asyncio
from importlib.metadata import version
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from gateway.domain.client_answers import Answers
from gateway.doors.mcp.handshake import VERSION_HEADER, Handshake
from gateway.doors.mcp.offer import Context, Offer, caller_of, language_of, principal_of
from gateway.doors.mcp.tasks import serve_tasks
from gateway.doors.mcp.tools import McpTools
from gateway.web.deps import Api

NAME = "nexus"
CONFIRM_SECONDS = 3600.0
"""Seconds for which sealed data is valid: an action does not wait longer for its confirmation."""


class GatewayMcpServer:
    """The MCP server of a gateway."""

    def __init__(self, server: Server[Any], handshake: Handshake) -> None:
        self._manager = StreamableHTTPSessionManager(server, stateless=True)
        self._stateless = StreamableHTTPASGIApp(self._manager)
        self._handshake = handshake
        self._stop_requested = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def application(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application. Clients that name no revision, or one with a handshake, are served with a handshake."""
        version = Headers(scope=scope).get(VERSION_HEADER)
        with_handshake = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        await (self._handshake if with_handshake else self._stateless)(scope, receive, send)

    async def start(self) -> None:
        started = asyncio.Event()
        self._running = asyncio.create_task(self._run(started))
        await started.wait()

    async def stop(self) -> None:
        self._stop_requested.set()
        if self._running is not None:
            await self._running

    async def _run(self, started: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await self._stop_requested.wait()


def build(api: Api, answers: Answers) -> GatewayMcpServer:
    """The product's server, over the gateway's own ports."""
    return serve(McpTools(api).offer(), api.identity.seal_key, answers)


def serve(offer: Offer, key: bytes, answers: Answers) -> GatewayMcpServer:
    """A server for this offer. `key`: shared by all gateways; seals and signs what clients carry."""
    server: Server[Any] = Server(
        NAME,
        version=version("nexus-gateway"),
        title="Nexus",
        instructions=offer.instructions.in_language("en"),
        cache_hints=offer.cache_hints,
        get_tool_input_schema=offer.header_schema,
        **offer.handlers,
    )

    async def translate_instructions(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if isinstance(result, dict) and "instructions" in result:
            result["instructions"] = offer.instructions.in_language(await language_of(ctx))
        return result

    server.middleware.append(translate_instructions)
    server.extensions.update(offer.extensions)
    if offer.tasks is not None:
        serve_tasks(server, offer.tasks)
    security = RequestStateSecurity(
        keys=[key], ttl=CONFIRM_SECONDS, bind_principal=lambda context: principal_of(caller_of(context))
    )
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return GatewayMcpServer(server, Handshake(server, key, answers))
