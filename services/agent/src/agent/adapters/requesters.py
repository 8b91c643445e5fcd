"""Identifies the sender of a request outside conversations by their principal."""

import time
from collections.abc import Callable

from agent.ports import Requester
from contracts.languages import language_of_tags
from runtime.auth.principals import Verify
from runtime.errors import InvalidTokenError


def prover(verify: Verify) -> Callable[[str, str], Requester | None]:
    """Returns a function of (principal, company) that returns the requester, or None if the principal is not one of
    this company, has expired, or is bound to a conversation.
    """

    def prove(principal: str, company: str) -> Requester | None:
        try:
            claims = verify(principal)
        except InvalidTokenError:
            return None
        if claims.company != company or claims.conversation is not None or claims.exp <= time.time():
            return None
        language = language_of_tags(claims.language)
        return Requester(principal=principal, role=claims.role, plan=claims.plan, user=claims.sub, language=language)

    return prove
