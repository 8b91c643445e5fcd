"""Tool calls over the stream TOOLS: requested under their own id, answered to an inbox, and requested again after a
silence."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import orjson
import structlog
from nats.aio.msg import Msg

from agent.domain.prompt.messages import INTERRUPTED
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester
from contracts import channels
from contracts.envelope import CloudEvent
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallRequested
from contracts.json_values import object_of
from runtime.bus.publisher import Publisher
from runtime.bus.replies import Pending, ReplyInbox
from runtime.calls.call_answers import CallAnswers, decisive_reply
from runtime.errors import PublishFailedError

log = structlog.get_logger(__name__)

SOURCE = "/nexus/agent"
PATIENCE = (4.0, 6.0, 10.0, 20.0, 30.0)
"""Seconds to wait for the answer to each request before the next; the executor runs a call id once."""
ASSUMED_SERVED = 2
"""So many requests are sent before it is asked whether any executor answers at all."""
UNCONFIRMED = 1.0
"""Seconds in which the answer may come before the stream is asked whether it has the request."""
AGAIN_WITHIN, PAUSE = 2.0, 0.6
"""Seconds from the first request in which one that was UNAVAILABLE is sent again, and between two of them: a store that
was slow for a moment should not cost the user an order. Nothing was recorded: the call's id is still free."""
BY_WORDS = frozenset(("remember", "forget", "update_memory"))
"""Tools that go by what the user wrote; nobody else is told it."""
MOST_SAID = 20_000
"""Characters of it that a call takes along, the newest."""
Served = Callable[[str, Requester, str], Awaitable[bool]]
"""Whether any executor answers, asked about a tool for a company's requester: a busy one is waited for, one that stands
still is not (decision 0172)."""


class ToolRequests:
    """One request for each id: a repeated request gets the recorded result. UNAVAILABLE is returned only if every
    request was answered so, because any of them may still be carried out."""

    def __init__(self, publisher: Publisher, inbox: ReplyInbox, instance: str, served: Served) -> None:
        self._publisher = publisher
        self._served = served
        self._inbox = inbox
        self._instance = instance
        self._count = 0

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """The result's JSON text; the synthetic "interrupted" result when none comes within `seconds`, or no executor
        answers at all."""
        begun = time.monotonic()
        end = begun + seconds
        result: str | None = None
        answers = CallAnswers()
        with await self._inbox.expect(answers) as pending:
            for attempt, patience in enumerate(PATIENCE, start=1):
                if (
                    attempt > ASSUMED_SERVED
                    and result is None
                    and not await self._served(key.company, requester, call.tool)
                ):
                    break
                left = end - time.monotonic()
                if left <= 0:
                    break
                request = ToolCallRequested(
                    call_id=call.call_id,
                    tool=call.tool,
                    arguments=orjson.loads(call.arguments),
                    principal=requester.principal,
                    company_id=key.company,
                    conversation_id=key.conversation or None,
                    turn_id=turn_id,
                    reply_to=pending.another_name(),
                    deadline=datetime.now(UTC) + timedelta(seconds=left),
                    attempt=attempt,
                    language=requester.language,
                    prompt=requester.prompt,
                    said=_newest(requester.said) if call.tool in BY_WORDS and requester.said is not None else None,
                )
                answers.expect(request.reply_to or "")
                result = await self._once(request, category, pending, min(patience, left))
                if result is None:
                    continue
                if not _unavailable(result) or time.monotonic() + PAUSE > min(begun + AGAIN_WITHIN, end):
                    return result
                await asyncio.sleep(PAUSE)
                pending.reset()
        if result is not None:
            return result
        log.warning("tool.no_answer", call_id=call.call_id, tool=call.tool)
        return INTERRUPTED

    async def _once(self, request: ToolCallRequested, category: str, pending: Pending, seconds: float) -> str | None:
        self._count += 1
        event = CloudEvent(
            source=SOURCE,
            type="tools.call.requested.v1",
            subject=f"{request.company_id}/{request.conversation_id or '-'}",
            data=request,
        )
        # An attempt of this agent must not be swallowed as a copy of another agent's, whose inbox is gone.
        msg_id = f"{request.call_id}.{request.attempt}.{self._instance}.{self._count}"
        messages = await self._answers(channels.tool_request(category), event.to_json(), msg_id, pending, seconds)
        if messages is None:
            return None
        try:
            result = orjson.loads(decisive_reply(messages).data)["data"]["result"]
            return json.dumps(result, ensure_ascii=False)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            log.warning("tool.unreadable_answer", call_id=request.call_id)
            pending.reset()
            return None

    async def _answers(
        self, subject: str, event: bytes, msg_id: str, pending: Pending, seconds: float
    ) -> list[Msg] | None:
        """The answers that arrived in time. A quick answer also proves that the stream has stored the request."""
        end = time.monotonic() + seconds
        try:
            if await self._publisher.send(subject, event, stream="TOOLS", msg_id=msg_id):
                with suppress(TimeoutError):
                    return await pending.wait(min(UNCONFIRMED, seconds))
            left = end - time.monotonic()
            await self._publisher.append(subject, event, stream="TOOLS", msg_id=msg_id, deadline=max(left, 0))
            left = end - time.monotonic()
        except PublishFailedError:
            left = 0.0  # what was sent before may have been answered: left lying, that would answer the next request
        with suppress(TimeoutError):
            return await pending.wait(left)
        return None


def _unavailable(result: str) -> bool:
    return object_of(json.loads(result).get("error")).get("code") == ToolCode.UNAVAILABLE


def _newest(said: Sequence[str]) -> list[str]:
    """As much of what the user wrote as fits."""
    kept: list[str] = []
    left = MOST_SAID
    for text in reversed(said):
        if left <= 0:
            break
        kept.append(text[:left])
        left -= len(text)
    return kept[::-1]
