"""POST /dev/tokens: a demo user's token. Only in development; elsewhere the path does not exist.

The demo site's persona switch and the console's sign-in use it. Pages of other sites cannot: since the body is JSON,
browsers ask for permission first and do not get it, and a foreign host name that points at this machine is refused.
"""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from pydantic import Field

from contracts.envelope import Wire
from contracts.errors import ErrorCode
from gateway.errors import RefusedError, found
from gateway.web.deps import ApiDep
from gateway.web.origins import names_loopback

router = APIRouter(include_in_schema=False)


class PersonaRequest(Wire):
    """Who to be: free, pro, premium (customers), commercial or admin (human agents)."""

    persona: str = Field(max_length=32)


class PersonaReply(Wire):
    """A signed token, as `nexus token` prints it."""

    token: str
    user_id: str
    expires_at: datetime


@router.post("/dev/tokens", status_code=201)
async def make_token(body: PersonaRequest, request: Request, api: ApiDep) -> PersonaReply:
    """Signs in as a demo user."""
    personas = found(api.personas, "page")
    origin = request.headers.get("origin")
    own_origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if not names_loopback(request) or (origin is not None and origin != own_origin):
        raise RefusedError(
            ErrorCode.FORBIDDEN, "demo people are for this machine's own pages: open http://127.0.0.1 here"
        )
    signed = found(personas.token(body.persona), "persona (free, pro, premium, commercial, admin)")
    return PersonaReply(
        token=signed.token, user_id=signed.visitor, expires_at=datetime.fromtimestamp(signed.expires, UTC)
    )
