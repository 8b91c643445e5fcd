"""Runs over companies' sites: requested and followed. Missing pages are removed, or wait for an admin's approval."""

from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlsplit

from contracts.company import CompanySettings
from contracts.events.knowledge import RefreshRequested, RunProgressed
from contracts.ids import derive_id, uuid7
from contracts.knowledge import Run
from contracts.knowledge_rpc import RefreshAsk, RunDecide, RunReply, RunRequest
from memory.adapters.mongo_companies import MongoCompanies
from memory.domain.keys import milliseconds
from memory.errors import BadKnowledgeError, NotFoundError, StoreUnavailableError
from memory.knowledge.bus import KnowledgeBus
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_runs import RunStore, StoredRun
from runtime.clock import Clock

MAX_ATTEMPTS = 8
"""Attempts to write a run that others are writing."""
MAX_PAGES = 20_000
REQUEST_AGAIN_AFTER = timedelta(seconds=60)
"""Time after which a run that no executor has begun is requested again."""
FAILED_AFTER = timedelta(hours=6)
"""Time without progress after which a run counts as failed."""
_NEWEST = 20
"""Runs of a company that are looked at."""
UNDER_WAY = ("queued", "running")
ENDED = ("finished", "failed")
RETRY_AFTER = timedelta(hours=1)
"""Pause after a run that failed as a whole."""


@dataclass(frozen=True, slots=True)
class RunScheduler:
    """Schedules the reading of companies' sites."""

    runs: RunStore
    documents: DocumentStore
    library: Library
    companies: MongoCompanies
    bus: KnowledgeBus
    clock: Clock

    async def ask(self, request: RefreshAsk) -> RunReply:
        """Requests a run over the site or one page; returns the running one, or a new one."""
        company, url = request.company_id, request.url
        settings = await self.companies.get(company)
        if settings is None:
            raise NotFoundError(f"company {company} has no settings: create them first")
        site = settings.config.knowledge.site_url
        if site is None:
            raise BadKnowledgeError(
                "set knowledge.siteUrl in the company's settings first: where does its site begin?", "url"
            )
        for stored_run in await self.runs.newest(company, _NEWEST):
            if stored_run.run.state in UNDER_WAY and stored_run.run.url == url:
                return RunReply(run=stored_run.run)
        return RunReply(run=await self._begin(company, uuid7(), site, url, request.by))

    async def progressed(self, company: str, event: RunProgressed) -> None:
        for _ in range(MAX_ATTEMPTS):
            old = await self.runs.get(company, event.run_id)
            if old is not None and (_step(old.step, "running") >= _step(event.step, event.state) or _is_over(old.run)):
                return
            new_run = await self._moved(company, old, event)
            if new_run.run.state == "finished":
                await self._remove(company, event.gone)
                await self._remove_old_site(company, new_run)
            if await self.runs.put(new_run, old.version if old else None):
                return
        raise StoreUnavailableError("too many changes of the same run at once: try again")

    async def get(self, request: RunRequest) -> RunReply:
        stored_run = await self.runs.get(request.company_id, request.id)
        return RunReply(run=stored_run.run if stored_run else None)

    async def decide(self, request: RunDecide) -> RunReply:
        """Carries out an admin's decision on a waiting run: missing pages are removed or stay."""
        stored_run = await self.runs.get(request.company_id, request.id)
        if stored_run is None:
            raise NotFoundError("there is no such run")
        if stored_run.run.state != "waiting":
            if stored_run.run.state == "finished":
                return RunReply(run=stored_run.run)
            raise BadKnowledgeError("the run does not wait for a decision", "remove")
        ended = stored_run.run.model_copy(
            update={"state": "finished", "gone": len(stored_run.gone) if request.remove else 0}
        )
        if not await self.runs.put(replace(stored_run, run=ended, gone=()), stored_run.version):
            return await self.decide(request)
        if request.remove:
            await self._remove(request.company_id, stored_run.gone)
        return RunReply(run=ended)

    async def is_first(self, company: str) -> bool:
        """Returns whether the company's site has never been read to its end."""
        settings = await self.companies.get(company)
        site = settings.config.knowledge.site_url if settings else None
        if site is None:
            return False
        runs = await self.runs.newest(company, _NEWEST)
        has_ended = any(_is_over(run.run) and run.run.url is None and run.site == site for run in runs)
        return not has_ended and len(runs) < _NEWEST

    async def newest(self, company: str) -> Run | None:
        return next(
            (stored_run.run for stored_run in await self.runs.newest(company, _NEWEST) if stored_run.run.url is None),
            None,
        )

    async def sweep(self) -> None:
        """Requests runs that are due; called periodically by each replica, and concurrent calls request the same
        run."""
        for settings in await self.companies.with_site():
            await self._look_at(settings)

    async def _look_at(self, settings: CompanySettings) -> None:
        company, site = settings.config.company_id, settings.config.knowledge.site_url
        if site is None:
            return
        now = self.clock.now()
        runs = await self.runs.newest(company, _NEWEST)
        for stored_run in runs:
            waited = now - stored_run.run.requested_at
            if stored_run.run.state == "queued" and waited > REQUEST_AGAIN_AFTER and waited <= FAILED_AFTER:
                await self._request_again(stored_run, milliseconds(now))
            elif stored_run.run.state in UNDER_WAY and waited > FAILED_AFTER:
                await self._end(stored_run, "nobody has gone on with it for hours")
        last = next((stored_run for stored_run in runs if stored_run.run.url is None), None)
        if last is None or (last.run.state not in UNDER_WAY and last.site != site):
            # With the version: a company that was deleted and created again has another first run.
            previous = last.run.id if last else f"first of {settings.version}"
            await self._begin(company, derive_id(company, "run", previous), site, None, "start")
            return
        if last.run.state in (*ENDED, "waiting"):
            pause = (
                RETRY_AFTER if last.run.state == "failed" else timedelta(hours=settings.config.knowledge.refresh_hours)
            )
            if now >= (last.run.finished_at or last.run.requested_at) + pause:
                await self._begin(company, derive_id(company, "run", last.run.id), site, None, "schedule")

    async def _begin(self, company: str, name: str, site: str, url: str | None, by: str) -> Run:
        now = self.clock.now()
        run = Run(id=name, company_id=company, state="queued", url=url, by=by or "schedule", requested_at=now)
        if await self.runs.put(StoredRun(run, site, requested_at=milliseconds(now)), None):
            await self.bus.refresh(RefreshRequested(company_id=company, run_id=name, url=url, by=run.by))
            await self.runs.tidy(company)
        return run

    async def _request_again(self, stored_run: StoredRun, now: int) -> None:
        if now - stored_run.requested_at < REQUEST_AGAIN_AFTER / timedelta(milliseconds=1):
            return
        if await self.runs.put(replace(stored_run, requested_at=now), stored_run.version):
            run = stored_run.run
            request = RefreshRequested(company_id=run.company_id, run_id=run.id, url=run.url, by=run.by)
            await self.bus.refresh(request, now)

    async def _end(self, stored_run: StoredRun, problem: str) -> None:
        ended = stored_run.run.model_copy(
            update={"state": "failed", "finished_at": self.clock.now(), "problem": problem}
        )
        await self.runs.put(replace(stored_run, run=ended), stored_run.version)

    async def _moved(self, company: str, old: StoredRun | None, event: RunProgressed) -> StoredRun:
        now = self.clock.now()
        run = (
            old.run if old else Run(id=event.run_id, company_id=company, state="queued", by="service", requested_at=now)
        )
        state, gone = event.state, tuple(event.gone)
        if state == "finished" and event.url is None and await self._removes_most_pages(company, len(gone)):
            state = "waiting"
        run = run.model_copy(
            update={
                "state": state,
                "url": run.url or event.url,
                "started_at": run.started_at or now,
                "finished_at": None if state == "running" else now,
                "counts": event.counts,
                "left": event.left,
                "gone": len(gone),
                "problem": event.problem,
            }
        )
        waiting_pages = gone if state == "waiting" else ()
        return StoredRun(run, old.site if old else None, event.step, old.requested_at if old else 0, waiting_pages)

    async def _removes_most_pages(self, company: str, missing: int) -> bool:
        """Whether more than half of the pages would be removed, which is more likely the site's fault than intended."""
        if missing < 2:
            return False
        pages = await self.documents.site_pages(company, missing * 2 + 1)
        return missing > len(pages) / 2

    async def _remove_old_site(self, company: str, stored_run: StoredRun) -> None:
        """Removes pages of the site's old address, once the new one has been read."""
        pages_read = stored_run.run.counts.fetched + stored_run.run.counts.unchanged
        if stored_run.site is None or stored_run.run.url is not None or not pages_read:
            return
        new_origin = _origin(stored_run.site)
        old_origins = {_origin(other.site) for other in await self.runs.newest(company, _NEWEST) if other.site} - {
            new_origin
        }
        if old_origins:
            pages = await self.documents.site_pages(company, MAX_PAGES)
            await self._remove(company, [page.id for page in pages if page.url and _origin(page.url) in old_origins])

    async def _remove(self, company: str, gone: "list[str] | tuple[str, ...]") -> None:
        for name in gone:
            await self.library.remove(company, name)


def _step(step: int, state: str) -> tuple[int, bool]:
    """A sort key of progress events: the end of a run may have the step of the event before it."""
    return step, state in ENDED


def _is_over(run: Run) -> bool:
    return run.state in (*ENDED, "waiting")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
