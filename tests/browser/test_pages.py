"""The demo site's pages, as anybody would open them."""

import pytest

from tests.browser.visits import Visits

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("path", ["/", "/es/pricing"])
async def test_a_page_loads_nothing_from_elsewhere_and_complains_of_nothing(visits: Visits, path: str) -> None:
    page = await visits.open(path)
    await page.get_by_role("heading", level=1).wait_for()
    assert [url for url in visits.requests if not url.startswith(visits.url)] == []


async def test_no_page_is_wider_than_its_window_whatever_that_is(visits: Visits) -> None:
    for path in ("/", "/es", "/pricing", "/es/guide"):
        page = await visits.open(path)
        for width in (320, 360, 740, 768, 1024, 1600):
            await page.set_viewport_size({"width": width, "height": 800})
            over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (path, width)


async def test_the_market_of_the_home_page_is_written_as_the_language_writes_figures(visits: Visits) -> None:
    english = await (await visits.open("/")).locator("figure.panel").inner_text()
    spanish = await (await visits.open("/es")).locator("figure.panel").inner_text()
    assert "660.59" in english
    assert "17.1%" in english
    assert "660,59" in spanish
    assert "17,1\xa0%" in spanish
