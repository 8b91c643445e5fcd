"""/v2/sign-in: signing in to the console, at the company's OpenID provider or with an invitation.

The browser tab creates and keeps state, nonce and PKCE verifier, so that no cookie is needed and any replica can serve
each step. The client secret never leaves memory.
"""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from pydantic import Field

from contracts import sign_in_rpc
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.ids import CompanyId
from contracts.languages import Language
from gateway.adapters.service_calls import ask
from gateway.domain.error_language import in_language
from gateway.errors import RefusedError, UnavailableError
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import ApiDep
from gateway.web.first_hour import server_of
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage, words

router = APIRouter(prefix="/v2/sign-in", tags=["console"])

REPLY_SECONDS = 15.0
"""Deadline for memory, which waits 12 seconds for a company's provider."""


class SignInStart(Wire):
    """What the tab has made. `challenge`: BASE64URL(SHA-256(verifier))."""

    company_id: CompanyId
    state: str = Field(min_length=16, max_length=256)
    nonce: str = Field(min_length=16, max_length=256)
    challenge: str = Field(pattern=r"^[A-Za-z0-9_-]{43}$")


class SignInAddress(Wire):
    """Where the browser goes next."""

    address: str


class SignInEnd(Wire):
    """What the provider sent back and what the tab kept; or only an invitation, if there is no provider."""

    company_id: CompanyId | None = None
    code: str | None = Field(default=None, min_length=1, max_length=4096)
    verifier: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._~-]{43,128}$")
    nonce: str | None = Field(default=None, min_length=16, max_length=256)
    issuer: str | None = Field(default=None, max_length=2048, description="`iss` of the redirect (RFC 9207)")
    invitation: str | None = Field(default=None, max_length=4096)


class Session(Wire):
    """A human agent's token, for the console and for HTTP."""

    token: str
    user_id: str
    company_id: CompanyId
    expires_at: datetime


@router.post("/start", responses=described(403, 429))
async def start_sign_in(
    api: ApiDep, body: SignInStart, request: Request, accept_language: AcceptLanguage = None
) -> SignInAddress:
    """The sign-in address at the company's provider."""
    api.chat.limits.count_token(client_address(request.scope))
    begin = sign_in_rpc.SignInBegin(redirect_uri=f"{server_of(request)}/console", **dict(body))
    reply = await ask(api.rpc, sign_in_rpc.SIGN_IN_BEGIN, begin, deadline=REPLY_SECONDS)
    if reply.problem is not None or reply.address is None:
        raise _refused(reply.problem, await api.companies.console_language(body.company_id, accept_language))
    return SignInAddress(address=reply.address)


@router.post("", status_code=201, responses=described(403, 429))
async def finish_sign_in(
    api: ApiDep, body: SignInEnd, request: Request, accept_language: AcceptLanguage = None
) -> Session:
    """A token for a member of the company's team. 403 with advice if it is nobody of the team."""
    api.chat.limits.count_token(client_address(request.scope))
    invited = api.identity.console.verify_invitation(body.invitation) if body.invitation is not None else None
    company = invited.company if invited else body.company_id
    code = None
    if body.code is not None:
        if body.verifier is None or body.nonce is None:
            raise RefusedError(ErrorCode.BAD_FIELD, "send verifier and nonce with the code")
        code = sign_in_rpc.SignInCode(
            code=body.code,
            verifier=body.verifier,
            nonce=body.nonce,
            redirect_uri=f"{server_of(request)}/console",
            issuer=body.issuer,
        )
    if company is None or (code is None and invited is None):
        raise RefusedError(ErrorCode.BAD_FIELD, "send companyId with a code, or an invitation")
    if body.company_id not in (None, company):
        raise RefusedError(ErrorCode.BAD_FIELD, "this invitation is for another company")
    invitation = (
        sign_in_rpc.Invitation(member=invited.member, issued_at=datetime.fromtimestamp(invited.issued, UTC))
        if invited
        else None
    )
    finish = sign_in_rpc.SignInFinish(company_id=company, code=code, invitation=invitation)
    reply = await ask(api.rpc, sign_in_rpc.SIGN_IN_FINISH, finish, deadline=REPLY_SECONDS)
    if reply.problem is not None or reply.signed_in is None:
        raise _refused(reply.problem, await api.companies.console_language(company, accept_language))
    member = reply.signed_in
    signed = api.identity.console.make(company, member.member, member.role, member.name)
    expires = datetime.fromtimestamp(signed.expires, UTC)
    return Session(token=signed.token, user_id=signed.visitor, company_id=company, expires_at=expires)


def _refused(problem: sign_in_rpc.Problem | None, language: Language) -> RefusedError | UnavailableError:
    texts = words(language, "signIn")
    if problem is None:
        return UnavailableError(texts["away"].format(detail=""))
    detail = in_language(problem.detail, language)
    message = texts.get(problem.reason, texts["refused"]).format(detail=detail).strip(" :")
    return UnavailableError(message) if problem.reason == "away" else RefusedError(ErrorCode.FORBIDDEN, message)
