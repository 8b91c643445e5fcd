"""What a human agent sees of a hand-over: why, what was asked, and who took and gave back, also after a reload."""

import pytest
from playwright.async_api import expect

from tests.browser.test_console import a_visitor, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_ais_hand_over_is_explained_and_each_change_of_owner_stands_in_the_thread(
    visits: Visits, stack: RunningStack
) -> None:
    page = await signed_in(visits)
    async with await a_visitor(stack) as visitor:
        await visitor.hello(locale="en", page={"url": f"{stack.url}/pricing", "title": "Pricing"})
        await visitor.ask("What does the Pro plan cost?")
        await visitor.say("can I talk to a human, please")
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")
        row = page.locator(f'.talks a[data-id="{visitor.conversation}"]')
        await expect(row).to_contain_text("Asked for a person")
        await expect(row).to_contain_text("What does the Pro plan cost?")
        await row.click()
        told = page.locator(".handover")
        await expect(told).to_contain_text("Asked for a person")
        await expect(told).to_contain_text("Asked: «What does the Pro plan cost?»")
        await expect(told).to_contain_text("Writes in English")
        await page.get_by_role("button", name="Take over", exact=True).click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "human")
        await page.get_by_role("button", name="Return to AI").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        for again in (False, True):
            if again:
                await page.reload()
            events = page.locator(".thread .notice:has(time)")
            await expect(events).to_have_count(3)
            await expect(events.nth(0)).to_contain_text("The AI asked for a person")
            await expect(events.nth(1)).to_contain_text("took the conversation over")
            await expect(events.nth(2)).to_contain_text("gave the conversation back to the AI")
