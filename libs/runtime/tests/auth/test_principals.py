"""Principals: what is accepted, and everything that must not be."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pydantic import SecretStr

from runtime.auth.principals import Principal, PrincipalSigner, PrincipalVerifier
from runtime.errors import ExpiredTokenError, InvalidTokenError, NotReadyError
from runtime.settings import TokenSettings
from runtime.testing.clock import FakeClock

SHARED = TokenSettings(principal_key=SecretStr("s" * 32))
NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = int(NOW.timestamp()) + 600


def ed25519() -> tuple[TokenSettings, TokenSettings]:
    """Settings with a new private key, and with its public key."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return (
        TokenSettings(principal_key=SecretStr(private.replace("\n", "\\n"))),
        TokenSettings(principal_key=SecretStr(public)),
    )


@pytest.mark.parametrize("settings", [(SHARED, SHARED), ed25519()], ids=["HS256", "EdDSA"])
def test_a_principal_is_what_the_gateway_signed(settings: tuple[TokenSettings, TokenSettings]) -> None:
    signer, verifier = PrincipalSigner(settings[0], FakeClock(NOW)), PrincipalVerifier(settings[1], FakeClock(NOW))
    token = signer.issue(sub="u1", role="user", company="acme", plan="pro", conversation="c1", language="en", ttl=600)
    assert verifier.verify(token) == Principal("u1", "user", "acme", "pro", LATER, "c1", "en")
    assert verifier.verify(token) is verifier.verify(token)
    head, body, signature = token.split(".")
    for broken in (f"{head}.{body}.", f"{head}.{body[:-2]}.{signature}", token + "x", "x", ""):
        with pytest.raises(InvalidTokenError):
            verifier.verify(broken)


async def test_an_expired_principal_proves_who_wrote_and_nothing_more() -> None:
    now = FakeClock(NOW)
    signer, verifier = PrincipalSigner(SHARED, now), PrincipalVerifier(SHARED, now)
    token = signer.issue(sub="u1", role="user", company="acme", ttl=60)
    assert verifier.verify(token).sub == "u1"
    await now.advance(61)
    with pytest.raises(ExpiredTokenError):
        verifier.verify(token)
    assert verifier.verify(token, expired_too=True).sub == "u1"


async def test_another_key_and_another_algorithm_are_refused_and_told_for_ten_minutes() -> None:
    private, public = ed25519()
    other_private, _ = ed25519()
    for signer in (PrincipalSigner(other_private, FakeClock(NOW)), PrincipalSigner(SHARED, FakeClock(NOW))):
        now = FakeClock(NOW)
        verifier = PrincipalVerifier(public, now)
        with pytest.raises(InvalidTokenError):
            verifier.verify("x")
        assert await verifier.check() is None
        with pytest.raises(InvalidTokenError):
            verifier.verify(signer.issue(sub="u1", role="user", company="acme"))
        assert "another key than its NEXUS_PRINCIPAL_KEY" in (await verifier.check() or "")
        await now.advance(600)
        assert await verifier.check() is None
    with pytest.raises(NotReadyError, match="private"):
        PrincipalSigner(public)
    assert PrincipalVerifier(private, FakeClock(NOW))
