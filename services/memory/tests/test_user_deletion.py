"""Deleting a user everywhere, proven by looking into every store and stream."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from pymongo import AsyncMongoClient

from contracts.channels import client_result, fact, journal, tool_request, webhook_delivery
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.context_rpc import SHORT_TERM_UPDATE, SUMMARY_SAVE, ShortTermUpdate, SummarySaveRequest
from contracts.conversation_rpc import (
    CONVERSATION,
    CONVERSATIONS,
    HISTORY,
    ConversationRef,
    ConversationsRequest,
    HistoryRequest,
)
from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven
from contracts.events.tool import ToolCallCompleted, ToolCallRequested, ToolMetadata, ToolResult
from contracts.ids import uuid7
from contracts.memory_rpc import (
    BUDGET_RESERVE,
    MEMORY_PATCH,
    USER_FORGET,
    BudgetReserveRequest,
    MemoryPatchRequest,
    UserRef,
)
from contracts.streams import CHAT, FACTS, STREAMS, TOOLS, TURNS, WEBHOOKS
from contracts.withdrawal_rpc import WITHDRAW, WithdrawRequest
from memory.testing.harness import Servers, Writer, replica, serve_deletions
from runtime.bus.connection import jetstream, subscribe
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.stores.redis_client import redis_client
from runtime.testing.clock import FakeClock
from runtime.testing.cluster import run_valkey_cluster
from runtime.testing.servers import MongoDatabase, NatsServer, eventually
from runtime.workers.dead_letters import DeadLetters

ANA = UserRef(company_id="acme", user_id="ana-7")
SECRET = "xyzzy-secret"


@pytest.fixture
def servers(nats_server: NatsServer, mongo_server: MongoDatabase, tmp_path: Path) -> Iterator[Servers]:
    """Redis is a cluster, where no command may name keys of two slots."""
    with run_valkey_cluster(tmp_path) as (redis,):
        yield Servers(nats_server.url, mongo_server.url, mongo_server.database, redis.url)


async def everything(servers: Servers, client: Client) -> dict[str, str]:
    """All that every store and stream holds, as text by place."""
    found: dict[str, str] = {}
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
        database = mongo[servers.database]
        for name in await database.list_collection_names():
            found[f"mongo {name}"] = str(await database[name].find({}).to_list())
    async with redis_client(servers.redis, 10.0, name="test") as redis:
        server: Any = redis
        reads: dict[bytes, Any] = {
            b"string": server.get,
            b"hash": server.hgetall,
            b"zset": functools.partial(server.zrange, start=0, end=-1),
        }
        for key in await server.keys("*"):
            text = await reads[await server.type(key)](key)
            found[f"redis {key}"] = f"{key} {text}"
    for stream in STREAMS:
        reader = DirectReader(client, stream.name)
        batch = await reader.batch(stream.subjects[0].split(".")[0] + ".>", 1, 1000)
        if stream is FACTS:
            batch = await reader.batch(">", 1, 1000)
        found[f"stream {stream.name}"] = str([(fact.subject, fact.event) for fact in batch.facts])
    return found


def places_of(found: dict[str, str], *needles: str) -> set[str]:
    return {place for place, text in found.items() if any(needle in text for needle in needles)}


def besides_limits(places: set[str]) -> set[str]:
    """What counts against limits is there until it expires."""
    return {place for place in places if not place.startswith("redis b'nexus:budget:")}


async def fill(servers: Servers, one: Any, writer: Writer) -> int:
    """Something of the user in every place."""
    publisher = Publisher(one.client)
    name = writer.conversation
    seq = await writer.visitor(f"my {SECRET}", user=ANA.user_id)
    last = await writer.assistant(f"your {SECRET}", seq)
    result = ToolResult(success=True, data={"x": SECRET}, metadata=ToolMetadata(execution_time=1))
    for user in (ANA.user_id, None):
        call = ToolCallCompleted(call_id="c1", tool="t", arguments={}, result=result, conversation_id=name)
        subject = fact("tools.call.completed.v1", "acme", user)
        event = CloudEvent(source="/t", type="tools.call.completed.v1", data=call)
        await publisher.append(subject, event, stream=FACTS.name, msg_id=f"{name}-{user}")
    given = FeedbackGiven(
        company_id="acme", conversation_id=name, message_id="m", user_id="op1", rating="up", reason=SECRET
    )
    event = CloudEvent(source="/t", type="feedback.given.v1", data=given)
    await publisher.append(fact("feedback.given.v1", "acme", "op1"), event, stream=FACTS.name, msg_id=f"{name}-f")
    await publisher.append(journal("acme", name), f'{{"x":"{SECRET}"}}'.encode(), stream=TURNS.name, msg_id=f"{name}-j")
    result = client_result("acme", name, "c3")
    await publisher.append(result, f'{{"x":"{SECRET}"}}'.encode(), stream=TURNS.name, msg_id=f"{name}-r")
    asked = ToolCallRequested(call_id="c2", tool="t", arguments={"q": SECRET}, conversation_id=name, company_id="acme")
    await publisher.append(
        tool_request("market"),
        CloudEvent(source="/t", type="tools.call.requested.v1", data=asked),
        stream=TOOLS.name,
        msg_id=f"{name}-t",
    )
    await DeadLetters(one.client).put(
        service="agent", stream="CHAT", subject=f"chat.acme.{name}.x", body=SECRET.encode(), reason="test"
    )
    for about in (name, ANA.user_id):
        told = f'{{"subject":"acme/{about}","data":{{"text":"{SECRET}"}}}}'.encode()
        subject = webhook_delivery("acme", "e" * 32)
        await DeadLetters(one.client).put(
            service="memory", stream=WEBHOOKS.name, subject=subject, body=told, reason="test"
        )
    patch = MemoryPatchRequest(company_id="acme", user_id=ANA.user_id, patch={"userNotes": [SECRET]})
    await one.rpc.call(MEMORY_PATCH, patch)
    await one.rpc.call(HISTORY, HistoryRequest(company_id="acme", conversation_id=name, up_to_seq=last))
    update = ShortTermUpdate(company_id="acme", user_id=ANA.user_id, conversation_id=name, symbols=["AAPL"])
    await one.rpc.call(SHORT_TERM_UPDATE, update)
    for payer in (ANA.user_id, name):
        reservation = BudgetReserveRequest(
            company_id="acme", reservation_id=uuid7(), tokens=5, seconds=60, payer=payer, hourly_tokens=1_000
        )
        await one.rpc.call(BUDGET_RESERVE, reservation)
    summary = SummarySaveRequest(
        company_id="acme", conversation_id=name, text=f"They said {SECRET}.", up_to_seq=last, messages=2
    )

    async def summed_up() -> bool:
        return (await one.rpc.call(SUMMARY_SAVE, summary)).saved

    await eventually(summed_up)
    await one.rpc.call(
        WITHDRAW,
        WithdrawRequest(company_id="acme", conversation_id=name, response=f"{seq}", request_id=uuid7()),
    )
    return last


async def called(client: Client, conversation: str | None, word: str) -> None:
    """The outcome of a call of the user."""
    result = ToolResult(success=True, data={"x": word}, metadata=ToolMetadata(execution_time=1))
    call = ToolCallCompleted(call_id=uuid7(), tool="t", arguments={}, result=result, conversation_id=conversation)
    event = CloudEvent(source="/t", type="tools.call.completed.v1", data=call)
    subject = fact("tools.call.completed.v1", "acme", ANA.user_id)
    await Publisher(client).append(subject, event, stream=FACTS.name, msg_id=call.call_id)


async def test_a_deleted_user_is_in_no_store_and_no_stream_and_others_stay(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one, replica(servers, forgetting_sweep=0.1) as two:
        # Nobody is there: what is to be told waits.
        hooks = [{"url": "https://nobody.invalid/", "secret": "12345678"}]
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme", "webhooks": hooks}))
        told = await serve_deletions(one.client)
        hers = [Writer(one.client) for _ in range(2)]
        other = Writer(one.client)
        kept = await other.visitor("bob stays", user="bob")
        ends = [await fill(servers, one, writer) for writer in hers]
        await two.rpc.call(
            HISTORY, HistoryRequest(company_id="acme", conversation_id=hers[0].conversation, up_to_seq=ends[0])
        )
        needles = (ANA.user_id, SECRET, *(writer.conversation for writer in hers))
        wanted = {f"mongo {name}" for name in ("facts", "conversations", "executions", "memories", "summaries")}
        wanted.add("mongo withdrawals")
        wanted |= {f"stream {name}" for name in ("CHAT", "TURNS", "FACTS", "TOOLS", "DLQ", "WEBHOOKS")}

        async def filled() -> bool:
            places = places_of(await everything(servers, one.client), *needles)
            kinds = {kind for kind in ("window", "short", "budget") if any(kind in place for place in places)}
            # What is still on its way into a place is no different, and comes a moment later.
            streams = [await jetstream(one.client).consumers_info(stream.name) for stream in (CHAT, FACTS)]
            consumers = [info for infos in streams for info in infos]
            idle = not any(each.num_pending or each.num_ack_pending for each in consumers)
            return idle and wanted <= places and kinds == {"window", "short", "budget"}

        await eventually(filled)
        before = await everything(servers, one.client)
        spent = {place: text for place, text in before.items() if not besides_limits({place})}
        assert places_of(spent, ANA.user_id)
        assert (await one.rpc.call(USER_FORGET, ANA)).conversations == 2
        assert sorted(told) == ["market acme/ana-7", "tools acme/ana-7"]
        found = await everything(servers, one.client)
        assert besides_limits(places_of(found, *needles)) <= {"mongo erasures"}
        # Nobody has a new hour by deleting themselves.
        assert {place: text for place, text in found.items() if not besides_limits({place})} == spent

        async def nowhere() -> bool:
            return besides_limits(places_of(await everything(servers, one.client), *needles)) == set()

        await eventually(nowhere)
        for writer in hers:
            ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)
            assert (await one.rpc.call(CONVERSATION, ref)).conversation is None
        listed = await one.rpc.call(CONVERSATIONS, ConversationsRequest(company_id="acme"))
        assert [view.id for view in listed.items] == [other.conversation]
        assert (await one.rpc.call(USER_FORGET, ANA)).conversations == 0
        request = HistoryRequest(company_id="acme", conversation_id=other.conversation, up_to_seq=kept)
        assert [message.text for message in (await two.rpc.call(HISTORY, request)).messages] == ["bob stays"]


async def test_who_comes_back_after_a_deletion_begins_anew_and_keeps_what_is_new(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        await serve_deletions(one.client)
        writer = Writer(one.client)
        for _ in range(3):
            await writer.visitor(f"old {SECRET}", user=ANA.user_id)
        assert (await one.rpc.call(USER_FORGET, ANA)).conversations == 1
        seq = await writer.visitor("a new start", user=ANA.user_id)

        async def swept() -> bool:
            return "mongo erasures" not in places_of(await everything(servers, one.client), ANA.user_id)

        await eventually(swept)
        ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)
        view = (await one.rpc.call(CONVERSATION, ref)).conversation
        assert view is not None
        assert view.message_count == 1
        request = HistoryRequest(company_id="acme", conversation_id=writer.conversation, up_to_seq=seq)
        assert [message.text for message in (await one.rpc.call(HISTORY, request)).messages] == ["a new start"]


@pytest.mark.parametrize("back", [False, True])
async def test_a_call_that_ends_after_its_user_was_deleted_leaves_nothing(servers: Servers, back: bool) -> None:
    clock = FakeClock()
    async with replica(servers, forgetting_sweep=0.1, clock=clock) as one:
        await serve_deletions(one.client)
        old, new = Writer(one.client), Writer(one.client)
        await old.visitor(SECRET, user=ANA.user_id)
        assert (await one.rpc.call(USER_FORGET, ANA)).conversations == 1
        await clock.advance(6)

        async def swept() -> bool:
            return "mongo erasures" not in places_of(await everything(servers, one.client), ANA.user_id)

        await eventually(swept)
        await called(one.client, old.conversation, SECRET)
        if back:
            await new.visitor("a new start", user=ANA.user_id)
            await called(one.client, new.conversation, "a new call")
        else:
            await called(one.client, None, SECRET)
        late = {"mongo executions", "stream FACTS"}

        async def recorded() -> bool:
            # What is told of the conversation that was deleted leaves at once; the user may have come back.
            found = await everything(servers, one.client)
            assert places_of(found, old.conversation) <= {"stream FACTS"}
            return places_of(found, "a new call" if back else SECRET) == late

        await eventually(recorded)
        await clock.advance(75)

        async def gone() -> bool:
            found = await everything(servers, one.client)
            assert places_of(found, SECRET, old.conversation) == set()
            return back or places_of(found, ANA.user_id) == set()

        await eventually(gone)
        if back:
            assert places_of(await everything(servers, one.client), "a new call") == late


async def test_deleting_the_same_user_many_times_at_once_does_no_harm(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await serve_deletions(one.client)
        await Writer(one.client).visitor(SECRET, user=ANA.user_id)
        replies = await asyncio.gather(*((one, two)[number % 2].rpc.call(USER_FORGET, ANA) for number in range(6)))
        assert {reply.conversations for reply in replies} <= {0, 1}
        assert places_of(await everything(servers, one.client), SECRET) == set()


async def test_while_another_service_cannot_delete_it_fails_and_is_carried_out_later(
    servers: Servers,
) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        market = await subscribe(one.client, "rpc.market.user.forget.v1", refuse(one.client))
        await Writer(one.client).visitor(SECRET, user=ANA.user_id)
        with pytest.raises(RpcError) as refused:
            await one.rpc.call(USER_FORGET, ANA)
        assert (refused.value.code, refused.value.retryable) == ("UNAVAILABLE", True)
        await market.unsubscribe()
        await serve_deletions(one.client)

        async def gone() -> bool:
            return places_of(await everything(servers, one.client), ANA.user_id, SECRET) == set()

        await eventually(gone)


def refuse(client: Client) -> Callable[[Msg], Awaitable[None]]:
    """Answers each request with an error."""

    async def answer(message: Msg) -> None:
        error = {"code": "UNAVAILABLE", "message": "the database is away", "retryable": True}
        await client.publish(message.reply, orjson.dumps({"error": error}))

    return answer
