"""What a customer's copilot is told while something that it is told from is down, slow or lying."""

import asyncio
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.context_rpc import CONTEXT, ContextRequest
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.market_rpc import (
    HOLDINGS,
    MARKET_EVENTS,
    MARKET_QUOTES,
    MARKET_STATUS,
    Holdings,
    QuotesReply,
    QuotesRequest,
)
from contracts.memory_rpc import UserRef
from contracts.tools_rpc import CATALOGUE
from memory.testing.contexts import OtherServices, context, quote, remember
from memory.testing.harness import Servers, Writer, replica
from runtime.bus.connection import subscribe
from runtime.calls.deadlines import time_left
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.servers import ValkeyServer, eventually, run_mongo_server

MARKET_PARTS = ["market", "market.relevantSymbols", "market.status", "market.upcomingEvents"]
STORED_PARTS = ["conversation.messageCount", "conversation.recentTopics", "conversation.summary", "memory"]
"""What only MongoDB knows; messages are in the log as well."""


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
    # Who says no, or lies, does so at once: a short part would only leave out the others too, on a slow machine.
    part = 1.0 if how in ("away", "slow") else 10.0
    async with replica(servers, context_part=part) as one:
        outside = OtherServices()
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

        await eventually(alone_missing)


async def test_parts_end_with_what_their_caller_waits_and_a_paused_market_learns_for_how_long(servers: Servers) -> None:
    async with replica(servers, context_part=60) as one:
        outside, told = OtherServices(), list[float | None]()
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")

        async def paused() -> None:
            told.append(time_left())
            await asyncio.Event().wait()

        market = {MARKET_STATUS.subject, MARKET_EVENTS.subject, MARKET_QUOTES.subject, HOLDINGS.subject}
        outside.before = dict.fromkeys(market, paused)
        await outside.serve(one)
        request = ContextRequest(
            company_id=writer.company,
            conversation_id=writer.conversation,
            user_id="ana",
            role="user",
            plan="free",
            up_to_seq=seq,
            agent_version="test",
            text="how is AAPL?",
        )
        found = await RpcClient(one.client).call(CONTEXT, request, deadline=10.0)
        assert sorted(found.missing) == sorted([*MARKET_PARTS, "alerts", "portfolio"])
        assert found.conversation is not None
        assert [message.text for message in found.conversation.recent_messages] == ["hola"]
        assert found.memory is not None
        assert found.system is not None
        assert found.system.available_tools
        assert told
        assert all(left is not None and left <= 8.0 for left in told)


async def test_without_any_other_service_the_conversation_and_the_memory_are_there(servers: Servers) -> None:
    async with replica(servers, context_part=0.5) as one:
        await remember(one, userNotes=["vive en Lima"])
        writer = Writer(one.client)
        seq = await writer.visitor("AAPL?", user="ana", role="user")
        names = ["alerts", "conversation.mentionedSymbols", *MARKET_PARTS, "portfolio", "system.availableTools"]

        async def they_alone() -> bool:
            return sorted((await context(one, writer, seq, "AAPL?")).missing) == sorted(names)

        await eventually(they_alone)
        found = await context(one, writer, seq, "AAPL?")
        assert (found.market, found.portfolio, found.alerts) == (None, None, None)
        assert found.memory is not None
        assert found.memory.user_notes == ["vive en Lima"]
        assert found.conversation is not None
        assert found.conversation.mentioned_symbols == []


async def test_a_portfolio_that_is_none_is_left_out_and_the_alerts_stay(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        outside = OtherServices()

        async def lie(request: UserRef) -> Holdings:
            assert request.user_id == "ana"
            return Holdings(portfolio={"positions": [{"symbol": 7}], "cash": "much"}, alerts=[], watchlist=[])

        outside.holdings = lie
        await outside.serve(one)
        writer = Writer(one.client)
        found = await context(one, writer, await writer.visitor("hola", user="ana", role="user"))
        assert (found.missing, found.portfolio, found.alerts) == (["portfolio"], None, [])


async def test_a_price_that_was_not_asked_for_or_is_none_is_no_answer(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        outside = OtherServices()

        async def lie(request: QuotesRequest) -> QuotesReply:
            wrong = quote("AAPL").model_copy(update={"price": -3.0})
            return QuotesReply(quotes=[wrong, quote("FAKE"), *(quote(name) for name in request.symbols[1:])])

        outside.quotes = lie
        await outside.serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("AAPL?", user="ana", role="user")
        found = await context(one, writer, seq, "AAPL?")
        assert found.market is not None
        assert [symbol.symbol for symbol in found.market.relevant_symbols] == ["MSFT", "IBM"]


@pytest.mark.own_servers
async def test_without_redis_only_the_short_term_memory_is_missing(
    servers: Servers, valkey_server: ValkeyServer
) -> None:
    async with replica(servers, context_part=1) as one:
        await OtherServices().serve(one)
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")

        async def missing_alone(part: str) -> bool:
            return (await context(one, writer, seq)).missing == [part]

        for stop in (valkey_server.pause, valkey_server.kill):
            stop()
            await eventually(lambda: missing_alone("shortTerm"))
            if stop == valkey_server.pause:
                valkey_server.resume()


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_without_mongodb_what_it_alone_knows_is_missing_and_the_log_tells_the_messages(
    servers: Servers, how: str
) -> None:
    with run_mongo_server() as mongo:
        async with replica(Servers(servers.nats, mongo.url, "test", servers.redis), context_part=0.5) as one:
            await OtherServices().serve(one)
            await remember(one, userNotes=["vive en Lima"])
            known, new = Writer(one.client), Writer(one.client)
            first = await known.visitor("AAPL?", user="ana", role="user")
            last = await known.assistant("200 USD", first)

            async def whole() -> bool:
                return (await context(one, known, last)).missing == []

            await eventually(whole)
            mongo.kill() if how == "killed" else mongo.pause()
            said = [f"m{number}" for number in range(3)]
            seq = [await new.visitor(text, user="ana", role="user") for text in said][-1]
            # The one was read before and is at hand, of the other nothing has been stored.
            for writer, up_to, texts in ((known, last, ["AAPL?", "200 USD"]), (new, seq, said)):

                async def they_alone(writer: Writer = writer, up_to: int = up_to, texts: list[str] = texts) -> bool:
                    found = await context(one, writer, up_to)
                    assert found.conversation is not None
                    assert [message.text for message in found.conversation.recent_messages] == texts
                    assert found.memory is None
                    assert found.portfolio is not None
                    return sorted(found.missing) == STORED_PARTS

                await eventually(they_alone)
            mongo.start() if how == "killed" else mongo.resume()

            async def back() -> bool:
                found = await context(one, new, seq)
                return found.missing == [] and found.memory is not None and found.memory.user_notes == ["vive en Lima"]

            await eventually(back)


async def test_a_document_that_makes_no_sense_costs_the_part_that_it_is_for(servers: Servers) -> None:
    async with replica(servers, context_part=15) as one:
        await OtherServices().serve(one)
        await remember(one, userNotes=["vive en Lima"])
        writer = Writer(one.client)
        seq = await writer.visitor("hola", user="ana", role="user")
        assert (await context(one, writer, seq)).missing == []
        ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)

        async def projected() -> bool:
            return (await one.rpc.call(CONVERSATION, ref)).conversation is not None

        await eventually(projected)
        async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
            database = mongo[servers.database]
            await database["memories"].update_one({"_id": "acme/ana"}, {"$set": {"state": '{"memory": 7}'}})
            talk = f"acme/{writer.conversation}"
            await database["conversations"].update_one({"_id": talk}, {"$set": {"person": 7}})
            await database["summaries"].insert_one({"_id": talk, "version": 1})
        found = await context(one, writer, seq)
        assert sorted(found.missing) == ["conversation.messageCount", "conversation.summary", "memory"]
        assert found.conversation is not None
        assert [message.text for message in found.conversation.recent_messages] == ["hola"]
        asked = await context(one, writer, seq, "where do I live?")
        assert set(asked.missing) == {*found.missing, "memory.answering"}
