"""Tokens of people signed in to the console, and invitations to it. Only gateways make and check them, with a key that
only they derive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.adapters import own_tokens
from gateway.errors import TokenExpiredError, TokenInvalidError
from gateway.ports import TokenCaller, VisitorToken
from runtime.clock import Clock

KEY_ID = "nexus-console"
SIGN_IN_SECONDS = 12 * 3600
"""Lifetime of a sign-in: a shift with its breaks."""
INVITATION_SECONDS = 7 * 86_400
"""Lifetime of an unused invitation."""
_INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class InvitedMember:
    """The member whom an invitation names. `issued`: seconds since the epoch."""

    company: str
    member: str
    issued: float


@dataclass(frozen=True, slots=True)
class ConsoleTokens:
    """Makes tokens with the first key, and accepts any of the keys."""

    keys: Sequence[bytes]
    clock: Clock

    def is_ours(self, token: str) -> bool:
        """Whether the token claims to be a console token; it is not verified."""
        return own_tokens.has_key_id(token, KEY_ID)

    def make(self, company: str, user: str, role: str, name: str | None) -> VisitorToken:
        """A token for a member of the team, valid from now on."""
        name_claim = {} if name is None else {"name": name}
        return self._signed_token({"sub": user, "company": company, "role": role, **name_claim}, SIGN_IN_SECONDS)

    def invite(self, company: str, member: str) -> VisitorToken:
        """An invitation; it cannot be used as a token for calls."""
        return self._signed_token({"sub": member, "company": company, "role": _INVITATION}, INVITATION_SECONDS)

    def verify(self, token: str) -> TokenCaller:
        """The member who signed in; raises TokenExpiredError, or TokenInvalidError if the token is not one of ours."""
        claims = self._claims(token)
        if claims["role"] not in {"commercial", "admin"}:
            raise TokenInvalidError("the token is not valid")
        name = claims.get("name")
        return TokenCaller(
            subject=claims["sub"],
            role=claims["role"],
            company=claims["company"],
            plan="free",
            expires=float(claims["exp"]),
            name=name if isinstance(name, str) else None,
            issued=float(claims["iat"]),
            member=True,
        )

    def verify_invitation(self, token: str) -> InvitedMember:
        """The invited member; raises TokenExpiredError, TokenInvalidError."""
        claims = self._claims(token)
        if claims["role"] != _INVITATION:
            raise TokenInvalidError("this is not an invitation")
        return InvitedMember(claims["company"], claims["sub"], float(claims["iat"]))

    def _signed_token(self, claims: dict[str, Any], seconds: int) -> VisitorToken:
        # In milliseconds, so that a token made after its owner was signed out is newer than the sign-out.
        now = round(self.clock.now().timestamp(), 3)
        expires = int(now) + seconds
        token = own_tokens.sign(claims | {"iat": now, "exp": expires}, self.keys[0], KEY_ID)
        return VisitorToken(token, claims["sub"], float(expires))

    def _claims(self, token: str) -> dict[str, Any]:
        claims = own_tokens.verified_claims(token, self.keys, "iat")
        if claims["exp"] <= self.clock.now().timestamp():
            raise TokenExpiredError("the token has expired: sign in again")
        return claims
