"""Identifies, by its principal, who sends a request that belongs to no conversation."""

import time
from collections.abc import Callable

from agent.ports import Requester
from contracts.languages import language_of_tags
from runtime.auth.principals import Verify
from runtime.errors import InvalidTokenError


def prover(verify: Verify) -> Callable[[str, str], Requester | None]:
    """A function of (principal, company) that returns the requester. None when it is not a principal of this company,
    has expired, or is bound to a conversation.
    """

    def prove(principal: str, company: str) -> Requester | None:
        try:
            proven = verify(principal)
        except InvalidTokenError:
            return None
        if proven.company != company or proven.conversation is not None or proven.exp <= time.time():
            return None
        language = language_of_tags(proven.language)
        return Requester(principal=principal, role=proven.role, plan=proven.plan, user=proven.sub, language=language)

    return prove
