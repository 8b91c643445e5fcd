"""From an earlier release to this one: consumers that are no more leave nothing behind, and nobody's are taken away."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.client import Client
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.memory_rpc import MEMORY_GET, UserRef
from contracts.streams import FACTS
from memory.testing.harness import Replica, Servers, replica
from runtime.bus.connection import connect
from runtime.bus.consumers import ConsumerSpec, ensure_consumer
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually

CALLS = "tools.call.completed.v1"
WATCHED = ConsumerSpec(FACTS.name, "memory-watchlists", (f"{CALLS}.>",))
RECORDED, FORMER = "FACTS/memory-executions", "FACTS/memory-watchlists"


@asynccontextmanager
async def old_release(servers: Servers) -> AsyncGenerator[Client]:
    """The connection of a replica of an earlier release."""
    client = await connect(NatsSettings(url=servers.nats), name="memory-old")
    await ensure_streams(client)
    yield client
    await client.close()


async def info(client: Client, spec: ConsumerSpec) -> dict[str, object]:
    answer = await client.request(f"$JS.API.CONSUMER.INFO.{spec.stream}.{spec.durable}", b"", timeout=10)
    return json.loads(answer.data)


async def watchlist_grows(client: Client, symbol: str) -> None:
    result = ToolResult(success=True, metadata=ToolMetadata(execution_time=1))
    call = ToolCallCompleted(call_id=symbol, tool="add_to_watchlist", arguments={"symbol": symbol}, result=result)
    event = CloudEvent(source="/test", type=CALLS, data=call)
    await Publisher(client).append(fact(CALLS, "acme", "ana"), event, stream=FACTS.name, msg_id=event.id)


async def favourites(on: Replica) -> Sequence[str]:
    return (await on.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id="ana"))).memory.favorite_symbols


async def known(on: Replica, *symbols: str) -> None:
    """Waits until these are Ana's favourites."""

    async def so() -> bool:
        return sorted(await favourites(on)) == sorted(symbols)

    await eventually(so)


async def settled(meta: AsyncCollection[dict[str, Any]], *names: str, at: int) -> None:
    """Waits until the store says itself how far it has come."""

    async def said() -> bool:
        found = await positions(meta)
        return [found.get(name, 0) for name in names] == [at] * len(names)

    await eventually(said)


async def one_is_watched(servers: Servers, database: AsyncDatabase[dict[str, Any]]) -> None:
    """A store that knows of one ticker, and says how far it has come."""
    async with replica(servers) as one:
        await watchlist_grows(one.client, "AAPL")
        await known(one, "AAPL")
        await settled(database["meta"], RECORDED, FORMER, at=1)


async def positions(meta: AsyncCollection[dict[str, Any]]) -> dict[str, int]:
    row = await meta.find_one({"_id": "positions"})
    return {name: int(position.split("/")[1]) for name, position in (row or {}).get("at", ())}


async def test_what_a_consumer_of_an_earlier_release_had_not_taken_in_is_taken_in_before_it_is_ended(
    servers: Servers,
) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
        database = mongo[servers.database]
        await one_is_watched(servers, database)
        # The call is in its log and the consumer of favourites behind: as an earlier release may have left them.
        await database["memories"].delete_many({})
        async with old_release(servers) as old:
            await ensure_consumer(old, WATCHED)
        async with replica(servers) as one:
            await known(one, "AAPL")

            async def ended() -> bool:
                return "error" in await info(one.client, WATCHED)

            await eventually(ended)
            await watchlist_grows(one.client, "MSFT")
            await known(one, "AAPL", "MSFT")


async def test_a_store_from_the_time_of_a_former_consumer_is_brought_up_from_where_it_was_with_that(
    servers: Servers,
) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
        database = mongo[servers.database]
        await one_is_watched(servers, database)
        await database["memories"].delete_many({})
        row = await database["meta"].find_one({"_id": "positions"})
        assert row is not None
        (era,) = {position.split("/")[0] for name, position in row["at"] if name == FORMER}
        await database["meta"].update_one(
            {"_id": "positions"},
            {"$set": {"at": [[FORMER, f"{era}/0"] if name == FORMER else [name, at] for name, at in row["at"]]}},
        )
        async with replica(servers) as one:
            await known(one, "AAPL")
            await settled(database["meta"], FORMER, at=1)


async def test_a_consumer_that_a_replica_of_an_earlier_release_serves_is_left_to_it(servers: Servers) -> None:
    async with old_release(servers) as old:
        await ensure_consumer(old, WATCHED)
        inbox = await old.subscribe(old.new_inbox())  # pyright: ignore[reportUnknownMemberType]
        ask = f"$JS.API.CONSUMER.MSG.NEXT.{WATCHED.stream}.{WATCHED.durable}"
        await old.publish(ask, b'{"batch":256,"expires":60000000000}', reply=inbox.subject)
        async with replica(servers) as one:
            await watchlist_grows(old, "AAPL")
            assert json.loads((await inbox.next_msg(20)).data)["data"]["callId"] == "AAPL"
            await known(one, "AAPL")
            assert "error" not in await info(one.client, WATCHED)
