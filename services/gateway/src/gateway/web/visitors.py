"""POST /v2/visitors: a visitor's token, for sites on which the company's widget may run."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from pydantic import Field

from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.ids import CompanyId, uuid7
from contracts.ws import LOCALE, VisitedPage
from gateway.errors import RefusedError, TokenInvalidError, found
from gateway.ports import Visit, VisitorToken
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, bearer
from gateway.web.origins import origin_allowed
from gateway.web.problems import described

router = APIRouter(tags=["visitors"])


class VisitorRequest(Wire):
    """The visitor's page. With the old token as bearer the visitor stays the same. `identity`: a JWT in which the
    company names its signed-in user (sub, exp within the hour, aud = the company's id, plan)."""

    company_id: CompanyId
    page: VisitedPage | None = None
    locale: str | None = Field(default=None, max_length=35)
    funnel_stage: str | None = Field(default=None, max_length=64)
    identity: str | None = Field(default=None, max_length=8192)


class VisitorReply(Wire):
    """A short-lived token, bound to company and visitor."""

    token: str
    visitor_id: str
    expires_at: datetime


@router.post("/v2/visitors", status_code=201, responses=described(404, 429))
async def make_visitor(
    body: VisitorRequest,
    request: Request,
    response: Response,
    api: ApiDep,
    origin: Annotated[str | None, Header()] = None,
) -> VisitorReply:
    """Issues a visitor's token. 403 if the Origin is not allowed; without an Origin the client is no browser, and
    allowed."""
    api.chat.limits.count_token(client_address(request.scope))
    settings = found(await api.companies.get(body.company_id), "company")
    if origin is not None:
        if not origin_allowed(origin, settings, request, dev=api.dev):
            raise RefusedError(ErrorCode.FORBIDDEN, f"the widget may not run on {origin[:200]}: see allowedOrigins")
        response.headers.update(_cors(origin))
    visit = _visit(body)
    if body.identity is not None:
        token = await _token_of_user(body.company_id, body.identity, visit, api)
    else:
        token = api.identity.tokens.visitors.make(
            body.company_id, await _visitor_id(body.company_id, request, api), visit
        )
    return VisitorReply(
        token=token.token, visitor_id=token.visitor, expires_at=datetime.fromtimestamp(token.expires, UTC)
    )


@router.options("/v2/visitors", include_in_schema=False)
async def preflight(origin: Annotated[str | None, Header()] = None) -> Response:
    """Lets browsers call from any site; the response itself depends on the company. Cookies are never read, so this
    is safe."""
    headers = _cors(origin) if origin else {}
    headers |= {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "authorization, content-type",
        "Access-Control-Max-Age": "600",
    }
    return Response(status_code=204, headers=headers)


def _visit(body: VisitorRequest) -> Visit:
    """The part of the visit that goes into the token: the funnel stage, a valid locale, and an ASCII address."""
    locale = body.locale if body.locale and LOCALE.fullmatch(body.locale) else None
    page = body.page.url if body.page and body.page.url.isascii() else None
    return Visit(body.funnel_stage, locale, page)


async def _token_of_user(company: str, identity: str, visit: Visit, api: Api) -> VisitorToken:
    identified = await api.memory.identify(company, identity)
    if identified.user is None:
        raise TokenInvalidError(f"the identity is not valid: {identified.problem}")
    return api.identity.tokens.visitors.make_user(company, identified.user, visit)


async def _visitor_id(company: str, request: Request, api: Api) -> str:
    old_token = bearer(request)
    if old_token is None:
        return f"v_{uuid7().replace('-', '')}"
    caller = await api.identity.tokens.verify_for_renewal(old_token)
    if caller.company != company or caller.role != "visitor":
        raise TokenInvalidError(
            "the old token is not a visitor's of this company: leave it out to become a new visitor"
        )
    return caller.subject


def _cors(origin: str) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
