"""Requests the market's symbols from the market-adapter."""

from collections.abc import Sequence

from contracts.market_rpc import MARKET_STATUS, MarketStatusRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

DEADLINE = 3.0
"""Seconds for the answer."""


class MarketSymbols:
    """Requests the symbols anew each time, because a folder of price files may change."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def all(self) -> Sequence[str]:
        """Returns all symbols; none if there are too many to list, or if the market-adapter does not answer."""
        try:
            return (await self._rpc.call(MARKET_STATUS, MarketStatusRequest(), deadline=DEADLINE)).symbols
        except RpcError:
            return ()
