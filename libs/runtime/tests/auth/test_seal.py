"""Companies' secrets: sealed for one company, opened with any of the keys, and of no use without."""

import pytest
from pydantic import SecretStr

from runtime.auth.seal import NotSealableError, Seal
from runtime.settings import SealSettings

OLD, NEW = "o" * 32, "n" * 32


def seal(*keys: str) -> Seal:
    return Seal(SealSettings(secrets_key=SecretStr(",".join(keys)) if keys else None))


def test_a_sealed_secret_says_nothing_and_opens_for_its_company_alone() -> None:
    closed = seal(OLD).close("s3cret", "acme")
    assert "s3cret" not in closed
    assert closed != seal(OLD).close("s3cret", "acme")
    assert seal(OLD).open(closed, "acme") == "s3cret"
    for other in (seal(NEW), seal()):
        with pytest.raises(NotSealableError, match="NEXUS_SECRETS_KEY"):
            other.open(closed, "acme")
    with pytest.raises(NotSealableError):
        seal(OLD).open(closed, "other")
    with pytest.raises(NotSealableError):
        seal(OLD).open(closed[:-6] + "AAAAAA", "acme")


def test_a_key_is_replaced_without_a_secret_lost() -> None:
    both = seal(NEW, OLD)
    assert both.open(seal(OLD).close("s3cret", "acme"), "acme") == "s3cret"
    assert seal(NEW).open(both.close("s3cret", "acme"), "acme") == "s3cret"


def test_without_a_key_nothing_is_kept_and_what_is_plain_stays_plain() -> None:
    with pytest.raises(NotSealableError, match="NEXUS_SECRETS_KEY"):
        seal().close("s3cret", "acme")
    assert seal().open("plain", "acme") == "plain"
    with pytest.raises(ValueError, match="32 characters"):
        seal("short")
