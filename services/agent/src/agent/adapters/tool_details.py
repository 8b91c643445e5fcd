"""The details of the tools that an analysis may use, asked of the executor and cached."""

import time
from collections.abc import Mapping
from typing import Any

from agent.domain.analysis.plan import ToolInfo
from agent.errors import UnreachableError
from agent.ports import Requester
from contracts.tools_rpc import TOOL_DETAILS, ToolDetailsRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

FRESH = 30.0
"""Seconds that an answer is good for: which tools there are changes with the executor's version."""
DEADLINE = 3.0
"""Seconds for the executor's answer."""
KEPT = 1_000
CATEGORIES = frozenset(("market", "news", "ml"))


class ExecutorTools:
    """Tools, by company, role, plan and language: everybody of one kind gets the same."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._kept: dict[tuple[str, ...], tuple[float, tuple[ToolInfo, ...]]] = {}

    async def details(self, company: str, requester: Requester) -> tuple[ToolInfo, ...]:
        """Returns the tools that take tickers or a symbol and change nothing, announced ones included; raises
        UnreachableError."""
        key = (company, requester.role, requester.plan, requester.language)
        kept = self._kept.get(key)
        if kept is not None and time.monotonic() - kept[0] < FRESH:
            return kept[1]
        request = ToolDetailsRequest(
            company_id=company, role=requester.role, plan=requester.plan, language=requester.language
        )
        try:
            reply = await self._rpc.call(TOOL_DETAILS, request, deadline=DEADLINE)
        except RpcError as error:
            raise UnreachableError(f"the tools cannot be asked about: {error}") from error
        found = tuple(
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
            if tool.category in CATEGORIES and not tool.side_effects and _about_tickers(tool.parameters)
        )
        if len(self._kept) >= KEPT:
            self._kept.clear()
        self._kept[key] = (time.monotonic(), found)
        return found


def _about_tickers(parameters: Mapping[str, Any]) -> bool:
    """Whether the tool only needs tickers, or one, besides options that it lists itself."""
    properties: Mapping[str, Any] = parameters.get("properties", {})
    required = set(parameters.get("required", ()))
    chosen = {name for name in required if "enum" in properties.get(name, {}).get("items", {})}
    return bool(required & {"tickers", "symbol"}) and required - chosen <= {"tickers", "symbol"}
