"""Requests the state of the market from the market-adapter: its present, and its symbols."""

from contracts.market_rpc import MARKET_STATUS, MarketStatusReply, MarketStatusRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

DEADLINE = 3.0
"""Seconds for the answer."""


class MarketState:
    """Requests the state anew each time, because time goes on, and a folder of price files may change."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def now(self) -> MarketStatusReply | None:
        """Returns the state; None if the market-adapter does not answer."""
        try:
            return await self._rpc.call(MARKET_STATUS, MarketStatusRequest(), deadline=DEADLINE)
        except RpcError:
            return None
