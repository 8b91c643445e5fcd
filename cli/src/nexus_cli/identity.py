"""Development tokens, signed with the local stack's own secret."""

from __future__ import annotations

from pydantic import SecretStr

from runtime.auth.tokens import TokenMinter
from runtime.settings import TokenSettings


def development_token(secret: str, *, role: str, user: str, company: str, plan: str, hours: float = 12.0) -> str:
    """Signs a user's token, valid for `hours`.

    Raises:
        InvalidTokenError: one of the values is invalid.
    """
    minter = TokenMinter(TokenSettings(jwt_secret=SecretStr(secret)))
    return minter.mint(sub=user, role=role, company=company, plan=plan, ttl=int(hours * 3600))
