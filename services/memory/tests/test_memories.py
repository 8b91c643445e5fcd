"""What is remembered of a user, over the bus: read, corrected, forgotten, taken along."""

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.errors import ErrorCode
from contracts.memory_rpc import (
    MEMORY_DELETE,
    MEMORY_EXPORT,
    MEMORY_GET,
    MEMORY_PATCH,
    LongTermMemory,
    MemoryExportRequest,
    MemoryPatchRequest,
    UserRef,
)
from contracts.streams import FACTS
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo import for_requests
from memory.adapters.mongo_memories import MongoMemories
from memory.application.memories import Memories
from memory.domain.remembered import Remembered
from memory.errors import StoreUnavailableError
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.direct import DirectReader
from runtime.clock import SystemClock
from runtime.errors import RpcError
from runtime.testing.clock import FakeClock

ANA = UserRef(company_id="acme", user_id="ana")


async def get(on: Replica) -> LongTermMemory:
    return (await on.rpc.call(MEMORY_GET, ANA)).memory


async def patch(on: Replica, **changes: Any) -> LongTermMemory:
    request = MemoryPatchRequest(company_id="acme", user_id="ana", patch=changes)
    return (await on.rpc.call(MEMORY_PATCH, request)).memory


async def test_a_fact_is_kept_once_however_often_it_is_set(servers: Servers) -> None:
    async with replica(servers) as one:
        twice = ["I have a boat", "I smoke", "I have a  boat"]
        assert (await patch(one, userNotes=twice)).user_notes == ["I have a boat", "I smoke"]


async def test_others_are_served_while_a_long_message_is_learned(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        told = BusAnnouncements(one.service.publisher, DirectReader(one.client, FACTS.name))
        store = MongoMemories(for_requests(client[servers.database])["memories"])
        memories = Memories(store=store, announcements=told, clock=SystemClock())
        learning, has_served, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

        def learn(state: Remembered) -> Remembered:
            loop.call_soon_threadsafe(learning.set)
            assert has_served.wait(30), "nobody was served meanwhile"
            return state

        change = asyncio.create_task(memories.change("acme", "ana", learn))
        await learning.wait()
        assert await get(one) == LongTermMemory()
        has_served.set()
        await change


async def test_a_memory_is_empty_then_corrected_then_forgotten(servers: Servers) -> None:
    clock = FakeClock()
    async with replica(servers, clock=clock) as one:
        assert await get(one) == LongTermMemory()
        made = await patch(one, favoriteSymbols=["AAPL"], tradingStyle="swing", userNotes=["I live in Lima"])
        assert made == await get(one)
        assert (await patch(one, favoriteSymbols=["aapl", "btcusd", "AAPL"])).favorite_symbols == ["AAPL", "BTC/USD"]
        made = await patch(one, favoriteSymbols=["AAPL"])
        assert (made.favorite_symbols, made.trading_style, made.updated_at) == (["AAPL"], "swing", clock.now())
        await clock.advance(3600)
        changed = await patch(one, tradingStyle="day_trading")
        (past,) = changed.superseded
        assert (past.field, past.value) == ("tradingStyle", "swing")
        assert (past.since, past.until) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, tzinfo=UTC))
        assert changed.user_notes == ["I live in Lima"]
        first, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, tzinfo=UTC)
        assert changed.since == (await get(one)).since == {"I live in Lima": first, "tradingStyle": later}
        forgotten = await patch(one, tradingStyle=None)
        assert (forgotten.trading_style, forgotten.superseded) == (None, [])
        assert (await one.rpc.call(MEMORY_DELETE, ANA)).deleted
        assert not (await one.rpc.call(MEMORY_DELETE, ANA)).deleted
        assert await get(one) == LongTermMemory()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tradingStyle": "yolo"}, "tradingStyle"),
        ({"nonsense": 1}, "nonsense"),
        ({"superseded": []}, "superseded"),
        ({"updatedAt": None}, "updatedAt"),
        ({"since": {}}, "since"),
        ({"userNotes": ["x"] * 51}, "userNotes"),
        ({"favoriteSymbols": ["AAPL", "no symbol!"]}, "favoriteSymbols.1"),
        ({"userNotes": [""]}, "userNotes.0"),
        ({"preferences": ["x" * 501]}, "preferences.0"),
    ],
)
async def test_a_correction_that_fits_no_memory_is_refused_with_the_fields_name(
    servers: Servers, changes: dict[str, Any], field: str
) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError) as refused:
            await patch(one, **changes)
        assert refused.value.code == "BAD_FIELD"
        assert [fault.field for fault in refused.value.fields] == [field]
        assert await get(one) == LongTermMemory()


async def test_a_correction_of_what_has_changed_since_it_was_read_is_refused(servers: Servers) -> None:
    async with replica(servers) as one:
        empty = await one.rpc.call(MEMORY_GET, ANA)

        async def note(text: str, over: str | None) -> LongTermMemory:
            request = MemoryPatchRequest(company_id="acme", user_id="ana", patch={"userNotes": [text]}, over=over)
            return (await one.rpc.call(MEMORY_PATCH, request)).memory

        assert empty.version is not None
        await note("first", empty.version)
        read = await one.rpc.call(MEMORY_GET, ANA)
        await note("second", read.version)
        for old in (empty.version, read.version):
            with pytest.raises(RpcError) as refused:
                await note("too late", old)
            assert refused.value.code == "PRECONDITION_FAILED"
        assert (await get(one)).user_notes == ["second"]
        await one.rpc.call(MEMORY_DELETE, ANA)
        assert (await note("anew", (await one.rpc.call(MEMORY_GET, ANA)).version)).user_notes == ["anew"]


async def test_two_hundred_parallel_updates_of_one_user_lose_nothing(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        rows = for_requests(client[servers.database])["memories"]
        told = BusAnnouncements(one.service.publisher, DirectReader(one.client, FACTS.name))
        replicas = [Memories(store=MongoMemories(rows), announcements=told, clock=SystemClock()) for _ in range(4)]

        async def learn(number: int) -> None:
            def change(state: Remembered) -> Remembered:
                return state.with_learned(f"turn-{number}")

            await replicas[number % 4].change("acme", "ana", change)

        async with asyncio.timeout(60):
            await asyncio.gather(*(learn(number) for number in range(200)))
        held = await MongoMemories(rows).load("acme", "ana")
        assert sorted(held.state.learned) == sorted(f"turn-{number}" for number in range(200))


class Unanswering(MongoMemories):
    """The store, of which some writes take place and are not answered."""

    unanswered = 2

    async def save(
        self, company: str, user: str, state: Remembered, previous_version: str | None, version: str
    ) -> bool:
        saved = await super().save(company, user, state, previous_version, version)
        if self.unanswered:
            self.unanswered -= 1
            raise StoreUnavailableError("no answer in time")
        return saved


async def test_a_write_without_an_answer_is_looked_up_and_the_truth_is_told(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        told = BusAnnouncements(one.service.publisher, DirectReader(one.client, FACTS.name))
        store = Unanswering(for_requests(client[servers.database])["memories"])
        memories = Memories(store=store, announcements=told, clock=SystemClock())
        for note in ("first", "second"):
            request = MemoryPatchRequest(company_id="acme", user_id="ana", patch={"userNotes": [note]})
            assert (await memories.correct(request)).memory.user_notes == [note]
        assert store.unanswered == 0
        assert (await get(one)).user_notes == ["second"]


async def test_a_correction_that_is_sent_again_takes_effect_once(servers: Servers) -> None:
    async with replica(servers) as one:
        version = (await one.rpc.call(MEMORY_GET, ANA)).version
        request = MemoryPatchRequest(
            company_id="acme", user_id="ana", patch={"userNotes": ["mine"]}, over=version, request_id="t1-0-0"
        )
        for _ in range(2):
            assert (await one.rpc.call(MEMORY_PATCH, request)).memory.user_notes == ["mine"]
            await patch(one, name="Ana")


async def test_an_id_that_came_with_another_correction_is_refused(servers: Servers) -> None:
    async with replica(servers) as one:
        for body, notes in (("a", ["one"]), ("a", ["one"]), ("b", ["two"])):
            request = MemoryPatchRequest(
                company_id="acme", user_id="ana", patch={"userNotes": notes}, request_id="k1", body=body
            )
            if body == "a":
                await one.rpc.call(MEMORY_PATCH, request)
                continue
            with pytest.raises(RpcError, match="another correction") as refused:
                await one.rpc.call(MEMORY_PATCH, request)
            assert refused.value.code == ErrorCode.CONFLICT
        assert (await get(one)).user_notes == ["one"]


async def test_an_export_holds_every_message_of_the_user_and_nobody_elses_in_pages_of_bounded_size(
    servers: Servers,
) -> None:
    async with replica(servers) as one:
        await patch(one, tradingStyle="swing")
        said: dict[str, list[str]] = {}
        for number in range(3):
            writer = Writer(one.client)
            texts = [f"{number}/{index} " + "ñ" * 7000 for index in range(25)]
            for text in texts:
                await writer.visitor(text, user="ana")
            said[writer.conversation] = texts
        await Writer(one.client).visitor("not hers", user="bob")
        await Writer(one.client, company="other").visitor("another company's", user="ana")

        exported: dict[str, list[str]] = {}
        cursor: str | None = None
        pages = 0
        while pages < 20:
            request = MemoryExportRequest(company_id="acme", user_id="ana", cursor=cursor)
            page = await one.rpc.call(MEMORY_EXPORT, request)
            assert len(page.to_json()) < 512 * 1024
            assert (page.memory is not None) == (pages == 0)
            for part in page.conversations:
                exported.setdefault(part.conversation.id, []).extend(message.text for message in part.messages)
            pages += 1
            cursor = page.next
            if cursor is None:
                break
        assert exported == said
        assert pages > 1


async def test_a_cursor_of_one_user_opens_nothing_of_another(servers: Servers) -> None:
    async with replica(servers) as one:
        for _ in range(2):
            writer = Writer(one.client)
            for _ in range(40):
                await writer.visitor("ñ" * 7000, user="ana")
        mine = await one.rpc.call(MEMORY_EXPORT, MemoryExportRequest(company_id="acme", user_id="ana"))
        assert mine.next is not None
        request = MemoryExportRequest(company_id="acme", user_id="bob", cursor=mine.next)
        found = await one.rpc.call(MEMORY_EXPORT, request)
        assert (found.conversations, found.next) == ([], None)
        for cursor in ("nonsense", "!!"):
            with pytest.raises(RpcError) as refused:
                await one.rpc.call(MEMORY_EXPORT, request.model_copy(update={"cursor": cursor}))
            assert refused.value.code == "BAD_FIELD"
