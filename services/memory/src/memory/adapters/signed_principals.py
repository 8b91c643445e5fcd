"""Identifies a message's author by the principal that the gateway signed."""

from memory.domain.conversation import Person
from runtime.auth.principals import PrincipalVerifier
from runtime.errors import InvalidTokenError


class PrincipalCheck:
    def __init__(self, verifier: PrincipalVerifier) -> None:
        self._verifier = verifier

    def person(self, principal: str, company: str, conversation: str) -> Person | None:
        """The author whom a principal proves; None if it is invalid, or is for another company or conversation. An
        expired principal still proves who wrote the message."""
        try:
            claims = self._verifier.verify(principal, expired_too=True)
        except InvalidTokenError:
            return None
        if claims.company != company or claims.conversation not in (None, conversation):
            return None
        return Person(claims.sub, claims.role, claims.plan)
