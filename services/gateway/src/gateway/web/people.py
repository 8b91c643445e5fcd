"""Visitors who are one person at the desk: merged by a human agent, and separated again."""

from typing import Annotated

from fastapi import APIRouter, Path

from contracts.desk_rpc import PersonMerge, PersonMerged
from contracts.ids import ID_PATTERN, Id, uuid7
from gateway.adapters.desk import merge_person
from gateway.web.deps import ApiDep, OperatorDep
from gateway.web.knowledge import Body
from gateway.web.problems import described

router = APIRouter(prefix="/v2/visitors", tags=["desk"])
VisitorPath = Annotated[str, Path(pattern=ID_PATTERN, alias="visitorId", description="a visitor's id")]


class MergeInto(Body):
    """Whom the visitor has turned out to be: a customer, or the same visitor in another browser."""

    into: Id


@router.post("/{visitorId}/merge", response_model_exclude_none=True, responses=described(404, 409))
async def merge_visitor(api: ApiDep, caller: OperatorDep, visitor: VisitorPath, body: MergeInto) -> PersonMerged:
    """All conversations that are the visitor's become the other person's at the desk, and those that they begin later
    too. The chats of both stay their own: neither sees what the other wrote. `left`: there are more, ask again."""
    return await merge_person(
        api.rpc,
        PersonMerge(
            company_id=caller.company,
            person_id=visitor,
            into=body.into,
            merge_id=uuid7(),
            by=caller.subject,
            name=caller.name,
        ),
    )


@router.delete("/{visitorId}/merge", response_model_exclude_none=True, responses=described())
async def separate_visitor(api: ApiDep, caller: OperatorDep, visitor: VisitorPath) -> PersonMerged:
    """What the visitor began is theirs again; nothing else changes."""
    return await merge_person(
        api.rpc,
        PersonMerge(
            company_id=caller.company, person_id=visitor, merge_id=uuid7(), by=caller.subject, name=caller.name
        ),
    )
