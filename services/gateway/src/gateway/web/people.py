"""Visitors who are one person at the desk: merging them, and separating them again."""

from typing import Annotated

from fastapi import APIRouter, Path

from contracts.desk_rpc import PERSON_MERGE, PersonMerge, PersonMerged
from contracts.ids import ID_PATTERN, Id, uuid7
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.ports import TokenCaller
from gateway.web.deps import Api, ApiDep, OperatorDep
from gateway.web.knowledge import Body
from gateway.web.problems import described

router = APIRouter(prefix="/v2/visitors", tags=["desk"])
VisitorPath = Annotated[str, Path(pattern=ID_PATTERN, alias="visitorId", description="a visitor's id")]


class MergeInto(Body):
    """Who the visitor turned out to be: a customer, or the same visitor in another browser."""

    into: Id


@router.post("/{visitorId}/merge", response_model_exclude_none=True, responses=described(404, 409))
async def merge_visitor(api: ApiDep, caller: OperatorDep, visitor: VisitorPath, body: MergeInto) -> PersonMerged:
    """Moves all conversations of the visitor, present and future, to the other person at the desk. The chats stay
    separate: neither sees what the other wrote. `left`: there are more, repeat the call."""
    return await _merge(api, caller, visitor, body.into)


@router.delete("/{visitorId}/merge", response_model_exclude_none=True, responses=described())
async def separate_visitor(api: ApiDep, caller: OperatorDep, visitor: VisitorPath) -> PersonMerged:
    """Gives the visitor's conversations back to them; nothing else changes."""
    return await _merge(api, caller, visitor, None)


async def _merge(api: Api, caller: TokenCaller, visitor: str, into: str | None) -> PersonMerged:
    request = PersonMerge(
        company_id=caller.company,
        person_id=visitor,
        into=into,
        merge_id=uuid7(),
        by=caller.subject,
        name=caller.name,
    )
    return await ask(api.rpc, PERSON_MERGE, request, deadline=CHANGE_SECONDS)
