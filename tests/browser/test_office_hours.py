"""Office hours, rules, reports and ratings as admins, human agents and visitors use them."""

from typing import Any

import aiohttp
import pytest
from playwright.async_api import expect

from runtime.testing.servers import eventually
from tests.browser.console import a_visitor, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_hours_and_rules_are_tried_beside_the_settings_and_saved(visits: Visits, stack: RunningStack) -> None:
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    hours = page.locator('[data-kind="hours"]')
    await hours.get_by_role("button", name="Add hours").click()
    await hours.get_by_label("Time zone").fill("Mars/Olympus")
    rules = page.locator('[data-kind="rules"]')
    await rules.get_by_role("button", name="Add a rule").click()
    await rules.get_by_label("Topics, in any wording, one per line").fill("refunds")
    await page.get_by_role("button", name="Save").click()
    await expect(hours.locator(".fault")).to_contain_text("Europe/Madrid")
    await hours.get_by_label("Time zone").fill("Europe/Madrid")
    await hours.get_by_label("Holidays, one date per line").fill("2027-01-06")
    # Tried as they stand, before they are saved.
    tried = page.locator("form", has=page.get_by_label("Would this go to a person?"))
    await tried.get_by_label("Would this go to a person?").fill("I want to be refunded")
    await tried.get_by_role("button").click()
    await expect(tried.locator(".result")).to_contain_text("To a person first, by rule 1.")
    try:
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved.").first).to_be_visible()
        await page.reload()
        await expect(hours.get_by_label("Time zone")).to_have_value("Europe/Madrid")
        await expect(hours.get_by_label("From")).to_have_value("09:00")
        await expect(rules.get_by_label("Topics, in any wording, one per line")).to_have_value("refunds")
        await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    finally:
        headers = {"Authorization": f"Bearer {stack.mint('admin', 'adam')}", "If-Match": "*"}
        async with aiohttp.ClientSession() as http:
            address = f"{stack.url}/v2/llm/config/demo"
            gone: dict[str, object] = {"officeHours": None, "personRules": []}
            async with http.patch(address, json=gone, headers=headers) as answer:
                assert answer.status == 200


async def test_a_report_opens_down_to_its_conversations(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits)
        await page.get_by_role("link", name="Reports").click()
        await expect(page.get_by_role("columnheader", name="Answered by the AI alone")).to_be_visible()
        await page.get_by_label("Group by").select_option("door")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="chat", exact=True))
        await row.get_by_role("button").first.click()
        # Told by who it is with and what was said, and not by an id.
        await page.locator(f'.complaints a[href="#/inbox/{visitor.conversation}"]', has_text="Visitor").click()
        await expect(page.get_by_text("What does the Pro plan cost?").first).to_be_visible()


async def test_whoever_is_resolved_is_asked_if_it_helped_and_says_so_in_the_chat(
    visits: Visits, stack: RunningStack
) -> None:
    chat = await visits.chat("/pricing")
    await chat.ask("What does the Pro plan cost?")
    headers = {"Authorization": f"Bearer {stack.mint('admin', 'adam')}"}
    async with aiohttp.ClientSession(stack.url, headers=headers) as http:
        async with http.get("/v2/conversations?limit=1") as answer:
            conversation = (await answer.json())["items"][0]["id"]
        address, header = f"/v2/conversations/{conversation}", chat.panel.locator(".status")
        async with http.post(f"{address}/owner", json={"owner": "human"}) as answer:
            assert answer.status == 200
        await expect(header).to_contain_text("You are talking to")
        async with http.patch(address, json={"state": "resolved"}) as answer:
            assert answer.status == 200
        await expect(header).to_have_text("Resolved. Write to reopen it")
        steps = chat.panel.get_by_role("group", name="From 1, not at all, to 5, very much")
        await steps.get_by_role("button", name="4").click()
        await chat.panel.get_by_label("Tell us more (optional)").fill("quick")
        await chat.panel.locator(".scoring").get_by_role("button", name="Send").click()

        async def said() -> bool:
            async with http.get(f"{address}/rating") as answer:
                rating: dict[str, Any] = (await answer.json()).get("rating", {})
                return (rating.get("score"), rating.get("comment")) == (4, "quick")

        await eventually(said)
    await chat.page.reload()
    await chat.ready()
    await expect(steps.get_by_role("button", name="4")).to_have_attribute("aria-pressed", "true")
    await expect(header).to_have_text("Resolved. Write to reopen it")
    await chat.say("and the Free plan?")
    await expect(header).to_contain_text("You are talking to")
    desk = await signed_in(visits)  # whoever goes on with it sees how it was rated
    await row_of(desk, conversation).click()
    await expect(desk.get_by_text("4 / 5 · quick")).to_be_attached()
