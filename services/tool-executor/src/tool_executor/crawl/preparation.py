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
from tool_executor.adapters.page_fetcher import BadStatusError, FetchLimits, FetchRequest, PageFetcher
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.crawl.links import RefusedLink, max_addresses, shape_of, target_of
from tool_executor.crawl.plan import CrawlPlan, address_in, plan_of, site_in
from tool_executor.crawl.robots import MAX_BYTES, Robots
from tool_executor.crawl.sitemaps import LIMITS, MAX_FILES, parse_sitemap
from tool_executor.crawl.words import skipped
from tool_executor.domain.crawl_outcomes import CrawlItem
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl

log = structlog.get_logger(__name__)

_ROBOTS_ATTEMPTS = 3
"""Attempts to read a robots.txt."""
ROBOTS_PAUSE_SECONDS = 2.0
"""Seconds between two such attempts."""
_ROBOTS = FetchRequest(types=frozenset(), limits=FetchLimits(sent=MAX_BYTES, unpacked=MAX_BYTES, seconds=10.0))
_SITEMAP = FetchRequest(types=frozenset(), limits=LIMITS)
_MAX_PARSED = 200
"""Parsed robots.txt files that are kept."""
_UNKNOWN = b"?"
"""Placeholder for a robots.txt that could not be read."""
_KNOWN_DEADLINE = 10.0
"""Seconds for memory to return a thousand known pages."""


class RunFailedError(Exception):
    """The run cannot go on; the message is for the admin."""


class Preparation:
    """Prepares what a run needs before its first page. `interval_of` returns the seconds between two pages of an
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
        self._parsed_robots = Bounded[bytes, Robots](_MAX_PARSED)

    def interval(self, origin: Origin, robots: Robots | None) -> float:
        """Returns the seconds between two pages: ours, or those of the site's robots.txt if they are more."""
        return max(self._interval_of(origin), robots.delay if robots is not None else 0.0)

    async def prepare(
        self, state: CrawlState, request: RefreshRequested, settings: CompanySettings | None
    ) -> CrawlPlan:
        """Returns the run's plan: the first one that any executor made. Raises RunFailedError."""
        if settings is None:
            raise RunFailedError("The company has no settings.")
        try:
            plan = plan_of(settings.config, request.run_id, request.url, self._demo, loopback=self._loopback)
        except AddressRefusedError as refused:
            raise RunFailedError(str(refused.text)) from refused
        return CrawlPlan.model_validate_json(await state.keep_plan(plan.to_json().decode()))

    async def fill(self, state: CrawlState, plan: CrawlPlan) -> None:
        """Queues the addresses that are known before the first page is read.

        Raises:
            RunFailedError: the site's robots.txt cannot be read.
        """
        site = site_in(plan)
        start = address_in(Site(site.origins), plan.start)
        robots = await self.robots(state, start.origin)
        if robots is None:
            raise RunFailedError(
                f"the site does not answer: {start.origin}/robots.txt cannot be read. Nothing is changed."
            )
        if plan.only:
            known = {page.url: page for page in await self._known(plan) if page.url == plan.start}
            # Read without validators: the admin wants the page's current content, never "not modified".
            item = CrawlItem(url=plan.start, sure=True, known=_without_validators(known.get(plan.start)))
            await self.add(state, plan, site, [item])
            return
        to_read_again = await SiteMemory(self._store, plan.company_id).load(plan.rules)
        pages = await self._known(plan)
        known = {page.url: page if to_read_again is not None else _without_validators(page) for page in pages}
        sitemap_urls = await self._sitemaps(plan, site, start, robots)
        urls = list(dict.fromkeys([*known, *sitemap_urls, *(to_read_again or ())]))
        # A stable order that mixes the site's sections.
        urls.sort(key=lambda url: hashlib.blake2b(url.encode(), digest_size=8).digest())
        try:
            address_in(site, plan.start)
            first = CrawlItem(url=plan.start, sure=True, known=known.get(plan.start))
        except AddressRefusedError:
            first = CrawlItem(url=plan.start, sure=True, links_only=True)
        others = [CrawlItem(url=url, sure=True, known=known.get(url)) for url in urls if url != plan.start]
        await self.add(state, plan, site, [first])
        await self.add(state, plan, site, others)

    async def add(self, state: CrawlState, plan: CrawlPlan, site: Site, items: Sequence[CrawlItem]) -> None:
        """Queues the pages that may be read, and notes the others as skipped."""
        queued: list[tuple[CrawlItem, str, int, Left, Left]] = []
        refused: list[tuple[Left, str | None]] = []
        for item in items:
            known_document = item.known.document_id if item.known is not None else None
            try:
                address = address_in(Site(site.origins) if item.links_only else site, item.url)
            except (AddressRefusedError, ValueError):
                refused.append((skipped(item.url, "denied"), known_document))
                continue
            robots = await self.robots(state, address.origin)
            if robots is None or not robots.allows(address):
                # If another host of the site does not answer, its known pages stay.
                refused.append((skipped(item.url, "robots"), known_document if robots is not None else None))
                continue
            shape = shape_of(address)
            limit = 0 if item.sure else max_addresses(shape, plan.max_pages)
            endless = skipped(item.url, "endless", most=limit, shape=shape.rstrip("?"))
            queued.append((item, shape, limit, endless, skipped(item.url, "full", most=plan.max_pages)))
        await state.refuse(refused, plan.max_pages)
        await state.add(queued, plan.max_pages)

    async def robots(self, state: CrawlState, origin: Origin) -> Robots | None:
        """Returns an origin's rules, read once in a run; None if the origin did not answer."""
        text = await state.text(f"robots:{origin}")
        if text is None:
            text = await self._fetch_robots(origin)
            await state.keep_text(f"robots:{origin}", text)
        if text == _UNKNOWN:
            return None
        digest = hashlib.blake2b(text, digest_size=16).digest()
        robots = self._parsed_robots.get(digest)
        if robots is None:
            robots = self._parsed_robots[digest] = await asyncio.to_thread(Robots, text.decode("utf-8", "replace"))
        return robots

    async def _fetch_robots(self, origin: Origin) -> bytes:
        for number in range(_ROBOTS_ATTEMPTS):
            if number:
                await asyncio.sleep(ROBOTS_PAUSE_SECONDS)
            try:
                fetched = await self.fetcher.fetch(Site((origin,)), SiteUrl(origin, "/robots.txt"), _ROBOTS)
            except BadStatusError as bad:
                # A refused robots.txt means that there are no rules; a server error says nothing about them.
                if 400 <= bad.status < 500 and bad.status != 429:
                    return b""
            except ToolFailedError as failed:
                if failed.reason not in {"unreachable", "too_slow", "address_refused"}:
                    return b""
            else:
                return fetched.body
        return _UNKNOWN

    async def _sitemaps(self, plan: CrawlPlan, site: Site, start: SiteUrl, robots: Robots) -> list[str]:
        """Returns the pages of the site that its sitemaps name; unreadable sitemaps are left out."""
        reachable = Site(site.origins)
        addresses = [plan.sitemap] if plan.sitemap else robots.sitemaps or ["/sitemap.xml"]
        waiting = [
            address for text in addresses if isinstance(address := target_of_file(reachable, start, text), SiteUrl)
        ]
        read: set[SiteUrl] = set()
        pages: dict[str, None] = {}
        while waiting and len(read) < MAX_FILES and len(pages) < plan.max_pages:
            address = waiting.pop(0)
            if address in read:
                continue
            read.add(address)
            await asyncio.sleep(self.interval(address.origin, robots) if len(read) > 1 else 0)
            try:
                fetched = await self.fetcher.fetch(reachable, address, _SITEMAP)
                sitemap = await asyncio.to_thread(parse_sitemap, fetched.body)
            except ToolFailedError as failed:
                log.info("crawl.sitemap_left", company=plan.company_id, url=str(address), reason=failed.reason)
                continue
            for text in sitemap.sitemaps:
                if isinstance(inner := target_of_file(reachable, address, text), SiteUrl):
                    waiting.append(inner)
            for text in sitemap.pages:
                target = target_of(site, address, text)
                if target is not None:
                    pages[target.url if isinstance(target, RefusedLink) else str(target)] = None
        return list(pages)[: plan.max_pages]

    async def _known(self, plan: CrawlPlan) -> list[KnownPage]:
        """Returns the site's pages that memory knows. Raises RpcError."""
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
    """Returns the checked address of a sitemap, which need not end like a document."""
    try:
        return site.redirected(page, address)
    except AddressRefusedError:
        return None


def _without_validators(page: KnownPage | None) -> KnownPage | None:
    return None if page is None else page.model_copy(update={"etag": None, "last_modified": None})
