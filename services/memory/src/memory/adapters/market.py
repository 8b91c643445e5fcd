"""The market-adapter, asked over the bus."""

from contracts.market_rpc import MARKET_QUOTES, QuotesRequest
from memory.errors import MarketUnavailable
from runtime.errors import RpcError
from runtime.rpc import RpcClient

DEADLINE = 5.0


class Market:
    """KnownSymbols."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def known(self, symbols: list[str]) -> frozenset[str]:
        try:
            reply = await self._rpc.call(MARKET_QUOTES, QuotesRequest(symbols=symbols), deadline=DEADLINE)
        except RpcError as error:
            raise MarketUnavailable(f"the market cannot tell which symbols there are: {error}") from error
        return frozenset(quote.symbol for quote in reply.quotes)
