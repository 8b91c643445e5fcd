"""Helpers that tests of crawling share: a fake site, a stand-in for memory, and waiting for runs."""

import contextlib
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, cast

from aiohttp import web
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.company import CompanyConfig, CompanySettings, Knowledge, ToolConfig
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.knowledge import DocumentFailed, DocumentUpserted, RefreshRequested, RunProgressed
from contracts.ids import uuid7
from contracts.knowledge import Block
from contracts.knowledge_rpc import KNOWN_PAGES, KnownPage, KnownPagesReply, KnownPagesRequest
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.testing.servers import eventually
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import PageHandler, Served, running_executor

COMPANY = "demo"


@dataclass
class StoredDocument:
    """A document as memory stores it."""

    url: str
    title: str
    hash: str
    text: str
    language: str | None
    etag: str | None
    last_modified: str | None
    blocks: list[Block]


@dataclass
class SiteMemory:
    """Stands in for memory: serves settings and known pages, and stores documents and runs from facts.

    Like memory, it removes the documents that a finished run reports as gone, unless they are more than half.
    `told`: versions stored, by URL; `again`: reports of unchanged documents; `steps`: each run's steps in order of
    arrival; `waiting`: runs whose removals await approval; `parts`: parts received so far, by document and hash.
    """

    client: Client
    knowledge: Knowledge
    domains: list[str] = field(default_factory=list[str])
    documents: dict[str, StoredDocument] = field(default_factory=dict[str, StoredDocument])
    told: Counter[str] = field(default_factory=Counter[str])
    again: Counter[str] = field(default_factory=Counter[str])
    failures: list[DocumentFailed] = field(default_factory=list[DocumentFailed])
    runs: dict[str, RunProgressed] = field(default_factory=dict[str, RunProgressed])
    steps: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    waiting: set[str] = field(default_factory=set[str])
    parts: dict[str, dict[int, list[Block]]] = field(default_factory=dict[str, dict[int, list[Block]]])

    async def serve(self) -> RpcServer:
        await ensure_streams(self.client)
        server = RpcServer(self.client)
        await server.serve(COMPANY_GET, self._settings)
        await server.serve(KNOWN_PAGES, self._pages)
        subscribe = cast("Any", self.client).subscribe
        await subscribe("knowledge.document.upserted.v1.>", cb=self._upserted)
        await subscribe("knowledge.document.failed.v1.>", cb=self._failed)
        await subscribe("knowledge.run.progressed.v1.>", cb=self._progressed)
        await self.client.flush()
        return server

    async def _settings(self, request: CompanyRequest) -> CompanyReply:
        tools = ToolConfig(allowed_domains=self.domains)
        config = CompanyConfig(company_id=request.company_id, tool_config=tools, knowledge=self.knowledge)
        return CompanyReply(settings=CompanySettings(config=config, version=1))

    async def _pages(self, request: KnownPagesRequest) -> KnownPagesReply:
        documents = sorted(self.documents.items())
        start = int(request.cursor or 0)
        items = [
            KnownPage(
                document_id=document_id,
                url=document.url,
                hash=document.hash,
                etag=document.etag,
                last_modified=document.last_modified,
            )
            for document_id, document in documents[start : start + 7]
        ]
        return KnownPagesReply(items=items, next=str(start + 7) if start + 7 < len(documents) else None)

    async def _upserted(self, message: Msg) -> None:
        fact = CloudEvent[DocumentUpserted].model_validate_json(message.data).data
        document_id = str(fact.document_id)
        if not fact.blocks:
            self.again[str(fact.url) if self.documents[document_id].hash == fact.hash else "other words"] += 1
            return
        parts = self.parts.setdefault(f"{document_id}/{fact.hash}", {})
        parts[fact.part] = fact.blocks
        if len(parts) < fact.parts:
            return
        blocks = [block for part in sorted(parts) for block in parts[part]]
        self.told[fact.url or document_id] += 1
        text = "\n".join(block.text or "\n".join(" | ".join(row) for row in block.rows) for block in blocks)
        self.documents[document_id] = StoredDocument(
            fact.url or "", fact.title, fact.hash, text, fact.language, fact.etag, fact.last_modified, blocks
        )

    async def _failed(self, message: Msg) -> None:
        self.failures.append(CloudEvent[DocumentFailed].model_validate_json(message.data).data)

    async def _progressed(self, message: Msg) -> None:
        progress = CloudEvent[RunProgressed].model_validate_json(message.data).data
        self.steps.setdefault(progress.run_id, []).append(progress.step)
        previous = self.runs.get(progress.run_id)
        if previous is not None and previous.step >= progress.step:
            return
        self.runs[progress.run_id] = progress
        if progress.state == "finished":
            if len(progress.gone) > 1 and len(progress.gone) > len(self.documents) / 2 and progress.url is None:
                self.waiting.add(progress.run_id)
                return
            for document_id in progress.gone:
                self.documents.pop(document_id, None)

    async def refresh(self, url: str | None = None, run: str | None = None) -> str:
        """Requests a run as memory does and returns its id."""
        run = run or uuid7()
        request = RefreshRequested(company_id=COMPANY, run_id=run, url=url, by="test")
        event = CloudEvent[RefreshRequested](source="/test", type="knowledge.refresh.requested.v1", data=request)
        subject = f"knowledge.refresh.requested.v1.{COMPANY}"
        await Publisher(self.client).append(subject, event, stream="KNOWLEDGE", msg_id=f"{run}-{uuid7()}")
        return run

    async def ended(self, run: str, deadline: float = 60.0) -> RunProgressed:
        """Waits until the run has finished or failed, and returns its last progress."""
        await eventually(lambda: run in self.runs and self.runs[run].state in {"finished", "failed"}, deadline)
        return self.runs[run]

    async def read(self, url: str | None = None, deadline: float = 60.0) -> RunProgressed:
        """Requests a run and waits for its end."""
        return await self.ended(await self.refresh(url), deadline)

    def said(self) -> dict[str, str]:
        """Returns the stored texts by the path of their page."""
        return {path_of(document.url): document.text for document in self.documents.values()}


@contextlib.asynccontextmanager
async def remembering(client: Client, served: Served, **knowledge: Any) -> AsyncGenerator[SiteMemory]:
    """Runs the stand-in for memory, for a company with this site."""
    memory = SiteMemory(client, Knowledge(site_url=f"{served.origin}/", **knowledge))
    server = await memory.serve()
    yield memory
    await server.drain(2.0)


@contextlib.asynccontextmanager
async def reading(client: Client, redis_url: str, served: Served, **knowledge: Any) -> AsyncGenerator[SiteMemory]:
    """Runs the stand-in for memory and an executor that crawls without a noticeable rate limit."""
    settings = ExecutorSettings(crawl_own_per_second=10_000)
    async with (
        remembering(client, served, **knowledge) as memory,
        running_executor(client, redis_url, loopback=True, settings=settings),
    ):
        yield memory


def path_of(url: str) -> str:
    """Returns the path of an address, with its query."""
    return "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"


def left_of(run: RunProgressed) -> dict[str, str]:
    """Returns, by path, the reason for each page that a run skipped or failed to read."""
    return {path_of(page.url): page.reason for page in run.left}


def counted(run: RunProgressed) -> tuple[int, int, int, int, int]:
    """Returns the counts found, fetched, unchanged, skipped, failed."""
    counts = run.counts
    return counts.found, counts.fetched, counts.unchanged, counts.skipped, counts.failed


def markup(title: str, body: str, *links: str, language: str = "en", head: str = "") -> str:
    """Returns a page with this text and a menu of links."""
    menu = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return (
        f"<!doctype html><html lang={language}><head><title>{title}</title>{head}</head>"
        f"<body><nav>{menu}</nav><main><h1>{title}</h1><p>{body}</p></main></body></html>"
    )


def versioned(text: str, *, times: bool = False) -> PageHandler:
    """Returns a handler for a page with an ETag or, if `times`, Last-Modified; it responds 304 if unchanged."""
    etag, time = f'"{hashlib.sha256(text.encode()).hexdigest()[:12]}"', "Wed, 21 Oct 2015 07:28:00 GMT"

    async def page(request: web.BaseRequest) -> web.StreamResponse:
        headers = {"Last-Modified": time} if times else {"ETag": etag}
        condition = request.headers.get("If-Modified-Since" if times else "If-None-Match")
        if condition == (time if times else etag):
            return web.Response(status=304, headers=headers)
        return web.Response(body=text.encode(), headers={**headers, "Content-Type": "text/html; charset=utf-8"})

    return page


def made_site(served: Served, pages: int) -> None:
    """Adds `pages` pages with different texts to the site; each links to ten more, starting from the first."""
    for number in range(pages):
        links = [f"/page/{name(child)}" for child in range(number * 10 + 1, number * 10 + 11) if child < pages]
        path = "/" if number == 0 else f"/page/{name(number)}"
        served.pages[path] = versioned(markup(f"Page {name(number)}", f"This is what {name(number)} says.", *links))


def name(number: int) -> str:
    """Returns a word for a number, because addresses that differ in numbers alone may look endless to the crawler."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def asked_for(served: Served) -> Counter[str]:
    """Returns the number of requests for each path."""
    return Counter(request.path for request in served.asked)


async def wait_for_pages(served: Served, pages: int) -> None:
    """Waits until the site has got at least `pages` requests."""
    await eventually(lambda: len(served.asked) >= pages)
