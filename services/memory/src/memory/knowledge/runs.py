"""Runs over companies' sites: requested and followed. Missing pages are removed, or wait for an admin's approval."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

from contracts.company import CompanySettings
from contracts.events.knowledge import RefreshRequested, RunProgressed
from contracts.ids import derive_id, uuid7
from contracts.knowledge import Run
from memory.adapters.mongo_companies import MongoCompanies
from memory.domain.keys import milliseconds
from memory.errors import BadKnowledgeError, NoSuchKnowledgeError, StoreUnavailableError
from memory.knowledge.bus import KnowledgeBus
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.mongo_runs import Runs, StoredRun
from runtime.clock import Clock

TRIES = 8
"""Tries to write a run that others are writing."""
PAGES = 20_000
NOBODY_CAME = timedelta(seconds=60)
"""After which a run that no executor has begun is requested again."""
GIVEN_UP = timedelta(hours=6)
"""Time without progress after which a run counts as failed."""
UNDER_WAY = ("queued", "running")
ENDED = ("finished", "failed")
RETRY = timedelta(hours=1)
"""After a run that failed as a whole."""


class Refreshing:
    """Schedules the reading of companies' sites."""

    def __init__(
        self,
        runs: Runs,
        documents: Documents,
        library: Library,
        companies: MongoCompanies,
        bus: KnowledgeBus,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._documents = documents
        self._library = library
        self._companies = companies
        self._bus = bus
        self._clock = clock

    async def ask(self, company: str, url: str | None, by: str) -> Run:
        """Requests a run of the site or of one page; returns the running one, or a new one."""
        settings = await self._companies.get(company)
        if settings is None:
            raise NoSuchKnowledgeError(f"company {company} has no settings: create them first")
        site = settings.config.knowledge.site_url
        if site is None:
            raise BadKnowledgeError(
                "set knowledge.siteUrl in the company's settings first: where does its site begin?", "url"
            )
        for one in await self._runs.newest(company, 20):
            if one.run.state in UNDER_WAY and one.run.url == url:
                return one.run
        return await self._begin(company, uuid7(), site, url, by)

    async def progressed(self, company: str, event: RunProgressed) -> None:
        for _ in range(TRIES):
            old = await self._runs.get(company, event.run_id)
            if old is not None and (_step(old.step, "running") >= _step(event.step, event.state) or _over(old.run)):
                return
            reading = await self._moved(company, old, event)
            if reading.run.state == "finished":
                await self._remove(company, event.gone)
                await self._moved_away(company, reading)
            if await self._runs.put(reading, old.version if old else None):
                return
        raise StoreUnavailableError("too many changes of the same run at once: try again")

    async def get(self, company: str, run: str) -> Run | None:
        found = await self._runs.get(company, run)
        return found.run if found else None

    async def decide(self, company: str, run: str, *, remove: bool) -> Run:
        """An admin's decision on a waiting run: missing pages are removed or stay."""
        found = await self._runs.get(company, run)
        if found is None:
            raise NoSuchKnowledgeError("there is no such run")
        if found.run.state != "waiting":
            if found.run.state == "finished":
                return found.run
            raise BadKnowledgeError("the run does not wait for a decision", "remove")
        ended = found.run.model_copy(update={"state": "finished", "gone": len(found.gone) if remove else 0})
        if not await self._runs.put(replace(found, run=ended, gone=()), found.version):
            return await self.decide(company, run, remove=remove)
        if remove:
            await self._remove(company, found.gone)
        return ended

    async def newest(self, company: str) -> Run | None:
        return next((one.run for one in await self._runs.newest(company, 20) if one.run.url is None), None)

    async def sweep(self) -> None:
        """Requests runs that are due; called periodically by each replica, and concurrent calls request the same
        run."""
        for settings in await self._companies.with_site():
            await self._look_at(settings)

    async def _look_at(self, settings: CompanySettings) -> None:
        company, site = settings.config.company_id, settings.config.knowledge.site_url
        if site is None:
            return
        now = self._clock.now()
        every = await self._runs.newest(company, 20)
        for one in every:
            waited = now - one.run.requested_at
            if one.run.state == "queued" and waited > NOBODY_CAME and waited <= GIVEN_UP:
                await self._ask_again(one, milliseconds(now))
            elif one.run.state in UNDER_WAY and waited > GIVEN_UP:
                await self._end(one, "nobody has gone on with it for hours")
        last = next((one for one in every if one.run.url is None), None)
        if last is None or (last.run.state not in UNDER_WAY and last.site != site):
            # By the version: a company that was deleted and is made anew has another first run.
            behind = last.run.id if last else f"first of {settings.version}"
            await self._begin(company, derive_id(company, "run", behind), site, None, "start")
            return
        if last.run.state in (*ENDED, "waiting"):
            pause = RETRY if last.run.state == "failed" else timedelta(hours=settings.config.knowledge.refresh_hours)
            if now >= (last.run.finished_at or last.run.requested_at) + pause:
                await self._begin(company, derive_id(company, "run", last.run.id), site, None, "schedule")

    async def _begin(self, company: str, name: str, site: str, url: str | None, by: str) -> Run:
        now = self._clock.now()
        run = Run(id=name, company_id=company, state="queued", url=url, by=by or "schedule", requested_at=now)
        if await self._runs.put(StoredRun(run, site, asked=milliseconds(now)), None):
            await self._bus.refresh(RefreshRequested(company_id=company, run_id=name, url=url, by=run.by))
            await self._runs.tidy(company)
        return run

    async def _ask_again(self, one: StoredRun, now: int) -> None:
        if now - one.asked < NOBODY_CAME / timedelta(milliseconds=1):
            return
        if await self._runs.put(replace(one, asked=now), one.version):
            run = one.run
            asked = RefreshRequested(company_id=run.company_id, run_id=run.id, url=run.url, by=run.by)
            await self._bus.refresh(asked, now)

    async def _end(self, one: StoredRun, why: str) -> None:
        ended = one.run.model_copy(update={"state": "failed", "finished_at": self._clock.now(), "problem": why})
        await self._runs.put(replace(one, run=ended), one.version)

    async def _moved(self, company: str, old: StoredRun | None, event: RunProgressed) -> StoredRun:
        now = self._clock.now()
        run = (
            old.run if old else Run(id=event.run_id, company_id=company, state="queued", by="service", requested_at=now)
        )
        state, gone = event.state, tuple(event.gone)
        if state == "finished" and event.url is None and await self._too_many(company, len(gone)):
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
        kept = gone if state == "waiting" else ()
        return StoredRun(run, old.site if old else None, event.step, old.asked if old else 0, kept)

    async def _too_many(self, company: str, gone: int) -> bool:
        """Whether more than half of the pages would be removed, which is more likely the site's fault than intended."""
        if gone < 2:
            return False
        pages = await self._documents.site_pages(company, gone * 2 + 1)
        return gone > len(pages) / 2

    async def _moved_away(self, company: str, reading: StoredRun) -> None:
        """Removes pages of the site's old address, once the new one has been read."""
        read = reading.run.counts.fetched + reading.run.counts.unchanged
        if reading.site is None or reading.run.url is not None or not read:
            return
        here = _origin(reading.site)
        before = {_origin(one.site) for one in await self._runs.newest(company, 20) if one.site} - {here}
        if before:
            pages = await self._documents.site_pages(company, PAGES)
            await self._remove(company, [page.id for page in pages if page.url and _origin(page.url) in before])

    async def _remove(self, company: str, gone: "list[str] | tuple[str, ...]") -> None:
        for name in gone:
            await self._library.remove(company, name)


def _step(step: int, state: str) -> tuple[int, bool]:
    """The order of progress events: the end of a run may have the step of the event before it."""
    return step, state in ENDED


def _over(run: Run) -> bool:
    return run.state in (*ENDED, "waiting")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
