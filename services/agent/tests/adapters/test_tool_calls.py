"""Tool calls as the agent asks for them: one that was UNAVAILABLE for a moment is asked for again, under its own id."""

import asyncio
import json
import time
from typing import Any

import pytest

from agent.adapters import tool_calls
from agent.adapters.tool_calls import ToolRequests
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester
from agent.testing.company import COMPANY
from agent.testing.stage import Stage, stage
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallRequested, ToolError, ToolMetadata, ToolResult
from runtime.bus.clock import JetStreamClock
from runtime.bus.publisher import Appended, Publisher
from runtime.bus.replies import ReplyInbox
from runtime.testing.servers import NatsServer, eventually

ASKER = Requester("user/pro/ana", "user", "pro", "ana", "en")
CALL = TurnCall("turn-0-0", "create_paper_order", '{"symbol": "IBM"}')


async def served(*_: object) -> bool:
    return True


async def outcome(scene: Stage, *, away: int) -> dict[str, object]:
    """What the agent makes of a tool whose store is away for the first `away` requests."""
    left = [away]

    async def order(request: ToolCallRequested) -> ToolResult:
        metadata = ToolMetadata(execution_time=1.0)
        if left[0] > 0:
            left[0] -= 1
            error = ToolError(code=ToolCode.UNAVAILABLE, message="Not possible right now.", reason="store")
            return ToolResult(success=False, error=error, metadata=metadata)
        return ToolResult(success=True, data={"status": "pending_confirmation"}, metadata=metadata)

    scene.executor.tools[CALL.tool] = order
    requests = ToolRequests(scene.publisher, ReplyInbox.of(scene.nats), "agent-1", served)
    return json.loads(await requests.outcome(ConversationKey(COMPANY, "c1"), CALL, "trading", ASKER, "turn", 30.0))


async def test_a_store_that_was_slow_for_a_moment_does_not_cost_an_order(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        assert (await outcome(scene, away=1))["success"] is True
        assert [(request.call_id, request.attempt) for request in scene.executor.requests] == [
            (CALL.call_id, 1),
            (CALL.call_id, 2),
        ]


async def test_a_deadline_is_a_time_of_the_bus(nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def in_five_minutes(clock: JetStreamClock) -> float:
        return time.time() + 300

    monkeypatch.setattr(JetStreamClock, "time", in_five_minutes)
    async with stage(nats_server.url) as scene:
        await outcome(scene, away=0)
        (request,) = scene.executor.requests
        assert request.deadline is not None
        assert request.deadline.timestamp() > time.time() + 300


async def test_what_stays_unavailable_is_told_soon(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        result = await outcome(scene, away=100)
        assert result["error"] == {"code": "UNAVAILABLE", "message": "Not possible right now.", "reason": "store"}
        assert 2 <= len(scene.executor.requests) <= 4


async def test_a_refusal_is_no_answer_while_the_call_is_asked_for_a_second_time(nats_server: NatsServer) -> None:
    """It came after the second request was sent, which is carried out all the same: nobody was told that it is not."""
    again = asyncio.Event()

    async def order(request: ToolCallRequested) -> ToolResult:
        metadata = ToolMetadata(execution_time=1.0)
        if request.attempt > 1:
            return ToolResult(success=True, data={"status": "pending_confirmation"}, metadata=metadata)
        await asyncio.wait_for(again.wait(), 30)
        error = ToolError(code=ToolCode.UNAVAILABLE, message="Not possible right now.", reason="service")
        return ToolResult(success=False, error=error, metadata=metadata)

    async with stage(nats_server.url) as scene:
        scene.executor.tools[CALL.tool] = order
        requests = ToolRequests(scene.publisher, ReplyInbox.of(scene.nats), "agent-1", served)
        asked = asyncio.create_task(
            requests.outcome(ConversationKey(COMPANY, "c1"), CALL, "trading", ASKER, "turn", 30.0)
        )
        await eventually(lambda: scene.executor.repeats)
        again.set()
        assert json.loads(await asked)["success"] is True
        assert [request.attempt for request in scene.executor.requests] == [1, 2]


async def price(request: ToolCallRequested) -> ToolResult:
    return ToolResult(success=True, data={"price": 1}, metadata=ToolMetadata(execution_time=1.0))


async def asked(scene: Stage) -> dict[str, object]:
    requests = ToolRequests(scene.publisher, ReplyInbox.of(scene.nats), "agent-1", served)
    return json.loads(await requests.outcome(ConversationKey(COMPANY, "c1"), CALL, "trading", ASKER, "turn", 30.0))


async def test_an_answer_that_comes_soon_is_the_requests_acknowledgement(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended: list[str] = []
    append = Publisher.append

    async def noted(self: Publisher, subject: str, *rest: Any, **options: Any) -> Appended:
        appended.append(subject)
        return await append(self, subject, *rest, **options)

    monkeypatch.setattr(Publisher, "append", noted)
    async with stage(nats_server.url) as scene:
        scene.executor.tools[CALL.tool] = price
        assert (await asked(scene))["success"] is True
        assert appended == []


async def test_a_request_that_was_lost_is_sent_again_as_the_same_one(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> bool:
        return True

    monkeypatch.setattr(Publisher, "send", lost)
    monkeypatch.setattr(tool_calls, "CONFIRMATION_SECONDS", 0.05)
    async with stage(nats_server.url) as scene:
        scene.executor.tools[CALL.tool] = price
        assert (await asked(scene))["success"] is True
        assert [request.attempt for request in scene.executor.requests] == [1]


async def test_a_tool_that_takes_its_time_is_asked_once(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "CONFIRMATION_SECONDS", 0.05)
    async with stage(nats_server.url) as scene:
        known = asyncio.Event()
        append = scene.publisher.append

        async def noted(*rest: Any, **options: Any) -> Appended:
            stored = await append(*rest, **options)
            assert stored.duplicate
            known.set()
            return stored

        async def slow(request: ToolCallRequested) -> ToolResult:
            await asyncio.wait_for(known.wait(), 20)
            return await price(request)

        monkeypatch.setattr(scene.publisher, "append", noted)
        scene.executor.tools[CALL.tool] = slow
        assert (await asked(scene))["success"] is True
        assert len(scene.executor.requests) == 1


@pytest.mark.parametrize("there", [True, False])
async def test_a_silent_executor_is_waited_for_only_while_one_answers_at_all(
    there: bool, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "ATTEMPT_TIMEOUT_SECONDS", (0.05, 0.05, 0.05, 30.0))
    looked: list[tuple[object, ...]] = []

    async def look(*about: object) -> bool:
        looked.append(about)
        return there

    async def busy(request: ToolCallRequested) -> ToolResult:
        await eventually(lambda: len(looked) == 2)
        return await price(request)

    async with stage(nats_server.url) as scene:
        scene.executor.tools[CALL.tool] = busy
        requests = ToolRequests(scene.publisher, ReplyInbox.of(scene.nats), "agent-1", look)
        where = ConversationKey(COMPANY, "c1")
        result = json.loads(await requests.outcome(where, CALL, "trading", ASKER, "turn", 30.0))
        assert looked == [(COMPANY, ASKER, CALL.tool)] * (2 if there else 1)
        assert result.get("data") == ({"price": 1} if there else None)
        looked.append(())
