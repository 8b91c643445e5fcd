"""For tests: a stand-in for the tool executor, over a real bus."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import CloudEvent
from contracts.events.tool import (
    QuotaView,
    ToolCallCompleted,
    ToolCallRequested,
    ToolError,
    ToolMetadata,
    ToolResult,
)
from contracts.tools_rpc import CATALOGUE, CatalogueReply, CatalogueRequest, CatalogueTool
from runtime.calls.rpc import RpcServer

RequestedEvent = CloudEvent[ToolCallRequested]
CompletedEvent = CloudEvent[ToolCallCompleted]


@dataclass
class ExecutorStandIn:
    """Answers with the results that the test sets, and records its requests."""

    client: Client
    result: ToolResult = field(
        default_factory=lambda: ToolResult(success=True, data={"n": 1}, metadata=ToolMetadata(execution_time=1.0))
    )
    calls: list[ToolCallRequested] = field(default_factory=list[ToolCallRequested])
    subjects: list[str] = field(default_factory=list[str])
    listed: list[CatalogueRequest] = field(default_factory=list[CatalogueRequest])
    silent: int = 0
    """Number of calls that get no answer."""
    stopped: bool = False
    """Whether nothing gets an answer, as from a frozen process."""
    side_effects: bool = False
    quota: dict[str, QuotaView] | None = None
    """The remaining quota in each answer."""

    def __post_init__(self) -> None:
        self._server = RpcServer(self.client)

    async def start(self) -> None:
        await self._server.serve(CATALOGUE, self._catalogue)
        await self.client.subscribe("tools.call.requested.v1.*", cb=self._call)  # pyright: ignore[reportUnknownMemberType]
        await self.client.flush()

    async def _catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        self.listed.append(request)
        if self.stopped:
            await asyncio.Event().wait()
        minute = QuotaView(limit=60, remaining=59, reset_at=int((time.time() + 30) * 1000))
        tool = CatalogueTool(
            id="market.get_price",
            name="get_price",
            description="Price" if request.language == "en" else "Precio",
            category="market",
            required_plan="free",
            parameters={"type": "object"},
            side_effects=self.side_effects,
            quota={"minute": minute} if request.with_quota else None,
        )
        return CatalogueReply(tools=[tool] if request.name in {None, "get_price"} else [])

    async def _call(self, message: Msg) -> None:
        request = RequestedEvent.model_validate_json(message.data).data
        self.calls.append(request)
        self.subjects.append(message.subject)
        if self.stopped or len(self.calls) <= self.silent or request.reply_to is None:
            return
        completed = ToolCallCompleted(
            call_id=request.call_id, tool=request.tool, arguments={}, result=self.result, quota=self.quota
        )
        event = CompletedEvent(source="/executor", type="tools.call.completed.v1", data=completed)
        await self.client.publish(request.reply_to, event.to_json())

    def fails(self, code: str, **fields: Any) -> None:
        """Lets every later call fail with this code."""
        error = ToolError(code=code, message="no", **fields)
        self.result = ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=1.0))
