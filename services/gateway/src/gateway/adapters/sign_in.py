"""Sign-in links for the console, if this installation signs tokens itself."""

from runtime.auth.tokens import TokenMinter

LINK_SECONDS = 12 * 3600
"""Lifetime of a link."""


class SignIn:
    """Makes sign-in links. Until it expires, a link is worth as much as the admin's password."""

    def __init__(self, minter: TokenMinter) -> None:
        self._minter = minter

    def link(self, origin: str, company: str) -> str:
        """The console's address with a token after #, which browsers send to no server, so that no log contains it."""
        token = self._minter.mint(sub="admin", role="admin", company=company, ttl=LINK_SECONDS)
        return f"{origin}/console#token={token}"
