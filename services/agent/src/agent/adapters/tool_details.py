"""The details of the tools that an analysis may use, requested from the executor and cached."""

from collections.abc import Mapping
from typing import Any

from agent.domain.analysis.plan import ToolInfo
from agent.errors import UnreachableError
from agent.ports import Requester
from contracts.tools_rpc import TOOL_DETAILS, ToolDetailsRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.recent import Recent

FRESH_SECONDS = 30.0
"""Seconds for which a list is cached; the tools change with the executor's version."""
DEADLINE = 3.0
"""Seconds for the executor's answer."""
MAX_LISTS = 1_000
CATEGORIES = frozenset(("market", "news", "ml"))


class ExecutorTools:
    """Tools by company, role, plan and language; requesters with the same four get the same list."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._lists = Recent[tuple[str, ...], tuple[ToolInfo, ...]](MAX_LISTS, ttl_seconds=FRESH_SECONDS)

    async def details(self, company: str, requester: Requester) -> tuple[ToolInfo, ...]:
        """Returns the tools, including announced ones, that take tickers or a symbol and have no side effects; raises
        UnreachableError."""
        key = (company, requester.role, requester.plan, requester.language)
        cached = self._lists.get(key)
        if cached is not None:
            return cached
        request = ToolDetailsRequest(
            company_id=company, role=requester.role, plan=requester.plan, language=requester.language
        )
        try:
            reply = await self._rpc.call(TOOL_DETAILS, request, deadline=DEADLINE)
        except RpcError as error:
            raise UnreachableError(f"the tools cannot be asked about: {error}") from error
        tools = tuple(
            ToolInfo(
                name=tool.name,
                category=tool.category,
                description=tool.description,
                examples=tool.examples,
                budget=tool.budget_per_ticker,
                output_schema=tool.output_schema,
                parameters=tool.parameters,
            )
            for tool in reply.tools
            if tool.category in CATEGORIES and not tool.side_effects and _needs_only_tickers(tool.parameters)
        )
        self._lists.keep(key, tools)
        return tools


def _needs_only_tickers(parameters: Mapping[str, Any]) -> bool:
    """Whether the tool requires only tickers or a symbol, apart from options whose values its schema lists."""
    properties: Mapping[str, Any] = parameters.get("properties", {})
    required = set(parameters.get("required", ()))
    listed_options = {name for name in required if "enum" in properties.get(name, {}).get("items", {})}
    return bool(required & {"tickers", "symbol"}) and required - listed_options <= {"tickers", "symbol"}
