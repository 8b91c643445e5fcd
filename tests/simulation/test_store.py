"""The simulated stores are asked the same as the real ones, by memory's own adapters, and must answer the same."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

from pymongo import AsyncMongoClient
from redis.asyncio import Redis

from contracts.channels import ChatAddress, ChatKind
from contracts.company import CompanyConfig, CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.chat import OperatorMessage, Owner, OwnerChanged, OwnerKind
from memory.adapters import mongo
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.redis_budgets import RedisBudgets
from memory.application.budgets import BudgetLedger
from memory.domain.conversation import NEEDS_HUMAN, InboxConversation, fold
from memory.domain.facts import LogFact, decode
from memory.domain.inbox_index import InboxQuery
from memory.domain.keys import BEGINNING, LogPosition, milliseconds
from memory.domain.progress import Missed
from memory.domain.spending_limits import BudgetAccount, Settlement
from memory.errors import StoreUnavailableError
from runtime.stores.mongo import Database, Document
from runtime.testing.servers import MongoDatabase, ValkeyServer
from tests.simulation.cache import SimulatedLedger, SimulatedRedis
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Network
from tests.simulation.store import SimulatedMongo

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _fact(seq: int, name: str, conversation: str = "c1") -> LogFact:
    message = OperatorMessage(message_id=f"m-{name}", text=name, operator_id="op1")
    event = CloudEvent(id=f"e-{name}", source="/test", type=ChatKind.OPERATOR.event_type, time=NOON, data=message)
    return decode(ChatAddress("demo", conversation, ChatKind.OPERATOR), LogPosition(7, seq), NOON, event.to_json())


def _seqs(facts: list[LogFact]) -> list[tuple[int, str]]:
    return [(fact.seq, fact.event_id) for fact in facts]


async def _facts(database: Database) -> list[object]:
    facts = MongoFacts(database["facts"])
    said: list[object] = [
        await facts.add([_fact(1, "a"), _fact(2, "b"), _fact(3, "c")]),
        await facts.add([_fact(2, "b"), _fact(9, "a"), _fact(4, "d"), _fact(5, "other", "c2")]),
        await facts.add([_fact(12, "late"), _fact(11, "late")]),
        await facts.add([_fact(10, "late")]),
        await facts.add([]),
        await facts.are_stored([_fact(1, "a"), _fact(12, "late")]),
        await facts.are_stored([_fact(1, "a"), _fact(8, "never")]),
        _seqs(await facts.newest_messages("demo", "c1", LogPosition(7, 10), 3)),
        _seqs(await facts.newest_messages("demo", "c1", LogPosition(7, 3), 9, since=LogPosition(7, 1))),
        _seqs(await facts.after("demo", "c1", LogPosition(7, 1), LogPosition(7, 4), 2)),
        _seqs(await facts.after("demo", "none", LogPosition(7, 0), LogPosition(7, 99), 5)),
    ]
    cursor = None
    for _ in range(3):
        page = await facts.messages("demo", "c1", 2, cursor)
        cursor = page.next
        said.append((_seqs(page.items), cursor))
    for conversation, name in (("c1", "m-late"), ("c2", "m-late"), ("c2", "m-other")):
        found = await facts.message("demo", conversation, name)
        said.append(found and (found.seq, found.data, found.stored_at))
    return said


def _folded(*facts: LogFact) -> InboxConversation:
    state = InboxConversation(facts[0].company, facts[0].conversation)
    return fold(state, facts, BEGINNING, {})


async def _conversations(database: Database) -> list[object]:
    rows = MongoConversations(database["conversations"])
    first, second = _folded(_fact(1, "a")), _folded(_fact(2, "b", "c2"))
    said: list[object] = [
        await rows.save([first, second]),
        await rows.save([]),
        await rows.load([("demo", "c1"), ("demo", "none")]),
        [state.conversation for state in await rows.save([_folded(_fact(3, "x", "c3")), first])],
    ]
    stored = (await rows.load([("demo", "c1")]))["demo", "c1"]
    later = fold(stored, [_fact(4, "d")], BEGINNING, {})
    said += [
        await rows.save([later]),
        [state.conversation for state in await rows.save([later, _folded(_fact(5, "y", "c4"))])],
        await rows.load([("demo", "c1"), ("demo", "c3"), ("demo", "c4")]),
    ]
    for chosen in (InboxQuery(), InboxQuery(state="ai"), InboxQuery(state="human"), InboxQuery(person="v1")):
        cursor = None
        for _ in range(2):
            page = await rows.page("demo", chosen, 3, cursor)
            cursor = page.next
            said.append(([state.conversation for state in page.items], cursor))
            if cursor is None:
                break
    return [*said, await rows.latest_of("demo", "v1"), *await _waiting(rows)]


async def _waiting(rows: MongoConversations) -> list[object]:
    """What is asked of a conversation that waits for a person."""
    owner = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="v1")
    event = CloudEvent(id="e-w", source="/test", type=ChatKind.OWNER.event_type, time=NOON, data=owner)
    place, at = ChatAddress("demo", "w1", ChatKind.OWNER), LogPosition(7, 20)
    await rows.save([_folded(decode(place, at, NOON, event.to_json()))])
    noon_ms = milliseconds(NOON)
    ((state, due_ms),) = await rows.due_for_look(noon_ms, 5)
    said: list[object] = [
        await rows.due_for_look(noon_ms - 1, 5),
        await rows.waiting("demo"),
        await rows.queue(),
        await rows.store_next_looks([(state, due_ms, noon_ms + 5)]),
        await rows.due_for_look(noon_ms, 5),
        await rows.store_next_looks([(state, due_ms, None)]),
        [found_ms for _, found_ms in await rows.due_for_look(noon_ms + 5, 5)],
        await rows.store_next_looks([(state, noon_ms + 5, None)]),
        await rows.due_for_look(2 * noon_ms, 5),
        await rows.queue(),
        await rows.look_now("demo", "human"),
        await rows.due_for_look(2 * noon_ms, 5),
        await rows.look_now("demo", NEEDS_HUMAN),
    ]
    return [*said, [found.conversation for found, _ in await rows.due_for_look(noon_ms, 5)]]


async def _beside(database: Database) -> list[object]:
    positions, companies = MongoPositions(database, mongo.Connections()), MongoCompanies(database["companies"])
    gap = Missed("CHAT/x", 3, 4)
    said: list[object] = [
        await mongo.database_id(database, "first") == await mongo.database_id(database, "second"),
        await positions.load(),
        await positions.move("a", None, LogPosition(7, 1)),
        await positions.move("a", None, LogPosition(7, 2)),
        await positions.move("a", LogPosition(7, 1), LogPosition(7, 3)),
        await positions.move("b", None, LogPosition(7, 1)),
        await positions.load(),
        await positions.miss(gap),
        await positions.miss(gap),
        await positions.missed(),
        await positions.incarnation() == await positions.incarnation(),
    ]
    config = CompanyConfig(company_id="acme", response_delay_ms=5)
    one, two = CompanySettings(config=config, version=1), CompanySettings(config=config, version=2)
    said += [
        await companies.get("acme"),
        await companies.create(one),
        await companies.create(one),
        await companies.replace(two),
        await companies.replace(two),
        await companies.unannounced(5),
        await companies.mark_announced("acme", 1),
        len(await companies.unannounced(5)),
        await companies.mark_announced("acme", 2),
        await companies.unannounced(5),
        await companies.after("", 5),
        await companies.after("acme", 5),
    ]
    return said


async def _all(database: Database) -> list[object]:
    return [*await _facts(database), *await _conversations(database), *await _beside(database)]


async def _ledgers(ledger: BudgetLedger) -> list[object]:
    company, visitor = BudgetAccount("company", "demo:day", 100, 60), BudgetAccount("visitor", "demo:v1:hour", 50, 60)
    unlimited = BudgetAccount("company", "demo:free", None, 60)
    return [
        await ledger.reserve("r1", 40, 30.0, [company, visitor]),
        await ledger.reserve("r1", 40, 30.0, [company, visitor]),
        await ledger.reserve("r2", 40, 30.0, [company, visitor]),
        await ledger.reserve("r3", 40, 30.0, [company, visitor]),
        await ledger.reserve("r4", 40, 30.0, [company]),
        await ledger.reserve("r5", 40, 30.0, [company]),
        await ledger.settle(Settlement("demo", "r1", 40, 5, [company, visitor])),
        await ledger.settle(Settlement("demo", "r1", 40, 5, [company, visitor])),
        await ledger.settle(Settlement("demo", "r2", 40, 0, [company, visitor])),
        await ledger.reserve("r5", 40, 30.0, [company, visitor]),
        await ledger.settle(Settlement("demo", "never", 40, 60, [company, visitor])),
        await ledger.reserve("r6", 1, 30.0, [company, visitor]),
        await ledger.reserve("r7", 10**9, 30.0, [unlimited]),
        await ledger.reserve("r8", 1, 30.0, [unlimited]),
    ]


def _simulated(ask: Callable[[SimulatedMongo, SimulatedRedis], Awaitable[Any]]) -> Any:
    random = Random(1)
    loop = SimulatedLoop(Network(random, 0.001), 300.0)
    latency = loop.network.latency

    async def run() -> Any:
        return await ask(SimulatedMongo(loop, random, latency), SimulatedRedis(loop, random, latency))

    found = loop.run_until_complete(run())
    loop.abandon()
    return found


def test_the_simulated_mongodb_answers_as_the_real_one(mongo_server: MongoDatabase) -> None:
    async def real() -> list[object]:
        async with AsyncMongoClient[Document](mongo_server.url, tz_aware=True, w="majority", journal=True) as client:
            database = mongo.for_requests(client[mongo_server.database])
            await mongo.prepare(database)
            return await _all(database)

    theirs = asyncio.run(real())
    mine = _simulated(lambda store, _: _all(mongo.for_requests(store)))  # pyright: ignore[reportArgumentType]
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        assert one == other


def test_the_simulated_budgets_answer_as_the_real_ones(valkey_server: ValkeyServer) -> None:
    async def real() -> list[object]:
        async with Redis.from_url(valkey_server.url) as client:  # pyright: ignore[reportUnknownMemberType]
            return await _ledgers(RedisBudgets(client))

    assert _simulated(lambda _, redis: _ledgers(SimulatedLedger(redis))) == asyncio.run(real())


def test_what_a_mongodb_that_dies_had_acknowledged_is_there_afterwards() -> None:
    async def dying(store: SimulatedMongo, redis: SimulatedRedis) -> None:
        del redis
        facts, lost = MongoFacts(mongo.for_requests(store)["facts"]), 0  # pyright: ignore[reportArgumentType]
        stored: list[LogFact] = []
        for number in range(1, 60):
            fact = _fact(number, f"n{number}")
            adding = asyncio.ensure_future(facts.add([fact]))
            # It dies at every moment of a write, the next one.
            await asyncio.sleep(0.0001 * number)
            await store.away(0.01)
            try:
                await adding
            except StoreUnavailableError:
                lost += not await facts.are_stored([fact])
            else:
                stored.append(fact)
        assert await facts.are_stored(stored)
        assert stored
        assert lost

    _simulated(dying)
