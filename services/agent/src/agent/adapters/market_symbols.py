"""The symbols that the market has, asked of the market-adapter."""

from collections.abc import Sequence

from contracts.market_rpc import MARKET_STATUS, MarketStatusRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

DEADLINE = 3.0
"""Seconds for the answer."""


class MarketSymbols:
    """Asked anew each time: a folder of files may change."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def all(self) -> Sequence[str]:
        """None where they are many, or nobody can list them now."""
        try:
            return (await self._rpc.call(MARKET_STATUS, MarketStatusRequest(), deadline=DEADLINE)).symbols
        except RpcError:
            return ()
