"""Development identities: tokens and principals signed with the local stack's own secrets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jwt


def development_token(secret: str, *, role: str, user: str, company: str, plan: str, hours: float = 12.0) -> str:
    """A user token (HS256) as the gateway takes it: sub, role, company, plan, exp."""
    expires = datetime.now(UTC) + timedelta(hours=hours)
    claims = {"sub": user, "role": role, "company": company, "plan": plan, "exp": expires}
    return jwt.encode(claims, secret, algorithm="HS256")


def development_principal(key: str, *, user: str, role: str, company: str, plan: str) -> str:
    """A principal (HS256) as the services take it, valid for ten minutes."""
    expires = datetime.now(UTC) + timedelta(minutes=10)
    claims = {"sub": user, "role": role, "company": company, "plan": plan, "exp": expires}
    return jwt.encode(claims, key, algorithm="HS256")
