"""Lists a company's failed turns, newest first, from FACTS, and checks in CHAT whether each can still be replayed."""

import asyncio
from collections import deque

from nats.aio.client import Client

from agent.errors import UnreachableError
from contracts import channels
from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.turn import TurnFailed
from contracts.failed_rpc import FailedTurn, FailedTurnsReply, FailedTurnsRequest
from contracts.streams import CHAT, FACTS
from runtime.bus.direct import DirectReader, StoredFact
from runtime.conversation import ConversationLog, facts_of
from runtime.errors import ReadFailedError

TYPE = "turn.failed.v1"
FIRST_SPAN_SEQUENCES, SPAN_GROWTH = 20_000, 4
"""Sequences of the first span that is searched, from the end, and the factor by which each further span is wider."""
MAX_QUESTION_CHARS = 300
"""Characters of a question in the list."""
Failure = tuple[StoredFact, TurnFailed]


class FailedTurnList:
    """The failed turns that the console lists."""

    def __init__(self, client: Client) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._bounds = ConversationLog(client, FACTS.name)
        self._chat = ConversationLog(client, CHAT.name)

    async def page(self, request: FailedTurnsRequest) -> FailedTurnsReply:
        """Returns a page of failed turns; raises UnreachableError."""
        try:
            failures, before = await self._newest(request)
            items = await asyncio.gather(*(self._item(fact, data) for fact, data in reversed(failures)))
        except ReadFailedError as error:
            raise UnreachableError(f"failed turns cannot be read: {error}") from error
        return FailedTurnsReply(items=list(items), before=before)

    async def _newest(self, request: FailedTurnsRequest) -> tuple[list[Failure], int | None]:
        """Returns the last `request.limit` failures before `request.before`, oldest first, and the position of the next
        page. Direct reads only go forward, so spans are read from the end, each wider than the one before."""
        bounds = await self._bounds.bounds()
        end = min(request.before or bounds.last_seq + 1, bounds.last_seq + 1)
        newest: deque[Failure] = deque()
        span = FIRST_SPAN_SEQUENCES
        while end > bounds.first_seq and len(newest) <= request.limit:
            start = max(end - span, bounds.first_seq)
            # One more than requested shows whether there are older ones.
            newest.extendleft(reversed(await self._between(request.company_id, start, end, request.limit + 1)))
            end, span = start, span * SPAN_GROWTH
        page = list(newest)[-request.limit :]
        return page, page[0][0].seq if page and len(newest) > request.limit else None

    async def _between(self, company: str, start: int, end: int, limit: int) -> list[Failure]:
        """Returns the last `limit` failures with start ≤ seq < end."""
        newest: deque[Failure] = deque(maxlen=limit)
        async for fact in self._facts.all(channels.fact(TYPE, company, None), start):
            if fact.seq >= end:
                break
            if (data := _data_of(fact, company)) is not None:
                newest.append((fact, data))
        return list(newest)

    async def _item(self, fact: StoredFact, data: TurnFailed) -> FailedTurn:
        return FailedTurn(
            turn_id=data.turn_id,
            conversation_id=data.conversation_id,
            basis=data.basis,
            code=data.code,
            detail=data.detail,
            attempts=data.attempts,
            failed_at=fact.time,
            open=await self._is_open(data),
            question=await self._question(data),
        )

    async def _question(self, data: TurnFailed) -> str | None:
        stored = await self._chat.at(data.basis)
        if stored is None or stored.subject != channels.chat(data.company_id, data.conversation_id, ChatKind.VISITOR):
            return None
        question = next((fact.data.get("text") for fact in facts_of([stored])), None)
        return question[:MAX_QUESTION_CHARS] if isinstance(question, str) else None

    async def _is_open(self, data: TurnFailed) -> bool:
        """Whether the message is still the newest one, without an answer, a person's message or a stop after it."""
        last = (await self._chat.snapshot(data.company_id, data.conversation_id)).last
        newest = last.get(ChatKind.VISITOR)
        if newest is None or newest.seq != data.basis:
            return False
        operator = last.get(ChatKind.OPERATOR)
        if operator is not None and operator.seq > data.basis:
            return False
        others = (last.get(kind) for kind in (ChatKind.ASSISTANT, ChatKind.CANCEL))
        return all(other is None or other.basis < data.basis for other in others)


def _data_of(fact: StoredFact, company: str) -> TurnFailed | None:
    """Returns the failure in a fact; None if it does not match its contract, or belongs to another company."""
    try:
        data = CloudEvent[TurnFailed].parse(fact.event).data
    except ValueError:
        return None
    return data if data.company_id == company else None
