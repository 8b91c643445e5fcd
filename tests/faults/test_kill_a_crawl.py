"""Whoever reads a site and whoever keeps it are killed, or stand still, in the middle of a run: it goes on and ends,
and nothing is lost or doubled."""

import asyncio
import os
import signal
import uuid
from collections import Counter

import pytest
from aiohttp import web

from contracts.company import Knowledge
from contracts.knowledge import Run
from contracts.knowledge_rpc import (
    DOCUMENTS,
    REFRESH,
    RUN_GET,
    SEARCH,
    DocumentsRequest,
    KnowledgeSearch,
    RefreshAsk,
    RunRequest,
)
from runtime.bus.connection import connect
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack
from tool_executor.testing.harness import PageHandler, Served, serving
from tool_executor.testing.sites import asked_for, made_site, wait_for_pages

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(420)]

PAGES = 60
BEFORE = 20
"""Pages that are read before somebody is hit; the next ones answer after that."""
LONG = 180.0
STILL = 4.0
"""Seconds for which somebody stands still at least."""


def held(page: PageHandler, served: Served, opened: asyncio.Event) -> PageHandler:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if len(served.asked) > BEFORE:
            await asyncio.wait_for(opened.wait(), LONG)
        return await page(request)

    return answer


@pytest.mark.parametrize("how", ["killed", "stopped"])
@pytest.mark.parametrize("victim", ["tool-executor", "memory"])
async def test_a_run_goes_on_and_ends(stack: RunningStack, victim: str, how: str) -> None:
    company = f"crawl-{uuid.uuid4().hex[:12]}"
    opened = asyncio.Event()
    client = await connect(NatsSettings(url=stack.facts()["urls"]["nats"]), name="test")
    rpc = RpcClient(client)
    try:
        async with serving() as served:
            made_site(served, PAGES)
            served.pages = {path: held(page, served, opened) for path, page in served.pages.items()}
            knowledge = Knowledge(site_url=f"{served.origin}/").model_dump(by_alias=True, mode="json")
            await stack.create_company(company, knowledge=knowledge)
            begun = (await rpc.call(REFRESH, RefreshAsk(company_id=company, by="test"), deadline=40)).run
            assert begun is not None
            await wait_for_pages(served, BEFORE + 1)
            if how == "killed":
                dead = stack.kill(victim)
                opened.set()
                await stack.back(victim, dead)
            else:
                pid = stack.process(victim).pid
                os.kill(pid, signal.SIGSTOP)
                try:
                    opened.set()
                    # The time that it stands still is what is played; nothing tells of its end.
                    await asyncio.sleep(STILL)
                finally:
                    os.kill(pid, signal.SIGCONT)
            run = await ended(rpc, company, begun.id)
            assert run.state == "finished", run
            assert (run.counts.fetched, run.counts.skipped, run.counts.failed) == (PAGES, 0, 0), run
            # Each of four places held a page at most when it was hit.
            twice = [path for path, times in asked_for(served).items() if times > 1 and path.startswith("/page")]
            assert len(twice) <= 4, twice
            await eventually(lambda: all_known_once(rpc, company), LONG)
            again = (await rpc.call(REFRESH, RefreshAsk(company_id=company, by="test"), deadline=40)).run
            assert again is not None
            assert again.id != begun.id
            second = await ended(rpc, company, again.id)
            assert (second.state, second.counts.unchanged, second.counts.failed) == ("finished", PAGES, 0), second
            assert await all_known_once(rpc, company)
    finally:
        await client.close()


async def ended(rpc: RpcClient, company: str, name: str) -> Run:
    """The run when it is over; memory may be away for a while."""
    last: Run | None = None

    async def over() -> bool:
        nonlocal last
        try:
            last = (await rpc.call(RUN_GET, RunRequest(company_id=company, id=name), deadline=5)).run
        except RpcError:
            return False
        return last is not None and last.state in {"finished", "failed"}

    await eventually(over, LONG)
    assert last is not None
    return last


async def all_known_once(rpc: RpcClient, company: str) -> bool:
    """Whether every page is a document, once, and is found by its words, once."""
    try:
        listed = await rpc.call(DOCUMENTS, DocumentsRequest(company_id=company, limit=200), deadline=20)
        asked = KnowledgeSearch(company_id=company, text="This is what bd says", limit=50)
        found = await rpc.call(SEARCH, asked, deadline=20)
    except RpcError:
        return False
    urls = Counter(item.url for item in listed.items)
    return len(urls) == PAGES == urls.total() and sum("what bd says" in passage.text for passage in found.passages) == 1
