"""Reads pages of a company's site: checks the address, fetches the page, extracts its text and cuts it to the budget of
a prompt."""

import asyncio

from tool_executor.adapters.page_fetcher import Fetched, PageFetcher
from tool_executor.adapters.page_text import ReadableText, readable_text
from tool_executor.domain.declaration import ArgumentProblem, ToolFailedError, ToolRefusedError
from tool_executor.domain.plans import CompanyTools
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl, site_of
from tool_executor.domain.token_budget import cut
from tool_executor.extraction.charsets import decode
from tool_executor.ports import Link, ReadablePage
from tool_executor.texts import TEXTS

_MAX_LINKS = 40
_MAX_LINK_CHARS = 80
"""Links of a page in a result, and characters of one link's words."""


class SitePages:
    """Reads pages. `budget` is in tokens."""

    def __init__(self, fetcher: PageFetcher, *, demo: Origin | None, budget: int, loopback: bool = False) -> None:
        self._fetcher = fetcher
        self._demo = demo
        self._loopback = loopback
        self._budget = budget

    async def read(self, company: CompanyTools, path: str) -> ReadablePage:
        try:
            config = company.config
            site = site_of(config.allowed_domains, config.allowed_paths, self._demo, loopback=self._loopback)
            address = site.page(path)
        except AddressRefusedError as refused:
            if refused.reason == "bad_path":
                raise ToolRefusedError(ArgumentProblem("path", refused.text)) from refused
            raise ToolFailedError(refused.reason, refused.text) from refused
        fetched = await self._fetcher.fetch(site, address)
        readable = await asyncio.to_thread(_read, fetched)
        if not readable.text.strip():
            raise ToolFailedError("no_text", TEXTS["page.no_text"])
        text, truncated = cut(readable.text, self._budget)
        links = _links(site, SiteUrl(address.origin, fetched.url.removeprefix(str(address.origin))), readable)
        return ReadablePage(url=fetched.url, title=readable.title, text=text, truncated=truncated, links=links)


def _links(site: Site, page: SiteUrl, readable: ReadableText) -> tuple[Link, ...]:
    """Returns the links to pages of the same address that may be read, each page once, in the page's order."""
    links_by_path: dict[str, Link] = {}
    if not page.target.startswith("/"):
        return ()  # redirected to another address of the site, whose paths differ
    for address, words, language in readable.links:
        try:
            target = site.redirected(page, address.partition("#")[0] or page.target)
        except AddressRefusedError:
            continue
        earlier = links_by_path.get(target.target)
        if target.origin == site.origins[0] and target.target != page.target and not (earlier and earlier.text):
            links_by_path[target.target] = Link(
                target.target, words[:_MAX_LINK_CHARS], language or (earlier.language if earlier else None)
            )
    return tuple(links_by_path.values())[:_MAX_LINKS]


def _read(fetched: Fetched) -> ReadableText:
    text = decode(fetched.body, fetched.charset)
    if fetched.content_type in {"text/html", "application/xhtml+xml"}:
        return readable_text(text)
    lines = (line.rstrip() for line in text.replace("\x00", "").splitlines())
    return ReadableText("", "\n".join(line for line in lines if line))
