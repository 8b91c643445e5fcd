"""Whose conversation it is: proven by signature."""

from pydantic import SecretStr

from memory.adapters.signed_principals import PrincipalCheck
from memory.domain.conversation import Person
from runtime.auth.principals import PrincipalSigner, PrincipalVerifier
from runtime.settings import TokenSettings

TOKENS = TokenSettings(principal_key=SecretStr("k" * 32))
SIGNER = PrincipalSigner(TOKENS)
PRINCIPALS = PrincipalCheck(PrincipalVerifier(TOKENS))


def test_a_principal_proves_its_person_even_when_the_message_is_old() -> None:
    fresh = SIGNER.issue(sub="v1", role="visitor", company="acme")
    old = SIGNER.issue(sub="v2", role="user", company="acme", plan="pro", ttl=-3600)
    assert PRINCIPALS.person(fresh, "acme", "c1") == Person("v1", "visitor", "free")
    assert PRINCIPALS.person(old, "acme", "c1") == Person("v2", "user", "pro")


def test_a_principal_of_another_company_or_conversation_or_signer_proves_nobody() -> None:
    bound = SIGNER.issue(sub="v1", role="visitor", company="acme", conversation="c1")
    other = PrincipalSigner(TokenSettings(principal_key=SecretStr("x" * 32)))
    assert PRINCIPALS.person(bound, "acme", "c1") is not None
    assert PRINCIPALS.person(bound, "acme", "c2") is None
    assert PRINCIPALS.person(bound, "rival", "c1") is None
    assert PRINCIPALS.person(other.issue(sub="v1", role="visitor", company="acme"), "acme", "c1") is None
    assert PRINCIPALS.person("nonsense", "acme", "c1") is None
