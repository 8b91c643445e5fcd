"""A shift by the keyboard alone: wherever an element goes that has the focus, the focus goes on from there."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from runtime.testing.servers import eventually
from tests.browser.console import a_visitor, is_focused_within, opened, row_of, signed_in, until_focused
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def focused_in(page: Page, selector: str) -> None:
    """Waits until an element of this selector has the focus, or one inside it."""
    await expect(page.locator(f"{selector}:focus, {selector} :focus").first).to_be_attached()


async def test_what_is_busy_or_drawn_again_keeps_the_focus(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await visits.open("/console")
        await until_focused(page, "Agent")
        await page.keyboard.press("Enter")
        await focused_in(page, ".rail")  # the first part of the page that has replaced the sign-in
        await row_of(page, visitor.conversation).focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(".banner button")).to_be_visible()
        await page.keyboard.press("r")
        await until_focused(page, "Suggest replies")
        await page.keyboard.press("Enter")
        await expect(page.locator(".offer")).to_have_count(3)
        await expect(page.get_by_role("button", name="Suggest replies")).to_be_focused()
        # A label is added; letters are shortcuts again, and the next Tab is beside it.
        await page.keyboard.press("Escape")
        await expect(page.locator(".talk .empty")).to_be_visible()
        await expect(row_of(page, visitor.conversation)).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator(".banner button")).to_be_visible()
        await page.keyboard.press("l")
        await expect(page.get_by_label("Add a label")).to_be_focused()
        await page.keyboard.type("price")
        async with page.expect_response(lambda response: response.request.method == "PATCH"):
            await page.keyboard.press("Enter")
        await expect(page.locator(".desk .chip")).to_have_text("price×")
        await expect(page.locator(".desk")).to_be_focused()

        async def leads_to_removal() -> bool:
            """Tab leads from the desk to the label's removal, unless the desk is drawn again meanwhile. From the last
            element of a page Tab need not lead to its first."""
            await page.locator(".desk").focus()
            return await is_focused_within(page, "×", 20)

        await eventually(leads_to_removal, 30)
        await page.keyboard.press("Enter")
        await expect(page.locator(".desk .chip")).to_have_count(0)
        await focused_in(page, ".desk")


async def test_a_row_that_leaves_the_list_gives_the_focus_to_the_next(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as first, a_visitor(stack) as second:
        for visitor in (first, second):
            await visitor.say("a human please")
            await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")
        page = await signed_in(visits, path="/console#/inbox?list=needs_human")
        colleague = await signed_in(visits, "Admin", f"/console#/inbox/{first.conversation}")
        await row_of(page, first.conversation).focus()
        await colleague.get_by_role("button", name="Resolve", exact=True).click()
        await expect(row_of(page, first.conversation)).to_have_count(0)
        await focused_in(page, ".talks li")
        # The queue is told in words, once for each change.
        waiting = page.get_by_role("status").filter(has_text="Needs a person: ")
        counted = page.locator(".filters").get_by_role("button", name="Needs a person").locator(".count")

        async def agree() -> bool:
            return (await waiting.inner_text()).endswith(f": {await counted.inner_text()}")

        await eventually(agree, 20)


async def test_on_a_small_screen_the_focus_follows_into_the_conversation_and_back(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits, size=(320, 640))
        await row_of(page, visitor.conversation).focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("region", name="Conversation")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(row_of(page, visitor.conversation)).to_be_focused()


async def test_how_many_were_found_is_told(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("Is a zwitterion included?")
        page = await signed_in(visits)
        for words, count in (("zwitterion", 1), ("zwitterions and nobody", 0)):
            await page.get_by_label("Search conversations").fill(words)
            await expect(page.get_by_role("status").filter(has_text=f"Conversations: {count}")).to_be_visible()


async def test_what_changes_while_a_field_has_the_focus_is_drawn_once_it_is_left(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await opened(visits, visitor)
        colleague = await opened(visits, visitor, "Admin")
        await page.keyboard.press("l")
        await expect(page.get_by_label("Add a label")).to_be_focused()
        await colleague.get_by_role("button", name="Resolve", exact=True).click()
        await expect(row_of(page, visitor.conversation)).to_have_attribute("data-state", "resolved")
        await expect(page.locator(".thread .notice.change").last).to_contain_text("resolved the conversation")
        await expect(page.get_by_role("button", name="Resolve", exact=True)).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Reopen")).to_be_visible()


async def test_a_reply_from_before_ones_own_change_does_not_undo_it_in_sight(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits)
        may_go_on, held = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            held.set()
            await may_go_on.wait()
            await route.continue_()

        await page.route("**/rating", hold)
        await row_of(page, visitor.conversation).click()
        await asyncio.wait_for(held.wait(), 30)
        await page.locator(".desk").evaluate(
            "(node) => { window.drawn = [];"
            " new MutationObserver(() => window.drawn.push(node.textContent)).observe(node, { childList: true }); }"
        )
        await page.get_by_role("button", name="Resolve", exact=True).click()
        await expect(page.get_by_role("button", name="Reopen")).to_be_visible()
        async with page.expect_response(lambda answer: answer.url.endswith("/notes")):
            may_go_on.set()
        await page.unroute_all(behavior="wait")
        await expect(page.get_by_role("button", name="Reopen")).to_be_visible()
        assert not [
            text for text in await page.evaluate("window.drawn") if "Resolve" in text and "Resolved" not in text
        ]


async def test_single_letters_are_switched_off_where_the_keys_are_listed(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await opened(visits, visitor)
        switch = page.get_by_role("checkbox", name="Single letters act at once")
        await switch.uncheck()
        await page.locator(".thread").focus()
        for letter in "rnteslaij/":
            await page.keyboard.press(letter)
        await expect(page.locator(".thread")).to_be_focused()
        await expect(page.locator(".banner")).to_contain_text("The AI is answering")
        await expect(page.get_by_role("button", name="Resolve", exact=True)).to_be_visible()
        await page.reload()
        await expect(switch).not_to_be_checked()
        await page.keyboard.press("Escape")
        await expect(page.locator(".talk .empty")).to_be_visible()
