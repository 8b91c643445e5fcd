"""Tools that companies declare in their settings (contracts.own_tools), as entries like the catalogue's own."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from contracts.company import CompanySettings
from contracts.own_tools import HttpTool, McpServer, McpTool, OwnTools
from contracts.text import Text
from contracts.tools_rpc import Category
from runtime.companies import MAX_COMPANIES
from runtime.recent import Bounded
from tool_executor.catalogue.registry import CatalogueError, Entry, check
from tool_executor.domain.declaration import DeclaredTool, Handler

log = structlog.get_logger(__name__)

PER_MINUTE = 30
RESULT: dict[str, object] = {"type": "object", "required": ["result"], "additionalProperties": False,
                             "properties": {"result": True}}  # fmt: skip
"""The company's server's answer is one field, so that none of its fields can be taken for one of ours."""


WAITING_RESULT: dict[str, object] = {"type": "object", "required": ["action_id", "status", "summary", "expires_at"]}


@dataclass(frozen=True, slots=True)
class OwnHandlers:
    """The handlers of a company's HTTP tools, and of the tools that it has chosen from MCP servers."""

    http: Callable[[str, HttpTool], Handler]
    mcp: Callable[[str, McpServer, McpTool], Handler]
    hold: Callable[[str, int], Handler]
    """Returns, for a tool's name and version, the handler that stores its calls until the customer confirms them."""


class OwnCatalogue:
    """The own tools of companies whose settings were read; entries are created at their first use."""

    def __init__(self, handlers: OwnHandlers) -> None:
        self._handlers = handlers
        self._declared = Bounded[str, OwnTools](MAX_COMPANIES)
        self._entries_by_company = Bounded[str, dict[str, Entry]](MAX_COMPANIES)

    def learn(self, company: str, settings: CompanySettings | None) -> None:
        """Takes a company's current settings; None if there are none, or if they cannot be read."""
        self._entries_by_company.pop(company, None)
        self._declared.pop(company, None)
        if settings is not None and settings.config.own_tools.names:
            self._declared[company] = settings.config.own_tools

    def of(self, company: str) -> dict[str, Entry]:
        declared = self._declared.get(company)
        if declared is None:
            return {}
        entries = self._entries_by_company.get(company)
        if entries is None:
            entries = self._entries_by_company[company] = self._entries(company, declared)
        return entries

    def _with_confirmation(self, tool: DeclaredTool) -> DeclaredTool:
        """Returns the tool as callers see it: its calls wait for a confirmation. A repeat of a call changes nothing."""
        hold = self._handlers.hold(tool.name, tool.version)
        return replace(
            tool, handler=hold, reconcile=hold, output_schema=WAITING_RESULT, foreign=False, offered_to_visitors=False
        )

    def runs(self, company: str) -> dict[str, DeclaredTool]:
        """Returns the tools by name, with the handlers that run after a confirmation."""
        declared = self._declared.get(company)
        return {} if declared is None else {tool.name: tool for tool in self.tools(company, declared)}

    def _entries(self, company: str, declared: OwnTools) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        confirmed_names = declared.waiting
        for declared_tool in self.tools(company, declared):
            tool = self._with_confirmation(declared_tool) if declared_tool.name in confirmed_names else declared_tool
            try:
                entries.setdefault(tool.name, check(tool))
            except CatalogueError as error:
                log.warning("tools.own_refused", company=company, tool=tool.name, why=str(error))
        return entries

    def tools(self, company: str, declared: OwnTools) -> list[DeclaredTool]:
        """Returns the unchecked declarations, with the handlers that run the calls."""
        tools = [
            _tool(tool, tool.name, self._handlers.http(company, tool), tool.timeout_seconds) for tool in declared.http
        ]
        for server in declared.mcp:
            for tool in server.tools:
                handler = self._handlers.mcp(company, server, tool)
                tools.append(_tool(tool, f"{server.name}_{tool.name}", handler, server.timeout_seconds))
        return tools


def _tool(declared: HttpTool | McpTool, name: str, handler: Handler, seconds: int) -> DeclaredTool:
    return DeclaredTool(
        id=f"own.{name}",
        name=name,
        description=Text(es=declared.description, en=declared.description),
        category=Category.OWN,
        per_minute=PER_MINUTE,
        input_schema={**declared.input_schema, "additionalProperties": False},
        output_schema=RESULT,
        side_effects=declared.side_effects,
        time_limit=float(seconds),
        version=int.from_bytes(hashlib.sha256(declared.to_json()).digest()[:6], "big"),
        foreign=True,
        handler=handler,
    )
