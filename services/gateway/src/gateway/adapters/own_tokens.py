"""Tokens that only gateways make and check: JWTs by HMAC with a key for each purpose, named by `kid`."""

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
LONGEST_HEAD = 256
"""The most characters before the first dot of a token that may be ours."""


def derive_key(secret: str, purpose: str) -> bytes:
    """A key for one purpose, from the secret that all gateways share."""
    return hmac.new(secret.encode(), f"nexus gateway: {purpose}".encode(), hashlib.sha256).digest()


def made_with(token: str, key_id: str) -> bool:
    """Whether the token claims to be made with this key; it is not verified yet."""
    head = token.partition(".")[0]
    return len(head) <= LONGEST_HEAD and _key_named(head) == key_id


@lru_cache(maxsize=64)
def _key_named(head: str) -> object:
    # Of a key's tokens all heads are the same, and this is asked twice with each request.
    try:
        return jwt.get_unverified_header(f"{head}.e30.").get("kid")
    except jwt.InvalidTokenError:
        return None


def signed(claims: dict[str, Any], key: bytes, key_id: str) -> str:
    return jwt.encode(claims, key, algorithm=_ALGORITHM, headers={"kid": key_id})


def read(token: str, keys: Sequence[bytes], *required: str) -> dict[str, Any]:
    """The token's claims, verified with any of the keys: `sub` and `company` are ids, `role` a text, `exp` a number
    (not checked yet).

    Raises:
        TokenInvalidError: it is not one of ours.
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
