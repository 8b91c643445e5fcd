"""`nexus knowledge`: reads a company's site, searches it, and lists questions that it could not answer."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands import evaluate
from nexus_cli.commands.bus import check_exists, with_rpc
from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, require_company
from nexus_cli.terminal_text import plain
from nexus_cli.texts import TEXTS

if TYPE_CHECKING:
    from contracts.knowledge import Run
    from runtime.calls.rpc import RpcClient

app = typer.Typer(help="What a company's assistant knows: read a site, search, see gaps.", no_args_is_help=True)

Company = Annotated[str, typer.Option(help="Whose knowledge.", callback=require_company)]
LOOK_EVERY = 0.5
PATIENCE = 3600.0
"""Seconds that a run is followed."""
DEADLINE = 10.0
SHOWN = 20

app.command("eval")(evaluate.knowledge)


@app.command()
def crawl(
    url: Annotated[str, typer.Argument(help="Where the site begins: https://www.example.com")],
    company: Company = "demo",
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Make this the company's site, read it, and follow the run to its end."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import REFRESH, RefreshAsk

        await _site(rpc, company, url)
        run = (await rpc.call(REFRESH, RefreshAsk(company_id=company, by="nexus"), deadline=DEADLINE)).run
        if run is None:
            fail("memory began no run")
        ended = await _followed(rpc, run, said)
        if as_json:
            print(json.dumps(ended.to_wire(), indent=2, ensure_ascii=False))
        else:
            print(_line(ended, said))
            for left in ended.left[-SHOWN:]:
                print(plain(f"  {_word(left.outcome, said)}: {left.url}: {left.message or left.reason}"))
        if ended.problem:
            fail(ended.problem)

    with_rpc(data, work)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, as a visitor would ask it.")],
    company: Company = "demo",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """What the assistant would find for a question."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import SEARCH, KnowledgeSearch

        await check_exists(rpc, company, said)
        asked = KnowledgeSearch(company_id=company, text=query, limit=limit)
        found = await rpc.call(SEARCH, asked, deadline=DEADLINE)
        if as_json:
            print(json.dumps([one.to_wire() for one in found.passages], indent=2, ensure_ascii=False))
            return
        for one in found.passages:
            print(plain(f"{one.score:.2f}  {' › '.join((one.title, *one.heading))}  {one.url or ''}".rstrip()))
            print("      " + plain(one.text).replace("\n", "\n      "))
        if not found.passages:
            print(TEXTS["knowledge.nothing_found"].in_language(said).format(documents=found.documents))

    with_rpc(data, work)


@app.command()
def gaps(company: Company = "demo", *, said: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Questions that had no good answer, the most asked first."""

    async def work(rpc: RpcClient) -> None:
        from contracts.knowledge_rpc import GAPS, GapsRequest

        await check_exists(rpc, company, said)
        found = await rpc.call(GAPS, GapsRequest(company_id=company), deadline=DEADLINE)
        if as_json:
            print(json.dumps([one.to_wire() for one in found.items], indent=2, ensure_ascii=False))
            return
        for one in found.items:
            print(plain(f"{one.count:>5}  {one.last_at:%Y-%m-%d %H:%M}  {one.question}"))
        if not found.items:
            print(TEXTS["knowledge.no_gaps"].in_language(said))

    with_rpc(data, work)


async def _site(rpc: RpcClient, company: str, url: str) -> None:
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
        asked = CompanyPatchRequest(company_id=company, version=settings.version, patch=patch)
        await rpc.call(COMPANY_PATCH, asked, deadline=DEADLINE)


async def _followed(rpc: RpcClient, run: Run, said: str) -> Run:
    from rich.console import Console
    from rich.status import Status

    from contracts.knowledge_rpc import RUN_GET, RunRequest

    console, end = Console(stderr=True), time.monotonic() + PATIENCE
    status = Status(_line(run, said), console=console) if console.is_terminal else None
    if status:
        status.start()
    try:
        while run.state in {"queued", "running"} and time.monotonic() < end:
            await asyncio.sleep(LOOK_EVERY)
            asked = RunRequest(company_id=run.company_id, id=run.id)
            run = (await rpc.call(RUN_GET, asked, deadline=DEADLINE)).run or run
            if status:
                status.update(_line(run, said))
    finally:
        if status:
            status.stop()
    return run


def _line(run: Run, said: str) -> str:
    counts = TEXTS["knowledge.counts"].in_language(said)
    return f"{_word(run.state, said)}: {counts.format_map(run.counts.model_dump())}"


def _word(state: str, said: str) -> str:
    """How a run or one of its pages ended; a state that only a newer release has stands as it is."""
    words = TEXTS.section("knowledge.state").get(state)
    return words.in_language(said) if words else state
