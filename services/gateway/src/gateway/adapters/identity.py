"""Who callers are: users' and visitors' tokens, and the principals that the gateway signs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.adapters.console_tokens import ConsoleTokens
from gateway.adapters.own_tokens import derive_key
from gateway.adapters.visitor_tokens import RENEWABLE_SECONDS, VisitorTokens
from gateway.errors import TokenExpiredError, TokenInvalidError, UnavailableError
from gateway.ports import TokenCaller
from runtime.auth.principals import Principal, PrincipalSigner, PrincipalVerifier
from runtime.auth.tokens import KeysUnavailableError, TokenClaims, TokenVerifier
from runtime.clock import Clock
from runtime.errors import ExpiredTokenError, InvalidTokenError, NotReadyError
from runtime.recent import Recent
from runtime.settings import TokenSettings

MAX_PRINCIPALS = 20_000
_MIN_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class IdentityKeys:
    """Everything made from the installation's keys. The first of `conversation_keys` signs conversation ids, any of
    them verifies; `seal_key` seals data that clients carry."""

    tokens: "GatewayTokens"
    principals: "CallerSigner"
    console: ConsoleTokens
    conversation_keys: Sequence[bytes]
    seal_key: bytes


def require_long_secrets(settings: TokenSettings) -> None:
    """Raises NotReadyError if a shared secret that signs is shorter than HS256 needs (RFC 7518, section 3.2). A secret
    that only verifies, while it is being replaced, may be shorter."""
    for name, keys in (("NEXUS_JWT_SECRET", settings.jwt_secrets), ("NEXUS_PRINCIPAL_KEY", settings.principal_keys)):
        if keys and (length := len(keys[0].encode())) < _MIN_SECRET_BYTES:
            raise NotReadyError(
                f"{name} has {length} characters and needs {_MIN_SECRET_BYTES} (openssl rand -hex 32). To keep what "
                "the old one has signed valid for a while, write both: NEW,OLD"
            )


def build_identity(settings: TokenSettings, visitor_token_seconds: int, clock: Clock) -> IdentityKeys:
    """Builds the signers and verifiers; raises NotReadyError if a key is missing or cannot sign."""
    signer, verifier = PrincipalSigner(settings, clock), PrincipalVerifier(settings, clock)
    shared = settings.principal_keys
    # If users' tokens are HS256, visitors' tokens use the same secrets; otherwise a key that only gateways derive.
    secrets = [secret.encode() for secret in settings.jwt_secrets]
    derived = [derive_key(key, "visitors' tokens") for key in shared]
    visitors = VisitorTokens(secrets or derived, visitor_token_seconds, clock)
    console = ConsoleTokens([derive_key(key, "the console's tokens") for key in shared], clock)
    return IdentityKeys(
        tokens=GatewayTokens(visitors, console, TokenVerifier(settings, clock)),
        console=console,
        principals=CallerSigner(signer, verifier, settings.principal_ttl, clock),
        conversation_keys=[derive_key(key, "conversation ids") for key in shared],
        seal_key=derive_key(shared[0], "what MCP clients carry"),
    )


class GatewayTokens:
    """Verifies all tokens: the gateway makes those of visitors and of the console, the company all others."""

    def __init__(self, visitors: VisitorTokens, console: ConsoleTokens, users: TokenVerifier) -> None:
        self.visitors = visitors
        self._console = console
        self._users = users

    async def verify(self, token: str) -> TokenCaller:
        """The caller; raises TokenExpiredError or TokenInvalidError (errors.py)."""
        return await self._verify(token, 0.0)

    async def verify_for_renewal(self, token: str) -> TokenCaller:
        """The visitor whose token expired at most 30 days ago; raises TokenInvalidError."""
        return await self._verify(token, RENEWABLE_SECONDS)

    async def _verify(self, token: str, grace: float) -> TokenCaller:
        if self.visitors.is_ours(token):
            return self.visitors.verify(token, grace=grace)
        if self._console.is_ours(token):
            return self._console.verify(token)
        try:
            return _caller(await self._users.verify(token, grace=grace))
        except ExpiredTokenError as error:
            raise TokenExpiredError("the token has expired: get a new one") from error
        except InvalidTokenError as error:
            raise TokenInvalidError("the token is not valid") from error
        except KeysUnavailableError as error:
            raise UnavailableError("tokens cannot be checked now: try again") from error


class CallerSigner:
    """Signs principals; one for the same caller and conversation is reused for half its lifetime."""

    def __init__(self, signer: PrincipalSigner, verifier: PrincipalVerifier, ttl: int, clock: Clock) -> None:
        self._signer = signer
        self._verifier = verifier
        self._ttl = ttl
        self._clock = clock
        self._signed = Recent[tuple[str, ...], tuple[str, float]](MAX_PRINCIPALS)

    def sign(self, caller: TokenCaller, conversation: str | None, language: str | None) -> str:
        """The caller's principal (a compact JWS) for one conversation or none; the same one while it is fresh."""
        key = (caller.company, caller.subject, caller.role, caller.plan, conversation or "", language or "")
        now = self._clock.now().timestamp()
        cached = self._signed.get(key)
        if cached is not None and cached[1] > now:
            return cached[0]
        principal = self._signer.issue(
            sub=caller.subject,
            role=caller.role,
            company=caller.company,
            plan=caller.plan,
            conversation=conversation,
            language=language,
        )
        self._signed.keep(key, (principal, now + self._ttl / 2))
        return principal

    def sign_for_service(self, caller: TokenCaller, conversation: str | None) -> tuple[str, int]:
        """A new principal for a company's service to use, and when it expires, in seconds since the epoch."""
        expires = int(self._clock.now().timestamp()) + self._ttl
        principal = Principal(caller.subject, caller.role, caller.company, caller.plan, expires, conversation)
        return self._signer.sign(principal), expires

    def renewed(self, principal: str, company: str) -> str | None:
        """The principal with a new expiry, even if it has expired; None if it is not ours or of another company."""
        verified = self._verified(principal, company)
        return verified and self._signer.sign(replace(verified, exp=int(self._clock.now().timestamp()) + self._ttl))

    def subject(self, principal: str, company: str) -> str | None:
        """The subject of a principal, even if it has expired; None if it is not ours or belongs to another company."""
        verified = self._verified(principal, company)
        return verified and verified.sub

    def _verified(self, principal: str, company: str) -> Principal | None:
        try:
            verified = self._verifier.verify(principal, expired_too=True)
        except InvalidTokenError:
            return None
        return verified if verified.company == company else None


def _caller(claims: TokenClaims) -> TokenCaller:
    return TokenCaller(
        claims.sub, claims.role, claims.company, claims.plan, float(claims.exp), claims.name, issued=claims.iat
    )
