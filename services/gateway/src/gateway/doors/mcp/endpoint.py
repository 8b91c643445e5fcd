"""/mcp: the tool catalogue as an MCP server (streamable HTTP), without state between requests.

Any replica serves any request: the client carries, sealed, what a confirmation needs. The SDK takes 16 MB, so it is
loaded only with the first request, in a thread.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from contracts.errors import ErrorCode
from gateway.domain.client_answers import Answers
from gateway.errors import RefusedError, TokenInvalidError
from gateway.ports import TokenCaller
from gateway.web.deps import CUSTOMERS, Api, verified
from gateway.web.origins import origin_allowed

if TYPE_CHECKING:
    from gateway.doors.mcp.server import GatewayMcpServer

PATH = "/mcp"


ServerFactory = Callable[[Api, Answers], "GatewayMcpServer"]


def load_server_factory() -> ServerFactory:
    """The function that builds the product's MCP server; takes a second or two, since it imports the SDK."""
    return cast("ServerFactory", importlib.import_module("gateway.doors.mcp.server").build)


class McpEndpoint:
    """Identifies the caller and checks the page's origin; the SDK does the rest. `load` runs in a thread, with the
    first request."""

    def __init__(self, api: Api, answers: Answers, load: Callable[[], ServerFactory] = load_server_factory) -> None:
        self._api = api
        self._answers = answers
        self._load = load
        self._server_task: asyncio.Task[GatewayMcpServer] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = CUSTOMERS.check(await self._caller(request))
        await self._check_origin(request, caller)
        if request.method != "POST":
            # There is no stream of the server's own (an idle socket has a cost), and no session to end.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        server = await self._started_server()
        await server.application({**scope, "state": {**scope.get("state", {}), "caller": caller}}, receive, send)

    def drain(self) -> None:
        """Stops waiting for clients' answers."""
        self._answers.stop()

    async def stop(self) -> None:
        if self._server_task is not None:
            await (await self._server_task).stop()

    async def _caller(self, request: Request) -> TokenCaller:
        try:
            return await verified(request, self._api)
        except TokenInvalidError as error:
            raise TokenInvalidError(f"{error.message}; MCP clients send the same bearer token as /v2") from error

    async def _check_origin(self, request: Request, caller: TokenCaller) -> None:
        origin = request.headers.get("origin")
        if origin is None:
            return
        settings = await self._api.companies.get(caller.company)
        if settings is None or not origin_allowed(origin, settings, request, dev=self._api.dev):
            raise RefusedError(ErrorCode.FORBIDDEN, f"pages of {origin[:200]} may not call: see allowedOrigins")

    async def _started_server(self) -> "GatewayMcpServer":
        if self._server_task is None or (self._server_task.done() and self._server_task.exception() is not None):
            self._server_task = asyncio.create_task(self._start())
        return await asyncio.shield(self._server_task)

    async def _start(self) -> "GatewayMcpServer":
        build = await asyncio.to_thread(self._load)
        server = build(self._api, self._answers)
        await server.start()
        return server
