"""What a customer's copilot is told before a turn, with the market and the executor played by the test."""

import asyncio
from typing import Any

from contracts.channels import fact
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.market_rpc import HOLDINGS, MARKET_EVENTS, MARKET_QUOTES, MARKET_STATUS
from contracts.streams import FACTS
from contracts.tools_rpc import CATALOGUE
from memory.testing.contexts import NOW, TOOLS, OtherServices, context, remember
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.publisher import Publisher
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually


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
    async with replica(servers, clock=FakeClock(NOW), context_part=15) as one:
        outside = OtherServices()
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

        await eventually(about_everything)
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
        assert [symbol.symbol for symbol in found.market.relevant_symbols] == [
            "BTC/USD", "AAPL", "GOOG", "TSLA", "MSFT", "IBM",
        ]  # fmt: skip
        assert [event.name for event in found.market.upcoming_events] == ["Earnings"]
        assert found.portfolio is not None
        assert [(position.symbol, position.value) for position in found.portfolio.positions] == [
            ("MSFT", 20.0),
            ("IBM", 20.0),
        ]
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
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
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
    async with replica(servers, context_part=15) as one:
        outside = OtherServices()
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


async def test_at_most_ten_symbols_and_unknown_ones_take_nobodys_place(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
        await remember(one, favoriteSymbols=["F1", "F2", "F3", "F4"])
        writer = Writer(one.client)
        text = "compare ZZZZ QQQ AB AC AE AF AG AH AJ"
        seq = await writer.visitor(text, user="ana", role="user")
        found = await context(one, writer, seq, text)
        assert found.market is not None
        names = [symbol.symbol for symbol in found.market.relevant_symbols]
        assert names == ["AB", "AC", "AE", "AF", "AG", "AH", "AJ", "F1", "F2", "F3"]


async def test_messages_that_the_caller_has_do_not_come_again(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
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
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
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


async def test_what_was_said_a_moment_ago_answers_a_question_about_oneself(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
        writer = Writer(one.client)
        for city in ("Lima", "Quito", "Oslo"):
            told = await writer.visitor(f"I live in {city}", user="ana", role="user")
            await writer.assistant("Noted.", told)
            seq = await writer.visitor("Where do I live?", user="ana", role="user")
            found = await context(one, writer, seq, "Where do I live?")
            assert found.memory is not None
            assert found.memory.answering == [f"I live in {city}"]
