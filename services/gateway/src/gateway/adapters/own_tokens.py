"""Tokens that only gateways make and check: JWTs signed by HMAC with a key for each purpose, named by `kid`."""

import hashlib
import hmac
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jwt

from contracts.ids import check_company, check_id
from gateway.errors import TokenInvalidError
from runtime.auth.signatures import read_signed

_ALGORITHM = "HS256"
MAX_HEADER_CHARS = 256
"""The longest header, in characters, of a token that may be ours."""


def derive_key(secret: str, purpose: str) -> bytes:
    """A key for one purpose, derived from the secret that all gateways share."""
    return hmac.new(secret.encode(), f"nexus gateway: {purpose}".encode(), hashlib.sha256).digest()


def has_key_id(token: str, key_id: str) -> bool:
    """Whether the token's header names this key; the token is not verified."""
    header = token.partition(".")[0]
    return len(header) <= MAX_HEADER_CHARS and _key_id(header) == key_id


@lru_cache(maxsize=64)
def _key_id(header: str) -> object:
    # Cached: all tokens of a key have the same header, which is read twice in each request.
    try:
        return jwt.get_unverified_header(f"{header}.e30.").get("kid")
    except jwt.InvalidTokenError:
        return None


def sign(claims: dict[str, Any], key: bytes, key_id: str) -> str:
    return jwt.encode(claims, key, algorithm=_ALGORITHM, headers={"kid": key_id})


def verified_claims(token: str, keys: Sequence[bytes], *required: str) -> dict[str, Any]:
    """The token's claims, if any of the keys signed it: `sub` and `company` are ids, `role` is a text, `exp` a number
    (its expiry is not checked).

    Raises:
        TokenInvalidError: the token is not one of ours.
    """
    try:
        _, claims = read_signed(
            token,
            ((key, _ALGORITHM) for key in keys),
            options={"require": ["sub", "exp", *required], "verify_exp": False, "verify_iat": False},
        )
        sub, company, role = claims["sub"], claims["company"], claims["role"]
        if not (isinstance(sub, str) and isinstance(company, str) and isinstance(role, str)):
            raise TypeError("sub, company and role are texts")
        check_id(sub, "user")
        check_company(company)
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError) as error:
        raise TokenInvalidError("the token is not valid") from error
    return claims
