"""What the assistant knows, as an admin sees it: searched, and a question without an answer answered with one click."""

import aiohttp
import pytest
from playwright.async_api import expect

from tests.browser.test_console import signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "# Parking\n\nThere are forty free places behind the bakery.\n\n| Day | Open |\n| --- | --- |\n| Sunday | no |"


async def stored(stack: RunningStack, title: str) -> None:
    headers = {"Authorization": f"Bearer {stack.token('admin', 'ada')}"}
    address = f"{stack.url}/v2/knowledge/documents/browser-parking"
    sent = {"title": title, "text": TEXT, "language": "en"}
    async with aiohttp.ClientSession(headers=headers) as session, session.put(address, json=sent) as answer:
        assert answer.status == 200, await answer.text()


async def test_an_admin_sees_a_document_and_finds_its_words(visits: Visits, stack: RunningStack) -> None:
    await stored(stack, "Where to park")
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Knowledge").click()
    row = page.locator(".documents li", has_text="Where to park")
    await expect(row).to_contain_text("passages")
    await page.get_by_role("searchbox").fill("is there parking behind the bakery?")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_text("forty free places").first).to_be_visible()
    await row.get_by_role("button", name="Remove").click()
    await expect(row).to_have_count(0)


async def test_a_human_agent_reads_and_changes_nothing(visits: Visits, stack: RunningStack) -> None:
    page = await signed_in(visits, "Agent")
    await page.get_by_role("link", name="Knowledge").click()
    await expect(page.get_by_role("heading", name="Knowledge")).to_be_visible()
    await expect(page.get_by_role("button", name="Upload")).to_have_count(0)
    await expect(page.get_by_role("button", name="Read the site now")).to_have_count(0)
