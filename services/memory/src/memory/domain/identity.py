"""Identifies a company's user by a JWT that the company has signed with a key in its settings. Plain functions.

The key decides the algorithm, never the token. The audience is the company's id, so that no other token of the company
(of its own sessions, for example) is accepted; role and any right beyond the plan are not read.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeGuard

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from contracts.company import CompanyConfig, IdentityKey
from contracts.events.chat import MAX_EMAIL, MAX_NAME
from contracts.identity_rpc import KnownUser
from contracts.ids import is_id
from contracts.plain_text import one_line

LONGEST_LIFE = 3_600
LEEWAY = 5
SHORTEST_SECRET = 32
SMALLEST_RSA = 2048
_ALGORITHMS = ("HS256", "RS256")
_Plan = Literal["free", "pro", "premium"]
_PLANS: tuple[_Plan, ...] = ("free", "pro", "premium")


class IdentityRefusedError(ValueError):
    """The token identifies nobody; the message says what to do."""


def known_user(config: CompanyConfig, token: str, now: datetime) -> KnownUser:
    """The user in the token.

    Raises:
        IdentityRefusedError: it proves nothing, or is not valid now.
    """
    if not config.identity.keys:
        raise IdentityRefusedError("the company has no identity keys: add one to identity.keys in its settings")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError as error:
        raise IdentityRefusedError("it is no JWT") from error
    key, claims = _claims(config, token, header)
    expires, subject = claims["exp"], claims["sub"]
    begins = claims.get("nbf", 0)
    if not _is_moment(expires) or not isinstance(subject, str) or not is_id(subject) or not _is_moment(begins):
        raise IdentityRefusedError(
            "sub must be 1 to 64 of A-Z a-z 0-9 _ -, and exp a number, and nbf one if it is there"
        )
    seconds = now.timestamp()
    if begins > seconds + LEEWAY:
        raise IdentityRefusedError("it is not valid yet (nbf): set the clock of the server that signs it")
    if expires + LEEWAY <= seconds:
        raise IdentityRefusedError("it has expired: sign a new one")
    if expires > seconds + LONGEST_LIFE + LEEWAY:
        raise IdentityRefusedError("it is valid for too long: exp may be an hour away at most")
    return KnownUser(
        user_id=subject,
        plan=_plan(claims.get("plan"), config.identity.highest_plan),
        expires_at=datetime.fromtimestamp(expires, UTC),
        name=_line(claims.get("name"), MAX_NAME),
        email=_line(claims.get("email"), MAX_EMAIL),
        key=key,
    )


def dated(config: CompanyConfig, before: Sequence[IdentityKey], now: datetime) -> CompanyConfig:
    """The settings with the time of each identity key that is new or replaced; the others keep theirs."""
    since = {(key.id, key.key): key.since for key in before}
    times = [since.get((key.id, key.key), now) for key in config.identity.keys]
    # A key from before keys had a time stays as it was written.
    keys = [
        key if key.since == time else key.model_copy(update={"since": time})
        for key, time in zip(config.identity.keys, times, strict=True)
    ]
    return config.model_copy(update={"identity": config.identity.model_copy(update={"keys": keys})}) if keys else config


def _is_moment(said: object) -> TypeGuard[float]:
    # JSON's readers take NaN and numbers without end for numbers; no clock does.
    return isinstance(said, int | float) and 0 <= said < 2**53


def _line(said: object, most: int) -> str | None:
    """A name for human agents, on one line; anything that is no text, or too long, is left out."""
    text = one_line(said) if isinstance(said, str) else ""
    return text if 0 < len(text) <= most else None


def wrong_key(key: IdentityKey) -> str | None:
    """Says what is wrong with a key in the settings; None if nothing is."""
    if key.algorithm not in _ALGORITHMS:
        return None  # a newer release's: nobody signs with it here
    if key.algorithm == "HS256":
        if "-----BEGIN" in key.key:
            return "an HS256 key is a secret text; for a PEM set algorithm to RS256"
        return None if len(key.key) >= SHORTEST_SECRET else f"use at least {SHORTEST_SECRET} characters"
    try:
        public = load_pem_public_key(key.key.encode())
    except ValueError:
        return "use an RSA public key in PEM (-----BEGIN PUBLIC KEY-----)"
    if not isinstance(public, RSAPublicKey) or public.key_size < SMALLEST_RSA:
        return f"use an RSA key of at least {SMALLEST_RSA} bits"
    return None


def _claims(config: CompanyConfig, token: str, header: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The mark of the key that signed the token, and its claims."""
    name = header.get("kid")
    for key in config.identity.keys:
        if key.algorithm != header.get("alg") or key.algorithm not in _ALGORITHMS or name not in (None, key.id):
            continue
        try:
            return key.mark, jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                audience=config.company_id,
                options={
                    "require": ["exp", "sub", "aud"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except jwt.InvalidSignatureError:
            continue
        except jwt.PyJWTError as error:
            raise IdentityRefusedError(f"{error}; aud must be {config.company_id!r}, and sub and exp there") from error
    raise IdentityRefusedError("it is signed with none of the company's identity keys")


def _plan(claimed: object, highest: _Plan) -> _Plan:
    rank = _PLANS.index(claimed) if isinstance(claimed, str) and claimed in _PLANS else 0
    # A highest plan that only a newer release knows: nobody claims more than the lowest.
    return _PLANS[min(rank, _PLANS.index(highest) if highest in _PLANS else 0)]
