"""Tokens and principals that somebody made to be believed, or to hurt: each is refused in words, and nothing else
happens."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from runtime.auth.principals import AUDIENCE, PrincipalVerifier
from runtime.auth.tokens import TokenVerifier
from runtime.errors import InvalidTokenError
from runtime.settings import TokenSettings
from runtime.testing.clock import FakeClock

SECRET = "s" * 32
RSA = generate_private_key(65537, 2048)
OTHERS = generate_private_key(65537, 2048)
SIGNER = Ed25519PrivateKey.generate()
NOW = datetime(2026, 6, 1, tzinfo=UTC)
CLAIMS: dict[str, Any] = {
    "sub": "u1", "role": "user", "company": "acme", "plan": "pro", "exp": int(NOW.timestamp()) + 600
}  # fmt: skip


def pem(key: RSAPrivateKey | Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


SHARED = TokenSettings(jwt_secret=SecretStr(SECRET), principal_key=SecretStr(SECRET))
KEYS = TokenSettings(jwt_public_key=pem(RSA), principal_key=SecretStr(pem(SIGNER)))


def part(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def by_hand(header: Any, claims: Any, signature: bytes = b"x") -> str:
    return f"{part(header)}.{part(claims)}.{part(signature)}"


def signed(claims: Any, header: dict[str, Any] | None = None, secret: str = SECRET) -> str:
    """Signed as it should be, whatever the claims are."""
    told = f"{part({'alg': 'HS256', 'typ': 'JWT'} | (header or {}))}.{part(claims)}"
    return f"{told}.{part(hmac.digest(secret.encode(), told.encode(), 'sha256'))}"


def forged() -> Iterator[tuple[str, str]]:
    """Not signed by anybody who may, by name."""
    good = signed(CLAIMS)
    head, body, signature = good.split(".")
    admin = part(CLAIMS | {"role": "admin"})
    for name in (
        "none",
        "None",
        "NONE",
        "nOnE",
        "",
        "hs256",
        "HS256 ",
        "HS384",
        "HS512",
        "ES256",
        "PS256",
        "EdDSA",
        "dir",
    ):
        yield f"algorithm {name!r}", by_hand({"alg": name}, CLAIMS)
        yield f"algorithm {name!r} and no signature", f"{part({'alg': name})}.{admin}."
    for odd in (None, 7, [], ["HS256"], {"a": 1}, True):
        yield f"algorithm {odd!r}", by_hand({"alg": odd}, CLAIMS)
    yield "no algorithm", by_hand({"typ": "JWT"}, CLAIMS)
    yield "other words", f"{head}.{admin}.{signature}"
    yield "no signature", f"{head}.{body}."
    yield "a part less", f"{head}.{body}"
    yield "a part more", f"{good}.{signature}"
    yield "five parts", f"{head}..{body}.{signature}.{signature}"
    yield "cut", good[:-4]
    yield "another secret", signed(CLAIMS, secret="x" * 32)
    yield "an empty secret", signed(CLAIMS, secret="")
    yield "another's key", jwt.encode(CLAIMS, OTHERS, algorithm="RS256")
    yield "a wider signature", jwt.encode(CLAIMS, RSA, algorithm="RS512")
    yield "the public key as secret", signed(CLAIMS, secret=pem(RSA))
    yield "the signer's public key as secret", signed(CLAIMS, secret=pem(SIGNER))
    for name in ("jwk", "jku", "x5u", "x5c"):
        yield f"a key of its own: {name}", by_hand({"alg": "RS256", name: "https://evil.example/k"}, CLAIMS)
    for kid in ("../../dev/null", "' OR 1=1", "\x00", "k" * 4000, 7, None, ["a"]):
        yield f"key id {str(kid)[:10]!r}", by_hand({"alg": "RS256", "kid": kid}, CLAIMS)
    for name, text in {
        "nothing": "", "dots": "..", "blanks": "   ", "no base64": "a.b.c", "line ends": good.replace(".", ".\n"),
        "too long": "a" * 100_000, "dots for ever": "." * 8000, "other letters": "é" * 50, "a null": "\x00.\x00.\x00",
        "an array": by_hand([], []), "a number": by_hand(7, 7), "no text": by_hand(b"\xff\xfe", CLAIMS),
        "deep header": by_hand(b"[" * 3000, CLAIMS), "deep claims": by_hand({"alg": "HS256"}, b'{"a":' * 900),
        "a number without end": by_hand(b'{"alg":' + b"9" * 5000 + b"}", CLAIMS),
        "a bearer too many": f"Bearer {good}",
    }.items():  # fmt: skip
        yield name, text


ENDS: tuple[object, ...] = (None, "soon", "9999999999", [], {}, 0, -1, False, True)
ODD: dict[str, dict[str, Any]] = {
    **{
        f"sub {sub!r}"[:40]: {"sub": sub} for sub in ("", "a.b", "*", ">", "a b", "a\n", "x" * 65, 7, None, ["u1"], "ú")
    },
    **{f"company {name!r}"[:40]: {"company": name} for name in ("", "Acme", "a.b", "*", ">", "x" * 65, 7, None, ["a"])},
    **{f"role {role!r}": {"role": role} for role in ("root", "Admin", "", " admin", 7, None, ["admin"], {"a": 1})},
    **{f"exp {exp!r}"[:40]: {"exp": exp} for exp in ENDS},
    **{f"exp {exp!r}": {"exp": exp} for exp in (float("inf"), float("-inf"), float("nan"), 10**400)},
    "a principal": {"aud": AUDIENCE},
    "a principal among others": {"aud": ["nexus", AUDIENCE]},
}
"""Signed, and yet nobody's identity."""
FORGED = dict(forged())


@pytest.mark.parametrize("keys", [SHARED, KEYS], ids=["a shared secret", "key pairs"])
@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_token_is_no_token_and_no_principal(token: str, keys: TokenSettings) -> None:
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(keys, FakeClock(NOW)).verify(token)
    with pytest.raises(InvalidTokenError):
        PrincipalVerifier(keys, FakeClock(NOW)).verify(token)


@pytest.mark.parametrize("change", ODD.values(), ids=ODD.keys())
async def test_who_is_signed_for_must_be_somebody(change: dict[str, Any]) -> None:
    claims = {name: value for name, value in (CLAIMS | change).items() if value is not None}
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(SHARED, FakeClock(NOW)).verify(signed(claims))
    if "aud" not in change:
        with pytest.raises(InvalidTokenError):
            PrincipalVerifier(SHARED, FakeClock(NOW)).verify(signed(claims | {"aud": AUDIENCE}))


async def test_a_key_pairs_private_half_signs_nothing_for_users() -> None:
    token = jwt.encode(CLAIMS | {"aud": AUDIENCE}, SIGNER, algorithm="EdDSA")
    assert PrincipalVerifier(KEYS, FakeClock(NOW)).verify(token).sub == "u1"
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(KEYS, FakeClock(NOW)).verify(token)
