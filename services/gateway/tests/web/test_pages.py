"""The pages: what they load, and what they say."""

import re

import pytest

from gateway.testing.http import Http
from gateway.web.script import LATER_PATH

pytestmark = pytest.mark.usefixtures("memory")


@pytest.mark.parametrize("path", ["/", "/pricing", "/help", "/guide", "/es", "/es/pricing", "/es/help", "/es/guide"])
async def test_pages_load_nothing_but_this_servers_own_files(http: Http, path: str) -> None:
    status, page, headers = await http("GET", path)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?! src=\"/)|style=|https?://| on\w+=", page)
    # What an admin says in the settings is what the chat shows.
    assert not re.search(r"data-(title|greeting|suggestions|color)=", page)
    assert f'lang="{"es" if path.startswith("/es") else "en"}"' in page
    for link in re.findall(r'(?:href|src)="(/[^"]*)"', page):
        assert (await http("GET", link))[0] == 200, link


async def test_the_pricing_page_says_what_the_plans_cost(http: Http) -> None:
    for path, sentence in (("/pricing", "costs 29 USD per month"), ("/es/pricing", "cuesta 29 USD al mes")):
        assert sentence in (await http("GET", path))[1]


async def test_the_widget_never_makes_markup_of_text(http: Http) -> None:
    for path in ("/widget.js", LATER_PATH):
        status, source, headers = await http("GET", path)
        assert status == 200
        assert headers["content-type"].startswith("text/javascript")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source)
