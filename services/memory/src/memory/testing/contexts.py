"""For tests of contexts: the market-adapter and the executor, played by the test, and requests for contexts."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from contracts import market_rpc
from contracts.context_rpc import CONTEXT, ContextRequest, FullContext
from contracts.memory_rpc import MEMORY_PATCH, MemoryPatchRequest, UserRef
from contracts.rpc import Rpc
from contracts.tools_rpc import CATALOGUE, CatalogueReply, CatalogueRequest, CatalogueTool
from memory.testing.harness import Replica, Writer
from runtime.calls.rpc import RpcServer

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
UNKNOWN = {"ZZZZ", "QQQ"}
TOOLS = {"get_price": "market", "get_portfolio": "portfolio", "explain_concept": "education"}

RequestsBySubject = dict[str, list[Any]]


class OtherServices:
    """The market-adapter and the executor, as the test wants them. `asked`: the requests that they received, by
    subject."""

    def __init__(self) -> None:
        self.asked: RequestsBySubject = {}
        self.before: dict[str, Callable[[], Awaitable[None]]] = {}
        """Awaited before a method answers, by subject."""

    async def serve(self, memory: Replica, *without: str) -> None:
        server = RpcServer(memory.client)
        methods: list[tuple[Rpc[Any, Any], Callable[[Any], Awaitable[Any]]]] = [
            (market_rpc.MARKET_STATUS, self.status),
            (market_rpc.MARKET_EVENTS, self.events),
            (market_rpc.MARKET_QUOTES, self.quotes),
            (market_rpc.HOLDINGS, self.holdings),
            (CATALOGUE, self.catalogue),
        ]
        for method, answer in methods:
            if method.subject not in without:
                await server.serve(method, answer)
        await memory.client.flush()

    async def _hear(self, subject: str, request: Any) -> None:
        self.asked.setdefault(subject, []).append(request)
        if subject in self.before:
            await self.before[subject]()

    async def status(self, request: market_rpc.MarketStatusRequest) -> market_rpc.MarketStatusReply:
        await self._hear(market_rpc.MARKET_STATUS.subject, request)
        return market_rpc.MarketStatusReply(
            status="open", current_time=NOW, next_open=NOW, next_close=NOW, source="test", as_of=NOW
        )

    async def events(self, request: market_rpc.MarketEventsRequest) -> market_rpc.MarketEventsReply:
        await self._hear(market_rpc.MARKET_EVENTS.subject, request)
        event = market_rpc.MarketEvent(
            date=NOW.date(), name="Earnings", impact="high", kind="earnings", symbol="AAPL", source="test"
        )
        return market_rpc.MarketEventsReply(events=[event], source="test", as_of=NOW)

    async def quotes(self, request: market_rpc.QuotesRequest) -> market_rpc.QuotesReply:
        await self._hear(market_rpc.MARKET_QUOTES.subject, request)
        errors = [
            market_rpc.TickerError(error="no such symbol", ticker=name, reason="no_data")
            for name in request.symbols
            if name in UNKNOWN
        ]
        return market_rpc.QuotesReply(
            quotes=[quote(name) for name in request.symbols if name not in UNKNOWN], errors=errors
        )

    async def holdings(self, request: UserRef) -> market_rpc.Holdings:
        await self._hear(market_rpc.HOLDINGS.subject, request)
        positions = [
            {"symbol": name, "quantity": 2.0, "average_price": 9.0, "cost": 18.0, "price": 10.0, "value": 20.0}
            for name in ("MSFT", "IBM")
        ]
        portfolio = {"positions": positions, "cash": 99_000.0, "equity": 99_040.0, "currency": "USD"}
        alert = market_rpc.ActiveAlert(id="a1", symbol="AAPL", condition=">=", price=200.0)
        return market_rpc.Holdings(portfolio=portfolio, alerts=[alert], watchlist=["GOOG"])

    async def catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        await self._hear(CATALOGUE.subject, request)
        tools = [
            CatalogueTool(
                id=f"x.{name}", name=name, description="d", category=kind, required_plan="free", parameters={}
            )
            for name, kind in TOOLS.items()
        ]
        return CatalogueReply(tools=tools)


def quote(symbol: str) -> market_rpc.QuoteView:
    """Returns a price as any provider could report it."""
    return market_rpc.QuoteView(
        symbol=symbol,
        price=10.0,
        change_percent=1.5,
        change_basis="x",
        currency="USD",
        source="test",
        as_of=NOW,
    )


async def context(memory: Replica, writer: Writer, seq: int, text: str = "", **fields_given: Any) -> FullContext:
    """Returns the context that memory supplies for ana, up to `seq`; `fields_given` are fields of the request."""
    fields: dict[str, Any] = {
        "user_id": "ana",
        "plan": "pro",
        "agent_version": "1.2.3",
        "language": "en",
    } | fields_given
    request = ContextRequest(company_id="acme", conversation_id=writer.conversation, text=text, up_to_seq=seq, **fields)
    return await memory.rpc.call(CONTEXT, request)


async def remember(memory: Replica, **fields: Any) -> None:
    """Stores what ana has noted about herself, by wire names."""
    await memory.rpc.call(MEMORY_PATCH, MemoryPatchRequest(company_id="acme", user_id="ana", patch=fields))
