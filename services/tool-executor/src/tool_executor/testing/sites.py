"""What tests of crawling share: a site that is played, memory's part in it, and runs that are waited for."""

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
    """A document as memory has it."""

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
    """Memory's part: settings, the pages that it knows, and what it makes of the facts, with their order of arrival.

    As memory does it removes what a finished run found gone, unless that is more than half.
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
        every = sorted(self.documents.items())
        start = int(request.cursor or 0)
        items = [
            KnownPage(document_id=name, url=one.url, hash=one.hash, etag=one.etag, last_modified=one.last_modified)
            for name, one in every[start : start + 7]
        ]
        return KnownPagesReply(items=items, next=str(start + 7) if start + 7 < len(every) else None)

    async def _upserted(self, message: Msg) -> None:
        said = CloudEvent[DocumentUpserted].model_validate_json(message.data).data
        name = str(said.document_id)
        if not said.blocks:
            self.again[str(said.url) if self.documents[name].hash == said.hash else "other words"] += 1
            return
        parts = self.parts.setdefault(f"{name}/{said.hash}", {})
        parts[said.part] = said.blocks
        if len(parts) < said.parts:
            return
        blocks = [block for part in sorted(parts) for block in parts[part]]
        self.told[said.url or name] += 1
        text = "\n".join(block.text or "\n".join(" | ".join(row) for row in block.rows) for block in blocks)
        self.documents[name] = StoredDocument(
            said.url or "", said.title, said.hash, text, said.language, said.etag, said.last_modified, blocks
        )

    async def _failed(self, message: Msg) -> None:
        self.failures.append(CloudEvent[DocumentFailed].model_validate_json(message.data).data)

    async def _progressed(self, message: Msg) -> None:
        said = CloudEvent[RunProgressed].model_validate_json(message.data).data
        self.steps.setdefault(said.run_id, []).append(said.step)
        known = self.runs.get(said.run_id)
        if known is not None and known.step >= said.step:
            return
        self.runs[said.run_id] = said
        if said.state == "finished":
            if len(said.gone) > 1 and len(said.gone) > len(self.documents) / 2 and said.url is None:
                self.waiting.add(said.run_id)
                return
            for name in said.gone:
                self.documents.pop(name, None)

    async def refresh(self, url: str | None = None, run: str | None = None) -> str:
        """Asks for a run as memory does; its id."""
        run = run or uuid7()
        asked = RefreshRequested(company_id=COMPANY, run_id=run, url=url, by="test")
        event = CloudEvent[RefreshRequested](source="/test", type="knowledge.refresh.requested.v1", data=asked)
        subject = f"knowledge.refresh.requested.v1.{COMPANY}"
        await Publisher(self.client).append(subject, event, stream="KNOWLEDGE", msg_id=f"{run}-{uuid7()}")
        return run

    async def ended(self, run: str, deadline: float = 60.0) -> RunProgressed:
        """The run's last word."""
        await eventually(lambda: run in self.runs and self.runs[run].state in {"finished", "failed"}, deadline)
        return self.runs[run]

    async def read(self, url: str | None = None, deadline: float = 60.0) -> RunProgressed:
        """A whole run."""
        return await self.ended(await self.refresh(url), deadline)

    def said(self) -> dict[str, str]:
        """The texts that are known, by the path of their pages."""
        return {path_of(document.url): document.text for document in self.documents.values()}


@contextlib.asynccontextmanager
async def remembering(client: Client, served: Served, **knowledge: Any) -> AsyncGenerator[SiteMemory]:
    """Memory's part, for a company with this site."""
    memory = SiteMemory(client, Knowledge(site_url=f"{served.origin}/", **knowledge))
    server = await memory.serve()
    yield memory
    await server.drain(2.0)


@contextlib.asynccontextmanager
async def reading(client: Client, redis_url: str, served: Served, **knowledge: Any) -> AsyncGenerator[SiteMemory]:
    """The same, and an executor that reads as fast as it can."""
    settings = ExecutorSettings(crawl_own_per_second=10_000)
    async with (
        remembering(client, served, **knowledge) as memory,
        running_executor(client, redis_url, loopback=True, settings=settings),
    ):
        yield memory


def path_of(url: str) -> str:
    """The part of an address behind its host."""
    return "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"


def left_of(run: RunProgressed) -> dict[str, str]:
    """Reasons by path of what a run skipped or failed at."""
    return {path_of(one.url): one.reason for one in run.left}


def counted(run: RunProgressed) -> tuple[int, int, int, int, int]:
    """found, fetched, unchanged, skipped, failed."""
    counts = run.counts
    return counts.found, counts.fetched, counts.unchanged, counts.skipped, counts.failed


def markup(title: str, body: str, *links: str, language: str = "en", head: str = "") -> str:
    """A page that leads to others."""
    menu = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return (
        f"<!doctype html><html lang={language}><head><title>{title}</title>{head}</head>"
        f"<body><nav>{menu}</nav><main><h1>{title}</h1><p>{body}</p></main></body></html>"
    )


def versioned(text: str, *, times: bool = False) -> PageHandler:
    """A page with an ETag, or with the time of its last change, that says when it is unchanged."""
    etag, time = f'"{hashlib.sha256(text.encode()).hexdigest()[:12]}"', "Wed, 21 Oct 2015 07:28:00 GMT"

    async def page(request: web.BaseRequest) -> web.StreamResponse:
        headers = {"Last-Modified": time} if times else {"ETag": etag}
        asked = request.headers.get("If-Modified-Since" if times else "If-None-Match")
        if asked == (time if times else etag):
            return web.Response(status=304, headers=headers)
        return web.Response(body=text.encode(), headers={**headers, "Content-Type": "text/html; charset=utf-8"})

    return page


def answering(
    body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, encoding: str = "", **headers: str
) -> PageHandler:
    """Answers with these bytes."""
    packed = {"Content-Encoding": encoding} if encoding else {}

    async def page(request: web.BaseRequest) -> web.StreamResponse:
        del request
        return web.Response(body=body, status=status, headers={"Content-Type": kind, **packed, **headers})

    return page


def made_site(served: Served, pages: int) -> None:
    """A site of so many pages, each with words of its own: found from its first page, ten at a time."""
    for number in range(pages):
        links = [f"/page/{name(child)}" for child in range(number * 10 + 1, number * 10 + 11) if child < pages]
        path = "/" if number == 0 else f"/page/{name(number)}"
        served.pages[path] = versioned(markup(f"Page {name(number)}", f"This is what {name(number)} says.", *links))


def name(number: int) -> str:
    """A word for a number, since addresses with numbers alone may have no end."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def asked_for(served: Served) -> Counter[str]:
    """How often each path was asked for."""
    return Counter(request.path for request in served.asked)


async def wait_for_pages(served: Served, pages: int, deadline: float = 30.0) -> None:
    """Until so many requests have come."""
    await eventually(lambda: len(served.asked) >= pages, deadline)
