"""Verifies signed tokens with any of several keys, so that a key can be replaced while the old one still works."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import jwt

from contracts.json_values import JsonObject

KeyT = TypeVar("KeyT")


def read_signed(token: str, keys: Iterable[tuple[KeyT, str]], **checks: Any) -> tuple[KeyT, JsonObject]:
    """Returns the key that signed a compact JWS (RFC 7515), and its claims. `keys`: pairs of key and algorithm, since
    the token must not choose the algorithm; `checks`: arguments of jwt.decode.

    Raises:
        jwt.InvalidTokenError: no key fits the signature, or the claims are invalid.
    """
    problem = jwt.InvalidTokenError("there is no key for it")
    for key, algorithm in keys:
        try:
            return key, jwt.decode(token, cast("Any", key), algorithms=[algorithm], **checks)
        except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError) as error:
            problem = error
    raise problem
