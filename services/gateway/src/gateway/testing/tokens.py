"""For tests: tokens like those of the product."""

from gateway.adapters.identity import build_identity
from gateway.ports import Visit
from runtime.auth.tokens import TokenMinter
from runtime.clock import SystemClock
from runtime.settings import TokenSettings


class TokenMaker:
    """Creates tokens signed with one secret."""

    def __init__(self, settings: TokenSettings) -> None:
        self._settings = settings
        self._minter = TokenMinter(settings)

    def visitor(self, subject: str, company: str = "acme", lifetime: int = 3600) -> str:
        """A visitor's token."""
        return (
            build_identity(self._settings, lifetime, SystemClock())
            .tokens.visitors.make(company, subject, Visit())
            .token
        )

    def user(
        self, subject: str, role: str = "user", company: str = "acme", plan: str = "free", name: str | None = None
    ) -> str:
        """A customer's, a human agent's or a service's token."""
        return self._minter.mint(sub=subject, role=role, company=company, plan=plan, name=name)
