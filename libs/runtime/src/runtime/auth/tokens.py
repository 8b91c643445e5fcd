"""Users' tokens: JWTs (RFC 7519) with sub, role, company, plan and exp.

HS256 with NEXUS_JWT_SECRET, RS256 with NEXUS_JWT_PUBLIC_KEY or the keys at NEXUS_JWT_JWKS_URL. Each algorithm is bound
to its own kind of key, so a public key can never be used as a secret; `none` and everything else is refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException

import jwt
import structlog
from jwt import PyJWK

from contracts import plain_text
from contracts.json_values import JsonObject, object_of, objects_of
from runtime.auth.principals import AUDIENCE, read_identity
from runtime.auth.signatures import read_signed
from runtime.calls.single_flight import SingleFlight
from runtime.clock import Clock, SystemClock
from runtime.errors import ExpiredTokenError, InvalidTokenError, NotReadyError, RuntimeLibraryError
from runtime.recent import Recent
from runtime.settings import TokenSettings

log = structlog.get_logger(__name__)

MAX_TOKEN_CHARS = 8192
"""The maximum length of a token."""
LEEWAY_SECONDS = 5
"""How far clocks may differ."""
MAX_CACHED_TOKENS = 10_000
"""How many verified tokens are cached."""
_KEYS_TTL = 300.0
_REFETCH_INTERVAL = 10.0
"""Seconds between two fetches of the key set for unknown keys."""
_FETCH_DEADLINE = 5.0
"""Seconds for one step of fetching the key set; the whole fetch gets one more second."""
_MAX_KEY_SET_BYTES = 1024 * 1024
_MAX_NAME_CHARS = 80
_MIN_RSA_BITS = 2048


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The identity of a token's bearer. `exp` is in seconds since the epoch; `name` is shown to others."""

    sub: str
    role: str
    company: str
    plan: str
    exp: int
    name: str | None = None
    iat: float = 0.0
    """When the token was made, in seconds since the epoch; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class _ProvenToken:
    """A token whose signature was verified with `key`; algorithm and key id serve to check that the key is still
    valid."""

    algorithm: object
    kid: object
    key: str | PyJWK
    claims: TokenClaims


class KeysUnavailableError(RuntimeLibraryError):
    """A key set cannot be fetched, and none is cached."""

    retryable = True


class TokenVerifier:
    def __init__(self, settings: TokenSettings, clock: Clock | None = None) -> None:
        """Raises NotReadyError if no key is set at all."""
        self._clock = clock or SystemClock()
        self._audience = settings.jwt_audience
        self._issuer = settings.jwt_issuer
        self._fixed: dict[str, list[str]] = {"HS256": settings.jwt_secrets, "RS256": settings.jwt_public_keys}
        url = settings.jwt_jwks_url
        self._keys = KeySet(lambda: asyncio.to_thread(_fetch, url), self._clock) if url else None
        self._known = Recent[bytes, _ProvenToken](MAX_CACHED_TOKENS)
        if not (any(self._fixed.values()) or self._keys):
            raise NotReadyError("no key for tokens: set NEXUS_JWT_SECRET, NEXUS_JWT_PUBLIC_KEY or NEXUS_JWT_JWKS_URL")

    async def verify(self, token: str, *, grace: float = 0.0) -> TokenClaims:
        """Returns the claims of a valid token.

        Args:
            grace: seconds after its expiry during which it is still accepted (for a visitor who renews it).

        Raises:
            ExpiredTokenError: it was valid once.
            InvalidTokenError: it proves nothing.
            KeysUnavailableError: the key set cannot be fetched.
        """
        claims = await self._proven(token)
        if claims.exp + LEEWAY_SECONDS + grace <= self._clock.now().timestamp():
            raise ExpiredTokenError("the token has expired")
        return claims

    async def _proven(self, token: str) -> TokenClaims:
        """Returns the token's claims, expired or not. A client sends its token with every request, so each signature is
        verified once: the claims are cached by the token's hash and stay valid as long as the key does."""
        if len(token) > MAX_TOKEN_CHARS:
            raise InvalidTokenError("the token is too long")
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        cached = self._known.get(digest)
        if cached and cached.key in await self._keys_for(cached.algorithm, cached.kid):
            return cached.claims
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise InvalidTokenError("not a token") from error
        algorithm = header.get("alg")
        key, claims = self._read(token, str(algorithm), await self._keys_for(algorithm, header.get("kid")))
        audience: object = claims.get("aud")
        if audience == AUDIENCE or (isinstance(audience, list) and AUDIENCE in audience):
            raise InvalidTokenError("a principal is no user's token")
        verified = TokenClaims(
            *read_identity(claims), name=one_line(claims.get("name")), iat=_issue_time(claims.get("iat"))
        )
        self._known.keep(digest, _ProvenToken(algorithm, header.get("kid"), key, verified))
        return verified

    def _read(self, token: str, algorithm: str, keys: Sequence[str | PyJWK]) -> tuple[str | PyJWK, JsonObject]:
        """Returns the key that made the signature, and the token's claims."""
        try:
            return read_signed(
                token,
                ((key, algorithm) for key in keys),
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "sub"], "verify_exp": False, "verify_aud": self._audience is not None},
            )
        except jwt.InvalidTokenError as error:
            raise InvalidTokenError(f"the token is not valid: {error}") from error

    async def _keys_for(self, algorithm: object, kid: object) -> Sequence[str | PyJWK]:
        if isinstance(algorithm, str) and (fixed := self._fixed.get(algorithm)):
            return fixed
        if algorithm == "RS256" and self._keys:
            return [await self._keys.get(kid if isinstance(kid, str) else None)]
        raise InvalidTokenError(f"tokens signed with {algorithm!r} are not accepted")


def one_line(name: object) -> str | None:
    """Returns OpenID Connect's `name` claim on one line, shortened; None, without an error, if it is no usable text."""
    if not isinstance(name, str):
        return None
    return plain_text.one_line(name)[:_MAX_NAME_CHARS] or None


def _issue_time(claim: object) -> float:
    """Returns the issue time; an invalid one counts as 0, so the token counts as older than any with a valid time."""
    return float(claim) if isinstance(claim, int | float) and 0 <= claim < 2**53 else 0.0


class TokenMinter:
    """Makes HS256 tokens: for visitors in the gateway, for everybody in development."""

    def __init__(self, settings: TokenSettings, clock: Clock | None = None) -> None:
        """Raises NotReadyError if NEXUS_JWT_SECRET is not set."""
        if not settings.jwt_secrets:
            raise NotReadyError("NEXUS_JWT_SECRET is not set: it signs the tokens made here (at least 32 characters)")
        self._secret = settings.jwt_secrets[0]
        self._audience = settings.jwt_audience
        self._issuer = settings.jwt_issuer
        self._clock = clock or SystemClock()

    def mint(
        self, *, sub: str, role: str, company: str, plan: str = "free", ttl: int = 3600, name: str | None = None
    ) -> str:
        """Returns a token that is valid for `ttl` seconds. `name` is shown to people.

        Raises:
            InvalidTokenError: one of the parts is invalid.
        """
        now = int(self._clock.now().timestamp())
        claims: dict[str, object] = {
            "sub": sub, "role": role, "company": company, "plan": plan, "iat": now, "exp": now + ttl
        }  # fmt: skip
        if name is not None:
            claims["name"] = name
        read_identity(claims)
        if self._audience:
            claims["aud"] = self._audience
        if self._issuer:
            claims["iss"] = self._issuer
        return jwt.encode(claims, self._secret, algorithm="HS256")


class KeySet:
    """The keys at a JWKS address, cached for five minutes. An unknown key id causes a new fetch, since a key may just
    have been replaced: immediately the first time, then at most every 10 s. `fetch` raises OSError if it fails."""

    def __init__(
        self, fetch: Callable[[], Awaitable[bytes]], clock: Clock, kinds: frozenset[str] = frozenset({"RSA"})
    ) -> None:
        self._fetch = fetch
        self._kinds = kinds
        self._clock = clock
        self._keys: dict[str | None, PyJWK] = {}
        self._fetched_at = float("-inf")
        self._missed_at = float("-inf")
        self._fetching = SingleFlight[None]()

    async def get(self, kid: str | None) -> PyJWK:
        """Returns the key with this id; without an id, the only key.

        Raises:
            InvalidTokenError: there is no such key.
            KeysUnavailableError: no keys are cached and none can be fetched.
        """
        if self._is_due(kid):
            if self._keys and kid not in self._keys:
                self._missed_at = self._clock.monotonic()
            await self._fetching.result("keys", self._refresh)
        key = self._keys.get(kid)
        if not self._keys:
            raise KeysUnavailableError("the key set for tokens could not be fetched a moment ago")
        if key is None:
            raise InvalidTokenError("the token is signed with a key that is not in the key set")
        return key

    def _is_due(self, kid: str | None) -> bool:
        now = self._clock.monotonic()
        if kid in self._keys:
            return now - self._fetched_at > _KEYS_TTL
        return now - (self._missed_at if self._keys else self._fetched_at) > _REFETCH_INTERVAL

    async def _refresh(self) -> None:
        try:
            async with asyncio.timeout(_FETCH_DEADLINE + 1):
                text = await self._fetch()
            keys = _keys_in(text)
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            log.warning("tokens.keys_unavailable", error=str(error))
            if not self._keys:
                raise KeysUnavailableError("the key set for tokens cannot be fetched") from error
            return
        finally:
            self._fetched_at = self._clock.monotonic()
        usable = [key for key in keys if key.key_type in self._kinds and _verifies(key)]
        self._keys = {key.key_id: key for key in usable}
        if len(usable) == 1:
            self._keys[None] = usable[0]


def _verifies(key: PyJWK) -> bool:
    """Whether the key may verify signatures: it is public, meant for signatures, and, if RSA, long enough for RFC 7518
    (3.3)."""
    long_enough = key.key_type != "RSA" or key.key.key_size >= _MIN_RSA_BITS
    return long_enough and key.public_key_use in (None, "sig") and hasattr(key.key, "verify")


def _keys_in(text: bytes) -> list[PyJWK]:
    """Returns the keys of a JWKS. Unreadable ones are ignored (RFC 7517, 5). Raises ValueError or RecursionError if
    none remains."""
    key_set: object = json.loads(text)
    entries = [
        entry for entry in objects_of(object_of(key_set).get("keys")) if isinstance(entry.get("kid"), str | None)
    ]
    keys: list[PyJWK] = []
    for entry in entries:
        with suppress(jwt.PyJWTError, TypeError, ValueError):  # a key for another algorithm, or with wrong types
            keys.append(PyJWK.from_dict(entry))
    if not keys:
        raise ValueError("what is there is no set of keys that can be read")
    return keys


def _fetch(url: str) -> bytes:
    if not url.startswith(("https://", "http://")):
        raise ValueError("NEXUS_JWT_JWKS_URL must be an http(s) address")
    deadline, body = time.monotonic() + _FETCH_DEADLINE, bytearray()
    with urllib.request.urlopen(url, timeout=_FETCH_DEADLINE) as response:  # noqa: S310 - checked above
        while len(body) < _MAX_KEY_SET_BYTES and (piece := response.read1(_MAX_KEY_SET_BYTES)):
            body += piece
            if time.monotonic() > deadline:
                # A server that sends one byte a second would occupy this thread long after the caller has given up.
                raise TimeoutError("the key set did not come in time")
    return bytes(body)
