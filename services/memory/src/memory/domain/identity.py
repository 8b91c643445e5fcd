"""Identifies a company's user by a JWT that the company has signed with a key in its settings. Pure functions.

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

MAX_LIFETIME_SECONDS = 3_600
"""How far in the future a token may expire."""
LEEWAY_SECONDS = 5
"""How much the clock of the server that signs tokens may differ from ours."""
MIN_SECRET_CHARACTERS = 32
MIN_RSA_BITS = 2048
_ALGORITHMS = ("HS256", "RS256")
_Plan = Literal["free", "pro", "premium"]
_PLANS: tuple[_Plan, ...] = ("free", "pro", "premium")


class IdentityRefusedError(ValueError):
    """The token identifies nobody; the message says what to do."""


def known_user(config: CompanyConfig, token: str, now: datetime) -> KnownUser:
    """Returns the user whom the token identifies.

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
    not_before = claims.get("nbf", 0)
    if (
        not _is_timestamp(expires)
        or not isinstance(subject, str)
        or not is_id(subject)
        or not _is_timestamp(not_before)
    ):
        raise IdentityRefusedError(
            "sub must be 1 to 64 of A-Z a-z 0-9 _ -, and exp a number, and nbf one if it is there"
        )
    seconds = now.timestamp()
    if not_before > seconds + LEEWAY_SECONDS:
        raise IdentityRefusedError("it is not valid yet (nbf): set the clock of the server that signs it")
    if expires + LEEWAY_SECONDS <= seconds:
        raise IdentityRefusedError("it has expired: sign a new one")
    if expires > seconds + MAX_LIFETIME_SECONDS + LEEWAY_SECONDS:
        raise IdentityRefusedError("it is valid for too long: exp may be an hour away at most")
    return KnownUser(
        user_id=subject,
        plan=_plan(claims.get("plan"), config.identity.highest_plan),
        expires_at=datetime.fromtimestamp(expires, UTC),
        name=_one_line(claims.get("name"), MAX_NAME),
        email=_one_line(claims.get("email"), MAX_EMAIL),
        key=key,
    )


def with_key_dates(config: CompanyConfig, before: Sequence[IdentityKey], now: datetime) -> CompanyConfig:
    """Returns the settings with a time for each identity key that is new or replaced; the others keep theirs."""
    known_dates = {(key.id, key.key): key.since for key in before}
    dates = [known_dates.get((key.id, key.key), now) for key in config.identity.keys]
    # A key from before keys had a time is kept as it was written.
    keys = [
        key if key.since == date else key.model_copy(update={"since": date})
        for key, date in zip(config.identity.keys, dates, strict=True)
    ]
    return config.model_copy(update={"identity": config.identity.model_copy(update={"keys": keys})}) if keys else config


def _is_timestamp(value: object) -> TypeGuard[float]:
    # JSON parsers accept NaN and infinite numbers, which are no times.
    return isinstance(value, int | float) and 0 <= value < 2**53


def _one_line(value: object, limit: int) -> str | None:
    """Returns a name for human agents, on one line; None for anything that is no text or too long."""
    text = one_line(value) if isinstance(value, str) else ""
    return text if 0 < len(text) <= limit else None


def key_error(key: IdentityKey) -> str | None:
    """Returns what is wrong with a key in the settings; None if nothing is."""
    if key.algorithm not in _ALGORITHMS:
        return None  # of a newer release: it is not used here
    if key.algorithm == "HS256":
        if "-----BEGIN" in key.key:
            return "an HS256 key is a secret text; for a PEM set algorithm to RS256"
        return None if len(key.key) >= MIN_SECRET_CHARACTERS else f"use at least {MIN_SECRET_CHARACTERS} characters"
    try:
        public = load_pem_public_key(key.key.encode())
    except ValueError:
        return "use an RSA public key in PEM (-----BEGIN PUBLIC KEY-----)"
    if not isinstance(public, RSAPublicKey) or public.key_size < MIN_RSA_BITS:
        return f"use an RSA key of at least {MIN_RSA_BITS} bits"
    return None


def _claims(config: CompanyConfig, token: str, header: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the mark of the key that signed the token, and the token's claims."""
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
    # If only a newer release knows the highest plan, nobody gets more than the lowest.
    return _PLANS[min(rank, _PLANS.index(highest) if highest in _PLANS else 0)]
