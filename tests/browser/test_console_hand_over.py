"""What human agents see of a hand-over: that somebody waits, why, who took and gave back, also after a reload; and what
it comes to: resolved, rated, opened by the next message, unread until it is read in some browser.
"""

import re

import pytest
from playwright.async_api import Page, expect

from runtime.testing.servers import eventually
from tests.browser.axe import violations
from tests.browser.console import a_visitor, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAND_IN = """() => {
  window.told = [];
  window.Notification = class {
    static permission = "granted";
    constructor(title, { body }) { window.told.push([title, body]); window.notice = this; }
    close() {}
  };
}"""


async def as_colleague(visits: Visits, stack: RunningStack) -> Page:
    page = await visits.open("/console", locale="en-GB")
    await page.get_by_label("Access token").fill(stack.mint("commercial", "ben", "demo"))
    await page.get_by_role("button", name="Sign in", exact=True).click()
    return page


async def test_the_ais_hand_over_is_explained_and_each_change_of_owner_stands_in_the_thread(
    visits: Visits, stack: RunningStack
) -> None:
    page = await signed_in(visits)
    await page.evaluate(STAND_IN)
    await page.get_by_role("button", name="Notices").click()
    await page.get_by_label("With a browser notification").check()
    await page.get_by_label("With a sound").check()
    assert await violations(page) == []
    await page.get_by_role("button", name="Close").click()
    await page.get_by_role("link", name="Saved replies").click()
    async with a_visitor(stack, locale="en") as visitor:
        await visitor.ask("What does the Pro plan cost?")
        await visitor.say("can I talk to a human, please")
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")
        # Whoever looks elsewhere is told, and led there.
        assert await eventually(lambda: page.evaluate("window.told.length")) == 1
        await expect(page).to_have_title(re.compile(r"^\([1-9]"))
        place = f'.talks a[data-id="{visitor.conversation}"]'
        ben = await as_colleague(visits, stack)
        await expect(ben.locator(place)).to_have_attribute("data-unread", "")
        await expect(ben.locator(place).locator("time")).to_have_text(re.compile(r"^\d{1,2}:\d\d$"))  # as in London
        await page.evaluate("window.notice.onclick()")
        row = page.locator(place)
        await expect(row).to_contain_text("What does the Pro plan cost?")
        told = page.locator(".handover")
        await expect(told).to_contain_text("Asked for a person")
        await expect(told).to_contain_text("Asked: «What does the Pro plan cost?»")
        await expect(told).to_contain_text("Writes in English")
        await expect(told).to_have_attribute("open", "")
        await page.get_by_role("button", name="Take over", exact=True).click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "human")
        await expect(page.get_by_label("Your message")).to_be_focused()
        await page.get_by_role("button", name="Hand back to the AI").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        for again in (False, True):
            if again:
                await page.reload()
            events = page.locator(".thread .notice:has(time)")
            await expect(events).to_have_count(3)
            await expect(events.nth(0)).to_contain_text("The AI asked for a person")
            await expect(events.nth(1)).to_contain_text("took over the conversation")
            await expect(events.nth(2)).to_contain_text("handed the conversation back to the AI")
        # What one has read is read in one's other browser too, and to a colleague it is not.
        await visitor.send_frame("handoff.request")
        await expect(page.locator(".banner")).to_have_attribute("data-owner", "waiting")
        # The button brings a summary as the words do.
        await expect(told).to_contain_text("Asked: «What does the Pro plan cost?»")
        await visitor.say("one more thing")
        await expect(page.locator(".thread .said").last).to_contain_text("one more thing")
        await page.mouse.move(300, 300)
        other = await signed_in(visits)
        await expect(other.locator(".filters .count").first).to_be_visible()
        await expect(ben.locator(place)).to_have_attribute("data-unread", "")
        await expect(other.locator(place)).not_to_have_attribute("data-unread", "")
        await page.get_by_role("button", name="Resolve", exact=True).click()
        await visitor.wait_for("message.created", lambda f: f["message"].get("code") == "RATING_ASKED")
        # Whoever opens it later reads what happened in its order, and why a person was asked for in one line.
        await other.locator(place).click()
        resolved = other.locator(".thread .change", has_text="resolved the conversation")
        await expect(resolved.locator("+ .notice:last-child")).to_contain_text("Did this conversation help")
        await expect(other.locator(".handover")).not_to_have_attribute("open", "")
        for one in (page, other):
            await expect(one.locator(".banner span")).to_have_text("Resolved")  # nobody waits any more
        await visitor.send_frame("conversation.rate", score=5, comment="quick")
        await visitor.wait_for("conversation.rated", lambda f: f["score"] == 5)
        await expect(other.get_by_text("5 / 5 · quick")).to_be_attached()
        await visitor.say("thanks, but the invoice?")
        await expect(page.get_by_role("button", name="Resolve", exact=True)).to_be_visible()
        await expect(page.locator(".banner span")).to_have_text("Waiting for a person")
