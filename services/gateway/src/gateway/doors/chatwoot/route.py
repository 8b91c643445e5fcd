"""POST /v2/channels/chatwoot/{channelId}: always answered quickly, since Chatwoot takes a slow bot for broken and
opens its conversations to people."""

import asyncio
from functools import partial
from typing import Annotated

import orjson
import structlog
from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import Response

from contracts.channel_rpc import CHANNEL_VERIFY, MAX_BODY_CHARS, ChannelVerifyRequest
from contracts.errors import ErrorCode
from contracts.json_values import is_object
from gateway.adapters.service_calls import ask
from gateway.doors.chatwoot.channel import ChannelEvents
from gateway.doors.chatwoot.payload import ChatwootMessage, StatusChanged, parse_event
from gateway.errors import GatewayError, RateLimitedError, RefusedError, TokenInvalidError, UnavailableError
from gateway.web.deps import Api, ApiDep
from gateway.web.problems import described

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v2/channels/chatwoot", tags=["channels"])

RESPONSE_SECONDS = 0.07
"""Seconds that applying an event may take before the response, which is due within 0.1 s."""
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds between retries while the bus or memory is unavailable: four minutes in all."""
VERIFY_SECONDS = 2.0
"""Deadline for memory to verify a signature."""
MAX_RUNNING = 2_000
"""Webhooks that may still be applied after their response. With more, Chatwoot gets 429, and tries again
twice, 3 s apart, before it opens the conversation to people. At any error but 429 and 500 it opens it at once."""
BUSY_SECONDS = 3.0
"""Seconds after which a webhook that was one too many may come again."""
_running: set[asyncio.Task[None]] = set()
ConversationKey = tuple[str, int]
_newest: dict[ConversationKey, asyncio.Task[None]] = {}
"""The newest unfinished task of each conversation of a channel."""


@router.post(
    "/{channelId}",
    responses=described(404) | {200: {"description": "It is in the conversation's log, or will be in a moment"}},
)
async def take_webhook(
    request: Request,
    api: ApiDep,
    channel: Annotated[str, Path(max_length=100, alias="channelId", description="of the company's settings")],
    signature: Annotated[str, Header(alias="X-Chatwoot-Signature", max_length=200)] = "",
    timestamp: Annotated[str, Header(alias="X-Chatwoot-Timestamp", max_length=40)] = "",
) -> Response:
    """A webhook of a Chatwoot agent bot. 401: it is not signed with the channel's secret."""
    body = await request.body()
    if not signature or not timestamp:
        raise TokenInvalidError("the webhook is not signed: X-Chatwoot-Signature and X-Chatwoot-Timestamp are missing")
    try:
        event, text = orjson.loads(body), body.decode()
    except (orjson.JSONDecodeError, UnicodeDecodeError) as error:
        raise RefusedError(ErrorCode.BAD_FIELD, "the body is no JSON") from error
    if len(text) > MAX_BODY_CHARS or not is_object(event):
        raise RefusedError(ErrorCode.BAD_FIELD, f"an event is an object of at most {MAX_BODY_CHARS} characters")
    if len(_running) >= MAX_RUNNING:
        raise RateLimitedError("too many events wait here: try again", BUSY_SECONDS)
    parsed_event = parse_event(event)
    key = (channel, parsed_event.conversation.number if parsed_event else 0)
    verification = ChannelVerifyRequest(channel_id=channel, timestamp=timestamp, signature=signature, body=text)
    work = asyncio.create_task(_apply(api, verification, parsed_event, _newest.get(key)))
    _newest[key] = work
    _running.add(work)
    work.add_done_callback(partial(_on_done, key))
    await asyncio.wait((work,), timeout=RESPONSE_SECONDS)
    if work.done() and isinstance(error := work.exception(), RefusedError):
        raise TokenInvalidError(error.message) if error.code is ErrorCode.FORBIDDEN else error
    return Response()


async def _apply(
    api: Api,
    request: ChannelVerifyRequest,
    event: ChatwootMessage | StatusChanged | None,
    previous: asyncio.Task[None] | None,
) -> None:
    """Verifies a webhook and applies its event, after the `previous` event of its conversation; retries while a
    dependency is unavailable. Raises RefusedError if the webhook is not the channel's."""
    verified = None
    for pause in (*RETRY_SECONDS, None):
        try:
            if verified is None:
                verified = await ask(api.rpc, CHANNEL_VERIFY, request, deadline=VERIFY_SECONDS)
            if event is not None:
                if previous is not None:
                    await asyncio.wait((previous,))
                await ChannelEvents(api, verified.company_id, request.channel_id, verified.inbox).apply(event)
            return
        except (UnavailableError, RateLimitedError) as error:
            if pause is None:
                raise
            await asyncio.sleep(max(pause, error.retry_after) if isinstance(error, RateLimitedError) else pause)


def _on_done(key: ConversationKey, work: asyncio.Task[None]) -> None:
    _running.discard(work)
    if _newest.get(key) is work:
        del _newest[key]
    if not work.cancelled() and (error := work.exception()) is not None:
        level = log.info if isinstance(error, GatewayError) else log.error
        level("channel.event_left", error=str(error)[:200] or type(error).__name__)
