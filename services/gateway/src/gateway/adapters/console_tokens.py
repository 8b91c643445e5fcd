"""Tokens of people signed in to the console, and invitations to it. Only gateways make and check them, with a key of
their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.adapters import own_tokens
from gateway.errors import TokenExpiredError, TokenInvalidError
from gateway.ports import TokenCaller, VisitorToken
from runtime.clock import Clock

KEY_ID = "nexus-console"
SECONDS = 12 * 3600
"""Lifetime of a sign-in: a shift with its breaks."""
INVITED_SECONDS = 7 * 86_400
"""Lifetime of an unused invitation."""
_INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class InvitedMember:
    """The invited member. `issued`: seconds since the epoch."""

    company: str
    member: str
    issued: float


@dataclass(frozen=True, slots=True)
class ConsoleTokens:
    """Makes tokens with the first key, and accepts any of the keys."""

    keys: Sequence[bytes]
    clock: Clock

    def made_here(self, token: str) -> bool:
        """Whether the token claims to be one of these; it is not verified yet."""
        return own_tokens.made_with(token, KEY_ID)

    def make(self, company: str, user: str, role: str, name: str | None) -> VisitorToken:
        """The token of a member of the team, valid from now on."""
        named = {} if name is None else {"name": name}
        return self._made({"sub": user, "company": company, "role": role, **named}, SECONDS)

    def invite(self, company: str, member: str) -> VisitorToken:
        """An invitation; it cannot be used as a token for calls."""
        return self._made({"sub": member, "company": company, "role": _INVITATION}, INVITED_SECONDS)

    def verify(self, token: str) -> TokenCaller:
        """Returns who signed in; raises TokenExpiredError, or TokenInvalidError if the token is not one of ours."""
        claims = self._read(token)
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

    def invited(self, token: str) -> InvitedMember:
        """Returns who is invited; raises TokenExpiredError, TokenInvalidError."""
        claims = self._read(token)
        if claims["role"] != _INVITATION:
            raise TokenInvalidError("this is not an invitation")
        return InvitedMember(claims["company"], claims["sub"], float(claims["iat"]))

    def _made(self, claims: dict[str, Any], seconds: int) -> VisitorToken:
        # To the millisecond: whoever is signed out and signs in again has a newer token than that.
        now = round(self.clock.now().timestamp(), 3)
        expires = int(now) + seconds
        token = own_tokens.signed(claims | {"iat": now, "exp": expires}, self.keys[0], KEY_ID)
        return VisitorToken(token, claims["sub"], float(expires))

    def _read(self, token: str) -> dict[str, Any]:
        claims = own_tokens.read(token, self.keys, "iat")
        if claims["exp"] <= self.clock.now().timestamp():
            raise TokenExpiredError("the token has expired: sign in again")
        return claims
