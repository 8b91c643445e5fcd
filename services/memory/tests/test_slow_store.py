"""MongoDB slow, or hanging: whoever has just come is served without it, and it is well again as soon as it can be."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import AutoReconnect, BulkWriteError, OperationFailure, PyMongoError, WriteError

from contracts.conversation_rpc import (
    CONVERSATION_MESSAGES,
    HISTORY,
    LATEST_CONVERSATION,
    SNAPSHOT,
    HistoryRequest,
    LatestConversationRequest,
    MessagesRequest,
    SnapshotRequest,
)
from memory.adapters.mongo import for_requests, limit, store_errors
from memory.errors import StoreRefusedError, StoreUnavailableError
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.stores.command_limit import TRIAL_ATTEMPTS
from runtime.stores.mongo import Document
from runtime.testing.network import Proxy, proxy_to
from runtime.testing.servers import eventually, run_mongo_server

VISITORS = 40
FAULTS: dict[str, Callable[[Proxy], None]] = {
    "slow": lambda proxy: setattr(proxy, "delay", 0.8),
    "hanging": lambda proxy: proxy.hold_replies(),
}


@pytest.fixture
async def far(servers: Servers) -> AsyncIterator[tuple[Servers, Proxy]]:
    """All servers, and what stands before a MongoDB of this test's own."""
    with run_mongo_server() as mongo:
        async with proxy_to(mongo.url) as proxy:
            yield Servers(servers.nats, proxy.url, "test", servers.redis), proxy


async def stored(on: Replica, writer: Writer) -> list[str]:
    request = MessagesRequest(company_id=writer.company, conversation_id=writer.conversation)
    found = await RpcClient(on.client).call(CONVERSATION_MESSAGES, request, deadline=3.0)
    return [message.text for message in found.items]


async def begin(on: Replica, number: int) -> Writer:
    """What is asked for a visitor who comes, writes and is answered; twice, as those who wait in vain do."""
    rpc, writer = RpcClient(on.client), Writer(on.client)
    for _ in range(2):
        try:
            who = LatestConversationRequest(company_id=writer.company, user_id=f"v{number}")
            assert (await rpc.call(LATEST_CONVERSATION, who, deadline=1.0)).conversation_id is None
        except RpcError as error:
            if not error.retryable:
                raise
    said = await writer.visitor(f"m{number}", user=f"v{number}")
    history = HistoryRequest(company_id=writer.company, conversation_id=writer.conversation, up_to_seq=said)
    assert [message.text for message in (await rpc.call(HISTORY, history, deadline=10.0)).messages] == [f"m{number}"]
    snapshot = SnapshotRequest(company_id=writer.company, conversation_id=writer.conversation, min_seq=said)
    assert [message.text for message in (await rpc.call(SNAPSHOT, snapshot, deadline=10.0)).messages] == [f"m{number}"]
    return writer


@pytest.mark.parametrize("fault", FAULTS)
async def test_forty_new_visitors_are_served_and_everything_is_normal_soon_after(
    far: tuple[Servers, Proxy], fault: str
) -> None:
    servers, proxy = far
    async with replica(servers) as one:
        await begin(one, 0)
        FAULTS[fault](proxy)
        end = time.monotonic() + 7.0  # longer than one command may take
        writers = await asyncio.gather(*(begin(one, number) for number in range(1, VISITORS)))
        while time.monotonic() < end:
            writers += await asyncio.gather(begin(one, 0), asyncio.sleep(0.1, writers[0]))
        proxy.delay = 0.0
        proxy.release_replies()
        for number, writer in enumerate(writers[: VISITORS - 1], 1):

            async def normal(writer: Writer = writer, number: int = number) -> bool:
                return await stored(one, writer) == [f"m{number}"]

            await eventually(normal)


async def test_callers_that_give_up_cost_the_store_no_connections(far: tuple[Servers, Proxy]) -> None:
    servers, proxy = far
    async with AsyncMongoClient[Document](servers.mongo) as client:
        rows = for_requests(client["test"])["facts"]

        async def all_of_them() -> list[Document | None]:
            return await asyncio.gather(*(rows.find_one({"_id": str(number)}) for number in range(10)))

        await all_of_them()
        before = proxy.accepted
        proxy.hold_replies()
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await all_of_them()
        proxy.release_replies()
        assert await all_of_them() == [None] * 10
        assert proxy.accepted - before <= 10


async def test_the_newest_command_is_refused_first_and_a_caller_that_gives_up_breaks_nothing_off() -> None:
    bound = limit("test", max_running=2, max_waiting=1, queue_seconds=30.0, queue_while_hanging=True)
    release, done = asyncio.Event(), list[str]()

    async def command(name: str) -> str:
        await release.wait()
        done.append(name)
        return name

    running = [asyncio.create_task(bound.run(lambda name=name: command(name))) for name in "ab"]
    waiting = asyncio.create_task(bound.run(lambda: command("c")))
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailableError):
        await bound.run(lambda: command("d"))
    running[0].cancel()
    await asyncio.wait(running[:1])
    assert not waiting.done()
    release.set()
    assert await waiting == "c"
    assert await running[1] == "b"
    assert done == ["a", "b", "c"]


async def test_who_waits_too_long_is_refused_and_its_place_is_free_again() -> None:
    bound = limit("test", max_running=1, max_waiting=1, queue_seconds=0.01, queue_while_hanging=True)
    release = asyncio.Event()
    running = asyncio.create_task(bound.run(release.wait))
    await asyncio.sleep(0)
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            await bound.run(release.wait)
    release.set()
    assert await running
    assert await bound.run(release.wait)


async def test_a_store_that_hangs_gets_a_few_trials_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.stores.command_limit.HANGING_SECONDS", 0.01)
    bound = limit("test", max_running=10, max_waiting=10, queue_seconds=30.0)
    release = asyncio.Event()
    running = [asyncio.create_task(bound.run(release.wait)) for _ in range(TRIAL_ATTEMPTS)]
    await eventually(lambda: bound.hanging)
    with pytest.raises(StoreUnavailableError):
        await bound.run(release.wait)
    release.set()
    await asyncio.gather(*running)
    assert not bound.hanging
    assert await bound.run(release.wait)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (WriteError("Cannot apply $inc to a value of non-numeric type", 14), StoreRefusedError),
        (BulkWriteError({"writeErrors": [{"index": 0, "code": 10334, "errmsg": "too large"}]}), StoreRefusedError),
        (
            BulkWriteError({"writeErrors": [{"index": 0, "code": 11000, "errmsg": "duplicate key"}]}),
            StoreUnavailableError,
        ),
        (OperationFailure("not primary", 10107), StoreUnavailableError),
        (AutoReconnect("connection closed"), StoreUnavailableError),
    ],
)
async def test_what_mongodb_refuses_for_its_form_is_not_tried_for_ever(
    error: PyMongoError, raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        async with store_errors("store facts"):
            raise error
