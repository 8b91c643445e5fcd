"""Names that lead somewhere else: fetch_page looks once, checks every address, and connects to nothing else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from contracts.company import ToolConfig
from tool_executor.adapters.page_fetcher import FetchLimits, PageFetcher
from tool_executor.adapters.site_pages import SitePages
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.plans import CompanyTools
from tool_executor.domain.site_address import Origin, Site, SiteUrl
from tool_executor.testing.harness import Served, html_page


@asynccontextmanager
async def fetching(addresses: list[list[str]]) -> AsyncGenerator[tuple[PageFetcher, list[str]]]:
    """A fetcher whose resolver gives these answers, one after another, and the names it was asked for."""
    asked: list[str] = []

    async def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        return addresses[min(len(asked), len(addresses)) - 1]

    fetcher = PageFetcher(lookup=lookup, limits=FetchLimits(seconds=2.0))
    try:
        yield fetcher, asked
    finally:
        await fetcher.close()


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["fe80::1%lo"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["not an address"],
    ],
)
async def test_a_name_that_leads_inside_is_refused_before_anything_is_connected(served: Served, addresses: list[str]):
    origin = Origin("https", "shop.example.com", served.origin.port)
    async with fetching([addresses]) as (fetcher, asked):
        with pytest.raises(ToolFailedError) as failed:
            await fetcher.fetch(Site((origin,)), SiteUrl(origin, "/"))
        assert failed.value.reason == "address_refused"
        assert asked == ["shop.example.com"]
    assert served.asked == []


async def test_an_address_that_is_the_host_itself_is_refused_at_the_socket(served: Served):
    # The site's rules never let such an origin through; the fetcher does not rely on them.
    async with fetching([["93.184.216.34"]]) as (fetcher, asked):
        with pytest.raises(ToolFailedError) as failed:
            await fetcher.fetch(Site((served.origin,)), SiteUrl(served.origin, "/"))
        assert failed.value.reason == "address_refused"
        assert asked == []
    assert served.asked == []


async def test_a_name_is_looked_up_once_so_a_second_answer_counts_for_nothing(served: Served):
    served.pages["/"] = html_page("<p>hello")
    asked: list[str] = []

    async def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    origin = Origin("http", "localhost", served.origin.port)
    fetcher = PageFetcher(demo=origin, lookup=lookup)
    try:
        assert (await fetcher.fetch(Site((origin,)), SiteUrl(origin, "/"))).body == b"<p>hello"
        assert asked == ["localhost"]
    finally:
        await fetcher.close()


async def test_a_company_whose_name_leads_to_the_demo_sites_port_does_not_reach_it(served: Served):
    async def lookup(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    fetcher = PageFetcher(demo=served.origin, lookup=lookup)
    origin = Origin("https", "evil.example.com", served.origin.port)
    try:
        with pytest.raises(ToolFailedError) as failed:
            await fetcher.fetch(Site((origin,)), SiteUrl(origin, "/"))
        assert failed.value.reason == "address_refused"
    finally:
        await fetcher.close()
    assert served.asked == []


async def test_without_the_demo_setting_loopback_is_no_site(served: Served):
    fetcher = PageFetcher()
    try:
        with pytest.raises(ToolFailedError) as failed:
            await SitePages(fetcher, demo=None, budget=100).read(
                CompanyTools(ToolConfig(fetch_page_enabled=True, allowed_domains=[str(served.origin)])), "/"
            )
        assert failed.value.reason == "no_site"
    finally:
        await fetcher.close()
    assert served.asked == []
