"""What the assistant knows, as an admin sees it: searched, and a question without an answer answered with one click."""

import uuid

import aiohttp
import pytest
from playwright.async_api import expect

from runtime.testing.servers import eventually
from tests.browser.chat_page import ChatPage
from tests.browser.console import signed_in
from tests.browser.host_site import host_site
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack
from tool_executor.extraction.testing import pdf_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "# Parking\n\nThere are forty free places behind the bakery.\n\n| Day | Open |\n| --- | --- |\n| Sunday | no |"


async def stored(stack: RunningStack, title: str) -> None:
    headers = {"Authorization": f"Bearer {stack.mint('admin', 'ada')}"}
    address = f"{stack.url}/v2/knowledge/documents/browser-parking"
    sent = {"title": title, "text": TEXT, "language": "en"}
    async with aiohttp.ClientSession(headers=headers) as session, session.put(address, json=sent) as answer:
        assert answer.status == 200, await answer.text()


async def test_an_admin_sees_a_document_and_finds_its_words(visits: Visits, stack: RunningStack) -> None:
    await stored(stack, "Where to park")
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Knowledge").click()
    row = page.locator(".documents li", has_text="Where to park")
    await expect(row).to_contain_text("Passages: 1")
    await page.get_by_role("searchbox").fill("is there parking behind the bakery?")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_text("forty free places").first).to_be_visible()
    await expect(page.get_by_role("cell", name="Sunday")).to_be_visible()
    await row.get_by_role("button", name="Remove").click()
    await expect(row).to_have_count(0)


async def test_a_human_agent_reads_and_changes_nothing(visits: Visits, stack: RunningStack) -> None:
    page = await signed_in(visits, "Agent")
    await page.get_by_role("link", name="Knowledge").click()
    await expect(page.get_by_role("heading", name="Knowledge")).to_be_visible()
    await expect(page.get_by_role("button", name="Upload")).to_have_count(0)
    await expect(page.get_by_role("button", name="Read the site now")).to_have_count(0)


async def test_a_file_a_changed_page_and_a_question_nobody_could_answer_are_in_the_next_answers(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"shop-{uuid.uuid4().hex[:8]}"
    async with host_site(stack.url, company) as site:
        settings = {"knowledge": {"siteUrl": site.origin}, "allowedOrigins": [site.origin]}
        await stack.create_company(company, aiAutoResponseEnabled=True, responseDelayMs=0, **settings)
        admin = await visits.open(f"/console#token={stack.mint('admin', 'boss', company)}")
        await admin.get_by_role("link", name="Knowledge").click()
        read = admin.get_by_role("button", name="Read the site now")

        async def found(words: str) -> bool:
            await admin.get_by_role("searchbox").fill("opening hours")
            await admin.get_by_role("button", name="Search").click()
            await admin.wait_for_timeout(300)
            return words in await admin.get_by_role("region", name="Try a question").inner_text()

        await read.click()
        assert await eventually(lambda: found("from nine to five"))
        lamps = pdf_of([["Lamps", "The copper lamp Aurora weighs 12 kg."]])
        await admin.locator("#knowledge-file").set_input_files(
            {"name": "lamps.pdf", "mimeType": "application/pdf", "buffer": lamps}
        )
        await admin.get_by_role("button", name="Upload").click()
        await expect(admin.locator(".documents li", has_text="lamps")).to_contain_text("Passages: 1")

        shop = await (await visits.context()).new_page()
        await shop.goto(site.page)
        chat = await ChatPage(shop).open()
        answer = await chat.ask("How much does the Aurora lamp weigh?")
        await expect(answer).to_contain_text("weighs 12 kg")
        await expect(answer.get_by_role("list", name="Pages read for this answer")).to_contain_text("lamps")
        await expect(await chat.ask("When are you open?")).to_contain_text("from nine to five")

        site.words = "Open from seven to three, every day."
        await read.click()
        assert await eventually(lambda: found("from seven to three"))
        await expect(await chat.ask("At what hours are you open?")).to_contain_text("from seven to three")

        await expect(await chat.ask("Do you mend umbrellas?")).to_contain_text("I do not know")
        gap = admin.locator("[data-gap]", has_text="umbrellas")

        async def listed() -> bool:
            await admin.reload()
            await admin.get_by_role("link", name="Knowledge").click()
            await expect(admin.locator(".documents li", has_text="lamps")).to_be_visible()
            return await gap.count() == 1

        assert await eventually(listed)
        await gap.get_by_role("textbox").fill("Yes, while you wait.")
        await gap.get_by_role("button", name="Use as the answer").click()
        await expect(gap).to_have_count(0)
        await expect(await chat.ask("Do you mend umbrellas?")).to_contain_text("Yes, while you wait.")
