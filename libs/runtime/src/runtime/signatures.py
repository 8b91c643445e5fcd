"""Signed tokens, read with whichever of several keys has signed them: while one is replaced, the old one holds too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import jwt

from contracts.json_values import JsonObject

KeyT = TypeVar("KeyT")


def read_signed(token: str, keys: Iterable[tuple[KeyT, str]], **checks: Any) -> tuple[KeyT, JsonObject]:
    """The key that signed a compact JWS (RFC 7515), and its claims. `keys`: each with its algorithm, which the token
    has no say in; `checks`: as jwt.decode takes them.

    Raises:
        jwt.InvalidTokenError: none of them has, or the claims are not as they must be.
    """
    problem = jwt.InvalidTokenError("there is no key for it")
    for key, algorithm in keys:
        try:
            return key, jwt.decode(token, cast("Any", key), algorithms=[algorithm], **checks)
        except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError) as error:
            problem = error
    raise problem
