"""Principals: a statement by the gateway of who is calling. Events carry it as a compact JWS (RFC 7515), and every
service that acts on one verifies it.

The key decides the algorithm, never the token: a PEM is Ed25519 (EdDSA; the private half signs, the public half
verifies), anything else is a shared secret (HS256, for development). The audience keeps a user's token from being
accepted as a principal if both are signed with one secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from contracts.ids import check_company, check_id
from runtime.auth.signatures import read_signed
from runtime.clock import Clock, SystemClock
from runtime.errors import ExpiredTokenError, InvalidTokenError, NotReadyError
from runtime.recent import Recent
from runtime.settings import TokenSettings

AUDIENCE = "nexus-principal"
OTHER_KEY = "it was sent principals that are signed with another key than its NEXUS_PRINCIPAL_KEY"
ROLES = frozenset({"visitor", "user", "commercial", "admin", "service", "operator"})
"""`operator` is whoever runs the installation; the others belong to a company."""
PLANS = frozenset({"free", "pro", "premium"})
_MAX_CACHED = 10_000
_REFUSAL_SECONDS = 600
"""Seconds for which /readyz remarks that a principal was signed with another key."""
_EXPIRY_LIMIT = 2**53
"""Expiry times at or above this, infinite ones and NaN are invalid."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The person or program behind a message or a call. `exp` is in seconds since the epoch. If `conversation` is
    given, the principal is valid only there."""

    sub: str
    role: str
    company: str
    plan: str
    exp: int
    conversation: str | None = None
    language: str | None = None


Verify = Callable[[str], Principal]
"""Returns the principal in a compact JWS; raises runtime.errors.InvalidTokenError."""


class PrincipalSigner:
    """Signs principals; only the gateway has one."""

    def __init__(self, settings: TokenSettings, clock: Clock | None = None) -> None:
        """Raises NotReadyError if NEXUS_PRINCIPAL_KEY is not set, or is a public key."""
        self._ttl = settings.principal_ttl
        self._clock = clock or SystemClock()
        text = _key_texts(settings)[0]
        if not _is_pem(text):
            self._key: Ed25519PrivateKey | str = text
            self._algorithm = "HS256"
            return
        self._algorithm = "EdDSA"
        try:
            key = load_pem_private_key(text.encode(), password=None)
        except ValueError as error:
            raise NotReadyError(
                "NEXUS_PRINCIPAL_KEY cannot sign: give the gateway an Ed25519 private key in PEM"
            ) from error
        if not isinstance(key, Ed25519PrivateKey):
            raise NotReadyError("NEXUS_PRINCIPAL_KEY must be an Ed25519 key")
        self._key = key

    def issue(
        self,
        *,
        sub: str,
        role: str,
        company: str,
        plan: str = "free",
        conversation: str | None = None,
        language: str | None = None,
        ttl: int | None = None,
    ) -> str:
        """Returns a signed principal that is valid for `ttl` seconds (None: NEXUS_PRINCIPAL_TTL)."""
        exp = int(self._clock.now().timestamp()) + (self._ttl if ttl is None else ttl)
        return self.sign(Principal(sub, role, company, plan, exp, conversation, language))

    def sign(self, principal: Principal) -> str:
        claims = {name: value for name in Principal.__slots__ if (value := getattr(principal, name)) is not None}
        return jwt.encode({"aud": AUDIENCE, **claims}, self._key, algorithm=self._algorithm)


class PrincipalVerifier:
    """Verifies principals and caches the latest ones, since one turn presents the same principal many times."""

    def __init__(self, settings: TokenSettings, clock: Clock | None = None) -> None:
        """Raises NotReadyError if NEXUS_PRINCIPAL_KEY is not set or unusable."""
        self._clock = clock or SystemClock()
        self._seen = Recent[str, Principal](_MAX_CACHED)
        self._refused_time = 0.0
        self._keys: list[tuple[Ed25519PublicKey | str, str]] = [
            (_public_key(text), "EdDSA") if _is_pem(text) else (text, "HS256") for text in _key_texts(settings)
        ]

    def verify(self, token: str, *, expired_too: bool = False) -> Principal:
        """Returns the principal that the gateway signed.

        Args:
            expired_too: accept an expired one, which still proves who wrote an old message.

        Raises:
            ExpiredTokenError: it was valid once.
            InvalidTokenError: it proves nothing.
        """
        principal = self._seen.get(token)
        if principal is None:
            principal = self._read(token)
            self._seen.keep(token, principal)
        if not expired_too and principal.exp <= self._clock.now().timestamp():
            raise ExpiredTokenError("the principal has expired")
        return principal

    async def check(self) -> str | None:
        """Returns a remark for /readyz if principals are signed with another key. That never makes a service not ready:
        anybody with access to the bus may send such a principal."""
        ago = self._clock.now().timestamp() - self._refused_time
        return f"{OTHER_KEY}, the last one {ago:.0f} s ago" if ago < _REFUSAL_SECONDS else None

    def _read(self, token: str) -> Principal:
        try:
            _, claims = read_signed(
                token,
                self._keys,
                audience=AUDIENCE,
                options={"require": ["exp", "sub", "aud"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            if isinstance(error, jwt.InvalidSignatureError | jwt.InvalidAlgorithmError):
                self._refused_time = self._clock.now().timestamp()
            raise InvalidTokenError(f"not a principal of this installation: {error}") from error
        sub, role, company, plan, exp = read_identity(claims)
        conversation, language = claims.get("conversation"), claims.get("language")
        if conversation is not None:
            conversation = _checked(check_id, conversation, "conversation")
        return Principal(sub, role, company, plan, exp, conversation, language if isinstance(language, str) else None)


def read_identity(claims: Mapping[str, object]) -> tuple[str, str, str, str, int]:
    """Returns sub, role, company, plan and exp of a token's claims. Each is checked, since they become subjects and
    permissions.

    An unknown or missing plan counts as free.

    Raises:
        InvalidTokenError: one is missing or invalid.
    """
    role, plan, exp = claims.get("role"), claims.get("plan"), claims.get("exp")
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidTokenError(f"role must be one of {', '.join(sorted(ROLES))}")
    if not isinstance(plan, str) or plan not in PLANS:
        plan = "free"
    if not isinstance(exp, int | float) or not 0 <= exp < _EXPIRY_LIMIT:
        raise InvalidTokenError("exp must be a number of seconds since the epoch")
    sub = _checked(check_id, claims.get("sub"), "sub")
    company = _checked(check_company, claims.get("company"), "company")
    return sub, role, company, plan, int(exp)


def _checked(check: Callable[[str], str], value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidTokenError(f"{name} is missing")
    try:
        return check(value)
    except ValueError as error:
        raise InvalidTokenError(f"{name} cannot be an id") from error


def _key_texts(settings: TokenSettings) -> list[str]:
    if not settings.principal_keys:
        raise NotReadyError(
            "NEXUS_PRINCIPAL_KEY is not set: a shared secret in development, an Ed25519 PEM in production"
        )
    # Environment files cannot hold line breaks, so a PEM may contain \n as two characters.
    return [text.replace("\\n", "\n").strip() for text in settings.principal_keys]


def _is_pem(text: str) -> bool:
    return text.startswith("-----BEGIN")


def _public_key(text: str) -> Ed25519PublicKey:
    try:
        if "PRIVATE KEY" in text:
            private = load_pem_private_key(text.encode(), password=None)
            key: object = private.public_key()
        else:
            key = load_pem_public_key(text.encode())
    except ValueError as error:
        raise NotReadyError("NEXUS_PRINCIPAL_KEY is not a readable PEM") from error
    if not isinstance(key, Ed25519PublicKey):
        raise NotReadyError("NEXUS_PRINCIPAL_KEY must be an Ed25519 key")
    return key
