"""`nexus knowledge`: reads a company's site, searches it, and lists questions that it could not answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands import evaluate
from nexus_cli.commands.bus import check_exists, with_rpc
from nexus_cli.commands.failures import fail, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, require_company
from nexus_cli.terminal_text import plain
from nexus_cli.texts import TEXTS, word

if TYPE_CHECKING:
    from contracts.knowledge import Run
    from runtime.calls.rpc import RpcClient

app = typer.Typer(help="What a company's assistant knows: read a site, search, see gaps.", no_args_is_help=True)

Company = Annotated[str, typer.Option(help="Whose knowledge.", callback=require_company)]
POLL_SECONDS = 0.5
FOLLOW_SECONDS = 3600.0
"""Seconds for which a run is followed."""
DEADLINE = 10.0
MAX_SHOWN_PAGES = 20

app.command("eval")(evaluate.knowledge)


@app.command()
def crawl(
    url: Annotated[str, typer.Argument(help="Where the site begins: https://www.example.com")],
    company: Company = "demo",
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Make this the company's site, read it, and follow the run to its end."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import REFRESH, RefreshAsk

        await _set_site(rpc, company, url)
        run = (await rpc.call(REFRESH, RefreshAsk(company_id=company, by="nexus"), deadline=DEADLINE)).run
        if run is None:
            fail("memory began no run")
        finished = await _follow(rpc, run, locale)
        if as_json:
            print_json(finished.to_wire())
        else:
            print(_line(finished, locale))
            for skipped in finished.left[-MAX_SHOWN_PAGES:]:
                print(plain(f"  {_state(skipped.outcome, locale)}: {skipped.url}: {skipped.message or skipped.reason}"))
        if finished.problem:
            fail(finished.problem)

    with_rpc(data, work)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, as a visitor would ask it.")],
    company: Company = "demo",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """What the assistant would find for a question."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import SEARCH, KnowledgeSearch

        await check_exists(rpc, company, locale)
        request = KnowledgeSearch(company_id=company, text=query, limit=limit)
        reply = await rpc.call(SEARCH, request, deadline=DEADLINE)
        if as_json:
            print_json([passage.to_wire() for passage in reply.passages])
            return
        for passage in reply.passages:
            heading = " › ".join((passage.title, *passage.heading))
            print(plain(f"{passage.score:.2f}  {heading}  {passage.url or ''}".rstrip()))
            print("      " + plain(passage.text).replace("\n", "\n      "))
        if not reply.passages:
            print(TEXTS["knowledge.nothing_found"].in_language(locale).format(documents=reply.documents))

    with_rpc(data, work)


@app.command()
def gaps(company: Company = "demo", *, locale: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Questions that had no good answer, the most asked first."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import GAPS, GapsRequest

        await check_exists(rpc, company, locale)
        reply = await rpc.call(GAPS, GapsRequest(company_id=company), deadline=DEADLINE)
        if as_json:
            print_json([gap.to_wire() for gap in reply.items])
            return
        for gap in reply.items:
            print(plain(f"{gap.count:>5}  {gap.last_at:%Y-%m-%d %H:%M}  {gap.question}"))
        if not reply.items:
            print(TEXTS["knowledge.no_gaps"].in_language(locale))

    with_rpc(data, work)


async def _set_site(rpc: RpcClient, company: str, url: str) -> None:
    from contracts.company_rpc import (
        COMPANY_CREATE,
        COMPANY_GET,
        COMPANY_PATCH,
        CompanyCreateRequest,
        CompanyPatchRequest,
        CompanyRequest,
    )

    settings = (await rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=DEADLINE)).settings
    patch = {"knowledge": {"siteUrl": url}}
    if settings is None:
        config = {"companyId": company, "aiAutoResponseEnabled": True, **patch}
        await rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=DEADLINE)
    elif settings.config.knowledge.site_url != url:
        request = CompanyPatchRequest(company_id=company, version=settings.version, patch=patch)
        await rpc.call(COMPANY_PATCH, request, deadline=DEADLINE)


async def _follow(rpc: RpcClient, run: Run, locale: str) -> Run:
    from rich.console import Console
    from rich.status import Status

    from contracts.knowledge_rpc import RUN_GET, RunRequest

    console, end = Console(stderr=True), time.monotonic() + FOLLOW_SECONDS
    with Status(_line(run, locale), console=console) if console.is_terminal else nullcontext() as status:
        while run.state in {"queued", "running"} and time.monotonic() < end:
            await asyncio.sleep(POLL_SECONDS)
            request = RunRequest(company_id=run.company_id, id=run.id)
            run = (await rpc.call(RUN_GET, request, deadline=DEADLINE)).run or run
            if status:
                status.update(_line(run, locale))
    return run


_state = partial(word, TEXTS.section("knowledge.state"))


def _line(run: Run, locale: str) -> str:
    counts = TEXTS["knowledge.counts"].in_language(locale)
    return f"{_state(run.state, locale)}: {counts.format_map(run.counts.model_dump())}"
