"""The beginning of a run: its plan, robots.txt, sitemaps, and the pages that memory knows."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence

import structlog

from contracts.company import CompanySettings
from contracts.events.knowledge import RefreshRequested
from contracts.knowledge import Left
from contracts.knowledge_rpc import KNOWN_PAGES, KnownPage, KnownPagesRequest
from runtime.calls.rpc import RpcClient
from runtime.recent import Bounded
from tool_executor.adapters.crawl_state import CrawlState, SiteMemory
from tool_executor.adapters.page_fetcher import (
    BadStatusError,
    Fetched,
    FetchLimits,
    FetchRequest,
    PageFetcher,
    Redirected,
)
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.crawl.links import RefusedLink, most_of, shape_of, target_of
from tool_executor.crawl.plan import CrawlPlan, address_in, plan_of, site_in
from tool_executor.crawl.robots import LARGEST, Robots
from tool_executor.crawl.sitemaps import LIMITS, MOST_FILES, parse_sitemap
from tool_executor.crawl.words import reason_text
from tool_executor.domain.crawl_outcomes import CrawlItem
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl

log = structlog.get_logger(__name__)

_TRIES = 3
"""The number of tries to read a robots.txt."""
_PAUSE = 2.0
"""Seconds between two tries at a robots.txt that cannot be read."""
_MOST_REDIRECTS = 5
_ROBOTS_LIMITS = FetchLimits(sent=LARGEST, unpacked=LARGEST, seconds=10.0)
_KEPT = 200
"""Origins whose rules are kept parsed."""
_UNKNOWN = b"?"
"""Stands for a robots.txt that could not be read."""
_KNOWN_DEADLINE = 10.0
"""Seconds for memory to name a thousand pages."""


class RunFailedError(Exception):
    """The run cannot go on; the message is for the admin."""


class Preparation:
    """The values that a run needs before its first page. `interval_of` names the seconds between two pages of an
    origin."""

    def __init__(
        self,
        store: RedisStore,
        fetcher: PageFetcher,
        rpc: RpcClient,
        interval_of: Callable[[Origin], float],
        *,
        demo: Origin | None = None,
        loopback: bool = False,
    ) -> None:
        self._store = store
        self.fetcher = fetcher
        self._rpc = rpc
        self._interval_of = interval_of
        self._demo = demo
        self._loopback = loopback
        self._parsed = Bounded[bytes, Robots](_KEPT)

    def interval(self, origin: Origin, robots: Robots | None) -> float:
        """Seconds between two pages: ours, or the site's own wish where it is longer."""
        return max(self._interval_of(origin), robots.delay if robots is not None else 0.0)

    async def prepare(self, state: CrawlState, asked: RefreshRequested, settings: CompanySettings | None) -> CrawlPlan:
        """The run's plan: the first one that any executor made. Raises RunFailedError."""
        if settings is None:
            raise RunFailedError("The company has no settings.")
        try:
            plan, _, _ = plan_of(settings.config, asked.run_id, asked.url, self._demo, loopback=self._loopback)
        except AddressRefusedError as refused:
            raise RunFailedError(str(refused.text)) from refused
        return CrawlPlan.model_validate_json(await state.keep_plan(plan.to_json().decode()))

    async def fill(self, state: CrawlState, plan: CrawlPlan) -> None:
        """Puts the addresses into the queue that are known before the first page is read.

        Raises:
            RunFailedError: the site does not say what may be read of it.
        """
        site = site_in(plan)
        start = address_in(Site(site.origins), plan.start)
        robots = await self.robots(state, start.origin)
        if robots is None:
            raise RunFailedError(
                f"{start.origin}/robots.txt cannot be read: the site does not answer. Nothing is changed."
            )
        if plan.only:
            known = {page.url: page for page in await self._known(plan) if page.url == plan.start}
            # Somebody wants to know how it is now: its word that it is unchanged is not asked for.
            item = CrawlItem(url=plan.start, sure=True, known=_without_word(known.get(plan.start)))
            await self.add(state, plan, site, [item])
            return
        again = await SiteMemory(self._store, plan.company_id).load(plan.rules)
        pages = await self._known(plan)
        known = {page.url: page if again is not None else _without_word(page) for page in pages}
        named = await self._sitemaps(plan, site, start, robots)
        urls = list(dict.fromkeys([*known, *named, *(again or ())]))
        # In an order that is always the same, and yet not one of the site's sections after the other.
        urls.sort(key=lambda url: hashlib.blake2b(url.encode(), digest_size=8).digest())
        try:
            address_in(site, plan.start)
            first = CrawlItem(url=plan.start, sure=True, known=known.get(plan.start))
        except AddressRefusedError:
            first = CrawlItem(url=plan.start, sure=True, links_only=True)
        rest = [CrawlItem(url=url, sure=True, known=known.get(url)) for url in urls if url != plan.start]
        await self.add(state, plan, site, [first])
        await self.add(state, plan, site, rest)

    async def add(self, state: CrawlState, plan: CrawlPlan, site: Site, items: Sequence[CrawlItem]) -> None:
        """Queues what may be read, and notes what may not be."""
        found: list[tuple[CrawlItem, str, int, Left, Left]] = []
        refused: list[tuple[Left, str | None]] = []
        for item in items:
            gone = item.known.document_id if item.known is not None else None
            try:
                address = address_in(Site(site.origins) if item.links_only else site, item.url)
            except (AddressRefusedError, ValueError):
                refused.append((_skipped(item.url, "denied"), gone))
                continue
            robots = await self.robots(state, address.origin)
            if robots is None or not robots.allows(address):
                # That another of the site's hosts does not answer takes nothing away.
                refused.append((_skipped(item.url, "robots"), gone if robots is not None else None))
                continue
            shape = shape_of(address)
            cap = 0 if item.sure else most_of(shape, plan.max_pages)
            endless = _skipped(item.url, "endless", most=cap, shape=shape.rstrip("?"))
            found.append((item, shape, cap, endless, _skipped(item.url, "full", most=plan.max_pages)))
        await state.refuse(refused, plan.max_pages)
        await state.add(found, plan.max_pages)

    async def robots(self, state: CrawlState, origin: Origin) -> Robots | None:
        """An origin's rules, read once a run; None: it did not answer."""
        text = await state.text(f"robots:{origin}")
        if text is None:
            text = await self._fetch_robots(origin)
            await state.keep_text(f"robots:{origin}", text)
        if text == _UNKNOWN:
            return None
        digest = hashlib.blake2b(text, digest_size=16).digest()
        robots = self._parsed.get(digest)
        if robots is None:
            robots = self._parsed[digest] = await asyncio.to_thread(Robots, text.decode("utf-8", "replace"))
        return robots

    async def _fetch_robots(self, origin: Origin) -> bytes:
        for number in range(_TRIES):
            if number:
                await asyncio.sleep(_PAUSE)
            try:
                fetched = await self._fetch(Site((origin,)), SiteUrl(origin, "/robots.txt"), _ROBOTS_LIMITS)
            except BadStatusError as bad:
                # The site has no rules for what it does not give out; an error of its own says nothing about them.
                if 400 <= bad.status < 500 and bad.status != 429:
                    return b""
            except ToolFailedError as failed:
                if failed.reason not in {"unreachable", "too_slow", "address_refused"}:
                    return b""
            else:
                return fetched.body
        return _UNKNOWN

    async def _fetch(self, site: Site, address: SiteUrl, limits: FetchLimits) -> Fetched:
        for _ in range(_MOST_REDIRECTS):
            answer = await self.fetcher.visit(address, FetchRequest(types=frozenset(), limits=limits))
            if isinstance(answer, Fetched):
                return answer
            if isinstance(answer, Redirected):
                try:
                    address = site.redirected(address, answer.location)
                except AddressRefusedError as refused:
                    raise ToolFailedError(refused.reason, refused.text) from refused
        raise ToolFailedError("too_many_redirects", "It redirects without end.")

    async def _sitemaps(self, plan: CrawlPlan, site: Site, start: SiteUrl, robots: Robots) -> list[str]:
        """The pages of the site that its sitemaps name. What cannot be read of them is left out."""
        reachable = Site(site.origins)
        named = [plan.sitemap] if plan.sitemap else robots.sitemaps or ["/sitemap.xml"]
        waiting = [address for one in named if isinstance(address := target_of_file(reachable, start, one), SiteUrl)]
        done: set[SiteUrl] = set()
        pages: dict[str, None] = {}
        while waiting and len(done) < MOST_FILES and len(pages) < plan.max_pages:
            address = waiting.pop(0)
            if address in done:
                continue
            done.add(address)
            await asyncio.sleep(self.interval(address.origin, robots) if len(done) > 1 else 0)
            try:
                fetched = await self._fetch(reachable, address, LIMITS)
                sitemap = await asyncio.to_thread(parse_sitemap, fetched.body)
            except ToolFailedError as failed:
                log.info("crawl.sitemap_left", company=plan.company_id, url=str(address), reason=failed.reason)
                continue
            for one in sitemap.sitemaps:
                if isinstance(inner := target_of_file(reachable, address, one), SiteUrl):
                    waiting.append(inner)
            for one in sitemap.pages:
                target = target_of(site, address, one)
                if target is not None:
                    pages[target.url if isinstance(target, RefusedLink) else str(target)] = None
        return list(pages)[: plan.max_pages]

    async def _known(self, plan: CrawlPlan) -> list[KnownPage]:
        """Asks memory what it knows of the site. Raises RpcError."""
        pages: list[KnownPage] = []
        cursor = None
        while True:
            request = KnownPagesRequest(company_id=plan.company_id, cursor=cursor)
            reply = await self._rpc.call(KNOWN_PAGES, request, deadline=_KNOWN_DEADLINE)
            pages += reply.items
            cursor = reply.next
            if cursor is None:
                return pages


def target_of_file(site: Site, page: SiteUrl, address: str) -> SiteUrl | None:
    """A sitemap's own address, whose ending is not that of a document."""
    try:
        return site.redirected(page, address)
    except AddressRefusedError:
        return None


def _without_word(page: KnownPage | None) -> KnownPage | None:
    return None if page is None else page.model_copy(update={"etag": None, "last_modified": None})


def _skipped(url: str, reason: str, **values: object) -> Left:
    return Left(url=url[:2048], outcome="skipped", reason=reason, message=reason_text(reason, **values))
