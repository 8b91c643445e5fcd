"""A company's site read whole by a real executor on real servers: what is found, what is kept, what is told."""

import gzip
import time
from collections.abc import AsyncGenerator

import pytest
from aiohttp import web
from nats.aio.client import Client

from contracts.company import Knowledge
from runtime.testing.servers import ValkeyServer
from tool_executor.crawl.robots import MAX_BYTES
from tool_executor.extraction.formats import DOCX
from tool_executor.extraction.testing import docx_of, pdf_of
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import PageHandler, Served, answering, html_page, running_executor
from tool_executor.testing.sites import (
    SiteMemory,
    asked_for,
    counted,
    left_of,
    made_site,
    markup,
    reading,
    remembering,
    versioned,
)


@pytest.fixture
async def memory(
    served: Served, nats_client: Client, valkey_server: ValkeyServer, nats_streams: object, short_pauses: None
) -> AsyncGenerator[SiteMemory]:
    del nats_streams, short_pauses
    async with reading(nats_client, valkey_server.url, served) as memory:
        yield memory


async def test_a_site_is_found_from_its_first_page_and_each_page_is_asked_for_once(served: Served, memory: SiteMemory):
    made_site(served, 30)
    run = await memory.read()
    assert run.state == "finished"
    assert counted(run) == (30, 30, 0, 0, 0)
    assert len(memory.said()) == 30
    assert memory.said()["/page/bd"] == "This is what bd says."
    asked = asked_for(served)
    assert (asked.pop("/robots.txt"), asked.pop("/sitemap.xml")) == (1, 1)
    assert set(asked.values()) == {1}
    assert set(memory.told.values()) == {1}


async def test_a_second_run_asks_whether_pages_have_changed_and_tells_what_has(served: Served, memory: SiteMemory):
    made_site(served, 12)
    served.pages["/page/c"] = versioned(markup("Page c", "By its time."), times=True)
    served.pages["/page/d"] = html_page(markup("Page d", "Without either."))
    await memory.read()
    served.pages["/page/b"] = versioned(markup("Page b", "Something else."))
    memory.told.clear()
    run = await memory.read()
    assert counted(run) == (12, 1, 11, 0, 0)
    assert memory.told == {f"{served.origin}/page/b": 1}
    assert memory.said()["/page/b"] == "Something else."
    # Every other page was read again, and is known to be as it was.
    assert len(memory.again) == 11
    assert "other words" not in memory.again


async def test_pages_that_are_gone_go_with_the_same_run_and_those_that_did_not_answer_stay(
    served: Served, memory: SiteMemory
):
    made_site(served, 12)
    await memory.read()
    del served.pages["/page/b"]
    # Few pages, however often they are tried, do not mean that the site is down.
    busy = ("c", "i", "j", "ba", "bb")
    served.pages |= {f"/page/{one}": answering(b"busy", status=500) for one in busy}
    served.pages["/page/d"] = answering(b"no", status=403)
    served.pages["/page/e"] = html_page(markup("Page e", "Hidden now", head="<meta name=robots content=noindex>"))
    served.pages["/page/f"] = answering(b"", status=301, Location="/page/g")
    served.pages["/robots.txt"] = answering(b"User-agent: *\nDisallow: /page/h", kind="text/plain")
    run = await memory.read()
    assert run.state == "finished"
    expected = {"b": "gone", "d": "bad_status", "e": "noindex", "f": "redirected", "h": "robots"}
    expected |= dict.fromkeys(busy, "bad_status")
    assert left_of(run) == {f"/page/{item}": reason for item, reason in expected.items()}
    assert set(memory.said()) == {"/", *(f"/page/{one}" for one in (*busy, "d", "g"))}
    assert asked_for(served)["/page/c"] == 1 + 3
    # What leads to it has not changed, so only the run before can have named it.
    served.pages["/page/b"] = versioned(markup("Page b", "Back."))
    await memory.read()
    assert memory.said()["/page/b"] == "Back."


async def test_a_site_that_is_down_loses_nothing(served: Served, memory: SiteMemory):
    made_site(served, 12)
    await memory.read()
    before = memory.said()
    for path in served.pages:
        served.pages[path] = answering(b"down", status=503)
    run = await memory.read()
    assert (run.state, run.gone) == ("failed", [])
    assert run.problem is not None
    assert run.problem.startswith("The site does not answer any more: The site answered with status 503.")
    served.pages["/robots.txt"] = answering(b"down", status=503)
    run = await memory.read()
    assert (run.state, run.gone) == ("failed", [])
    assert "robots.txt cannot be read" in str(run.problem)
    assert memory.said() == before


async def test_a_run_that_would_drop_more_than_half_says_so_and_leaves_it_to_memory(served: Served, memory: SiteMemory):
    made_site(served, 12)
    await memory.read()
    for path in list(served.pages):
        if path != "/":
            del served.pages[path]
    run = await memory.read()
    assert run.state == "finished"
    assert len(run.gone) == 11
    assert run.run_id in memory.waiting
    assert len(memory.said()) == 12


async def test_one_page_is_read_again_alone(served: Served, memory: SiteMemory):
    made_site(served, 12)
    await memory.read()
    served.asked.clear()
    served.pages["/page/b"] = html_page(markup("Page b", "New words.", "/page/new"))
    run = await memory.read(f"{served.origin}/page/b")
    assert (run.url, counted(run)) == (f"{served.origin}/page/b", (1, 1, 0, 0, 0))
    assert asked_for(served) == {"/robots.txt": 1, "/page/b": 1}
    assert memory.said()["/page/b"] == "New words."
    del served.pages["/page/b"]
    run = await memory.read(f"{served.origin}/page/b")
    assert run.gone
    assert "/page/b" not in memory.said()
    run = await memory.read("https://elsewhere.example/page")
    assert (run.state, run.problem) == ("failed", "https://elsewhere.example is none of the site's addresses.")


async def test_what_a_page_that_is_no_document_leads_to_is_found_again_though_all_before_it_is_unchanged(
    served: Served, memory: SiteMemory
):
    served.pages["/"] = versioned(markup("Home", "Welcome", "/hub", "/late"))
    served.pages["/hub"] = html_page(markup("Hub", "List", "/one", head="<meta name=robots content=noindex>"))
    served.pages["/one"] = versioned(markup("One", "First words"))
    served.pages["/late"] = answering(b"not yet", status=403)
    run = await memory.read()
    assert set(memory.said()) == {"/", "/one"}
    assert left_of(run) == {"/hub": "noindex", "/late": "bad_status"}
    served.pages["/hub"] = html_page(markup("Hub", "List", "/one", "/two", head="<meta name=robots content=noindex>"))
    served.pages["/two"] = versioned(markup("Two", "Second words"))
    served.pages["/late"] = versioned(markup("Late", "Here at last"))
    await memory.read()
    assert set(memory.said()) == {"/", "/one", "/two", "/late"}


async def test_sitemaps_are_read_packed_and_by_their_indexes(served: Served, memory: SiteMemory):
    origin = served.origin

    def urlset(*paths: str) -> bytes:
        return (
            f'<urlset xmlns="x">{"".join(f"<url><loc>{origin}{path}</loc></url>" for path in paths)}</urlset>'.encode()
        )

    index = "".join(f"<sitemap><loc>{origin}{path}</loc></sitemap>" for path in ("/a.xml", "/b.xml.gz", "/bomb.gz"))
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000)
    served.pages |= {
        "/": html_page(markup("Home", "Welcome")),
        "/robots.txt": answering(f"Sitemap: {origin}/index.xml".encode(), kind="text/plain"),
        "/index.xml": answering(f"<sitemapindex>{index}</sitemapindex>".encode(), kind="application/xml"),
        "/a.xml": answering(urlset("/one", "/two?utm_source=x"), kind="text/xml"),
        "/b.xml.gz": answering(gzip.compress(urlset("/three", "/index.xml")), kind="application/gzip"),
        "/bomb.gz": answering(bomb, kind="application/gzip"),
        "/one": html_page(markup("One", "1")),
        "/two": html_page(markup("Two", "2")),
        "/three": html_page(markup("Three", "3")),
    }
    run = await memory.read()
    assert set(memory.said()) == {"/", "/one", "/two", "/three"}
    assert counted(run) == (4, 4, 0, 0, 0)


async def test_a_robots_txt_that_is_too_large_is_obeyed_as_far_as_it_is_read(served: Served, memory: SiteMemory):
    first = b"User-agent: *\nDisallow: /private\n"
    last = b"Disallow: /"
    comments = b"#" * (MAX_BYTES - len(first) - len(last) - 1) + b"\n"
    served.pages |= {
        "/": html_page(markup("Home", "Welcome", "/private", "/open")),
        # The limit cuts the last rule to one that would forbid the whole site.
        "/robots.txt": answering(first + comments + last + b"open\n" + b"#" * 100_000, kind="text/plain"),
        "/private": html_page(markup("Private", "1")),
        "/open": html_page(markup("Open", "2")),
    }
    run = await memory.read()
    assert set(memory.said()) == {"/", "/open"}
    assert left_of(run) == {"/private": "robots"}


async def test_rules_of_the_company_and_of_the_site_are_kept(served: Served, memory: SiteMemory):
    rules = (
        b"User-agent: *\nDisallow: /\n\nUser-agent: NexusSiteReader\nDisallow: /private*\nAllow: /\nCrawl-delay: 0.01"
    )
    memory.knowledge = Knowledge(
        site_url=f"{served.origin}/", allowed_paths=["/docs", "/help"], denied_paths=["/docs/old/**"]
    )
    menu = (
        "/docs",
        "/docs/old/1",
        "/blog",
        "/help",
        "/help/private",
        "/private-docs",
        "/docs/two",
        "https://other.example/",
    )
    served.pages["/robots.txt"] = answering(rules, kind="text/plain")
    for path in ("/", *menu[:-1]):
        served.pages[path] = html_page(markup(path, f"Words of {path}", *menu))
    run = await memory.read()
    assert set(memory.said()) == {"/docs", "/help", "/help/private", "/docs/two"}
    assert left_of(run) == {"/": "denied", "/docs/old/1": "denied", "/blog": "denied", "/private-docs": "denied"}
    asked = asked_for(served)
    assert not {"/docs/old/1", "/blog", "/private-docs"} & set(asked)


async def test_addresses_of_the_same_page_are_one(served: Served, memory: SiteMemory):
    canonical = f"<link rel=canonical href='{served.origin}/shoes'>"
    served.pages |= {
        "/": html_page(
            markup(
                "Home", "Welcome", "/shoes?color=red", "/shoes?utm_source=mail", "/copy", "/old", "/photo.jpg", "#top"
            )
        ),
        "/shoes": html_page(markup("Shoes", "Red and blue", head=canonical)),
        "/copy": html_page(markup("Home", "Welcome", "/shoes")),
        "/old": answering(b"", status=302, Location="shoes"),
    }
    served.pages["/copy"] = served.pages["/"]
    run = await memory.read()
    assert set(memory.said()) == {"/", "/shoes"}
    assert left_of(run) == {"/shoes?color=red": "canonical", "/copy": "duplicate", "/old": "redirected"}
    assert "/photo.jpg" not in asked_for(served)


async def test_a_page_that_is_known_is_the_first_to_say_what_another_address_says_too(
    served: Served, memory: SiteMemory
):
    served.pages |= {path: html_page(markup("Home", "Welcome", "/index.html")) for path in ("/", "/index.html")}
    await memory.read(f"{served.origin}/")
    run = await memory.read()
    assert set(memory.said()) == {"/"}
    assert left_of(run) == {"/index.html": "duplicate"}


async def test_documents_that_the_site_links_to_are_read(served: Served, memory: SiteMemory):
    served.pages |= {
        "/": html_page(markup("Home", "Welcome", "/manual.pdf", "/terms.docx", "/notes.md", "/scan.pdf")),
        "/manual.pdf": answering(pdf_of([["The battery lasts ten hours."]]), kind="application/pdf"),
        "/terms.docx": answering(docx_of(("Title", "Terms"), ("Normal", "Thirty days.")), kind=DOCX),
        "/notes.md": answering(b"# Notes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", kind="text/markdown"),
        "/scan.pdf": answering(pdf_of([[]]), kind="application/pdf"),
    }
    run = await memory.read()
    said = memory.said()
    assert (said["/manual.pdf"], said["/terms.docx"]) == ("The battery lasts ten hours.", "Thirty days.")
    assert said["/notes.md"] == "a | b\n1 | 2"
    assert left_of(run) == {"/scan.pdf": "no_text"}


async def test_the_polite_rate_is_kept_by_all_places_together(
    served: Served, nats_client: Client, valkey_server: ValkeyServer, nats_streams: object
):
    del nats_streams
    made_site(served, 8)
    at: list[float] = []

    def timed(page: PageHandler) -> PageHandler:
        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            at.append(time.monotonic())
            return await page(request)

        return answer

    served.pages = {path: timed(page) for path, page in served.pages.items()}
    settings = ExecutorSettings(crawl_own_per_second=10)
    async with (
        remembering(nats_client, served) as memory,
        running_executor(nats_client, valkey_server.url, loopback=True, settings=settings),
    ):
        await memory.read()
    assert len(at) == 8
    assert at[-1] - at[0] > 0.55  # seven pauses of 0.1 s, less what the first page was late


async def test_progress_is_told_in_growing_steps_and_the_last_word_is_the_highest(served: Served, memory: SiteMemory):
    made_site(served, 20)
    run = await memory.read()
    steps = memory.steps[run.run_id]
    assert steps == sorted(set(steps))
    assert len(steps) >= 2
    # Asked for again under the same id, because nobody knew whether it had arrived, it is the same run.
    served.asked.clear()
    await memory.refresh(run=run.run_id)
    await memory.read(f"{served.origin}/")
    assert asked_for(served)["/page/b"] == 0


async def test_a_company_without_a_site_or_with_one_that_may_not_be_read_hears_why(memory: SiteMemory):
    memory.knowledge = Knowledge()
    run = await memory.read()
    assert (run.state, run.problem) == (
        "failed",
        "The company has not said where its site begins (knowledge.siteUrl).",
    )
