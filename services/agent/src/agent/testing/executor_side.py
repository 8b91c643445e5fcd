"""Stands in for the executor in tests, and records the effects of its tools."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.tool import ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.tools_rpc import CatalogueTool

Handle = Callable[[ToolCallRequested], Awaitable[ToolResult]]


@dataclass
class Executor:
    """Runs each call id once, as the real executor does, and records the effects."""

    tools: dict[str, Handle] = field(default_factory=dict[str, Handle])
    effects: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    requests: list[ToolCallRequested] = field(default_factory=list[ToolCallRequested])
    repeats: list[ToolCallRequested] = field(default_factory=list[ToolCallRequested])
    """Requests that arrived while their call was running."""
    changing: set[str] = field(default_factory=set[str])
    """Names of the tools that the catalogue marks as having side effects."""
    made: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Tools that ran, each with its arguments as JSON."""
    running: set[str] = field(default_factory=set[str])
    done: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])

    def offer(self, name: str, data: dict[str, Any]) -> None:
        """Adds a tool that always returns the same data."""

        async def answer(request: ToolCallRequested) -> ToolResult:
            return ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=1.0))

        self.tools[name] = answer

    def catalogue(self) -> list[CatalogueTool]:
        """Returns the catalogue entries of its tools."""
        return [
            CatalogueTool(
                id=f"test.{name}",
                name=name,
                description=name,
                category="market",
                required_plan="free",
                parameters={"type": "object"},
                label=f"Using {name}",
                side_effects=name in self.changing,
            )
            for name in self.tools
        ]

    async def run(self, request: ToolCallRequested) -> ToolResult | None:
        """Returns the recorded result or runs the tool. None if the call is running: the request must be repeated."""
        if request not in self.requests:
            self.requests.append(request)
        if request.call_id in self.running:
            self.repeats.append(request)
            return None
        self.running.add(request.call_id)
        try:
            return await self._run(request)
        finally:
            self.running.discard(request.call_id)

    async def _run(self, request: ToolCallRequested) -> ToolResult:
        recorded = self.done.get(request.call_id)
        if recorded is not None:
            return recorded
        if request.tool not in self.tools:
            error = ToolError(code=ToolCode.TOOL_NOT_FOUND, message=f"no tool {request.tool}")
            return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0))
        self.effects.append((request.call_id, json.dumps(request.arguments, sort_keys=True)))
        self.made.append((request.tool, json.dumps(request.arguments, sort_keys=True)))
        result = await self.tools[request.tool](request)
        is_unsettled = result.error is not None and (
            result.error.code == ToolCode.UNAVAILABLE or result.error.reason == OUTCOME_UNKNOWN
        )
        if not is_unsettled:
            self.done[request.call_id] = result
        return result
