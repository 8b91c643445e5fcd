"""Executors that are killed and stand still in the middle of a run, and stores that go away: nothing lost, nothing
doubled."""

import signal
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from nats.aio.client import Client

from contracts.knowledge import Left
from runtime.testing.forks import ForkedProcess
from runtime.testing.servers import NatsServer, ValkeyServer
from tool_executor.adapters.crawl_state import CrawlState
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import Served, executor_processes, running_executor, serving
from tool_executor.testing.sites import SiteMemory, asked_for, counted, made_site, remembering, wait_for_pages

PAGES = 60


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    async with serving() as site:
        made_site(site, PAGES)
        yield site


@pytest.fixture
async def memory(served: Served, nats_client: Client) -> AsyncGenerator[SiteMemory]:
    async with remembering(nats_client, served) as memory:
        yield memory


def executors(
    nats: NatsServer, valkey: ValkeyServer, tmp: Path, count: int, rate: int = 30
) -> AbstractAsyncContextManager[list[ForkedProcess]]:
    return executor_processes("crawler", nats.url, valkey.url, tmp, count, rate)


def check(memory: SiteMemory, served: Served, *, at_most: int) -> None:
    """Every page is known as it is; none was told twice in other words; few were asked for twice."""
    assert len(memory.said()) == PAGES
    assert set(memory.told) == {document.url for document in memory.documents.values()}
    asked = asked_for(served)
    twice = [path for path, times in asked.items() if times > 1 and path.startswith("/page")]
    assert len(twice) <= at_most, asked


async def test_executors_that_are_killed_leave_their_run_to_others(
    served: Served, memory: SiteMemory, nats_server: NatsServer, valkey_server: ValkeyServer, tmp_path: Path
):
    async with executors(nats_server, valkey_server, tmp_path, 3) as processes:
        run = await memory.refresh()
        await wait_for_pages(served, 15)
        processes[0].kill()
        await wait_for_pages(served, 30)
        processes[1].kill()
        ended = await memory.ended(run)
    assert ended.state == "finished"
    assert counted(ended) == (PAGES, PAGES, 0, 0, 0)
    # Each of four places at a run held one page; two executors have died.
    check(memory, served, at_most=8)


async def test_the_only_executor_is_killed_and_the_next_one_goes_on_where_the_run_stood(
    served: Served, memory: SiteMemory, nats_server: NatsServer, valkey_server: ValkeyServer, tmp_path: Path
):
    async with executors(nats_server, valkey_server, tmp_path, 1) as processes:
        run = await memory.refresh()
        await wait_for_pages(served, 30)
        processes[0].kill()
        processes[0].wait(timeout=10)
    async with executors(nats_server, valkey_server, tmp_path, 1):
        ended = await memory.ended(run)
    assert counted(ended) == (PAGES, PAGES, 0, 0, 0)
    check(memory, served, at_most=4)


async def test_an_executor_that_stood_still_does_not_say_again_what_others_have_read_since(
    served: Served, memory: SiteMemory, nats_server: NatsServer, valkey_server: ValkeyServer, tmp_path: Path
):
    async with executors(nats_server, valkey_server, tmp_path, 2) as processes:
        run = await memory.refresh()
        await wait_for_pages(served, 20)
        processes[0].send_signal(signal.SIGSTOP)
        ended = await memory.ended(run)
        processes[0].send_signal(signal.SIGCONT)
        assert counted(ended) == (PAGES, PAGES, 0, 0, 0)
        # It is there again, and takes part in the next run.
        again = await memory.read()
    assert counted(again) == (PAGES, 0, PAGES, 0, 0)
    check(memory, served, at_most=PAGES)
    assert asked_for(served).total() <= 2 * PAGES + 4 + 4


@pytest.mark.own_servers
async def test_redis_goes_away_in_the_middle_and_the_run_goes_on(
    served: Served, memory: SiteMemory, nats_client: Client, valkey_server: ValkeyServer
):
    settings = ExecutorSettings(crawl_own_per_second=60)
    async with running_executor(nats_client, valkey_server.url, loopback=True, settings=settings):
        run = await memory.refresh()
        await wait_for_pages(served, 15)
        valkey_server.kill()
        valkey_server.start()
        ended = await memory.ended(run)
    assert ended.state == "finished"
    assert len(memory.said()) == PAGES


async def test_two_executors_share_one_run(
    served: Served, memory: SiteMemory, nats_server: NatsServer, valkey_server: ValkeyServer, tmp_path: Path
):
    async with executors(nats_server, valkey_server, tmp_path, 2, rate=10):
        ended = await memory.read()
    assert counted(ended) == (PAGES, PAGES, 0, 0, 0)
    assert set(asked_for(served).values()) == {1}
    assert {request.headers["X-Executor"] for request in served.asked} == {"0", "1"}


async def test_where_a_run_has_more_to_tell_than_fits_failures_stay(store: RedisStore) -> None:
    state = CrawlState(store, "acme", "run-1")
    await state.begin()
    failed = [Left(url=f"/b/{n}", outcome="failed", reason="bad_status", message="403") for n in range(3)]
    ends = Left(url="/c", outcome="skipped", reason="endless", message="the rest looks endless and is not read.")
    denied = [Left(url=f"/no/{n}", outcome="skipped", reason="denied", message="denied") for n in range(250)]
    await state.refuse([(refused, None) for refused in (*failed, ends, *denied)], 1_000)
    report = await state.report(now=True)
    assert report is not None
    assert report.left_out == [*failed, ends, *denied[-196:]]
    assert report.counts.skipped == 254
