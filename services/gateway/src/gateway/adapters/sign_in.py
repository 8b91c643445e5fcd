"""Signing in to the console: memory asks companies' providers; links, where this installation signs tokens itself."""

from contracts.sign_in_rpc import (
    SIGN_IN_BEGIN,
    SIGN_IN_FINISH,
    SignInBegin,
    SignInBegun,
    SignInFinish,
    SignInFinished,
)
from gateway.adapters.service_calls import ask
from runtime.rpc import RpcClient
from runtime.tokens import TokenMinter

PATIENCE = 15.0
"""Seconds for memory, which gives a company's provider 12."""

SECONDS = 12 * 3600
"""For which such a link is good."""


class SignIn:
    """Makes links; a link is as good as its admin's password until it ends."""

    def __init__(self, minter: TokenMinter) -> None:
        self._minter = minter

    def link(self, origin: str, company: str, user: str = "admin") -> str:
        """The console's address with a token behind #, which browsers send to no server and which logs do not see."""
        token = self._minter.mint(sub=user, role="admin", company=company, ttl=SECONDS)
        return f"{origin}/console#token={token}"


class BusSignIns:
    """Both halves of a sign-in at a company's provider."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def begin(self, asked: SignInBegin) -> SignInBegun:
        """Where the browser is to be sent, or why not; raises Unavailable."""
        return await ask(self._client, SIGN_IN_BEGIN, asked, deadline=PATIENCE)

    async def finish(self, asked: SignInFinish) -> SignInFinished:
        """Who has signed in, or why nobody has; raises Unavailable."""
        return await ask(self._client, SIGN_IN_FINISH, asked, deadline=PATIENCE)
