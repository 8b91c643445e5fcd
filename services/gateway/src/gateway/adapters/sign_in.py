"""Links into the console, where this installation signs tokens itself."""

from runtime.tokens import TokenMinter

SECONDS = 12 * 3600
"""For which such a link is good."""


class SignIn:
    """Makes links; a link is as good as its admin's password until it ends."""

    def __init__(self, minter: TokenMinter) -> None:
        self._minter = minter

    def link(self, origin: str, company: str) -> str:
        """The console's address with a token behind #, which browsers send to no server and which logs do not see."""
        token = self._minter.mint(sub="admin", role="admin", company=company, ttl=SECONDS)
        return f"{origin}/console#token={token}"
