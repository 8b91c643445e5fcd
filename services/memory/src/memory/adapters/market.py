"""Calls to the market-adapter. Which symbols exist is cached, since it hardly ever changes."""

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

DEADLINE = 5.0
"""Default deadline in seconds."""
ASKED = 20
"""The most symbols in one request."""
KNOWN_SECONDS = 3_600.0
"""How long a symbol with a price is cached as existing."""
UNKNOWN_SECONDS = 60.0
"""How long an unknown symbol is cached as such."""
REMEMBERED = 20_000
NO_SYMBOL = frozenset({"bad_symbol", "no_data", "not_in_sample"})
"""Error reasons that concern the symbol itself; others concern the provider."""

AnswerT = TypeVar("AnswerT")


class MarketClient:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._known = Bounded[str, tuple[bool, float]](REMEMBERED)

    async def known_symbols(self, symbols: list[str]) -> frozenset[str]:
        """The symbols that have a price; raises ServiceUnavailableError."""
        now = time.monotonic()
        heard = {name: self._known[name][0] for name in symbols if self._known.get(name, (False, 0.0))[1] > now}
        unheard = [name for name in dict.fromkeys(symbols) if name not in heard]
        found: set[str] = {name for name, known in heard.items() if known}
        for start in range(0, len(unheard), ASKED):
            found |= (await self.quotes(unheard[start : start + ASKED])).keys()
        return frozenset(found)

    async def quotes(self, symbols: Sequence[str]) -> dict[str, market_rpc.QuoteView]:
        """Prices by symbol, of those that a provider knows."""
        asked = list(dict.fromkeys(symbols))[:ASKED]
        if not asked:
            return {}
        question = self._rpc.call(
            market_rpc.MARKET_QUOTES, market_rpc.QuotesRequest(symbols=asked), deadline=last_part_deadline(DEADLINE)
        )
        reply = await _answered(question, "what symbols cost")
        # Anything that was not asked for, or is no price, is ignored.
        quotes = {one.symbol: one for one in reply.quotes if one.symbol in asked and _is_price(one.price)}
        for name in quotes:
            self._hear(name, known=True, seconds=KNOWN_SECONDS)
        for failure in reply.errors:
            if failure.reason in NO_SYMBOL and failure.ticker in asked:
                self._hear(failure.ticker, known=False, seconds=UNKNOWN_SECONDS)
        return quotes

    async def status(self) -> market_rpc.MarketStatusReply:
        """The state of the sessions now."""
        question = self._rpc.call(
            market_rpc.MARKET_STATUS, market_rpc.MarketStatusRequest(), deadline=last_part_deadline(DEADLINE)
        )
        return await _answered(question, "whether it is open")

    async def events(self, symbols: Sequence[str]) -> list[market_rpc.MarketEvent]:
        """The upcoming events of these symbols and of the economy, soonest first."""
        request = market_rpc.MarketEventsRequest(symbols=list(symbols)[:ASKED])
        return (
            await _answered(
                self._rpc.call(market_rpc.MARKET_EVENTS, request, deadline=last_part_deadline(DEADLINE)),
                "what lies ahead",
            )
        ).events

    async def holdings(self, company: str, user: str) -> market_rpc.Holdings:
        question = self._rpc.call(
            market_rpc.HOLDINGS, UserRef(company_id=company, user_id=user), deadline=last_part_deadline(DEADLINE)
        )
        return await _answered(question, "what a user holds")

    def _hear(self, symbol: str, *, known: bool, seconds: float) -> None:
        self._known[symbol] = (known, time.monotonic() + seconds)


async def _answered(question: Awaitable[AnswerT], what: str) -> AnswerT:
    try:
        return await question
    except RpcError as error:
        raise ServiceUnavailableError(f"the market-adapter cannot return {what}: {error}") from error


def _is_price(price: float) -> bool:
    return math.isfinite(price) and price > 0
