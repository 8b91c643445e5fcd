"""/v2/turns/failed: turns that ended in an error, and trying one again."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from contracts.envelope import Wire
from contracts.failed_rpc import FAILED_TURNS, MAX_TURNS, FailedTurn, FailedTurnsRequest
from contracts.ids import ID_PATTERN, Id
from gateway.adapters.service_calls import ask
from gateway.web.deps import AdminDep, ApiDep, OperatorDep
from gateway.web.pagination import page
from gateway.web.problems import described

router = APIRouter(prefix="/v2/turns/failed", tags=["conversations"])

PAGE_SECONDS = 9.0
"""Deadline for a page; it is long, since rare failures are far apart in the stream."""


class FailedTurns(Wire):
    """Newest first. `next`: the cursor of the older ones."""

    items: list[FailedTurn]
    next: str | None = None


class ReplayRequest(Wire):
    """The turn's conversation."""

    conversation_id: Id


class Replayed(Wire):
    """The new position of the visitor's message; the answer comes in the conversation."""

    conversation_id: Id
    seq: int


@router.get("", response_model=FailedTurns, responses=described())
async def list_failed_turns(
    api: ApiDep,
    caller: OperatorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_TURNS)] = 50,
    cursor: Annotated[str | None, Query(pattern="^[1-9][0-9]{0,17}$")] = None,
) -> Response:
    """The company's failed turns of the last 30 days; `open` ones can be tried again."""
    request = FailedTurnsRequest(company_id=caller.company, limit=limit, before=int(cursor) if cursor else None)
    reply = await ask(api.rpc, FAILED_TURNS, request, deadline=PAGE_SECONDS)
    older = str(reply.before) if reply.before else None
    return page(FailedTurns(items=reply.items, next=older))


@router.post("/{turnId}/replay", status_code=202, responses=described(404, 409))
async def replay_failed_turn(
    api: ApiDep, caller: AdminDep, turn: Annotated[str, Path(alias="turnId", pattern=ID_PATTERN)], body: ReplayRequest
) -> Replayed:
    """Asks a failed turn's question again; 409 if it is answered, superseded, or a person's to answer."""
    await api.chat.access.check_watchable(caller, body.conversation_id)
    stored = await api.replays.replay(caller.company, body.conversation_id, turn)
    return Replayed(conversation_id=body.conversation_id, seq=stored.seq)
