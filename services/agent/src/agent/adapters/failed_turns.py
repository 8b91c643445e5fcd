"""A company's failed turns, newest first, out of FACTS; and whether each can still be asked again, out of CHAT."""

import asyncio
from collections import deque

import orjson
from nats.aio.client import Client

from agent.errors import UnreachableError
from contracts import channels
from contracts.channels import ChatKind
from contracts.events.turn import TurnFailed
from contracts.failed_rpc import FailedTurn, FailedTurnsReply, FailedTurnsRequest
from contracts.streams import CHAT, FACTS
from runtime.conversation import ConversationLog
from runtime.direct import DirectReader, StoredFact
from runtime.errors import ReadFailed

TYPE = "turn.failed.v1"
FIRST_SPAN, WIDER = 20_000, 4
"""Sequences that are looked through at first, from the end; each further span is so many times wider."""
BATCH = 256


class FailedTurnList:
    """What the console lists."""

    def __init__(self, client: Client) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._bounds = ConversationLog(client, FACTS.name)
        self._chat = ConversationLog(client, CHAT.name)

    async def page(self, request: FailedTurnsRequest) -> FailedTurnsReply:
        """A page of them; raises UnreachableError."""
        try:
            found, before = await self._newest(request)
            items = await asyncio.gather(*(self._told(fact) for fact in reversed(found)))
        except ReadFailed as error:
            raise UnreachableError(f"failed turns cannot be read: {error}") from error
        return FailedTurnsReply(items=list(items), before=before)

    async def _newest(self, request: FailedTurnsRequest) -> tuple[list[StoredFact], int | None]:
        """The last `limit` before the place, oldest first. Direct reads go forward: spans from the end, ever wider."""
        subject = channels.fact(TYPE, request.company_id, None)
        bounds = await self._bounds.bounds()
        end = min(request.before or bounds.last_seq + 1, bounds.last_seq + 1)
        found: deque[StoredFact] = deque()
        span = FIRST_SPAN
        while end > bounds.first_seq and len(found) <= request.limit:
            start = max(end - span, bounds.first_seq)
            # One more than is asked for tells whether there are older ones.
            found.extendleft(reversed(await self._between(subject, start, end, request.limit + 1)))
            end, span = start, span * WIDER
        page = list(found)[-request.limit :]
        return page, page[0].seq if page and len(found) > request.limit else None

    async def _between(self, subject: str, start: int, end: int, most: int) -> list[StoredFact]:
        """The last `most` with start ≤ seq < end."""
        kept: deque[StoredFact] = deque(maxlen=most)
        position = start
        while True:
            batch = await self._facts.batch(subject, position, BATCH)
            kept.extend(fact for fact in batch.facts if fact.seq < end)
            if not batch.more or not batch.facts or batch.facts[-1].seq >= end:
                return list(kept)
            position = batch.facts[-1].seq + 1

    async def _told(self, fact: StoredFact) -> FailedTurn:
        data = TurnFailed.model_validate(orjson.loads(fact.event)["data"])
        return FailedTurn(
            turn_id=data.turn_id,
            conversation_id=data.conversation_id,
            basis=data.basis,
            code=data.code,
            detail=data.detail,
            attempts=data.attempts,
            failed_at=fact.time,
            open=await self._is_open(data),
        )

    async def _is_open(self, data: TurnFailed) -> bool:
        """Whether the message is still the newest one, and neither an answer, a person nor a stop came after it."""
        last = (await self._chat.snapshot(data.company_id, data.conversation_id)).last
        newest = last.get(ChatKind.VISITOR)
        if newest is None or newest.seq != data.basis:
            return False
        operator = last.get(ChatKind.OPERATOR)
        if operator is not None and operator.seq > data.basis:
            return False
        others = (last.get(kind) for kind in (ChatKind.ASSISTANT, ChatKind.CANCEL))
        return all(other is None or other.basis < data.basis for other in others)
