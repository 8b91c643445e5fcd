"""Visitors' tokens, and those of the users whom a company vouches for: made and checked by the gateways alone, with a
key of their own, so that a company's sign-on (RS256, JWKS) needs to know nothing of anonymous visitors.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import jwt

from contracts.ids import check_company, check_id
from gateway.errors import TokenExpired, TokenInvalid
from gateway.ports import TokenCaller, Visit, VisitorToken
from runtime.clock import Clock

KEY_ID = "nexus-visitor"
RENEWABLE_SECONDS = 30 * 86_400
"""How long after its expiry a token still says who the visitor was."""
_ALGORITHM = "HS256"


def derive_key(secret: str, purpose: str) -> bytes:
    """A key for one purpose, from the secret that all gateways share."""
    return hmac.new(secret.encode(), f"nexus gateway: {purpose}".encode(), hashlib.sha256).digest()


@dataclass(frozen=True, slots=True)
class VisitorTokens:
    """Makes and checks them. `lifetime` in seconds."""

    key: bytes
    lifetime: int
    clock: Clock

    def made_here(self, token: str) -> bool:
        """Whether the token says that it is a visitor's; nothing is checked yet."""
        try:
            return jwt.get_unverified_header(token).get("kid") == KEY_ID
        except jwt.InvalidTokenError:
            return False

    def make(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """A visitor's token, valid from now on."""
        now = int(self.clock.now().timestamp())
        expires = now + self.lifetime
        claims: dict[str, Any] = {
            "sub": subject,
            "role": "visitor",
            "company": company,
            "plan": "free",
            "iat": now,
            "exp": expires,
            **_claims_of(visit),
        }
        token = jwt.encode(claims, self.key, algorithm=_ALGORITHM, headers={"kid": KEY_ID})
        return VisitorToken(token, subject, float(expires))

    def make_user(self, company: str, subject: str, plan: str, expires: float, visit: Visit) -> VisitorToken:
        """A known user's token: good for as long as the company's own word, and no longer than a visitor's."""
        now = int(self.clock.now().timestamp())
        until = min(int(expires), now + self.lifetime)
        claims: dict[str, Any] = {
            "sub": subject,
            "role": "user",
            "company": company,
            "plan": plan,
            "iat": now,
            "exp": until,
            **_claims_of(visit),
        }
        token = jwt.encode(claims, self.key, algorithm=_ALGORITHM, headers={"kid": KEY_ID})
        return VisitorToken(token, subject, float(until))

    def verify(self, token: str, *, grace: float = 0.0) -> TokenCaller:
        """The visitor, or the known user; raises TokenExpired after the expiry (a visitor's: `grace` seconds later),
        TokenInvalid for what is not ours."""
        try:
            claims = jwt.decode(
                token,
                self.key,
                algorithms=[_ALGORITHM],
                options={"require": ["sub", "exp"], "verify_exp": False, "verify_iat": False},
            )
            known = claims.get("role") == "user"
            if not known and claims.get("role") != "visitor":
                raise TokenInvalid("the token is not a visitor's")
            caller = TokenCaller(
                subject=check_id(str(claims["sub"]), "user"),
                role="user" if known else "visitor",
                company=check_company(str(claims["company"])),
                plan=str(claims["plan"]) if known else "free",
                expires=float(claims["exp"]),
                visit=Visit(
                    claims.get("funnel"),
                    claims.get("locale"),
                    claims.get("page"),
                    claims.get("name"),
                    claims.get("email"),
                ),
            )
        except (jwt.InvalidTokenError, ValueError, KeyError, TypeError) as error:
            raise TokenInvalid("the token is not valid") from error
        if caller.expires + (0.0 if known else grace) <= self.clock.now().timestamp():
            raise TokenExpired("the token has expired: get a new one")
        return caller


def _claims_of(visit: Visit) -> dict[str, str]:
    said = {"funnel": visit.funnel_stage, "locale": visit.locale, "page": visit.page}
    said |= {"name": visit.name, "email": visit.email}
    return {name: value for name, value in said.items() if value is not None}
