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

LONGEST = 8192
"""The longest token in characters."""
LEEWAY = 5
"""Seconds that clocks may differ."""
MOST_KNOWN = 10_000
"""Cached tokens whose signature has been verified."""
_KEYS_FRESH = 300.0
_KEYS_AGAIN = 10.0
_FETCH_DEADLINE = 5.0
"""Deadline of one step of fetching the key set; the whole gets one more second."""
_MOST_BYTES = 1024 * 1024
_LONGEST_NAME = 80
_SHORTEST_RSA = 2048
"""Bits."""


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
    """When it was made, in seconds since the epoch; 0: unknown."""


@dataclass(frozen=True, slots=True)
class _ProvenToken:
    """A token whose signature was verified with `key`, and how to check that the key is still valid."""

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
        self._known = Recent[bytes, _ProvenToken](MOST_KNOWN)
        if not (any(self._fixed.values()) or self._keys):
            raise NotReadyError("no key for tokens: set NEXUS_JWT_SECRET, NEXUS_JWT_PUBLIC_KEY or NEXUS_JWT_JWKS_URL")

    async def verify(self, token: str, *, grace: float = 0.0) -> TokenClaims:
        """The claims of a valid token.

        Args:
            grace: seconds after its expiry during which it is still accepted (for a visitor who renews it).

        Raises:
            ExpiredTokenError: it was valid once.
            InvalidTokenError: it proves nothing.
            KeysUnavailableError: the key set cannot be fetched.
        """
        claims = await self._proven(token)
        if claims.exp + LEEWAY + grace <= self._clock.now().timestamp():
            raise ExpiredTokenError("the token has expired")
        return claims

    async def _proven(self, token: str) -> TokenClaims:
        """The token's content, expired or not. Signatures are verified once: a token that a client sends with every
        request is cached by its hash, and valid as long as its key is."""
        if len(token) > LONGEST:
            raise InvalidTokenError("the token is too long")
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        known = self._known.get(digest)
        if known and known.key in await self._keys_for(known.algorithm, known.kid):
            return known.claims
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
            *read_identity(claims), name=one_line(claims.get("name")), iat=_issued(claims.get("iat"))
        )
        self._known.keep(digest, _ProvenToken(algorithm, header.get("kid"), key, verified))
        return verified

    def _read(self, token: str, algorithm: str, keys: Sequence[str | PyJWK]) -> tuple[str | PyJWK, JsonObject]:
        """The key that made the signature, and the token's content."""
        try:
            return read_signed(
                token,
                ((key, algorithm) for key in keys),
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY,
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


def one_line(said: object) -> str | None:
    """OpenID Connect's name, on one line and cut; anything else is no name, and no error."""
    if not isinstance(said, str):
        return None
    return plain_text.one_line(said)[:_LONGEST_NAME] or None


def _issued(said: object) -> float:
    """An invalid time counts as none: such a token counts as older than any that says when it was made."""
    return float(said) if isinstance(said, int | float) and 0 <= said < 2**53 else 0.0


class TokenMinter:
    """Makes HS256 tokens: visitors' in the gateway, everybody's in development."""

    def __init__(self, settings: TokenSettings, clock: Clock | None = None) -> None:
        """Raises NotReadyError without NEXUS_JWT_SECRET."""
        if not settings.jwt_secrets:
            raise NotReadyError("NEXUS_JWT_SECRET is not set: it signs the tokens made here (at least 32 characters)")
        self._secret = settings.jwt_secrets[0]
        self._audience = settings.jwt_audience
        self._issuer = settings.jwt_issuer
        self._clock = clock or SystemClock()

    def mint(
        self, *, sub: str, role: str, company: str, plan: str = "free", ttl: int = 3600, name: str | None = None
    ) -> str:
        """A token that is valid for `ttl` seconds. `name`: what people are shown.

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
    """The keys at a JWKS address, cached for five minutes and fetched again for an unknown key: at once, since a key
    may just have been replaced, and then at most every 10 s. `fetch` raises OSError if it cannot."""

    def __init__(
        self, fetch: Callable[[], Awaitable[bytes]], clock: Clock, kinds: frozenset[str] = frozenset({"RSA"})
    ) -> None:
        self._fetch = fetch
        self._kinds = kinds
        self._clock = clock
        self._keys: dict[str | None, PyJWK] = {}
        self._fetched = float("-inf")
        self._sought = float("-inf")
        self._fetching = SingleFlight[None]()

    async def get(self, kid: str | None) -> PyJWK:
        """The key of this id; without an id the only one.

        Raises:
            InvalidTokenError: there is no such key.
            KeysUnavailableError: no keys are cached and none can be fetched.
        """
        if self._due(kid):
            if self._keys and kid not in self._keys:
                self._sought = self._clock.monotonic()
            await self._fetching.result("keys", self._refresh)
        key = self._keys.get(kid)
        if not self._keys:
            raise KeysUnavailableError("the key set for tokens could not be fetched a moment ago")
        if key is None:
            raise InvalidTokenError("the token is signed with a key that is not in the key set")
        return key

    def _due(self, kid: str | None) -> bool:
        now = self._clock.monotonic()
        if kid in self._keys:
            return now - self._fetched > _KEYS_FRESH
        return now - (self._sought if self._keys else self._fetched) > _KEYS_AGAIN

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
            self._fetched = self._clock.monotonic()
        usable = [key for key in keys if key.key_type in self._kinds and _verifies(key)]
        self._keys = {key.key_id: key for key in usable}
        if len(usable) == 1:
            self._keys[None] = usable[0]


def _verifies(key: PyJWK) -> bool:
    """Whether the key may verify signatures: a public key, meant for signatures, and for RSA long enough by RFC 7518
    (3.3)."""
    long_enough = key.key_type != "RSA" or key.key.key_size >= _SHORTEST_RSA
    return long_enough and key.public_key_use in (None, "sig") and hasattr(key.key, "verify")


def _keys_in(text: bytes) -> list[PyJWK]:
    """The keys of a JWKS. Unreadable ones are ignored (RFC 7517, 5); raises ValueError, RecursionError if none is
    left."""
    said: object = json.loads(text)
    told = [one for one in objects_of(object_of(said).get("keys")) if isinstance(one.get("kid"), str | None)]
    found: list[PyJWK] = []
    for one in told:
        with suppress(jwt.PyJWTError, TypeError, ValueError):  # of another algorithm, or of wrong types
            found.append(PyJWK.from_dict(one))
    if not found:
        raise ValueError("what is there is no set of keys that can be read")
    return found


def _fetch(url: str) -> bytes:
    if not url.startswith(("https://", "http://")):
        raise ValueError("NEXUS_JWT_JWKS_URL must be an http(s) address")
    end, body = time.monotonic() + _FETCH_DEADLINE, bytearray()
    with urllib.request.urlopen(url, timeout=_FETCH_DEADLINE) as answer:  # noqa: S310 - checked above
        while len(body) < _MOST_BYTES and (piece := answer.read1(_MOST_BYTES)):
            body += piece
            if time.monotonic() > end:
                # Whoever says a byte a second would hold this thread long after nobody waits for it.
                raise TimeoutError("the key set did not come in time")
    return bytes(body)
