"""The demo site's pages, as anybody would open them."""

import pytest

from tests.browser.visits import Visits

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("path", ["/", "/es/pricing"])
async def test_a_page_loads_nothing_from_elsewhere_and_complains_of_nothing(visits: Visits, path: str) -> None:
    page = await visits.open(path)
    await page.get_by_role("heading", level=1).wait_for()
    assert [url for url in visits.requests if not url.startswith(visits.url)] == []
