"""Tokens that the gateways alone make and check: JWTs by HMAC with a key for each purpose, which a `kid` names."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import jwt

from contracts.ids import check_company, check_id
from gateway.errors import TokenInvalid

_ALGORITHM = "HS256"


def derive_key(secret: str, purpose: str) -> bytes:
    """A key for one purpose, from the secret that all gateways share."""
    return hmac.new(secret.encode(), f"nexus gateway: {purpose}".encode(), hashlib.sha256).digest()


def made_with(token: str, key_id: str) -> bool:
    """Whether the token says that it was made with this key; nothing is checked yet."""
    try:
        return jwt.get_unverified_header(token).get("kid") == key_id
    except jwt.InvalidTokenError:
        return False


def signed(claims: dict[str, Any], key: bytes, key_id: str) -> str:
    """The token with these claims."""
    return jwt.encode(claims, key, algorithm=_ALGORITHM, headers={"kid": key_id})


def read(token: str, keys: Sequence[bytes], *required: str) -> dict[str, Any]:
    """Its claims, signed with any of the keys: `sub` and `company` are ids, `role` a text, `exp` a number that nothing
    was compared with yet.

    Raises:
        TokenInvalid: it is not one of ours.
    """
    try:
        claims = _claims(token, keys, ["sub", "exp", *required])
        check_id(claims["sub"], "user")
        check_company(claims["company"])
        if not isinstance(claims["role"], str):
            raise TypeError("role")
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError) as error:
        raise TokenInvalid("the token is not valid") from error
    return claims


def _claims(token: str, keys: Sequence[bytes], required: list[str]) -> dict[str, Any]:
    problem = jwt.InvalidTokenError("there is no key")
    for key in keys:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                options={"require": required, "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            problem = error
    raise problem
