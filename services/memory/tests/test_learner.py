"""Learning from finished turns, on the bus."""

import asyncio
from datetime import UTC, datetime

import pytest

from contracts.channels import ChatKind, fact
from contracts.envelope import CloudEvent
from contracts.events.chat import AssistantMessage
from contracts.events.memory import MemoryUpdated
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.ids import answer_id, turn_id
from contracts.market_rpc import MARKET_QUOTES, QuotesReply, QuotesRequest, QuoteView
from contracts.memory_rpc import MEMORY_DELETE, MEMORY_GET, LongTermMemory, UserRef
from contracts.streams import FACTS
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError
from runtime.testing.servers import eventually

KNOWN = {"AAPL", "BTC/USD"}


async def quotes(request: QuotesRequest) -> QuotesReply:
    """The market of this test: two symbols."""
    found = [
        QuoteView(
            symbol=symbol,
            price=1,
            change_basis="x",
            currency="USD",
            source="test",
            as_of=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for symbol in request.symbols
        if symbol in KNOWN
    ]
    return QuotesReply(quotes=found)


async def get(on: Replica, user: str = "ana") -> LongTermMemory:
    return (await on.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id=user))).memory


async def turn(writer: Writer, *texts: str, user: str = "ana", role: str = "user") -> int:
    """A turn of a customer, answered."""
    seq = 0
    for text in texts:
        seq = await writer.visitor(text, user=user, role=role)
    await writer.assistant("I prefer bonds. Remember that I am the assistant. GOOG?", seq)
    return seq


async def test_a_finished_turn_is_learned_once_from_the_users_words_alone(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await RpcServer(one.client).serve(MARKET_QUOTES, quotes)
        writer = Writer(one.client)
        seq = await turn(writer, "I do swing trading with AAPL and ZZZZ", "Recuerda que vivo en Lima. ¿Compro BTC?")

        # Asked at once, it is waited for; for longer than it is in earnest, since this machine may stand still.
        monkeypatch.setattr("memory.application.inbox.PROJECTION_TIMEOUT_SECONDS", 30.0)
        monkeypatch.setattr("memory.application.learner.CATCH_UP_SECONDS", 30.0)
        memory = (await two.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id="ana"), deadline=30)).memory
        assert memory.user_notes == ["vivo en Lima"]
        assert (memory.trading_style, memory.preferences) == ("swing", [])
        assert memory.frequent_questions == ["Compro [SYMBOL]?"]

        name = turn_id("acme", writer.conversation, seq)
        for copy in range(9):
            answer = AssistantMessage(
                message_id=answer_id(name), turn_id=name, basis=seq, text="x", model="m", config_version=1
            )
            await writer.put(ChatKind.ASSISTANT, answer, answer_id(name), msg_id=f"copy-{copy}")
        for _ in range(2):
            await turn(writer, "AAPL ZZZZ")

        async def favourite() -> bool:
            return (await get(one)).favorite_symbols == ["AAPL"]

        await eventually(favourite)
        after = await get(one)
        assert after.frequent_questions == memory.frequent_questions
        reader = DirectReader(one.client, FACTS.name)

        async def told() -> list[MemoryUpdated]:
            # A memory is told a moment after it is stored.
            found = (await reader.batch("memory.updated.v1.acme.ana", 1, 20)).facts
            events = [CloudEvent[MemoryUpdated].parse(stored.event).data for stored in found]
            assert [event.fields for event in events] == [
                ["frequentQuestions", "tradingStyle", "userNotes"],
                ["favoriteSymbols"],
            ]
            return events

        assert (await eventually(told))[0].turn_id == name


async def test_a_visitor_is_not_remembered(servers: Servers) -> None:
    async with replica(servers) as one:
        await turn(Writer(one.client), "Remember that I like tea", user="vic", role="visitor")
        await turn(Writer(one.client), "Remember that I like coffee")

        async def learned() -> bool:
            return (await get(one)).user_notes == ["I like coffee"]

        await eventually(learned)
        assert await get(one, "vic") == LongTermMemory()


async def test_a_symbol_on_the_watchlist_is_a_favourite(servers: Servers) -> None:
    async with replica(servers) as one:
        result = ToolResult(success=True, data={}, metadata=ToolMetadata(execution_time=1))
        for number, symbol in enumerate(("aapl", "btcusd", "no symbol!")):
            call = ToolCallCompleted(
                call_id=f"c{number}", tool="add_to_watchlist", arguments={"symbol": symbol}, result=result
            )
            event = CloudEvent(source="/test", type="tools.call.completed.v1", data=call)
            await Publisher(one.client).append(
                fact("tools.call.completed.v1", "acme", "ana"), event, stream=FACTS.name, msg_id=f"w{number}"
            )

        async def both() -> bool:
            return sorted((await get(one)).favorite_symbols) == ["AAPL", "BTC/USD"]

        await eventually(both)


async def test_without_a_market_a_turn_is_learned_all_the_same_and_none_of_its_symbols(servers: Servers) -> None:
    async with replica(servers) as one:
        asked = 0

        async def away(_: QuotesRequest) -> QuotesReply:
            nonlocal asked
            asked += 1
            raise RpcError("UNAVAILABLE", "the provider is away", retryable=False)

        await RpcServer(one.client).serve(MARKET_QUOTES, away)
        await turn(Writer(one.client), "Remember that AAPL is my first stock")

        async def learned() -> bool:
            return (await get(one)).user_notes == ["AAPL is my first stock"]

        await eventually(learned)
        # Five times to learn and once for the short-term memory, and all of it again where the stores, which are new,
        # are brought up from the log meanwhile.
        assert 6 <= asked <= 12


async def test_what_waits_for_the_market_holds_up_no_list_and_outlives_its_replica(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.application.lessons.PATIENT_ATTEMPTS", 1000)
    async with replica(servers) as one:

        async def away(_: QuotesRequest) -> QuotesReply:
            raise RpcError("UNAVAILABLE", "the provider is away", retryable=True)

        await RpcServer(one.client).serve(MARKET_QUOTES, away)
        await turn(Writer(one.client), "Remember that AAPL is my first stock")

        async def settled() -> bool:
            info = await jetstream(one.client).consumer_info("CHAT", "memory-projection")
            return info.num_pending == 0 and info.num_ack_pending == 0

        await eventually(settled)
        assert (await get(one)).user_notes == []
    async with replica(servers) as two:
        await RpcServer(two.client).serve(MARKET_QUOTES, quotes)

        async def learned() -> bool:
            return (await get(two)).user_notes == ["AAPL is my first stock"]

        await eventually(learned)


async def test_what_was_said_before_everything_was_forgotten_is_not_learned_afterwards(servers: Servers) -> None:
    async with replica(servers) as one:
        asked, market_back = asyncio.Event(), asyncio.Event()

        async def late(request: QuotesRequest) -> QuotesReply:
            asked.set()
            await market_back.wait()
            return await quotes(request)

        await RpcServer(one.client).serve(MARKET_QUOTES, late)
        writer = Writer(one.client)
        # Answered, and about to be learned while the user has everything forgotten.
        await turn(writer, "Remember that AAPL is my first stock")
        await asyncio.wait_for(asked.wait(), 40)
        await one.rpc.call(MEMORY_DELETE, UserRef(company_id="acme", user_id="ana"))
        market_back.set()
        await turn(writer, "Remember that I live in Lima")

        async def learned() -> bool:
            return "I live in Lima" in (await get(one)).user_notes

        await eventually(learned)
        assert (await get(one)).user_notes == ["I live in Lima"]
        # Said before and after, answered at once: only what came after counts.
        await writer.visitor("Remember that I drink tea", user="ana", role="user")
        await one.rpc.call(MEMORY_DELETE, UserRef(company_id="acme", user_id="ana"))
        await turn(writer, "Remember that I drink coffee")

        async def only_that() -> bool:
            return (await get(one)).user_notes == ["I drink coffee"]

        await eventually(only_that)
