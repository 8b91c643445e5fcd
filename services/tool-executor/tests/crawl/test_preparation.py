"""A run over a large site: its addresses are judged beside the event loop, and robots.txt is read once for them."""

import threading
from typing import Any, cast

import pytest

from contracts.company import CompanyConfig, Knowledge
from contracts.knowledge_rpc import KnownPagesReply
from tool_executor.adapters.page_fetcher import Fetched
from tool_executor.crawl import preparation
from tool_executor.crawl.plan import plan_of
from tool_executor.crawl.preparation import Preparation
from tool_executor.crawl.sitemaps import MAX_FILES

SITE = "https://example.com"


class _Bus:
    async def call(self, *arguments: object, **options: object) -> KnownPagesReply:
        del arguments, options
        return KnownPagesReply(items=[])


class _Store:
    async def command(self, *parts: object) -> None:
        del parts


class _Run:
    """The state of a run; counts what is read and queued."""

    def __init__(self) -> None:
        self.texts_read = 0
        self.queued: list[str] = []
        self._texts: dict[str, bytes] = {}

    async def text(self, name: str) -> bytes | None:
        self.texts_read += 1
        return self._texts.get(name)

    async def keep_text(self, name: str, text: bytes) -> None:
        self._texts[name] = text

    async def refuse(self, pages: object, max_pages: int) -> None:
        del pages, max_pages

    async def add(self, items: list[Any], max_pages: int) -> None:
        del max_pages
        self.queued += [item[0].url for item in items]


class _Site:
    """Serves robots.txt and sitemaps that each name a thousand pages and a thousand further sitemaps."""

    def __init__(self) -> None:
        self.sitemaps = 0

    async def fetch(self, site: object, address: object, request: object) -> Fetched:
        del site, request
        if str(address).endswith("/robots.txt"):
            return Fetched(str(address), "text/plain", None, b"User-agent: *\nDisallow: /private\n")
        number, self.sitemaps = self.sitemaps, self.sitemaps + 1
        inner = f"<sitemap><loc>{SITE}/sitemap.xml</loc></sitemap>" * 1_000 + "".join(
            f"<sitemap><loc>{SITE}/{number}/{place}.xml</loc></sitemap>" for place in range(1_000)
        )
        pages = "".join(f"<url><loc>{SITE}/{number}/{place}</loc></url>" for place in range(20))
        return Fetched(str(address), "application/xml", None, f"<all>{inner}{pages}</all>".encode())


async def test_addresses_are_judged_beside_the_loop_with_one_reading_of_robots_txt(monkeypatch: pytest.MonkeyPatch):
    threads: set[int] = set()
    for name in ("target_of", "address_in", "shape_of"):
        judge = getattr(preparation, name)

        def noted(*arguments: object, judge: Any = judge) -> object:
            if len(arguments) == 1 or "/private" not in str(arguments[-1]):
                threads.add(threading.get_ident())
            return judge(*arguments)

        monkeypatch.setattr(preparation, name, noted)
    site, run = _Site(), _Run()
    ready = Preparation(cast("Any", _Store()), cast("Any", site), cast("Any", _Bus()), lambda origin: 0.0)
    config = CompanyConfig(company_id="demo", knowledge=Knowledge(site_url=f"{SITE}/private/start", max_pages=20_000))
    plan = plan_of(config, "run", None, None, loopback=False)
    await ready.fill(cast("Any", run), plan)
    assert site.sitemaps == MAX_FILES
    assert len(run.queued) == 20 * MAX_FILES
    assert threading.get_ident() not in threads
    assert run.texts_read == 3  # for the run, for its start page, and for all other pages


class _LargeSitemap(_Site):
    """Serves a sitemap whose first thousand pages may not be read."""

    async def fetch(self, site: object, address: object, request: object) -> Fetched:
        del site, request
        pages = "".join(f"<url><loc>{SITE}/{kind}/{n}</loc></url>" for kind in ("old", "new") for n in range(1_000))
        robots = b"User-agent: *\nDisallow: /old/\n"
        is_robots = str(address).endswith("/robots.txt")
        return Fetched(str(address), "text/plain", None, robots if is_robots else f"<all>{pages}</all>".encode())


async def test_pages_that_may_not_be_read_take_no_places_of_those_that_may():
    run = _Run()
    ready = Preparation(cast("Any", _Store()), cast("Any", _LargeSitemap()), cast("Any", _Bus()), lambda origin: 0.0)
    config = CompanyConfig(company_id="demo", knowledge=Knowledge(site_url=f"{SITE}/", max_pages=100))
    await ready.fill(cast("Any", run), plan_of(config, "run", None, None, loopback=False))
    read = [url for url in run.queued if "/new/" in url]
    assert (len(read), len(run.queued)) == (101, 102)  # one more than is read, so that the run says that there are more
