"""Demo users of the development stack."""

from dataclasses import dataclass

from gateway.ports import VisitorToken
from runtime.auth.tokens import TokenMinter
from runtime.clock import Clock
from runtime.settings import TokenSettings

COMPANY = "demo"
TOKEN_SECONDS = 12 * 3600
"""Lifetime of a demo user's token."""


@dataclass(frozen=True, slots=True)
class _Person:
    role: str
    plan: str = "free"
    name: str | None = None


# The same people as those of `nexus token` and `nexus chat --as`, so that they have the same conversations here.
_PEOPLE = {
    "free": _Person("user", "free"),
    "pro": _Person("user", "pro"),
    "premium": _Person("user", "premium"),
    "commercial": _Person("commercial", name="Elena"),
    "admin": _Person("admin", name="Martin"),
}


class DemoPersonas:
    """Makes tokens of the company `demo` with the stack's own secret."""

    def __init__(self, settings: TokenSettings, clock: Clock) -> None:
        """Raises NotReadyError without NEXUS_JWT_SECRET."""
        self._minter = TokenMinter(settings, clock)
        self._clock = clock

    def token(self, persona: str) -> VisitorToken | None:
        """A token valid for twelve hours; None if there is no such persona."""
        person = _PEOPLE.get(persona)
        if person is None:
            return None
        user = f"demo-{persona}"
        token = self._minter.mint(
            sub=user, role=person.role, company=COMPANY, plan=person.plan, ttl=TOKEN_SECONDS, name=person.name
        )
        return VisitorToken(token, user, self._clock.now().timestamp() + TOKEN_SECONDS)
