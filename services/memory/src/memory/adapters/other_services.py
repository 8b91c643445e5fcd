"""OthersEraser: the market-adapter (accounts, orders, alerts, watchlists), the tool-executor (records, results)."""

import asyncio

from contracts import market_rpc, tools_rpc
from contracts.memory_rpc import UserRef
from memory.errors import ServicesUnavailable
from runtime.errors import RpcError
from runtime.rpc import RpcClient

DEADLINE = 8.0
"""Seconds for another service to delete what it has of a user."""


class OtherServices:
    """OthersEraser."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def erase(self, company: str, user: str) -> dict[str, int]:
        """Deletes everything of the user there; how much, by service. Raises ServicesUnavailable."""
        who = UserRef(company_id=company, user_id=user)
        # All are told, whatever comes of one of them: what can be deleted now is.
        outcomes = await asyncio.gather(
            self._rpc.call(market_rpc.USER_FORGET, who, deadline=DEADLINE),
            self._rpc.call(tools_rpc.USER_FORGET, who, deadline=DEADLINE),
            return_exceptions=True,
        )
        deleted: dict[str, int] = {}
        for service, outcome in zip(("market-adapter", "tool-executor"), outcomes, strict=True):
            if isinstance(outcome, RpcError):
                raise ServicesUnavailable(f"a user could not be deleted everywhere: {outcome}") from outcome
            if isinstance(outcome, BaseException):
                raise outcome
            deleted[service] = outcome.deleted
        return deleted
