"""Tokens of visitors, and of users whom a company identifies. Only gateways make and check them, with a key of their
own, so that a company's single sign-on (RS256, JWKS) needs no anonymous visitors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contracts.identity_rpc import KnownUser
from gateway.adapters import own_tokens
from gateway.errors import TokenExpiredError, TokenInvalidError
from gateway.ports import TokenCaller, Visit, VisitorToken
from runtime.clock import Clock

KEY_ID = "nexus-visitor"
RENEWABLE_SECONDS = 30 * 86_400
"""Seconds after its expiry in which a token still says who the visitor was."""


@dataclass(frozen=True, slots=True)
class VisitorTokens:
    """Makes tokens with the first key, and accepts any of the keys. `lifetime` in seconds."""

    keys: Sequence[bytes]
    lifetime: int
    clock: Clock

    def made_here(self, token: str) -> bool:
        """Whether the token claims to be a visitor's; it is not verified yet."""
        return own_tokens.made_with(token, KEY_ID)

    def make(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """A visitor's token, valid from now on."""
        return self._made(company, subject, "visitor", "free", visit)

    def make_user(self, company: str, user: KnownUser, visit: Visit) -> VisitorToken:
        """A known user's token: valid as long as the company's own token, at most as long as a visitor's."""
        visit = replace(visit, name=user.name, email=user.email)
        return self._made(company, user.user_id, "user", user.plan, visit, user.expires_at.timestamp(), user.key)

    def _made(
        self,
        company: str,
        subject: str,
        role: str,
        plan: str,
        visit: Visit,
        expires: float | None = None,
        key: str | None = None,
    ) -> VisitorToken:
        now = int(self.clock.now().timestamp())
        until = now + self.lifetime if expires is None else min(int(expires), now + self.lifetime)
        claims = {"sub": subject, "role": role, "company": company, "plan": plan, "iat": now, "exp": until}
        if key is not None:
            claims["key"] = key
        return VisitorToken(own_tokens.signed(claims | _claims_of(visit), self.keys[0], KEY_ID), subject, float(until))

    def verify(self, token: str, *, grace: float = 0.0) -> TokenCaller:
        """The visitor or known user; raises TokenExpiredError after the expiry (plus `grace` seconds for a visitor),
        TokenInvalidError if it is not one of ours."""
        claims = own_tokens.read(token, self.keys)
        known = claims["role"] == "user"
        if not known and claims["role"] != "visitor":
            raise TokenInvalidError("the token is not a visitor's")
        try:
            caller = TokenCaller(
                subject=claims["sub"],
                role="user" if known else "visitor",
                company=claims["company"],
                plan=str(claims["plan"]) if known else "free",
                expires=float(claims["exp"]),
                identity_key=claims.get("key"),
                visit=Visit(
                    claims.get("funnel"),
                    claims.get("locale"),
                    claims.get("page"),
                    claims.get("name"),
                    claims.get("email"),
                ),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise TokenInvalidError("the token is not valid") from error
        if caller.expires + (0.0 if known else grace) <= self.clock.now().timestamp():
            raise TokenExpiredError("the token has expired: get a new one")
        return caller


def _claims_of(visit: Visit) -> dict[str, str]:
    said = {"funnel": visit.funnel_stage, "locale": visit.locale, "page": visit.page}
    said |= {"name": visit.name, "email": visit.email}
    return {name: value for name, value in said.items() if value is not None}
