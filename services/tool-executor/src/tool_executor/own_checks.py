"""Tries a company's own tools before they are saved: calls a tool, or lists the tools of an MCP server."""

import asyncio
import time
from typing import cast

from contracts.errors import ToolCode
from contracts.events.tool import ToolError, ToolMetadata, ToolResult
from contracts.ids import uuid7
from contracts.preview_rpc import McpToolsReply, McpToolsRequest, OwnToolReply, OwnToolRequest
from contracts.text import Text
from tool_executor.adapters.mcp_tools import McpToolHandlers
from tool_executor.catalogue.own import OwnCatalogue
from tool_executor.catalogue.registry import CatalogueError, check
from tool_executor.domain.declaration import CallContext, Handler, ToolFailedError, ToolRefusedError
from tool_executor.domain.defaults import with_defaults
from tool_executor.domain.plans import VerifiedCaller
from tool_executor.texts import TEXTS, in_language

LIST_SECONDS = 20.0
"""Seconds for the list of a server's tools, page by page."""


class OwnChecks:
    """Serves both methods. Nothing is recorded, limited or stored; the settings come with the request."""

    def __init__(self, catalogue: OwnCatalogue, servers: McpToolHandlers) -> None:
        self._catalogue = catalogue
        self._servers = servers

    async def call(self, request: OwnToolRequest) -> OwnToolReply:
        """Runs the call as the pipeline would."""
        started = time.monotonic()

        def reply(**outcome: object) -> OwnToolReply:
            milliseconds = round((time.monotonic() - started) * 1000, 3)
            metadata = ToolMetadata(execution_time=milliseconds, foreign=True)
            return OwnToolReply(result=ToolResult.model_validate({**outcome, "metadata": metadata}))

        def refused_reply(code: ToolCode, message: Text | str, reason: str | None = None) -> OwnToolReply:
            error = ToolError(code=code, message=in_language(message, language), reason=reason)
            return reply(success=False, error=error)

        company, language = request.config.company_id, request.language
        tools_by_name = {tool.name: tool for tool in self._catalogue.tools(company, request.config.own_tools)}
        tool = tools_by_name.get(request.tool)
        if tool is None:
            return refused_reply(ToolCode.TOOL_NOT_FOUND, TEXTS["call.not_found"].format(tool=request.tool))
        try:
            entry = check(tool)
        except CatalogueError as error:
            return refused_reply(ToolCode.VALIDATION_ERROR, str(error))
        arguments = with_defaults(request.arguments, tool.input_schema)
        problems = entry.input.problems(arguments)
        caller = VerifiedCaller(company=company, user=request.user_id, role="admin", language=language)
        context = CallContext(f"try-{uuid7()}", caller, None, tool.time_limit)
        try:
            if problems:
                raise ToolRefusedError(*problems)
            async with asyncio.timeout(tool.time_limit):
                data = await cast("Handler", tool.handler)(arguments, context)
        except ToolRefusedError as refusal:
            problem_texts = "; ".join(
                f"{problem.field or 'arguments'}: {in_language(problem.message, language)}"
                for problem in refusal.problems
            )
            return refused_reply(ToolCode.VALIDATION_ERROR, problem_texts[:1000])
        except ToolFailedError as error:
            return refused_reply(ToolCode.EXECUTION_ERROR, error.message, error.reason)
        except TimeoutError:
            late = TEXTS["call.timeout"].format(seconds=f"{tool.time_limit:.0f}")
            return refused_reply(ToolCode.TIMEOUT, late)
        return reply(success=True, data=data)

    async def server_tools(self, request: McpToolsRequest) -> McpToolsReply:
        server = next((server for server in request.config.own_tools.mcp if server.name == request.server), None)
        try:
            if server is None:
                raise ToolFailedError("no_server", TEXTS["call.no_server"].format(server=request.server))
            async with asyncio.timeout(LIST_SECONDS):
                return McpToolsReply(tools=await self._servers.listed(request.config.company_id, server))
        except ToolFailedError as error:
            problem = error.message
        except TimeoutError:
            problem = TEXTS["call.timeout"].format(seconds=f"{LIST_SECONDS:.0f}")
        return McpToolsReply(error=in_language(problem, request.language))
