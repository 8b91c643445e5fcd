"""Identifies a message's author by the principal that the gateway signed."""

from memory.domain.conversation import Person
from runtime.auth.principals import PrincipalVerifier
from runtime.errors import InvalidTokenError


class PrincipalCheck:
    def __init__(self, verifier: PrincipalVerifier) -> None:
        self._verifier = verifier

    def person(self, principal: str, company: str, conversation: str) -> Person | None:
        """None: it proves nothing, or is for another company or conversation. An expired one still proves who wrote
        the message."""
        try:
            found = self._verifier.verify(principal, expired_too=True)
        except InvalidTokenError:
            return None
        if found.company != company or found.conversation not in (None, conversation):
            return None
        return Person(found.sub, found.role, found.plan)
