"""Tokens of visitors, and of users whom a company identifies. Only gateways make and check them, with a key that only
they derive, so that a company's single sign-on (RS256, JWKS) need not know anonymous visitors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contracts.identity_rpc import KnownUser
from gateway.adapters import own_tokens
from gateway.errors import TokenExpiredError, TokenInvalidError
from gateway.ports import TokenCaller, Visit, VisitorToken
from runtime.clock import Clock

KEY_ID = "nexus-visitor"
RENEWABLE_SECONDS = 30 * 86_400
"""Seconds after its expiry for which a token still identifies the visitor."""
_VISIT_CLAIMS = {"funnel_stage": "funnel", "locale": "locale", "page": "page", "name": "name", "email": "email"}
"""The claim for each field of a visit."""


@dataclass(frozen=True, slots=True)
class VisitorTokens:
    """Makes tokens with the first key, and accepts those of any key. `lifetime`: in seconds."""

    keys: Sequence[bytes]
    lifetime: int
    clock: Clock

    def is_ours(self, token: str) -> bool:
        """Whether the token claims to be a visitor's or known user's; it is not verified."""
        return own_tokens.has_key_id(token, KEY_ID)

    def make(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """A visitor's token, valid from now on."""
        return self._signed_token(company, subject, "visitor", "free", visit)

    def make_user(self, company: str, user: KnownUser, visit: Visit) -> VisitorToken:
        """A known user's token, valid as long as the company's token for them, at most as long as a visitor's."""
        visit = replace(visit, name=user.name, email=user.email)
        return self._signed_token(
            company, user.user_id, "user", user.plan, visit, user.expires_at.timestamp(), user.key
        )

    def _signed_token(
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
        expires_at = now + self.lifetime if expires is None else min(int(expires), now + self.lifetime)
        claims = {"sub": subject, "role": role, "company": company, "plan": plan, "iat": now, "exp": expires_at}
        optional = {"key": key} | {claim: getattr(visit, name) for name, claim in _VISIT_CLAIMS.items()}
        claims |= {claim: value for claim, value in optional.items() if value is not None}
        return VisitorToken(own_tokens.sign(claims, self.keys[0], KEY_ID), subject, float(expires_at))

    def verify(self, token: str, *, grace: float = 0.0) -> TokenCaller:
        """The visitor or known user; raises TokenExpiredError after the expiry (plus `grace` seconds for a visitor),
        TokenInvalidError if the token is not one of ours."""
        claims = own_tokens.verified_claims(token, self.keys)
        is_user = claims["role"] == "user"
        if not is_user and claims["role"] != "visitor":
            raise TokenInvalidError("the token is not a visitor's")
        try:
            caller = TokenCaller(
                subject=claims["sub"],
                role="user" if is_user else "visitor",
                company=claims["company"],
                plan=str(claims["plan"]) if is_user else "free",
                expires=float(claims["exp"]),
                identity_key=claims.get("key"),
                visit=Visit(**{name: claims.get(claim) for name, claim in _VISIT_CLAIMS.items()}),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise TokenInvalidError("the token is not valid") from error
        if caller.expires + (0.0 if is_user else grace) <= self.clock.now().timestamp():
            raise TokenExpiredError("the token has expired: get a new one")
        return caller
