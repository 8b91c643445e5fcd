"""Known users: what a company's JWT proves, and what it does not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from contracts.company import CompanyConfig, CompanySettings
from memory.domain.company import HIDDEN, checked, patched, shown
from memory.domain.identity import IdentityRefusedError, known_user
from memory.errors import BadFieldsError

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECRET = "a secret of the company's, of forty characters"


@pytest.fixture(scope="module")
def rsa() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: RSAPrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def config(*keys: dict[str, Any], plan: str = "pro") -> CompanyConfig:
    own = {"id": "k1", "algorithm": "HS256", "key": SECRET}
    return checked({"companyId": "acme", "identity": {"keys": [*(keys or (own,))], "highestPlan": plan}})


def token(key: Any = SECRET, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **claims: Any) -> str:
    whole = {"sub": "ana-7", "aud": "acme", "exp": NOW + timedelta(minutes=30)} | claims
    return jwt.encode({k: v for k, v in whole.items() if v is not None}, key, algorithm=algorithm, headers=headers)


def test_a_signed_user_is_known_until_the_token_ends() -> None:
    user = known_user(config(), token(nbf=NOW + timedelta(seconds=5)), NOW)
    assert (user.user_id, user.plan, user.expires_at) == ("ana-7", "free", NOW + timedelta(minutes=30))


@pytest.mark.parametrize(
    ("claimed", "highest", "plan"),
    [("premium", "pro", "pro"), ("pro", "premium", "pro"), ("premium", "free", "free"), ("root", "premium", "free")],
)
def test_a_plan_is_never_more_than_the_settings_allow(claimed: str, highest: str, plan: str) -> None:
    assert known_user(config(plan=highest), token(plan=claimed, role="admin"), NOW).plan == plan


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ({"aud": "other"}, "aud"),
        ({"aud": None}, "aud"),
        ({"exp": None}, "exp"),
        ({"exp": NOW - timedelta(minutes=1)}, "expired"),
        ({"nbf": NOW + timedelta(seconds=6)}, "not valid yet"),
        ({"nbf": float("inf")}, "nbf"),
        ({"exp": NOW + timedelta(hours=2)}, "too long"),
        ({"exp": float("nan")}, "exp"),
        ({"exp": float("inf")}, "exp"),
        ({"exp": 10**400}, "exp"),
        ({"sub": "chat.>"}, "sub"),
        ({"sub": ""}, "sub"),
    ],
)
def test_what_is_missing_wrong_or_too_long_is_said(claims: dict[str, Any], problem: str) -> None:
    with pytest.raises(IdentityRefusedError, match=problem):
        known_user(config(), token(**claims), NOW)


def test_only_the_companys_keys_count_each_with_its_own_algorithm(rsa: RSAPrivateKey) -> None:
    public = {"id": "k2", "algorithm": "RS256", "key": pem(rsa)}
    assert known_user(config(public), token(rsa, "RS256", {"kid": "k2"}), NOW).user_id == "ana-7"
    assert known_user(config(public), token(rsa, "RS256"), NOW).user_id == "ana-7"
    forged = [
        token("another secret of the same length, really"),
        token(rsa, "RS256"),
        token(headers={"kid": "k9"}),
        token(SECRET, "HS512"),
        jwt.encode({"sub": "ana-7", "aud": "acme", "exp": NOW + timedelta(minutes=5)}, "", algorithm="none"),
        "no token",
    ]
    for one in forged:
        with pytest.raises(IdentityRefusedError):
            known_user(config(), one, NOW)
    other = generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(IdentityRefusedError):
        known_user(config(public), token(other, "RS256"), NOW)
    with pytest.raises(IdentityRefusedError, match="no identity keys"):
        known_user(checked({"companyId": "acme"}), token(), NOW)


def test_keys_may_be_rotated_with_both_good_for_a_while() -> None:
    new = {"id": "k2", "algorithm": "HS256", "key": SECRET[::-1]}
    both = config({"id": "k1", "algorithm": "HS256", "key": SECRET}, new)
    old, by_new = known_user(both, token(), NOW), known_user(both, token(SECRET[::-1]), NOW)
    assert (old.key, by_new.key) == ("k1", "k2")
    assert by_new == old.model_copy(update={"key": "k2"})


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ({"algorithm": "HS256", "key": "too short to be safe"}, "32 characters"),
        ({"algorithm": "HS256", "key": "-----BEGIN PUBLIC KEY-----\nMII and so on and on"}, "RS256"),
        ({"algorithm": "RS256", "key": "no PEM at all"}, "PEM"),
    ],
)
def test_a_key_that_cannot_be_one_is_refused_in_its_place(key: dict[str, Any], wrong: str) -> None:
    with pytest.raises(BadFieldsError, match=wrong) as refused:
        config({"id": "k1"} | key)
    assert refused.value.fields[0].field == "identity.keys.0.key"


def test_secret_keys_are_hidden_and_kept_when_they_come_back_hidden(rsa: RSAPrivateKey) -> None:
    made = config(
        {"id": "k1", "algorithm": "HS256", "key": SECRET}, {"id": "k2", "algorithm": "RS256", "key": pem(rsa)}
    )
    seen = shown(CompanySettings(config=made, version=1)).config
    assert [key.key for key in seen.identity.keys] == [HIDDEN, pem(rsa)]
    again = patched(made, {"identity": seen.identity.model_dump(mode="json", by_alias=True)})
    assert again.identity == made.identity
