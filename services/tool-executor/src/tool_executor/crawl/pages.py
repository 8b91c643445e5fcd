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
from tool_executor.crawl.words import reason_text
from tool_executor.domain.crawl_outcomes import TRIES, CrawlItem, PageOutcome
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Site, SiteUrl
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.formats import KNOWN_TYPES
from tool_executor.extraction.isolation import Extraction

TYPES = TEXT_TYPES | KNOWN_TYPES
LIMITS = FetchLimits(sent=MAX_FILE, unpacked=MAX_FILE, seconds=30.0)
_MOST_REDIRECTS = 5
_PAUSES = (3.0, 12.0)
"""Seconds before a page is tried again, where its site names none."""
_LONGEST_PAUSE = 60.0
"""Seconds before a page is tried again, whatever its site asks for."""
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A page that is to be known."""

    id: str
    url: str
    page: Extracted
    read_at: datetime
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class PageReading:
    """The outcome of a page, and its content if it is needed. `same`: what memory has is still valid."""

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
        """Fetches and takes out one page. Raises nothing that a site can cause."""
        known = item.known
        try:
            # Of a page that is read for its links alone the rules say that it may not be read.
            address = address_in(Site(self._site.origins) if item.links_only else self._site, item.url)
            wanted = FetchRequest(
                TYPES, known.etag if known else None, known.last_modified if known else None, limits=LIMITS
            )
            answer = await self._fetcher.visit(address, wanted)
        except AddressRefusedError:
            return PageReading(
                PageOutcome("skipped", "denied", reason_text("denied"), gone=known.document_id if known else None)
            )
        except ToolFailedError as failed:
            return PageReading(self._not_fetched(item, failed))
        if isinstance(answer, NotModified):
            return PageReading(PageOutcome("unchanged"), same=True)
        if isinstance(answer, Redirected):
            return PageReading(self._moved(item, address, answer.location))
        return await self._taken_out(item, address, answer)

    def _not_fetched(self, item: CrawlItem, failed: ToolFailedError) -> PageOutcome:
        message = str(failed.message)
        match failed.reason:
            case "page_not_found":
                if item.known is not None:
                    return PageOutcome(
                        "skipped", "gone", reason_text("gone"), gone=item.known.document_id, look_again=True
                    )
                # A link may stand before its page, on a page that does not change. Found missing twice, it is left.
                return PageOutcome("failed", "page_not_found", message, look_again=not item.sure)
            case "not_text":
                return PageOutcome("skipped", "not_text", reason_text("not_text"))
            case "unreachable" | "too_slow":
                return self._tried(item, failed.reason, message, None)
            case "bad_status" if isinstance(failed, BadStatusError) and failed.status in _BUSY:
                return self._tried(item, failed.reason, message, failed.retry_after)
            case reason:
                return PageOutcome("failed", reason, message, look_again=True)

    def _tried(self, item: CrawlItem, reason: str, message: str, retry_after: float | None) -> PageOutcome:
        pause = None
        if item.tries + 1 < TRIES:
            pause = min(max(_PAUSES[min(item.tries, 1)], retry_after or 0.0), _LONGEST_PAUSE)
        return PageOutcome("failed", reason, message, again=pause, look_again=True, away=True)

    def _moved(self, item: CrawlItem, address: SiteUrl, location: str) -> PageOutcome:
        gone = item.known.document_id if item.known else None
        try:
            target = self._site.redirected(address, location)
        except AddressRefusedError:
            return PageOutcome("skipped", "leaves_the_site", reason_text("leaves_the_site"), gone=gone)
        url = str(target)
        if url == item.url or url in item.via:
            return PageOutcome("failed", "redirect_loop", reason_text("redirect_loop"))
        if len(item.via) >= _MOST_REDIRECTS:
            return PageOutcome("failed", "too_many_redirects", reason_text("too_many_redirects", most=_MOST_REDIRECTS))
        found = CrawlItem(url=url, sure=item.sure, via=[*item.via, item.url])
        return PageOutcome(
            "skipped", "redirected", reason_text("redirected", other=url), gone=gone, look_again=True, found=[found]
        )

    async def _taken_out(self, item: CrawlItem, address: SiteUrl, answer: Fetched) -> PageReading:
        gone = item.known.document_id if item.known else None
        name = address.target.partition("?")[0]
        try:
            page = await self._extraction.extract(answer.body, answer.content_type, answer.charset, name)
        except UnreadableError as unreadable:
            return PageReading(PageOutcome("failed", unreadable.reason, str(unreadable.text), look_again=True))
        found, refused = await asyncio.to_thread(self._leads_to, address, page, "nofollow" in answer.robots)
        if item.links_only:
            return PageReading(_left(item, "denied", found, refused))
        if page.noindex or "noindex" in answer.robots or answer.robots == "none":
            return PageReading(_left(item, "noindex", found, refused, gone=gone))
        other = self._canonical(address, page)
        if other is not None:
            item_there = CrawlItem(url=str(other), sure=item.sure, via=item.via)
            outcome = _left(item, "canonical", [item_there, *found], refused, gone=gone, other=str(other))
            return PageReading(outcome)
        if not page.blocks:
            return PageReading(
                PageOutcome("failed", "no_text", reason_text("no_text"), look_again=True, found=found, refused=refused)
            )
        if not page.title:
            page.title = name
        same = item.known is not None and item.known.hash == page.hash
        document = ReadDocument(
            id=item.known.document_id if item.known else document_id(self._plan.company_id, "site", str(address)),
            url=str(address),
            page=page,
            read_at=datetime.now(UTC),
            etag=(answer.etag or "")[:500] or None,
            last_modified=(answer.last_modified or "")[:100] or None,
        )
        return PageReading(PageOutcome("unchanged" if same else "fetched", found=found, refused=refused), document)

    def _canonical(self, address: SiteUrl, page: Extracted) -> SiteUrl | None:
        """Another page of the site that this one says it is. That all pages are the first one is a slip, not a word."""
        if page.canonical is None:
            return None
        target = target_of(self._site, address, page.canonical)
        if not isinstance(target, SiteUrl) or target == address or target.target == "/":
            return None
        return target

    def _leads_to(self, address: SiteUrl, page: Extracted, nofollow: bool) -> tuple[list[CrawlItem], list[Left]]:
        if self._plan.only or page.nofollow or nofollow:
            return [], []
        found: dict[str, CrawlItem] = {}
        refused: dict[str, Left] = {}
        for link in page.links:
            target = target_of(self._site, address, link)
            if isinstance(target, RefusedLink):
                refused[target.url] = Left(
                    url=target.url, outcome="skipped", reason="denied", message=reason_text("denied")
                )
            elif target is not None and repeats_itself(target):
                url = str(target)
                refused[url] = Left(url=url, outcome="skipped", reason="goes_round", message=reason_text("goes_round"))
            elif target is not None:
                found[str(target)] = CrawlItem(url=str(target))
        return list(found.values()), list(refused.values())


def _left(item: CrawlItem, reason: str, found: list[CrawlItem], refused: list[Left], **more: str | None) -> PageOutcome:
    gone = more.pop("gone", None)
    message = reason_text(reason, **more)
    return PageOutcome("skipped", reason, message, gone=gone, look_again=True, found=found, refused=refused)
