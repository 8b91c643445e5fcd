"""Stores that are put back to an earlier state, or lose what they held: brought up from the log, or it is told."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from nats.aio.client import Client
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure

from contracts.channels import fact
from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_PATCH,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyRequest,
)
from contracts.context_rpc import SHORT_TERM_GET, ShortTermMemory
from contracts.conversation_rpc import CONVERSATION_MESSAGES, HISTORY, HistoryRequest, MessagesRequest
from contracts.envelope import CloudEvent
from contracts.errors import ErrorCode
from contracts.events.chat import Usage
from contracts.events.fact import FeedbackGiven, UsageRecorded, UsageReservation
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.ids import uuid7
from contracts.memory_rpc import (
    BUDGET_RESERVE,
    MEMORY_GET,
    USAGE,
    BudgetReserveRequest,
    UsageRequest,
    UserRef,
)
from contracts.streams import FACTS
from memory.adapters.mongo import Connections
from memory.adapters.mongo_positions import MongoPositions
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.bus.streams import MARGIN
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.stores.mongo import Database
from runtime.testing.servers import NatsServer, ServerProcess, ValkeyServer, eventually, run_mongo_server

ANA = UserRef(company_id="acme", user_id="ana")


async def put(on: Replica, kind: str, data: Any) -> None:
    event = CloudEvent(source="/test", type=kind, data=data)
    await Publisher(on.client).append(fact(kind, "acme", "ana"), event, stream=FACTS.name, msg_id=event.id)


async def live_on(on: Replica, conversation: str, word: str) -> int:
    """Something of everything that memory takes in; the sequence of what was said last."""
    writer = Writer(on.client, "acme", conversation)
    said = await writer.visitor(f"Remember that my word is {word}", user="ana", role="user")
    last = await writer.assistant(f"Noted: {word}", said)
    result = ToolResult(success=True, metadata=ToolMetadata(execution_time=1))
    call = ToolCallCompleted(call_id=word, tool="add_to_watchlist", arguments={"symbol": word.upper()}, result=result)
    await put(on, "tools.call.completed.v1", call)
    usage = Usage(prompt_tokens=10, completion_tokens=1)
    held = UsageReservation(id=uuid7(), tokens=5, at=int(datetime.now(UTC).timestamp()), tier="main", payer="ana")
    used = UsageRecorded(company_id="acme", turn_id=word, provider="p", model="m", usage=usage, reservation=held)
    await put(on, "usage.recorded.v1", used)
    rating = FeedbackGiven(company_id="acme", conversation_id=conversation, message_id=word, user_id="ana", rating="up")
    await put(on, "feedback.given.v1", rating)
    return last


async def in_mongodb(on: Replica, servers: Servers, *conversations: str) -> dict[str, Any]:
    """What MongoDB holds, as far as it does not depend on how it got there."""
    rpc, found = RpcClient(on.client), dict[str, Any]()
    for name in conversations:
        request = MessagesRequest(company_id="acme", conversation_id=name)
        found[name] = [item.text for item in (await rpc.call(CONVERSATION_MESSAGES, request)).items]
    memory = (await rpc.call(MEMORY_GET, ANA)).memory
    found["memory"] = (sorted(memory.user_notes), sorted(memory.favorite_symbols))
    today = datetime.now(UTC).date()
    request = UsageRequest(company_id="acme", since=today - timedelta(days=1), until=today)
    days = (await rpc.call(USAGE, request)).days
    found["usage"] = (sum(day.turns for day in days), sum(day.prompt_tokens for day in days))
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        for name in ("executions", "ratings", "facts"):
            found[name] = sorted([row["_id"] async for row in client[servers.database][name].find({}, {"_id": 1})])
    return found


async def all_in(on: Replica, servers: Servers, words: list[str]) -> dict[str, Any]:
    """What MongoDB holds, once the facts of all these words are there."""

    async def complete() -> dict[str, Any]:
        found = await in_mongodb(on, servers, *(f"c-{word}" for word in words))
        assert [len(found[f"c-{word}"]) for word in words] == [2] * len(words)
        assert [len(found["memory"][0]), len(found["memory"][1])] == [len(words)] * 2
        assert found["usage"] == (len(words), 10 * len(words))
        assert [len(found["executions"]), len(found["ratings"])] == [len(words)] * 2
        return found

    return await eventually(complete)


def copy_of(server: ServerProcess, part: str) -> Path:
    """A copy of a stopped server's files, beside them."""
    source = server.directory / part
    return shutil.copytree(source, source.with_name(f"{part}-copy"), dirs_exist_ok=True)


def put_back(server: ServerProcess, part: str) -> None:
    """The copy in the place of the files."""
    shutil.rmtree(server.directory / part)
    shutil.copytree(server.directory / f"{part}-copy", server.directory / part)


@pytest.mark.parametrize("running", [False, True], ids=["while memory is away", "under a running memory"])
async def test_a_mongodb_that_is_put_back_gets_everything_from_the_log_again(servers: Servers, running: bool) -> None:
    with run_mongo_server() as mongo:
        here = Servers(servers.nats, mongo.url, "test", servers.redis)
        async with replica(here) as one:
            await live_on(one, "c-alpha", "alpha")
            await all_in(one, here, ["alpha"])
        mongo.stop()
        copy_of(mongo, "data")
        mongo.start()
        async with replica(here) as one:
            last = 0
            for word in ("bravo", "gamma"):
                last = await live_on(one, f"c-{word}", word)
            before = await all_in(one, here, ["alpha", "bravo", "gamma"])
            if running:
                await settled(one, here)
                mongo.stop()
                put_back(mongo, "data")
                mongo.start()
                # At once, long before the store is looked at again; so many are in no window.
                asked = HistoryRequest(company_id="acme", conversation_id="c-gamma", up_to_seq=last, limit=200)
                assert len((await one.rpc.call(HISTORY, asked)).messages) == 2
                assert await all_in(one, here, ["alpha", "bravo", "gamma"]) == before
        if not running:
            mongo.stop()
            put_back(mongo, "data")
            mongo.start()
            async with replica(here) as one:
                assert await all_in(one, here, ["alpha", "bravo", "gamma"]) == before
                assert "misses" not in await store_remark(one)


async def test_settings_that_a_mongodb_has_lost_are_taken_back_from_the_bus(servers: Servers) -> None:
    """Under a running memory, at once: nobody is to find that there is no such company."""
    with run_mongo_server() as mongo:
        here = Servers(servers.nats, mongo.url, "test", servers.redis)
        async with replica(here) as one:
            await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"}))
            mongo.stop()
            copy_of(mongo, "data")
            mongo.start()
            patch = {"aiAutoResponseEnabled": False}

            async def patched() -> bool:
                try:
                    request = CompanyPatchRequest(company_id="acme", version=1, patch=patch)
                    return (await one.rpc.call(COMPANY_PATCH, request)).settings.version == 2
                except RpcError as error:
                    return error.code == ErrorCode.PRECONDITION_FAILED

            async def version() -> int:
                try:
                    found = (await one.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))).settings
                except RpcError as error:
                    raise AssertionError("MongoDB is not back yet") from error
                return found.version if found is not None else 0

            await eventually(patched)
            assert await version() == 2
            mongo.stop()
            put_back(mongo, "data")
            mongo.start()

            async def taken_back() -> bool:
                return await version() == 2

            await eventually(taken_back)


async def test_a_mongodb_that_is_new_gets_all_that_the_log_holds(servers: Servers) -> None:
    with run_mongo_server() as mongo:
        here = Servers(servers.nats, mongo.url, "test", servers.redis)
        async with replica(here) as one:
            await live_on(one, "c-alpha", "alpha")
            before = await all_in(one, here, ["alpha"])
        other = Servers(servers.nats, mongo.url, "another", servers.redis)
        async with replica(other) as one:
            assert await all_in(one, other, ["alpha"]) == before


async def test_what_the_log_does_not_hold_any_more_is_told_and_stays_told(servers: Servers) -> None:
    with run_mongo_server() as mongo:
        here = Servers(servers.nats, mongo.url, "test", servers.redis)
        async with replica(here) as one:
            await live_on(one, "c-alpha", "alpha")
            await all_in(one, here, ["alpha"])
            await settled(one, here)
        mongo.stop()
        copy_of(mongo, "data")
        mongo.start()
        async with replica(here) as one:
            for word in ("bravo", "gamma"):
                await live_on(one, f"c-{word}", word)
            await all_in(one, here, ["alpha", "bravo", "gamma"])
            answer = await one.client.request("$JS.API.STREAM.PURGE.CHAT", b'{"seq":5}')
            assert json.loads(answer.data)["purged"] == 4
        mongo.stop()
        put_back(mongo, "data")
        mongo.start()
        for _ in range(2):
            async with replica(here) as one:
                missing = "mongodb misses sequences 3..4 of CHAT/memory-projection"

                async def told(one: Replica = one, missing: str = missing) -> bool:
                    return missing in await store_remark(one)

                await eventually(told)
                found = await in_mongodb(one, here, "c-alpha", "c-bravo", "c-gamma")
                assert [len(found[name]) for name in ("c-alpha", "c-bravo", "c-gamma")] == [2, 0, 2]


async def client_of_shortened_log(nats_server: NatsServer) -> Client:
    """Restarts the server, whose file of the log has lost its second half; returns a gateway's client."""
    nats_server.stop()
    (file,) = (nats_server.directory / "store").glob("jetstream/*/streams/CHAT/msgs/*.blk")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    file.with_name("index.db").unlink()  # after a crash there is none
    nats_server.start()
    return await connect(NatsSettings(url=nats_server.url), name="gateway")


@pytest.mark.own_servers
async def test_what_was_written_to_a_log_without_its_end_is_kept_before_it_is_let_go(
    nats_server: NatsServer, servers: Servers
) -> None:
    """Gateways write as soon as the server is back, memory may look a minute later. It was killed before it recorded
    how far it was."""
    async with replica(servers) as one:
        writer = Writer(one.client, "acme", "c-alpha")
        for number in range(6):
            await writer.visitor(f"before {number} " + "x" * 500)
        await settled(one, servers)
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
        meta = mongo[servers.database]["meta"]
        row = await meta.find_one({"_id": "positions"})
        at = [[name, f"{position.split('/')[0]}/{1:016d}"] for name, position in (row or {})["at"]]
        await meta.update_one({"_id": "positions"}, {"$set": {"at": at}})
    client = await client_of_shortened_log(nats_server)
    known, fresh = Writer(client, "acme", "c-alpha"), Writer(client, "acme", "c-bravo")
    assert await known.visitor("since then") <= 6
    assert await fresh.visitor("from another") <= 6
    async with replica(servers) as one:
        expected = [6 + 1, 1]

        async def all_there() -> dict[str, Any]:
            found = await in_mongodb(one, servers, "c-alpha", "c-bravo")
            assert [len(found[name]) for name in ("c-alpha", "c-bravo")] == expected
            return found

        found = await eventually(all_there)
        assert {text.partition(" x")[0] for text in found["c-alpha"]} == {
            "since then", *(f"before {number}" for number in range(6))
        }  # fmt: skip
        assert await known.visitor("it goes on") > 6
        expected[0] += 1
        await eventually(all_there)
    await client.close()


@pytest.mark.own_servers
async def test_a_log_without_its_end_is_noticed_before_the_store_has_recorded_how_far_it_was(
    nats_server: NatsServer, servers: Servers
) -> None:
    """Others write again before memory is back: what they write has the sequences of what is lost."""
    async with replica(servers, positions_sweep=3600.0) as one:
        writer = Writer(one.client, "acme", "c-alpha")
        for number in range(6):
            await writer.visitor(f"before {number} " + "x" * 500)

        async def texts() -> list[str]:
            return [text.partition(" x")[0] for text in (await in_mongodb(one, servers, "c-alpha"))["c-alpha"]]

        async def all_there(many: int) -> bool:
            return len(await texts()) == many

        await eventually(lambda: all_there(6))
        client = await client_of_shortened_log(nats_server)
        again = Writer(client, "acme", "c-alpha")
        for number in range(6):
            await again.visitor(f"since then {number}")

        async def goes_on() -> bool:
            return await again.visitor("it goes on") > MARGIN

        await eventually(goes_on)

        async def whole() -> bool:
            found = await texts()
            return {f"{when} {number}" for when in ("before", "since then") for number in range(6)} <= set(found)

        await eventually(whole)
        await client.close()


async def store_remark(on: Replica) -> str:
    """What /readyz says of MongoDB."""
    return (await on.service.health.report()).checks["store"].remark or ""


async def settled(on: Replica, servers: Servers) -> None:
    """Waits until MongoDB says itself that it holds everything."""
    ends = {
        stream: json.loads((await on.client.request(f"$JS.API.STREAM.INFO.{stream}", b"")).data)["state"]["last_seq"]
        for stream in ("CHAT", "FACTS")
    }
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:

        async def said() -> bool:
            row = await client[servers.database]["meta"].find_one({"_id": "positions"})
            at = {name: int(position.split("/")[1]) for name, position in (row or {}).get("at", ())}
            return at.get("CHAT/memory-projection") == ends["CHAT"]

        await eventually(said)


async def in_redis(on: Replica) -> tuple[ShortTermMemory, bool]:
    """Ana's last hour, and whether the company's budget of 22 tokens has room."""
    wanted = BudgetReserveRequest(
        company_id="acme", reservation_id=uuid7(), tokens=0, seconds=1, payer=None, daily_tokens=22
    )
    try:
        memory = (await on.rpc.call(SHORT_TERM_GET, ANA)).memory
        return memory, (await on.rpc.call(BUDGET_RESERVE, wanted)).granted
    except RpcError as error:
        raise AssertionError("Redis is not back yet") from error


@pytest.mark.own_servers
@pytest.mark.parametrize("how", ["put back", "emptied"])
async def test_a_redis_that_is_put_back_or_emptied_has_the_last_hour_and_the_budgets_again(
    servers: Servers, valkey_server: ValkeyServer, how: str
) -> None:
    async with replica(servers) as one:
        await live_on(one, "c-alpha", "alpha")

        async def taken(conversation: str) -> bool:
            return (await in_redis(one))[0].active_conversation == conversation

        await eventually(lambda: taken("c-alpha"))
        valkey_server.stop()
        copy_of(valkey_server, "appendonlydir")
        valkey_server.start()
        await live_on(one, "c-bravo", "bravo")
        await eventually(lambda: taken("c-bravo"))

        async def spent() -> bool:
            return not (await in_redis(one))[1]

        await eventually(spent)
        before = await in_redis(one)
        valkey_server.stop()
        if how == "emptied":
            shutil.rmtree(valkey_server.directory / "appendonlydir")
        else:
            put_back(valkey_server, "appendonlydir")
        valkey_server.start()

        async def again() -> bool:
            return await in_redis(one) == before

        await eventually(again)


async def test_a_user_who_may_not_ask_for_the_servers_state_is_refused_once_a_connection() -> None:
    """Every history that is read asks whether the server is the same."""

    class Refusing(dict[str, object]):
        asked = 0

        async def command(self, name: str) -> None:
            self.asked += 1
            raise OperationFailure(f"not authorized on nexus to execute command {name}", 13)

    database, connections = Refusing(meta=None), Connections()
    positions = MongoPositions(cast(Database, database), connections)
    for opened in (1, 2):
        connections.opened = opened
        assert [await positions.incarnation() for _ in range(3)] == [0, 0, 0]
        assert database.asked == opened
