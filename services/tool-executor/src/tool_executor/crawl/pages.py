"""Reads one page of a run: fetches it, judges its type, and extracts its text."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.knowledge import MAX_FILE, Left, document_id
from tool_executor.adapters.page_fetcher import (
    TEXT_TYPES,
    BadStatusError,
    Fetched,
    FetchLimits,
    FetchRequest,
    NotModified,
    PageFetcher,
    Redirected,
)
from tool_executor.crawl.links import RefusedLink, repeats_itself, target_of
from tool_executor.crawl.plan import CrawlPlan, address_in
from tool_executor.crawl.words import reason_text, skipped
from tool_executor.domain.crawl_outcomes import MAX_TRIES, CrawlItem, PageOutcome
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Site, SiteUrl
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.formats import KNOWN_TYPES
from tool_executor.extraction.isolation import Extraction

TYPES = TEXT_TYPES | KNOWN_TYPES
LIMITS = FetchLimits(sent=MAX_FILE, unpacked=MAX_FILE, seconds=30.0)
_MAX_REDIRECTS = 5
RETRY_PAUSES = (3.0, 12.0)
"""Seconds before each retry of a page, if its site names no time."""
_MAX_RETRY_PAUSE = 60.0
"""Longest time in seconds before a retry, whatever the site asks for."""
_RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A page that was read and becomes a document."""

    id: str
    url: str
    page: Extracted
    hash: str
    read_at: datetime
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class PageReading:
    """The outcome of a page, and its document if there is one. `same`: the document in memory is still valid."""

    outcome: PageOutcome
    document: ReadDocument | None = None
    same: bool = False


class PageReader:
    """Reads pages of one run."""

    def __init__(self, fetcher: PageFetcher, extraction: Extraction, plan: CrawlPlan, site: Site) -> None:
        self._fetcher = fetcher
        self._extraction = extraction
        self._plan = plan
        self._site = site

    async def read(self, item: CrawlItem) -> PageReading:
        """Fetches a page and extracts its text. Raises no error that a site can cause."""
        known = item.known
        try:
            # A page that is read only for its links is one that the rules exclude.
            address = address_in(Site(self._site.origins) if item.links_only else self._site, item.url)
            request = FetchRequest(
                TYPES, known.etag if known else None, known.last_modified if known else None, limits=LIMITS
            )
            answer = await self._fetcher.visit(address, request)
        except AddressRefusedError:
            return PageReading(
                PageOutcome("skipped", "denied", reason_text("denied"), gone=known.document_id if known else None)
            )
        except ToolFailedError as failure:
            return PageReading(self._fetch_failure(item, failure))
        if isinstance(answer, NotModified):
            return PageReading(PageOutcome("unchanged"), same=True)
        if isinstance(answer, Redirected):
            return PageReading(self._redirected(item, address, answer.location))
        return await self._extracted(item, address, answer)

    def _fetch_failure(self, item: CrawlItem, failure: ToolFailedError) -> PageOutcome:
        message = str(failure.message)
        match failure.reason:
            case "page_not_found":
                if item.known is not None:
                    document = item.known.document_id
                    return PageOutcome("skipped", "gone", reason_text("gone"), gone=document, look_again=True)
                # A link may be published before its page. The page is tried once more in the next run, then given up.
                return PageOutcome("failed", "page_not_found", message, look_again=not item.sure)
            case "not_text":
                return PageOutcome("skipped", "not_text", reason_text("not_text"))
            case "unreachable" | "too_slow":
                return self._retry(item, failure.reason, message, None)
            case "bad_status" if isinstance(failure, BadStatusError) and failure.status in _RETRYABLE_STATUSES:
                return self._retry(item, failure.reason, message, failure.retry_after)
            case reason:
                return PageOutcome("failed", reason, message, look_again=True)

    def _retry(self, item: CrawlItem, reason: str, message: str, retry_after: float | None) -> PageOutcome:
        pause = None
        if item.tries + 1 < MAX_TRIES:
            pause = min(max(RETRY_PAUSES[min(item.tries, 1)], retry_after or 0.0), _MAX_RETRY_PAUSE)
        return PageOutcome("failed", reason, message, again=pause, look_again=True, away=True)

    def _redirected(self, item: CrawlItem, address: SiteUrl, location: str) -> PageOutcome:
        document = item.known.document_id if item.known else None
        try:
            target = self._site.redirected(address, location)
        except AddressRefusedError:
            return PageOutcome("skipped", "leaves_the_site", reason_text("leaves_the_site"), gone=document)
        url = str(target)
        if url == item.url or url in item.via:
            return PageOutcome("failed", "redirect_loop", reason_text("redirect_loop"))
        if len(item.via) >= _MAX_REDIRECTS:
            return PageOutcome("failed", "too_many_redirects", reason_text("too_many_redirects", most=_MAX_REDIRECTS))
        target_item = CrawlItem(url=url, sure=item.sure, via=[*item.via, item.url])
        return _skipped_with_links("redirected", [target_item], [], gone=document, other=url)

    async def _extracted(self, item: CrawlItem, address: SiteUrl, answer: Fetched) -> PageReading:
        known_document = item.known.document_id if item.known else None
        name = address.target.partition("?")[0]
        try:
            page = await self._extraction.extract(answer.body, answer.content_type, answer.charset, name)
        except UnreadableError as unreadable:
            return PageReading(PageOutcome("failed", unreadable.reason, str(unreadable.text), look_again=True))
        linked_items, refused = await asyncio.to_thread(self._links, address, page, "nofollow" in answer.robots)
        if item.links_only:
            return PageReading(_skipped_with_links("denied", linked_items, refused))
        if page.noindex or "noindex" in answer.robots or answer.robots == "none":
            return PageReading(_skipped_with_links("noindex", linked_items, refused, gone=known_document))
        canonical = self._canonical(address, page)
        if canonical is not None:
            item_there = CrawlItem(url=str(canonical), sure=item.sure, via=item.via)
            outcome = _skipped_with_links(
                "canonical", [item_there, *linked_items], refused, gone=known_document, other=str(canonical)
            )
            return PageReading(outcome)
        if not page.blocks:
            message = reason_text("no_text")
            return PageReading(
                PageOutcome("failed", "no_text", message, look_again=True, linked_pages=linked_items, refused=refused)
            )
        if not page.title:
            page.title = name
        content_hash = await asyncio.to_thread(page.hash)
        same = item.known is not None and item.known.hash == content_hash
        document = ReadDocument(
            id=item.known.document_id if item.known else document_id(self._plan.company_id, "site", str(address)),
            url=str(address),
            page=page,
            hash=content_hash,
            read_at=datetime.now(UTC),
            etag=(answer.etag or "")[:500] or None,
            last_modified=(answer.last_modified or "")[:100] or None,
        )
        return PageReading(
            PageOutcome("unchanged" if same else "fetched", linked_pages=linked_items, refused=refused), document
        )

    def _canonical(self, address: SiteUrl, page: Extracted) -> SiteUrl | None:
        """Returns the other page of the site that this page names as canonical. The start page is ignored: sites name
        it on all pages by mistake."""
        if page.canonical is None:
            return None
        target = target_of(self._site, address, page.canonical)
        if not isinstance(target, SiteUrl) or target == address or target.target == "/":
            return None
        return target

    def _links(self, address: SiteUrl, page: Extracted, nofollow: bool) -> tuple[list[CrawlItem], list[Left]]:
        if self._plan.only or page.nofollow or nofollow:
            return [], []
        items: dict[str, CrawlItem] = {}
        refused: dict[str, Left] = {}
        for link in page.links:
            target = target_of(self._site, address, link)
            if isinstance(target, RefusedLink):
                refused[target.url] = skipped(target.url, "denied")
            elif target is not None and repeats_itself(target):
                refused[str(target)] = skipped(str(target), "goes_round")
            elif target is not None:
                items[str(target)] = CrawlItem(url=str(target))
        return list(items.values()), list(refused.values())


def _skipped_with_links(
    reason: str, items: list[CrawlItem], refused: list[Left], *, gone: str | None = None, **values: str
) -> PageOutcome:
    message = reason_text(reason, **values)
    return PageOutcome("skipped", reason, message, gone=gone, look_again=True, linked_pages=items, refused=refused)
