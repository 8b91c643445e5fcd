"""Works on a run in slices: prepares it, reads page after page in several places at once, and reports its end.

A message of the work queue is a place at a run. The executor that has it reads pages for some seconds and returns it,
so that runs and executors take turns. If that executor dies, the next one gets the page that it was reading.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlsplit

import structlog

from contracts.company import CompanySettings
from contracts.events.knowledge import DocumentUpserted, RefreshRequested, RunProgressed
from contracts.knowledge_rpc import KnownPage
from runtime.workers.outcomes import Ack, Retry
from tool_executor.adapters.crawl_state import ClaimedPage, CrawlProgress, CrawlState, HostSlots, SiteMemory
from tool_executor.adapters.metrics import PAGES, RUNS
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.crawl.facts import KnowledgeFacts
from tool_executor.crawl.pages import PageReader, PageReading, ReadDocument
from tool_executor.crawl.plan import CrawlPlan, address_in, site_in
from tool_executor.crawl.preparation import Preparation, RunFailedError
from tool_executor.crawl.words import reason_text
from tool_executor.domain.crawl_outcomes import CrawlItem, PageOutcome
from tool_executor.domain.site_address import Site
from tool_executor.extraction.isolation import Extraction

log = structlog.get_logger(__name__)

SLICE_SECONDS = 2.0
"""Seconds for which a place reads before it is returned."""
_SLICE_PAUSE_SECONDS = 0.1
"""Seconds before a returned place is taken again. The bus delivers repeated messages before new ones, so without a
pause a new run would wait for the end of all others."""
_MAX_HOST_WAIT_SECONDS = 5.0
"""Seconds for which a place waits for its host's next slot; for a later slot the place is returned."""
_MAX_IDLE_SECONDS = 2.0
"""Longest time in seconds after which a place that found nothing to read tries again."""
_TAKEN_OVER_SECONDS = 5.0
"""Seconds before a place is delivered again that another executor took over while this process stood still. Longer
than the bus's lease, which the other one renews: sooner it would be taken from the other one, and each would undo the
other's work until the page had been started too often."""
_PLACES = 4
"""Pages of one run that are read at the same time."""
_MAX_TAKES = 4
"""How often a page is started; a page that crashes its process each time is then given up."""
_MAX_FAILURES_IN_A_ROW = 10
"""Pages in a row that did not answer after which a run ends without forgetting any known page."""
_SITE_UNAVAILABLE = "The site does not answer any more: {message} What was known of it stays."
_NOTHING_READ = "No page could be read: {message}"


class Crawler:
    def __init__(
        self, store: RedisStore, preparation: Preparation, extraction: Extraction, facts: KnowledgeFacts
    ) -> None:
        self._store = store
        self._preparation = preparation
        self._extraction = extraction
        self._facts = facts
        self._slots = HostSlots(store)

    async def work(self, request: RefreshRequested, place: str, settings: CompanySettings | None) -> Ack | Retry:
        """Works one slice at this place. Raises RedisUnavailableError, PublishFailedError or RpcError; then the place
        is delivered again."""
        state = CrawlState(self._store, request.company_id, request.run_id)
        word, stored_plan = await state.begin()
        if word == "over":
            return Ack()
        try:
            if word == "new":
                plan = await self._prepare(state, request, settings)
            else:
                plan = CrawlPlan.model_validate_json(stored_plan)
            return await self._slice(state, request, plan, place)
        except RunFailedError as failed:
            await self._end(state, request, None, problem=str(failed))
            return Ack()

    async def _prepare(
        self, state: CrawlState, request: RefreshRequested, settings: CompanySettings | None
    ) -> CrawlPlan:
        await self._report(state, request, now=True)
        plan = await self._preparation.prepare(state, request, settings)
        await self._preparation.fill(state, plan)
        await state.start()
        for number in range(1, 1 if plan.only else _PLACES):
            await self._facts.add_place(request, number)
        return plan

    async def _slice(self, state: CrawlState, request: RefreshRequested, plan: CrawlPlan, place: str) -> Ack | Retry:
        site, slice_end = site_in(plan), time.monotonic() + SLICE_SECONDS
        reader = PageReader(self._preparation.fetcher, self._extraction, plan, site)
        while time.monotonic() < slice_end:
            claimed = await state.claim(place, secrets.token_hex(8))
            if not isinstance(claimed, ClaimedPage):
                if claimed.over:
                    return Ack()
                if claimed.wait is not None:
                    return Retry(min(max(claimed.wait, 0.05), _MAX_IDLE_SECONDS))
                await self._finish(state, request, plan)
                return Ack()
            if not await self._read_page(state, plan, site, reader, place, claimed):
                return Retry(_TAKEN_OVER_SECONDS)
            await self._report(state, request)
        return Retry(_SLICE_PAUSE_SECONDS)

    async def _read_page(
        self, state: CrawlState, plan: CrawlPlan, site: Site, reader: PageReader, place: str, page: ClaimedPage
    ) -> bool:
        """Reads one page; returns False if another executor has the place by now. Raises RunFailedError if the site
        does not answer."""
        item = page.item
        if page.takes > _MAX_TAKES:
            return await self._settle(state, place, page, PageOutcome("failed", "crashed", reason_text("crashed")))
        origin = address_in(Site(site.origins), item.url).origin
        robots = await self._preparation.robots(state, origin)
        interval = self._preparation.interval(origin, robots)
        is_taken, wait = await self._slots.take(f"{origin.host}:{origin.port}", interval, _MAX_HOST_WAIT_SECONDS)
        if not is_taken:
            return await self._settle(state, place, page, PageOutcome("failed", again=wait))
        await asyncio.sleep(wait)
        try:
            reading = await reader.read(item)
        except Exception:
            # A fault of ours with one page must not stop the others.
            log.exception("crawl.page_failed", company=plan.company_id, url=item.url)
            reading = PageReading(PageOutcome("failed", "crashed", reason_text("crashed"), look_again=True))
        outcome = await self._publish(state, plan, item, reading)
        await self._preparation.add(state, plan, site, outcome.linked_pages)
        await state.refuse(((skipped, None) for skipped in outcome.refused), plan.max_pages)
        if outcome.again is None:
            PAGES.labels(outcome.kind, outcome.reason).inc()
        return await self._settle(state, place, page, outcome)

    async def _settle(self, state: CrawlState, place: str, page: ClaimedPage, outcome: PageOutcome) -> bool:
        failures_in_a_row = await state.settle(place, page, outcome)
        if failures_in_a_row is not None and failures_in_a_row >= _MAX_FAILURES_IN_A_ROW:
            raise RunFailedError(_SITE_UNAVAILABLE.format(message=outcome.message))
        return failures_in_a_row is not None

    async def _publish(self, state: CrawlState, plan: CrawlPlan, item: CrawlItem, reading: PageReading) -> PageOutcome:
        """Publishes a page's document before the page counts as read; returns the page's outcome."""
        document = reading.document
        if document is None:
            if reading.same and item.known is not None:
                await state.claim_content(item.known.hash, item.url)
                await self._facts.upserted(_unchanged(plan, item.url, item.known))
            return reading.outcome
        first_url = await state.claim_content(document.hash, document.url)
        if item.known is None and first_url != document.url:
            duplicate = reason_text("duplicate", other=first_url)
            return replace(reading.outcome, kind="skipped", reason="duplicate", message=duplicate)
        await self._facts.upserted(_upserted(plan, document, is_same=reading.outcome.kind == "unchanged"))
        return reading.outcome

    async def _finish(self, state: CrawlState, request: RefreshRequested, plan: CrawlPlan) -> None:
        progress = await state.report(now=True)
        if progress is None:
            return
        counts, gone = progress.counts, await state.gone()
        if counts.failed and not (counts.fetched or counts.unchanged or gone):
            last_message = progress.left_out[-1].message if progress.left_out else ""
            await self._end(state, request, plan, problem=_NOTHING_READ.format(message=last_message))
            return
        if not plan.only:
            await SiteMemory(self._store, plan.company_id).save(plan.rules, await state.again())
        await self._end(state, request, plan, gone=gone)

    async def _end(
        self,
        state: CrawlState,
        request: RefreshRequested,
        plan: CrawlPlan | None,
        *,
        gone: list[str] | None = None,
        problem: str | None = None,
    ) -> None:
        progress = await state.report(now=True)
        if progress is None:
            return
        end_state = "finished" if problem is None else "failed"
        await self._facts.progressed(_progressed(request, progress, end_state, gone=gone or (), problem=problem))
        await state.close()
        RUNS.labels(end_state).inc()
        log.info(
            "crawl.ended",
            company=request.company_id,
            run=request.run_id,
            start=plan.start if plan is not None else request.url,
            state=end_state,
            problem=problem,
            gone=len(gone or []),
            **progress.counts.model_dump(),
        )

    async def _report(self, state: CrawlState, request: RefreshRequested, *, now: bool = False) -> None:
        progress = await state.report(now=now)
        if progress is not None:
            await self._facts.progressed(_progressed(request, progress))


def _progressed(
    request: RefreshRequested,
    progress: CrawlProgress,
    state: Literal["running", "finished", "failed"] = "running",
    *,
    gone: Sequence[str] = (),
    problem: str | None = None,
) -> RunProgressed:
    return RunProgressed(
        company_id=request.company_id,
        run_id=request.run_id,
        step=progress.step,
        state=state,
        url=request.url,
        counts=progress.counts,
        left=progress.left_out,
        gone=list(gone[:20_000]),
        problem=problem[:500] if problem else None,
    )


def _upserted(plan: CrawlPlan, document: ReadDocument, *, is_same: bool) -> DocumentUpserted:
    page = document.page
    return DocumentUpserted(
        company_id=plan.company_id,
        document_id=document.id,
        source="site",
        title=page.title,
        url=document.url,
        language=page.language,
        # Without blocks the fact says that the text with this hash was read again.
        blocks=[] if is_same else page.blocks,
        hash=document.hash,
        read_at=document.read_at,
        run_id=plan.run_id,
        etag=document.etag,
        last_modified=document.last_modified,
    )


def _unchanged(plan: CrawlPlan, url: str, known: KnownPage) -> DocumentUpserted:
    return DocumentUpserted(
        company_id=plan.company_id,
        document_id=known.document_id,
        source="site",
        title=urlsplit(url).path or "/",
        url=url,
        blocks=[],
        hash=known.hash,
        read_at=datetime.now(UTC),
        run_id=plan.run_id,
        etag=known.etag,
        last_modified=known.last_modified,
    )
