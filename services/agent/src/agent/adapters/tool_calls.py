"""Tool calls over the stream TOOLS: each is requested under its own id, answered to an inbox, and requested again if no
answer comes."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

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
from contracts.streams import TOOLS
from runtime.bus.clock import JetStreamClock
from runtime.bus.publisher import Publisher
from runtime.bus.replies import Pending, ReplyInbox
from runtime.calls.call_answers import CallAnswers, decisive_reply
from runtime.errors import PublishFailedError

log = structlog.get_logger(__name__)

SOURCE = "/nexus/agent"
ATTEMPT_TIMEOUT_SECONDS = (4.0, 6.0, 10.0, 20.0, 30.0)
"""Seconds to wait for the answer to each attempt before the next one; the executor runs a call id only once."""
UNCHECKED_ATTEMPTS = 2
"""Attempts that are made before checking whether any executor answers at all."""
CONFIRMATION_SECONDS = 1.0
"""Seconds to wait for an answer before asking the stream whether it has stored the request."""
UNAVAILABLE_RETRY_SECONDS, UNAVAILABLE_RETRY_PAUSE = 2.0, 0.6
"""Seconds after the first attempt during which an UNAVAILABLE call is repeated, and seconds between two attempts: a
store that is slow for a moment should not cost the user an order. UNAVAILABLE means that nothing was recorded, so the
call's id is still free."""
TOOLS_WITH_USER_TEXTS = frozenset(("remember", "forget", "update_memory"))
"""Tools that need the user's texts; no other tool gets them."""
MAX_USER_TEXT_CHARS = 20_000
"""Characters of the user's texts in a call, the newest ones."""
IsExecutorServing = Callable[[str, Requester, str], Awaitable[bool]]
"""Checks with a request about this tool whether any executor answers the company's requester. A busy executor is waited
for, one that stands still is not (decision 0172)."""


class ToolRequests:
    """Requests calls, each under its own id: a repeated request gets the recorded result. UNAVAILABLE is returned only
    if every attempt was answered so, because any other one may still be carried out."""

    def __init__(
        self, publisher: Publisher, inbox: ReplyInbox, instance: str, is_executor_serving: IsExecutorServing
    ) -> None:
        self._publisher = publisher
        self._is_executor_serving = is_executor_serving
        self._inbox = inbox
        self._clock = JetStreamClock(inbox, TOOLS.name)
        self._instance = instance
        self._count = 0

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """Returns the result as JSON text; INTERRUPTED if none comes within `seconds`, or if no executor answers at
        all."""
        started_at = time.monotonic()
        deadline = started_at + seconds
        result: str | None = None
        answers = CallAnswers()
        with await self._inbox.expect(answers) as pending:
            for attempt, timeout in enumerate(ATTEMPT_TIMEOUT_SECONDS, start=1):
                if (
                    attempt > UNCHECKED_ATTEMPTS
                    and result is None
                    and not await self._is_executor_serving(key.company, requester, call.tool)
                ):
                    break
                remaining = deadline - time.monotonic()
                if remaining <= 0:
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
                    deadline=datetime.fromtimestamp(await self._clock.time() + remaining, UTC),
                    attempt=attempt,
                    language=requester.language,
                    prompt=requester.prompt,
                    said=_newest_texts(requester.said)
                    if call.tool in TOOLS_WITH_USER_TEXTS and requester.said is not None
                    else None,
                )
                answers.expect(request.reply_to or "")
                result = await self._attempt(request, category, pending, min(timeout, remaining))
                if result is None:
                    continue
                if not _is_unavailable(result) or time.monotonic() + UNAVAILABLE_RETRY_PAUSE > min(
                    started_at + UNAVAILABLE_RETRY_SECONDS, deadline
                ):
                    return result
                await asyncio.sleep(UNAVAILABLE_RETRY_PAUSE)
                pending.reset()
        if result is not None:
            return result
        log.warning("tool.no_answer", call_id=call.call_id, tool=call.tool)
        return INTERRUPTED

    async def _attempt(self, request: ToolCallRequested, category: str, pending: Pending, seconds: float) -> str | None:
        self._count += 1
        event = CloudEvent(
            source=SOURCE,
            type="tools.call.requested.v1",
            subject=f"{request.company_id}/{request.conversation_id or '-'}",
            data=request,
        )
        # The id contains this instance: otherwise the stream would drop the request as a copy of another agent's, whose
        # inbox is gone.
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
        """Sends the request and returns the answers; None if none arrived in time. A quick answer also proves that the
        stream has stored the request."""
        deadline = time.monotonic() + seconds
        try:
            if await self._publisher.send(subject, event, stream="TOOLS", msg_id=msg_id):
                with suppress(TimeoutError):
                    return await pending.wait(min(CONFIRMATION_SECONDS, seconds))
            remaining = deadline - time.monotonic()
            await self._publisher.append(subject, event, stream="TOOLS", msg_id=msg_id, deadline=max(remaining, 0))
            remaining = deadline - time.monotonic()
        except PublishFailedError:
            remaining = 0.0  # collects an answer to an earlier attempt, which would otherwise answer the next request
        with suppress(TimeoutError):
            return await pending.wait(remaining)
        return None


def _is_unavailable(result: str) -> bool:
    return object_of(json.loads(result).get("error")).get("code") == ToolCode.UNAVAILABLE


def _newest_texts(texts: Sequence[str]) -> list[str]:
    """Returns the newest texts that fit into MAX_USER_TEXT_CHARS, the oldest of them cut."""
    newest: list[str] = []
    remaining = MAX_USER_TEXT_CHARS
    for text in reversed(texts):
        if remaining <= 0:
            break
        newest.append(text[:remaining])
        remaining -= len(text)
    return newest[::-1]
