"""Tools of MCP servers. The official client is a large package; the first call imports it, outside the event loop."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from contracts.own_tools import McpServer, McpTool
from tool_executor.adapters.own_http import OwnSessions
from tool_executor.domain.declaration import CallContext, Data, Handler
from tool_executor.domain.plans import Arguments

if TYPE_CHECKING:
    from tool_executor.adapters.own_mcp import McpClient


class McpToolHandlers:
    """Creates handlers for tools of MCP servers, and lists a server's tools."""

    def __init__(self, sessions: OwnSessions) -> None:
        self._sessions = sessions

    def handler(self, company: str, server: McpServer, tool: McpTool) -> Handler:

        async def call(arguments: Arguments, context: CallContext) -> Data:
            return await (await self._client()).call(company, server, tool, arguments, context)

        return call

    async def listed(self, company: str, server: McpServer) -> list[McpTool]:
        """Returns the server's tools in the form of settings. Raises ToolFailedError."""
        return await (await self._client()).listed(company, server)

    async def _client(self) -> McpClient:
        module = await asyncio.to_thread(import_module, "tool_executor.adapters.own_mcp")
        return cast("McpClient", module.McpClient(self._sessions))
