"""Development identities: tokens and principals signed with the local stack's own secrets."""

from __future__ import annotations

from pydantic import SecretStr

from runtime.auth.principals import PrincipalSigner
from runtime.auth.tokens import TokenMinter
from runtime.settings import TokenSettings

_PRINCIPAL_SECONDS = 600


def development_token(secret: str, *, role: str, user: str, company: str, plan: str, hours: float = 12.0) -> str:
    """Signs a user's token, valid for `hours`.

    Raises:
        InvalidTokenError: one of the values is invalid.
    """
    minter = TokenMinter(TokenSettings(jwt_secret=SecretStr(secret)))
    return minter.mint(sub=user, role=role, company=company, plan=plan, ttl=int(hours * 3600))


def development_principal(key: str, *, user: str, role: str, company: str, plan: str) -> str:
    """Signs a principal like the gateway's, valid for ten minutes.

    Raises:
        NotReadyError: the key is a public one, which services have in production.
    """
    signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(key)))
    return signer.issue(sub=user, role=role, company=company, plan=plan, ttl=_PRINCIPAL_SECONDS)
