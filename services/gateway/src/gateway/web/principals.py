"""POST /v2/principals: a signed principal, for services that publish messages on the bus themselves."""

import dataclasses
from datetime import UTC, datetime

from fastapi import APIRouter

from contracts.envelope import Wire
from contracts.ids import Id
from gateway.web.deps import ApiDep, ServiceDep
from gateway.web.problems import described

router = APIRouter(tags=["principals"])


class PrincipalRequest(Wire):
    """For whom: a customer of the service's company (none: the service itself); optionally for one conversation
    only."""

    user_id: Id | None = None
    conversation_id: Id | None = None


class PrincipalReply(Wire):
    """A compact JWS for `data.principal` of an event. Company and plan are the service's own."""

    principal: str
    expires_at: datetime


@router.post("/v2/principals", status_code=201, responses=described())
async def make_principal(api: ApiDep, caller: ServiceDep, body: PrincipalRequest | None = None) -> PrincipalReply:
    """Signs a principal for a customer of the service's own company, or for the service itself."""
    body = body or PrincipalRequest()
    subject = caller if body.user_id is None else dataclasses.replace(caller, subject=body.user_id, role="user")
    principal, expires = api.identity.principals.sign_for_service(subject, body.conversation_id)
    return PrincipalReply(principal=principal, expires_at=datetime.fromtimestamp(expires, UTC))
