"""What the previous release stored is read by this one; fields of tomorrow in it are obeyed by nobody and kept."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from redis.asyncio import Redis

from contracts.company import CompanySettings
from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.domain.paper.account import Owner
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_memories import MongoMemories
from runtime.stores.mongo import Database
from runtime.testing.servers import MongoDatabase, ValkeyServer
from tests.upgrade.golden_files import TOMORROW, Json, golden, with_more
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.adapters.renewals import Renewals
from tool_executor.ports import CallKey, RecordedResult

ANN = Owner("acme", "ann")


def _with_more(row: Json) -> Json:
    """A document with a field of tomorrow everywhere, in the JSON texts in it too."""
    texts = {name: text for name, text in row.items() if isinstance(text, str) and text.startswith("{")}
    return with_more(row) | {name: json.dumps(with_more(json.loads(text))) for name, text in texts.items()}


@pytest.fixture
async def database(mongo_server: MongoDatabase) -> AsyncIterator[Database]:
    """Every collection of the previous release, with more in it than it wrote."""
    async with AsyncMongoClient[dict[str, Any]](mongo_server.url) as client:
        for name, rows in golden("documents").items():
            await client[mongo_server.database][name].insert_many([_with_more(row) for row in rows])
        yield bounded(client[mongo_server.database])


async def _stored(database: Database, collection: str) -> Json:
    row = await database[collection].find_one({})
    assert row is not None
    return row


async def test_settings_are_read_changed_and_kept(database: Database) -> None:
    store = MongoCompanies(database["companies"])
    found = await store.get("acme")
    assert found is not None
    assert (found.config.ai_auto_response_enabled, found.config.budget.daily_tokens) == (True, 1_000_000)
    off = found.config.model_copy(update={"ai_auto_response_enabled": False})
    assert await store.replace(CompanySettings(config=off, version=found.version + 1))
    config = json.loads((await _stored(database, "companies"))["config"])
    assert config["aiAutoResponseEnabled"] is False
    assert TOMORROW in config
    assert TOMORROW in config["budget"]


async def test_an_account_is_read_changed_and_kept(database: Database) -> None:
    store = MongoAccounts(database)
    account = await store.load(ANN)
    row = golden("documents")["market_accounts"][0]["account"]
    assert (str(account.cash), len(account.orders)) == (row["cash"], len(row["orders"]))
    assert await store.save(replace(account, cash=account.cash + Decimal(1)))
    kept = (await _stored(database, "market_accounts"))["account"]
    assert (Decimal(kept["cash"]), TOMORROW in kept) == (account.cash + 1, True)
    assert all(TOMORROW in order for order in kept["orders"])


async def test_alerts_and_watchlists_are_read(database: Database) -> None:
    rows = golden("documents")
    alerts = MongoAlerts(database)
    for row in rows["market_alerts"]:
        alert = await alerts.find(ANN, row["_id"])
        assert alert is not None
        assert (alert.symbol, alert.told) == (row["symbol"], row["told"])
    assert list(await MongoWatchlists(database).symbols(ANN)) == rows["market_watchlists"][0]["symbols"]


async def test_a_conversation_is_read_changed_and_kept(database: Database) -> None:
    store = MongoConversations(database["conversations"])
    row = golden("documents")["conversations"][0]
    key = tuple(row["_id"].split("/", 1))
    (state,) = (await store.load([key])).values()
    assert state.message_count == row["messageCount"]
    assert len(await store.save([state])) == 1
    kept = await _stored(database, "conversations")
    assert (kept[TOMORROW], kept["version"]) == ({"a": [1]}, row["version"] + 1)


async def test_a_memory_is_read_changed_and_kept(database: Database) -> None:
    store = MongoMemories(database["memories"])
    row = golden("documents")["memories"][0]
    found = await store.load("acme", "ann")
    assert found.state.memory.favorite_symbols == json.loads(row["state"])["memory"]["favoriteSymbols"]
    assert await store.save("acme", "ann", found.state, found.version, "a-version")
    state = json.loads((await _stored(database, "memories"))["state"])
    assert TOMORROW in state
    assert TOMORROW in state["memory"]


async def test_a_call_that_was_done_before_the_roll_out_is_not_done_again(valkey_server: ValkeyServer) -> None:
    written = golden("redis")["tool:call"]
    name, value = written["key"], written["value"]
    store = RedisStore(valkey_server.url, 5.0)
    async with Redis.from_url(valkey_server.url) as redis:  # pyright: ignore[reportUnknownMemberType]
        fields = value | {"r": json.dumps(with_more(json.loads(value["r"]))), TOMORROW: "1"}
        await redis.hset(name, mapping=fields)  # pyright: ignore[reportUnknownMemberType,reportGeneralTypeIssues]
        key = CallKey(*name.split(":")[2:])
        claim = await RedisCallRecords(store, Renewals(store), 60).claim(key, value["f"], 5.0, is_renewed=False)
        assert isinstance(claim, RecordedResult)
        assert claim.result.success is json.loads(value["r"])["success"]
        assert await redis.hget(name, TOMORROW) == b"1"  # pyright: ignore[reportUnknownMemberType,reportGeneralTypeIssues]
    await store.close()
