"""Works on a run in slices: prepares it, reads page after page in several places at once, and reports its end.

A message of the work queue is a place at a run. Whoever holds it reads pages for some seconds and returns it, so that
runs and executors take turns. If a holder dies, the next one gets the page that was in work.
"""

import asyncio
import secrets
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

import structlog

from contracts.company import CompanySettings
from contracts.events.knowledge import DocumentUpserted, RefreshRequested, RunProgressed
from runtime.workers.outcomes import Ack, Retry
from tool_executor.adapters.crawl_state import ClaimedPage, CrawlState, HostSlots, SiteMemory
from tool_executor.adapters.metrics import count_page, count_run
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

SLICE = 2.0
"""Seconds for which a place reads before it is given back."""
_BETWEEN = 0.1
"""Seconds before a place that was given back is taken again: the bus hands out what comes again before what is new, so
without a pause a new run would wait for the end of others."""
_LONGEST_TURN = 5.0
"""Seconds for which a place waits for its host's turn; for a later one it comes again."""
_LONGEST_WAIT = 2.0
"""Seconds after which a place that found nothing to read looks again, at most."""
_TAKEN_OVER = 5.0
"""Seconds after which a place comes again that another has taken over meanwhile, as this process stood still: longer
than the bus's lease, which that one renews. Given back sooner it would be taken from them, and each would undo the
other's work until its pages had been begun too often."""
_PLACES = 4
"""The number of pages of one run that are read at once."""
_MOST_TAKES = 4
"""Times that a page is begun; one that ends its process each time is then left."""
_SITE_IS_AWAY = 10
"""Failures in a row, of any pages, after which a run ends: nothing that is known is given up for it."""
_SITE_AWAY = "The site does not answer any more: {message} What was known of it stays."
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

    async def work(self, asked: RefreshRequested, place: str, settings: CompanySettings | None) -> Ack | Retry:
        """One slice at this place. Raises RedisUnavailableError, PublishFailedError and RpcError: it comes again."""
        state = CrawlState(self._store, asked.company_id, asked.run_id)
        word, kept = await state.begin()
        if word == "over":
            return Ack()
        try:
            if word == "new":
                plan = await self._prepare(state, asked, settings)
            else:
                plan = CrawlPlan.model_validate_json(kept)
            return await self._slice(state, asked, plan, place)
        except RunFailedError as failed:
            await self._end(state, asked, None, problem=str(failed))
            return Ack()

    async def _prepare(self, state: CrawlState, asked: RefreshRequested, settings: CompanySettings | None) -> CrawlPlan:
        await self._tell(state, asked, now=True)
        plan = await self._preparation.prepare(state, asked, settings)
        await self._preparation.fill(state, plan)
        await state.start()
        for number in range(1, 1 if plan.only else _PLACES):
            await self._facts.place(asked, number)
        return plan

    async def _slice(self, state: CrawlState, asked: RefreshRequested, plan: CrawlPlan, place: str) -> Ack | Retry:
        site, ends = site_in(plan), time.monotonic() + SLICE
        reader = PageReader(self._preparation.fetcher, self._extraction, plan, site)
        while time.monotonic() < ends:
            held = await state.claim(place, secrets.token_hex(8))
            if not isinstance(held, ClaimedPage):
                if held.over:
                    return Ack()
                if held.wait is not None:
                    return Retry(min(max(held.wait, 0.05), _LONGEST_WAIT))
                await self._finish(state, asked, plan)
                return Ack()
            if not await self._one(state, plan, site, reader, place, held):
                return Retry(_TAKEN_OVER)
            await self._tell(state, asked)
        return Retry(_BETWEEN)

    async def _one(
        self, state: CrawlState, plan: CrawlPlan, site: Site, reader: PageReader, place: str, held: ClaimedPage
    ) -> bool:
        """Reads one page; False: the place is another's by now. Raises RunFailedError: the site does not answer."""
        item = held.item
        if held.takes > _MOST_TAKES:
            return await self._settle(state, place, held, PageOutcome("failed", "crashed", reason_text("crashed")))
        origin = address_in(Site(site.origins), item.url).origin
        robots = await self._preparation.robots(state, origin)
        interval = self._preparation.interval(origin, robots)
        took, wait = await self._slots.take(f"{origin.host}:{origin.port}", interval, _LONGEST_TURN)
        if not took:
            return await self._settle(state, place, held, PageOutcome("failed", again=wait))
        await asyncio.sleep(wait)
        try:
            read = await reader.read(item)
        except Exception:
            # A fault of ours with one page must not hold up the others.
            log.exception("crawl.page_failed", company=plan.company_id, url=item.url)
            read = PageReading(PageOutcome("failed", "crashed", reason_text("crashed"), look_again=True))
        outcome = await self._told(state, plan, item, read)
        await self._preparation.add(state, plan, site, outcome.found)
        await state.refuse(((left, None) for left in outcome.refused), plan.max_pages)
        if outcome.again is None:
            count_page(outcome.kind, outcome.reason)
        return await self._settle(state, place, held, outcome)

    async def _settle(self, state: CrawlState, place: str, held: ClaimedPage, outcome: PageOutcome) -> bool:
        away = await state.settle(place, held, outcome)
        if away is not None and away >= _SITE_IS_AWAY:
            raise RunFailedError(_SITE_AWAY.format(message=outcome.message))
        return away is not None

    async def _told(self, state: CrawlState, plan: CrawlPlan, item: CrawlItem, read: PageReading) -> PageOutcome:
        """Publishes what a page says, before it counts as read."""
        document = read.document
        if document is None:
            if read.same and item.known is not None:
                known = item.known
                await state.claim_content(known.hash, item.url)
                await self._facts.upserted(_again(plan, item, known.document_id, known.hash, known.etag))
            return read.outcome
        first = await state.claim_content(document.page.hash, document.url)
        if item.known is None and first != document.url:
            duplicate = reason_text("duplicate", other=first)
            return PageOutcome(
                "skipped", "duplicate", duplicate, found=read.outcome.found, refused=read.outcome.refused
            )
        await self._facts.upserted(_upserted(plan, document, same=read.outcome.kind == "unchanged"))
        return read.outcome

    async def _finish(self, state: CrawlState, asked: RefreshRequested, plan: CrawlPlan) -> None:
        progress = await state.report(now=True)
        if progress is None:
            return
        counts, gone = progress.counts, await state.gone()
        if counts.failed and not (counts.fetched or counts.unchanged or gone):
            last = progress.left[-1].message if progress.left else ""
            await self._end(state, asked, plan, problem=_NOTHING_READ.format(message=last))
            return
        if not plan.only:
            await SiteMemory(self._store, plan.company_id).save(plan.rules, await state.again())
        await self._end(state, asked, plan, gone=gone)

    async def _end(
        self,
        state: CrawlState,
        asked: RefreshRequested,
        plan: CrawlPlan | None,
        *,
        gone: list[str] | None = None,
        problem: str | None = None,
    ) -> None:
        progress = await state.report(now=True)
        if progress is None:
            return
        ended = "finished" if problem is None else "failed"
        await self._facts.progressed(
            RunProgressed(
                company_id=asked.company_id,
                run_id=asked.run_id,
                step=progress.step,
                state=ended,
                url=asked.url,
                counts=progress.counts,
                left=progress.left,
                gone=(gone or [])[:20_000],
                problem=problem[:500] if problem else None,
            )
        )
        await state.close()
        count_run(ended)
        log.info(
            "crawl.ended",
            company=asked.company_id,
            run=asked.run_id,
            start=plan.start if plan is not None else asked.url,
            state=ended,
            problem=problem,
            gone=len(gone or []),
            **progress.counts.model_dump(),
        )

    async def _tell(self, state: CrawlState, asked: RefreshRequested, *, now: bool = False) -> None:
        progress = await state.report(now=now)
        if progress is not None:
            await self._facts.progressed(
                RunProgressed(
                    company_id=asked.company_id,
                    run_id=asked.run_id,
                    step=progress.step,
                    state="running",
                    url=asked.url,
                    counts=progress.counts,
                    left=progress.left,
                )
            )


def _upserted(plan: CrawlPlan, document: ReadDocument, *, same: bool) -> DocumentUpserted:
    page = document.page
    return DocumentUpserted(
        company_id=plan.company_id,
        document_id=document.id,
        source="site",
        title=page.title,
        url=document.url,
        language=page.language,
        # With no blocks it says that the text with this hash was read again.
        blocks=[] if same else page.blocks,
        hash=page.hash,
        read_at=document.read_at,
        run_id=plan.run_id,
        etag=document.etag,
        last_modified=document.last_modified,
    )


def _again(plan: CrawlPlan, item: CrawlItem, name: str, digest: str, etag: str | None) -> DocumentUpserted:
    return DocumentUpserted(
        company_id=plan.company_id,
        document_id=name,
        source="site",
        title=urlsplit(item.url).path or "/",
        url=item.url,
        blocks=[],
        hash=digest,
        read_at=datetime.now(UTC),
        run_id=plan.run_id,
        etag=etag,
        last_modified=item.known.last_modified if item.known is not None else None,
    )
