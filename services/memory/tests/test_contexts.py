"""What a customer's copilot is told before a turn, with the market and the executor played by the test."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.channels import fact
from contracts.context_rpc import CONTEXT, ContextRequest, FullContext
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.market_rpc import (
    HOLDINGS,
    MARKET_EVENTS,
    MARKET_QUOTES,
    MARKET_STATUS,
    ActiveAlert,
    Holdings,
    MarketEvent,
    MarketEventsReply,
    MarketEventsRequest,
    MarketStatusReply,
    MarketStatusRequest,
    QuotesReply,
    QuotesRequest,
    QuoteView,
    TickerError,
    UserRef,
)
from contracts.memory_rpc import MEMORY_PATCH, MemoryPatchRequest
from contracts.rpc import CATALOGUE, CONVERSATION, CatalogueReply, CatalogueRequest, CatalogueTool, ConversationRef, Rpc
from contracts.streams import FACTS
from memory.testing import Replica, Servers, Writer, replica
from runtime.clock import FakeClock
from runtime.connection import subscribe
from runtime.errors import RpcError
from runtime.publishing import Publisher
from runtime.rpc import RpcServer
from runtime.testing import ValkeyServer, eventually

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
UNKNOWN = {"ZZZZ", "QQQ"}
TOOLS = {"get_price": "market", "get_portfolio": "portfolio", "explain_concept": "education"}
MARKET_PARTS = ["market", "market.relevantSymbols", "market.status", "market.upcomingEvents"]

Asked = dict[str, list[Any]]


class Outside:
    """The market-adapter and the executor, as the test wants them. `asked`: what they were asked, by method."""

    def __init__(self) -> None:
        self.asked: Asked = {}
        self.before: dict[str, Callable[[], Awaitable[None]]] = {}
        """What happens before a method answers, by subject."""

    async def serve(self, on: Replica, *without: str) -> None:
        server = RpcServer(on.client)
        methods: list[tuple[Rpc[Any, Any], Callable[[Any], Awaitable[Any]]]] = [
            (MARKET_STATUS, self.status),
            (MARKET_EVENTS, self.events),
            (MARKET_QUOTES, self.quotes),
            (HOLDINGS, self.holdings),
            (CATALOGUE, self.catalogue),
        ]
        for method, answer in methods:
            if method.subject not in without:
                await server.serve(method, answer)
        await on.client.flush()

    async def _hear(self, subject: str, request: Any) -> None:
        self.asked.setdefault(subject, []).append(request)
        if subject in self.before:
            await self.before[subject]()

    async def status(self, request: MarketStatusRequest) -> MarketStatusReply:
        await self._hear(MARKET_STATUS.subject, request)
        return MarketStatusReply(
            status="open", current_time=NOW, next_open=NOW, next_close=NOW, source="test", as_of=NOW
        )

    async def events(self, request: MarketEventsRequest) -> MarketEventsReply:
        await self._hear(MARKET_EVENTS.subject, request)
        event = MarketEvent(
            date=NOW.date(), name="Earnings", impact="high", kind="earnings", symbol="AAPL", source="test"
        )
        return MarketEventsReply(events=[event], source="test", as_of=NOW)

    async def quotes(self, request: QuotesRequest) -> QuotesReply:
        await self._hear(MARKET_QUOTES.subject, request)
        errors = [
            TickerError(error="no such symbol", ticker=name, reason="no_data")
            for name in request.symbols
            if name in UNKNOWN
        ]
        return QuotesReply(quotes=[quote(name) for name in request.symbols if name not in UNKNOWN], errors=errors)

    async def holdings(self, request: UserRef) -> Holdings:
        await self._hear(HOLDINGS.subject, request)
        positions = [
            {"symbol": name, "quantity": 2.0, "average_price": 9.0, "cost": 18.0, "price": 10.0, "value": 20.0}
            for name in ("MSFT", "IBM")
        ]
        portfolio = {"positions": positions, "cash": 99_000.0, "equity": 99_040.0, "currency": "USD"}
        alert = ActiveAlert(id="a1", symbol="AAPL", condition=">=", price=200.0)
        return Holdings(portfolio=portfolio, alerts=[alert], watchlist=["GOOG"])

    async def catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        await self._hear(CATALOGUE.subject, request)
        tools = [
            CatalogueTool(
                id=f"x.{name}", name=name, description="d", category=kind, required_plan="free", parameters={}
            )
            for name, kind in TOOLS.items()
        ]
        return CatalogueReply(tools=tools)


def quote(symbol: str) -> QuoteView:
    return QuoteView(
        symbol=symbol,
        price=10.0,
        change_percent=1.5,
        change_basis="x",
        currency="USD",
        source="test",
        as_of=NOW,
    )


async def context(on: Replica, writer: Writer, seq: int, text: str = "", **more: Any) -> FullContext:
    fields: dict[str, Any] = {"user_id": "ana", "plan": "pro", "agent_version": "1.2.3", "language": "en"} | more
    request = ContextRequest(company_id="acme", conversation_id=writer.conversation, text=text, up_to_seq=seq, **fields)
    return await on.rpc.call(CONTEXT, request, deadline=10)


async def remember(on: Replica, **fields: Any) -> None:
    await on.rpc.call(MEMORY_PATCH, MemoryPatchRequest(company_id="acme", user_id="ana", patch=fields))


async def called(on: Replica, writer: Writer, tool: str, **arguments: Any) -> None:
    """A tool call of the conversation, completed."""
    result = ToolResult(success=True, data={}, metadata=ToolMetadata(execution_time=1))
    call = ToolCallCompleted(
        call_id=f"c-{tool}", tool=tool, arguments=arguments, result=result, conversation_id=writer.conversation
    )
    event = CloudEvent(source="/test", type="tools.call.completed.v1", data=call)
    await Publisher(on.client).append(
        fact("tools.call.completed.v1", "acme", "ana"), event, stream=FACTS.name, msg_id=f"{writer.conversation}-{tool}"
    )


async def test_a_context_holds_who_asks_what_they_hold_and_follow_and_what_was_said(servers: Servers) -> None:
    async with replica(servers, clock=FakeClock(NOW), context_part=5) as one:
        outside = Outside()
        await outside.serve(one)
        await remember(
            one,
            favoriteSymbols=["AAPL", "GOOG", "TSLA", "NVDA"],
            tradingStyle="swing",
            riskProfile="moderate",
            experience="beginner",
            timezone="Europe/Madrid",
            name="Ana",
            preferences=["I prefer bonds"],
            userNotes=["vive en Lima"],
        )
        writer = Writer(one.client)
        first = await writer.visitor("¿Qué es el RSI?", user="ana", role="user")
        await writer.assistant("Un índice. GOOG sube.", first)
        await called(one, writer, "get_price", symbol="nvda")
        seq = await writer.visitor("And ZZZZ, or btc?", user="ana", role="user")

        async def about_everything() -> bool:
            found = await context(one, writer, seq, "And ZZZZ, or btc?")
            assert found.conversation is not None
            return "NVDA" in found.conversation.mentioned_symbols

        await eventually(about_everything, deadline=10)
        found = await context(one, writer, seq, "And ZZZZ, or btc?")
        assert found.missing == []
        assert found.user is not None
        assert found.user.to_wire() == {
            "id": "ana",
            "name": "Ana",
            "plan": "pro",
            "riskProfile": "moderate",
            "experience": "beginner",
            "language": "en",
            "timezone": "Europe/Madrid",
            "preferences": ["I prefer bonds"],
        }
        assert found.market is not None
        assert found.market.status == "open"
        # Mentioned, three favourites, held; nobody knows ZZZZ.
        assert [one.symbol for one in found.market.relevant_symbols] == [
            "BTC/USD", "AAPL", "GOOG", "TSLA", "MSFT", "IBM",
        ]  # fmt: skip
        assert [event.name for event in found.market.upcoming_events] == ["Earnings"]
        assert found.portfolio is not None
        assert [(one.symbol, one.value) for one in found.portfolio.positions] == [("MSFT", 20.0), ("IBM", 20.0)]
        assert found.alerts is not None
        assert [alert.symbol for alert in found.alerts] == ["AAPL"]
        talk = found.conversation
        assert talk is not None
        assert [message.text for message in talk.recent_messages] == [
            "¿Qué es el RSI?", "Un índice. GOOG sube.", "And ZZZZ, or btc?",
        ]  # fmt: skip
        assert (talk.message_count, talk.omitted, talk.summary) == (3, 0, None)
        assert talk.started_at is not None
        assert set(talk.mentioned_symbols) == {"BTC/USD", "NVDA"}
        assert set(talk.recent_topics) == {"BTC/USD", "market", "NVDA", "rsi"}
        assert found.memory is not None
        assert (found.memory.trading_style, found.memory.user_notes) == ("swing", ["vive en Lima"])
        assert found.system is not None
        assert found.system.to_wire() == {
            "currentDate": "2026-03-02",
            "currentTime": "16:00",
            "agentVersion": "1.2.3",
            "availableTools": list(TOOLS),
        }
        assert outside.asked[CATALOGUE.subject][0].plan == "pro"


async def test_who_is_new_gets_the_defaults(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        await Outside().serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")
        found = await context(one, writer, seq, plan="free", language=None, agent_version="")
        assert found.user is not None
        assert found.user.to_wire() == {
            "id": "ana",
            "plan": "free",
            "language": "es",
            "timezone": "America/Mexico_City",
            "preferences": [],
        }
        assert found.memory is not None
        assert found.memory.favorite_symbols == []


async def test_every_part_is_asked_for_before_any_has_answered(servers: Servers) -> None:
    """The slowest part decides, not the sum: each answers only when all of them have been asked."""
    async with replica(servers, context_part=10) as one:
        outside = Outside()
        together = {MARKET_STATUS.subject, HOLDINGS.subject, CATALOGUE.subject}
        all_asked = asyncio.Event()

        async def wait_for_the_others() -> None:
            if together <= outside.asked.keys():
                all_asked.set()
            await all_asked.wait()

        chosen = {MARKET_QUOTES.subject, MARKET_EVENTS.subject}
        both_asked = asyncio.Event()

        async def wait_for_each_other() -> None:
            if chosen <= outside.asked.keys():
                both_asked.set()
            await both_asked.wait()

        for subject in together:
            outside.before[subject] = wait_for_the_others
        for subject in chosen:
            outside.before[subject] = wait_for_each_other
        await outside.serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")
        assert (await context(one, writer, seq)).missing == []


@pytest.mark.parametrize(
    ("subject", "missing"),
    [
        (MARKET_STATUS.subject, ["market.status"]),
        (MARKET_EVENTS.subject, ["market.upcomingEvents"]),
        (MARKET_QUOTES.subject, ["market.relevantSymbols"]),
        (HOLDINGS.subject, ["alerts", "portfolio"]),
        (CATALOGUE.subject, ["system.availableTools"]),
    ],
)
@pytest.mark.parametrize("how", ["away", "slow", "refusing", "lying"])
async def test_what_another_service_does_not_tell_is_left_out_and_named(
    servers: Servers, subject: str, missing: list[str], how: str
) -> None:
    async with replica(servers, context_part=0.5) as one:
        outside = Outside()
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")

        async def forever() -> None:
            await asyncio.Event().wait()

        async def refused() -> None:
            raise RpcError("INTERNAL", "no", retryable=False)

        async def garbage(message: Any) -> None:
            await one.client.publish(message.reply, b'{"data": [{"lies": "\xff')

        if how in ("slow", "refusing"):
            outside.before[subject] = forever if how == "slow" else refused
            await outside.serve(one)
        else:
            await outside.serve(one, subject)
            if how == "lying":
                await subscribe(one.client, subject, garbage)

        async def alone_missing() -> bool:
            found = await context(one, writer, seq)
            assert set(found.missing) >= set(missing)
            assert found.user is not None
            assert found.conversation is not None
            assert [message.text for message in found.conversation.recent_messages] == ["hola"]
            # On a slow machine the deadline can pass for others too, while connections are being made.
            return sorted(found.missing) == missing

        await eventually(alone_missing, deadline=15)


async def test_without_any_other_service_the_conversation_and_the_memory_are_there(servers: Servers) -> None:
    async with replica(servers, context_part=0.5) as one:
        await remember(one, userNotes=["vive en Lima"])
        writer = Writer(one.client)
        seq = await writer.visitor("AAPL?", user="ana", role="user")
        names = ["alerts", "conversation.mentionedSymbols", *MARKET_PARTS, "portfolio", "system.availableTools"]

        async def they_alone() -> bool:
            return sorted((await context(one, writer, seq, "AAPL?")).missing) == sorted(names)

        await eventually(they_alone, deadline=15)
        found = await context(one, writer, seq, "AAPL?")
        assert (found.market, found.portfolio, found.alerts) == (None, None, None)
        assert found.memory is not None
        assert found.memory.user_notes == ["vive en Lima"]
        assert found.conversation is not None
        assert found.conversation.mentioned_symbols == []


async def test_a_portfolio_that_is_none_is_left_out_and_the_alerts_stay(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        outside = Outside()

        async def lie(request: UserRef) -> Holdings:
            assert request.user_id == "ana"
            return Holdings(portfolio={"positions": [{"symbol": 7}], "cash": "much"}, alerts=[], watchlist=[])

        outside.holdings = lie
        await outside.serve(one)
        writer = Writer(one.client)
        found = await context(one, writer, await writer.visitor("hola", user="ana", role="user"))
        assert (found.missing, found.portfolio, found.alerts) == (["portfolio"], None, [])


async def test_a_price_that_was_not_asked_for_or_is_none_is_no_answer(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        outside = Outside()

        async def lie(request: QuotesRequest) -> QuotesReply:
            wrong = quote("AAPL").model_copy(update={"price": -3.0})
            return QuotesReply(quotes=[wrong, quote("FAKE"), *(quote(name) for name in request.symbols[1:])])

        outside.quotes = lie
        await outside.serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("AAPL?", user="ana", role="user")
        found = await context(one, writer, seq, "AAPL?")
        assert found.market is not None
        assert [one.symbol for one in found.market.relevant_symbols] == ["MSFT", "IBM"]


async def test_at_most_ten_symbols_and_unknown_ones_take_nobodys_place(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        await Outside().serve(one)
        await remember(one, favoriteSymbols=["F1", "F2", "F3", "F4"])
        writer = Writer(one.client)
        text = "compare ZZZZ QQQ AB AC AE AF AG AH AJ"
        seq = await writer.visitor(text, user="ana", role="user")
        found = await context(one, writer, seq, text)
        assert found.market is not None
        names = [one.symbol for one in found.market.relevant_symbols]
        assert names == ["AB", "AC", "AE", "AF", "AG", "AH", "AJ", "F1", "F2", "F3"]


async def test_without_redis_only_the_short_term_memory_is_missing(
    servers: Servers, valkey_server: ValkeyServer
) -> None:
    async with replica(servers, context_part=1) as one:
        await Outside().serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")

        async def missing_alone(part: str) -> bool:
            return (await context(one, writer, seq)).missing == [part]

        for stop in (valkey_server.pause, valkey_server.kill):
            stop()
            await eventually(lambda: missing_alone("shortTerm"), deadline=15)
            if stop == valkey_server.pause:
                valkey_server.resume()


async def test_messages_that_the_caller_has_do_not_come_again(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        await Outside().serve(one)
        writer = Writer(one.client)
        seqs = [await writer.visitor(f"m{number}", user="ana", role="user") for number in range(70)]
        ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)
        assert (await one.rpc.call(CONVERSATION, ref)).conversation is not None  # all of it is projected
        found = await context(one, writer, seqs[-1])
        assert found.conversation is not None
        assert [message.seq for message in found.conversation.recent_messages] == seqs
        for held in (0, 10, 68):
            found = await context(one, writer, seqs[-1], after_seq=seqs[held])
            assert found.conversation is not None
            assert [message.seq for message in found.conversation.recent_messages] == seqs[held + 1 :]
            assert found.conversation.message_count == 70
        found = await context(one, writer, seqs[-1], limit=5)
        assert found.conversation is not None
        assert [message.seq for message in found.conversation.recent_messages] == seqs[-5:]
        assert found.conversation.omitted == 65


async def test_a_conversation_too_large_for_one_message_is_cut_at_its_old_end(servers: Servers) -> None:
    async with replica(servers, context_part=5) as one:
        await Outside().serve(one)
        writer = Writer(one.client)
        text = "\x01ñ💶" * 2_600
        seqs = [await writer.visitor(f"{number:03}{text}", user="ana", role="user") for number in range(40)]
        found = await context(one, writer, seqs[-1])
        assert found.conversation is not None
        kept = [message.seq for message in found.conversation.recent_messages]
        assert kept == seqs[-len(kept) :]
        assert 5 < len(kept) < 40
        assert found.conversation.omitted == 40 - len(kept)
        assert len(found.to_json()) < 700_000
