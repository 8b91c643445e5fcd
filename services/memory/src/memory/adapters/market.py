"""Calls the market-adapter. Which symbols exist is cached, since that hardly ever changes."""

import math
import time
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from contracts import market_rpc
from contracts.memory_rpc import UserRef
from memory.errors import ServiceUnavailableError
from runtime.calls.deadlines import last_part_deadline
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.recent import Bounded

CALL_TIMEOUT_SECONDS = 5.0
"""Default deadline of a call."""
MAX_SYMBOLS = 20
"""Symbols in one request at most."""
KNOWN_SECONDS = 3_600.0
"""How long a symbol that has a price is cached as existing."""
UNKNOWN_SECONDS = 60.0
"""How long an unknown symbol is cached as such."""
MAX_CACHED = 20_000
NO_SYMBOL = frozenset({"bad_symbol", "no_data", "not_in_sample"})
"""Error reasons that concern the symbol itself; all others concern the provider."""

AnswerT = TypeVar("AnswerT")


class MarketClient:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._existence = Bounded[str, tuple[bool, float]](MAX_CACHED)

    async def known_symbols(self, symbols: list[str]) -> frozenset[str]:
        """The symbols that have a price; raises ServiceUnavailableError."""
        now = time.monotonic()
        cached = {
            name: self._existence[name][0] for name in symbols if self._existence.get(name, (False, 0.0))[1] > now
        }
        uncached = [name for name in dict.fromkeys(symbols) if name not in cached]
        symbols_known: set[str] = {name for name, exists in cached.items() if exists}
        for start in range(0, len(uncached), MAX_SYMBOLS):
            symbols_known |= (await self.quotes(uncached[start : start + MAX_SYMBOLS])).keys()
        return frozenset(symbols_known)

    async def quotes(self, symbols: Sequence[str]) -> dict[str, market_rpc.QuoteView]:
        """Prices by symbol, for the symbols that a provider knows."""
        tickers = list(dict.fromkeys(symbols))[:MAX_SYMBOLS]
        if not tickers:
            return {}
        call = self._rpc.call(
            market_rpc.MARKET_QUOTES,
            market_rpc.QuotesRequest(symbols=tickers),
            deadline=last_part_deadline(CALL_TIMEOUT_SECONDS),
        )
        reply = await _reply(call, "what symbols cost")
        # Quotes of other symbols, and those without a valid price, are ignored.
        valid = (quote for quote in reply.quotes if 0 < quote.price < math.inf)
        quotes = {quote.symbol: quote for quote in valid if quote.symbol in tickers}
        for name in quotes:
            self._cache(name, exists=True, seconds=KNOWN_SECONDS)
        for failure in reply.errors:
            if failure.reason in NO_SYMBOL and failure.ticker in tickers:
                self._cache(failure.ticker, exists=False, seconds=UNKNOWN_SECONDS)
        return quotes

    async def status(self) -> market_rpc.MarketStatusReply:
        """The state of the sessions now."""
        call = self._rpc.call(
            market_rpc.MARKET_STATUS,
            market_rpc.MarketStatusRequest(),
            deadline=last_part_deadline(CALL_TIMEOUT_SECONDS),
        )
        return await _reply(call, "whether it is open")

    async def events(self, symbols: Sequence[str]) -> list[market_rpc.MarketEvent]:
        """The upcoming events of these symbols and of the economy, soonest first."""
        request = market_rpc.MarketEventsRequest(symbols=list(symbols)[:MAX_SYMBOLS])
        call = self._rpc.call(market_rpc.MARKET_EVENTS, request, deadline=last_part_deadline(CALL_TIMEOUT_SECONDS))
        return (await _reply(call, "what lies ahead")).events

    async def holdings(self, company: str, user: str) -> market_rpc.Holdings:
        call = self._rpc.call(
            market_rpc.HOLDINGS,
            UserRef(company_id=company, user_id=user),
            deadline=last_part_deadline(CALL_TIMEOUT_SECONDS),
        )
        return await _reply(call, "what a user holds")

    def _cache(self, symbol: str, *, exists: bool, seconds: float) -> None:
        self._existence[symbol] = (exists, time.monotonic() + seconds)


async def _reply(call: Awaitable[AnswerT], subject: str) -> AnswerT:
    try:
        return await call
    except RpcError as error:
        raise ServiceUnavailableError(f"the market-adapter cannot return {subject}: {error}") from error
