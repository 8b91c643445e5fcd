"""For tests: stands in for the executor, and counts what its tools do."""

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
    """Runs each call id once, as the real one does, and counts the effects."""

    tools: dict[str, Handle] = field(default_factory=dict[str, Handle])
    effects: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    requests: list[ToolCallRequested] = field(default_factory=list[ToolCallRequested])
    repeats: list[ToolCallRequested] = field(default_factory=list[ToolCallRequested])
    """Requests that came while their call was running."""
    changing: set[str] = field(default_factory=set[str])
    """Tools that are offered as ones with effects."""
    made: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Tools that ran, with their arguments."""
    running: set[str] = field(default_factory=set[str])
    done: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])

    def offer(self, name: str, data: dict[str, Any]) -> None:
        """A tool that always answers the same."""

        async def answer(request: ToolCallRequested) -> ToolResult:
            del request
            return ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=1.0))

        self.tools[name] = answer

    def catalogue(self) -> list[CatalogueTool]:
        """What it offers."""
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
        """The recorded result, or the tool's; None: the call is running, and is to come again."""
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
        known = self.done.get(request.call_id)
        if known is not None:
            return known
        if request.tool not in self.tools:
            unknown = ToolError(code=ToolCode.TOOL_NOT_FOUND, message=f"no tool {request.tool}")
            return ToolResult(success=False, error=unknown, metadata=ToolMetadata(execution_time=0.0))
        self.effects.append((request.call_id, json.dumps(request.arguments, sort_keys=True)))
        self.made.append((request.tool, json.dumps(request.arguments, sort_keys=True)))
        result = await self.tools[request.tool](request)
        open_ = result.error is not None and (
            result.error.code == ToolCode.UNAVAILABLE or result.error.reason == OUTCOME_UNKNOWN
        )
        if not open_:
            self.done[request.call_id] = result
        return result
