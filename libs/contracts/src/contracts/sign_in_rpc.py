"""Signing in to the console. Memory talks to the company's OpenID provider, since it holds the client's secret and
the team; the gateway issues the token."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc
from contracts.team import TeamRole

Refusal = Annotated[
    Literal["noProvider", "away", "broken", "refused", "unknown", "unverified", "used", "notBound"], OPEN
]
"""noProvider: the company has none; away: the provider does not answer; broken: its answer cannot be used; refused:
the provider or its token does not prove who this is; unknown: not in the team; unverified: the provider has not
verified the e-mail; used: the invitation was already used; notBound: this invitation requires the provider."""


class Problem(Wire):
    """Why nobody was signed in. `detail`: in English, for whoever set up the provider."""

    reason: Refusal
    detail: str = Field(default="", max_length=500)


class SignInBegin(Wire):
    """Asks for the address to which the browser is redirected. `challenge`: S256 of PKCE (RFC 7636)."""

    company_id: CompanyId
    redirect_uri: str = Field(max_length=2048)
    state: str = Field(min_length=16, max_length=256)
    nonce: str = Field(min_length=16, max_length=256)
    challenge: str = Field(min_length=43, max_length=128)


class SignInBegun(Wire):
    """The address at the provider, or why there is none."""

    address: str | None = None
    problem: Problem | None = None


class Invitation(Wire):
    """An invitation that the gateway has verified: who was invited, and when."""

    member: Id
    issued_at: datetime


class SignInCode(Wire):
    """The data that the provider sent back through the browser, and the data that the browser kept. `issuer`: that of
    RFC 9207, if there was one."""

    code: str = Field(min_length=1, max_length=4096)
    verifier: str = Field(min_length=43, max_length=128)
    nonce: str = Field(min_length=16, max_length=256)
    redirect_uri: str = Field(max_length=2048)
    issuer: str | None = Field(default=None, max_length=2048)


class SignInFinish(Wire):
    """Finishes a sign-in with a code, an invitation, or both; with both, the account becomes the invited member's."""

    company_id: CompanyId
    code: SignInCode | None = None
    invitation: Invitation | None = None


class SignedIn(Wire):
    """Somebody of the team."""

    member: Id
    role: TeamRole
    name: str | None = None


class SignInFinished(Wire):
    """The person who has signed in, or the reason why nobody has."""

    signed_in: SignedIn | None = None
    problem: Problem | None = None


SIGN_IN_BEGIN = Rpc("rpc.memory.sign_in.begin.v1", SignInBegin, SignInBegun, queue="memory", safe=False)
SIGN_IN_FINISH = Rpc("rpc.memory.sign_in.finish.v1", SignInFinish, SignInFinished, queue="memory", safe=False)
"""Neither is safe to repeat: a code works once, and waiting twice for a slow provider would take too long."""
