"""The beginning of a run: its plan, robots.txt, sitemaps, and the pages that memory knows."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import structlog

from contracts.company import CompanySettings
from contracts.events.knowledge import RefreshRequested
from contracts.knowledge import Left
from contracts.knowledge_rpc import KNOWN_PAGES, KnownPage, KnownPagesRequest
from runtime.calls.rpc import RpcClient
from runtime.recent import Bounded
from tool_executor.adapters.crawl_state import CrawlState, QueuedPage, SiteMemory
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
_ROBOTS = FetchRequest(types=frozenset(), limits=FetchLimits(MAX_BYTES, MAX_BYTES, seconds=10.0, cut=True))
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
        urls = dict.fromkeys([*known, *sitemap_urls, *(to_read_again or ())])
        try:
            address_in(site, plan.start)
            first = CrawlItem(url=plan.start, sure=True, known=known.get(plan.start))
        except AddressRefusedError:
            first = CrawlItem(url=plan.start, sure=True, links_only=True)
        urls.pop(plan.start, None)
        others = await asyncio.to_thread(_mixed_items, urls, known)
        await self.add(state, plan, site, [first])
        await self.add(state, plan, site, others)

    async def add(self, state: CrawlState, plan: CrawlPlan, site: Site, items: Sequence[CrawlItem]) -> None:
        """Queues the pages that may be read, and notes the others as skipped."""
        addresses = await asyncio.to_thread(_addresses_of, site, items)
        origins = {address.origin for address in addresses if address is not None}
        robots = {origin: await self.robots(state, origin) for origin in origins}
        queued, refused = await asyncio.to_thread(_judged, plan, items, addresses, robots)
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
                # A rule that is cut off would forbid more than it says: its line is left out.
                is_whole = len(fetched.body) < MAX_BYTES
                return fetched.body if is_whole else b"\n".join(fetched.body.splitlines()[:-1])
        return _UNKNOWN

    async def _sitemaps(self, plan: CrawlPlan, site: Site, start: SiteUrl, robots: Robots) -> list[str]:
        """Returns the pages that the site's sitemaps name: of those that may be read one more than the run reads, so
        that it says that there are more, and as many of the others. Unreadable sitemaps are left out."""
        texts = [plan.sitemap] if plan.sitemap else robots.sitemaps or ["/sitemap.xml"]
        files = _files(Site(site.origins), start, texts)
        pages: dict[str, None] = {}
        refused: dict[str, None] = {}
        for number in range(MAX_FILES):
            if number >= len(files) or len(pages) > plan.max_pages:
                break
            address = files[number]
            await asyncio.sleep(self.interval(address.origin, robots) if number else 0)
            try:
                fetched = await self.fetcher.fetch(Site(site.origins), address, _SITEMAP)
                rules = robots if address.origin == start.origin else None
                inner, allowed, others = await asyncio.to_thread(_listed, site, address, fetched.body, rules)
            except ToolFailedError as failed:
                log.info("crawl.sitemap_left", company=plan.company_id, url=str(address), reason=failed.reason)
                continue
            files = list(dict.fromkeys([*files, *inner]))[:MAX_FILES]
            pages |= allowed
            if len(refused) < plan.max_pages:
                refused |= others
        return [*list(pages)[: plan.max_pages + 1], *list(refused)[: plan.max_pages]]

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


def _mixed_items(urls: Iterable[str], known: Mapping[str, KnownPage | None]) -> list[CrawlItem]:
    """Returns the pages to read, in a stable order that mixes the site's sections."""
    mixed = sorted(urls, key=lambda url: hashlib.blake2b(url.encode(), digest_size=8).digest())
    return [CrawlItem(url=url, sure=True, known=known.get(url)) for url in mixed]


def _files(site: Site, page: SiteUrl, texts: Iterable[str]) -> list[SiteUrl]:
    """Returns the checked addresses of sitemaps, each once and as many as are read."""
    files: dict[SiteUrl, None] = {}
    for text in texts:
        with suppress(AddressRefusedError):
            files[site.redirected(page, text)] = None
        if len(files) == MAX_FILES:
            break
    return list(files)


def _listed(
    site: Site, sitemap: SiteUrl, body: bytes, robots: Robots | None
) -> tuple[list[SiteUrl], dict[str, None], dict[str, None]]:
    """Returns what a sitemap names of the site: further sitemaps, pages that may be read, and the others. `robots`: the
    rules of its origin. Needs seconds for the largest. Raises ToolFailedError if it decompresses to too much."""
    parsed = parse_sitemap(body)
    allowed: dict[str, None] = {}
    refused: dict[str, None] = {}
    for text in parsed.pages:
        target = target_of(site, sitemap, text)
        if isinstance(target, RefusedLink):
            refused[target.url] = None
        elif target is not None:
            forbidden = robots is not None and target.origin == sitemap.origin and not robots.allows(target)
            (refused if forbidden else allowed)[str(target)] = None
    return _files(Site(site.origins), sitemap, parsed.sitemaps), allowed, refused


def _addresses_of(site: Site, items: Sequence[CrawlItem]) -> list[SiteUrl | None]:
    """Returns the checked address of each item; None for one that the site's rules exclude."""
    addresses: list[SiteUrl | None] = []
    for item in items:
        try:
            addresses.append(address_in(Site(site.origins) if item.links_only else site, item.url))
        except (AddressRefusedError, ValueError):
            addresses.append(None)
    return addresses


def _judged(
    plan: CrawlPlan,
    items: Sequence[CrawlItem],
    addresses: Sequence[SiteUrl | None],
    robots: Mapping[Origin, Robots | None],
) -> tuple[list[QueuedPage], list[tuple[Left, str | None]]]:
    """Returns the pages that may be read, and the others, each with its document. Needs seconds for a whole site."""
    queued: list[QueuedPage] = []
    refused: list[tuple[Left, str | None]] = []
    for item, address in zip(items, addresses, strict=True):
        known_document = item.known.document_id if item.known is not None else None
        if address is None:
            refused.append((skipped(item.url, "denied"), known_document))
            continue
        rules = robots[address.origin]
        if rules is None or not rules.allows(address):
            # If another host of the site does not answer, its known pages stay.
            refused.append((skipped(item.url, "robots"), known_document if rules is not None else None))
            continue
        shape = shape_of(address)
        limit = 0 if item.sure else max_addresses(shape, plan.max_pages)
        endless = skipped(item.url, "endless", most=limit, shape=shape.rstrip("?"))
        queued.append((item, shape, limit, endless, skipped(item.url, "full", most=plan.max_pages)))
    return queued, refused


def _without_validators(page: KnownPage | None) -> KnownPage | None:
    return None if page is None else page.model_copy(update={"etag": None, "last_modified": None})
