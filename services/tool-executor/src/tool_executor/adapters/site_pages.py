"""Reads pages of a company's site: checks the address, fetches, extracts the text and cuts it to what a prompt can
hold."""

import asyncio

from tool_executor.adapters.page_fetcher import Fetched, PageFetcher
from tool_executor.adapters.page_text import ReadableText, readable_text
from tool_executor.domain.declaration import ArgumentProblem, ToolFailedError, ToolRefusedError
from tool_executor.domain.plans import CompanyTools
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl, site_of
from tool_executor.domain.token_budget import cut
from tool_executor.extraction.charsets import decoded
from tool_executor.ports import Link, ReadablePage
from tool_executor.texts import TEXTS

_AT_ONCE = 64 * 1024
"""Bytes that are parsed on the event loop (under 5 ms); more go to a thread."""
_MOST_LINKS = 40
_LONGEST_LINK = 80
"""Limits of the links of a page: how many a result has, and how long one link's words are."""


class SitePages:
    """Reads pages. `budget` is in tokens."""

    def __init__(self, fetcher: PageFetcher, *, demo: Origin | None, budget: int, loopback: bool = False) -> None:
        self._fetcher = fetcher
        self._demo = demo
        self._loopback = loopback
        self._budget = budget

    async def read(self, company: CompanyTools, path: str) -> ReadablePage:
        try:
            site = site_of(company.allowed_domains, company.allowed_paths, self._demo, loopback=self._loopback)
            address = site.page(path)
        except AddressRefusedError as refused:
            if refused.reason == "bad_path":
                raise ToolRefusedError(ArgumentProblem("path", refused.text)) from refused
            raise ToolFailedError(refused.reason, refused.text) from refused
        fetched = await self._fetcher.fetch(site, address)
        readable = await asyncio.to_thread(_read, fetched) if len(fetched.body) > _AT_ONCE else _read(fetched)
        if not readable.text.strip():
            raise ToolFailedError("no_text", TEXTS["page.no_text"])
        text, truncated = cut(readable.text, self._budget)
        links = _links(site, SiteUrl(address.origin, fetched.url.removeprefix(str(address.origin))), readable)
        return ReadablePage(url=fetched.url, title=readable.title, text=text, truncated=truncated, links=links)


def _links(site: Site, page: SiteUrl, readable: ReadableText) -> tuple[Link, ...]:
    """The pages that a page leads to and that may be read by their path, each once, in the page's order."""
    found: dict[str, Link] = {}
    if not page.target.startswith("/"):
        return ()  # redirected to another of the site's addresses: its paths are not this one's
    for address, words, language in readable.links:
        try:
            to = site.redirected(page, address.partition("#")[0] or page.target)
        except AddressRefusedError:
            continue
        known = found.get(to.target)
        if to.origin == site.origins[0] and to.target != page.target and not (known and known.text):
            found[to.target] = Link(to.target, words[:_LONGEST_LINK], language or (known.language if known else None))
    return tuple(found.values())[:_MOST_LINKS]


def _read(fetched: Fetched) -> ReadableText:
    text = decoded(fetched.body, fetched.charset)
    if fetched.content_type in {"text/html", "application/xhtml+xml"}:
        return readable_text(text)
    lines = (line.rstrip() for line in text.replace("\x00", "").splitlines())
    return ReadableText("", "\n".join(line for line in lines if line))
