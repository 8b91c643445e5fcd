"""Who is who at the desk: colleagues named in a note, and visitors who are one person."""

import asyncio
import uuid

import pytest
from playwright.async_api import Route, expect

from tests.browser.axe import violations
from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_note_completes_the_names_of_colleagues_with_keys_and_with_the_mouse(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        colleague = await visits.open("/console", size=(420, 860))
        await colleague.get_by_label("Access token").fill(stack.mint("commercial", "benita", "demo"))
        await colleague.get_by_role("button", name="Sign in", exact=True).click()
        await expect(colleague.get_by_role("heading", name="Inbox")).to_be_visible()
        page = await opened(visits, visitor)
        field, names = page.get_by_label("Your message"), page.get_by_role("listbox", name="Colleagues")
        # What the visitor is to read names nobody.
        await field.press_sequentially("@ben")
        await expect(names).to_be_hidden()
        await field.fill("")
        await page.get_by_role("button", name="Private note").click()
        await field.press_sequentially("please look, @BENI")
        await expect(names.get_by_role("option")).to_have_count(1)
        active = await field.get_attribute("aria-activedescendant")
        await expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
        assert await violations(page) == []
        await field.press("Enter")
        await expect(field).to_have_value("please look, @benita ")
        await expect(names).to_be_hidden()
        await field.press_sequentially("or @b")
        await names.get_by_role("option").filter(has_text="benita").click()
        await expect(field).to_be_focused()
        await expect(field).to_have_value("please look, @benita or @benita ")
        # An address names nobody, and Escape leaves what is typed as it is.
        await field.press_sequentially("mail a@b")
        await expect(names).to_be_hidden()
        await field.press_sequentially(" @b")
        await expect(names).to_be_visible()
        await field.press("Escape")
        await expect(names).to_be_hidden()
        await page.get_by_role("button", name="Save note").click()
        await expect(colleague.get_by_role("link", name="Mentions").locator(".count")).to_be_visible()
        # A note stays in the thread, also where the line brings the thread anew behind it.
        await page.reload()
        await expect(page.locator(".thread .said.note .text")).to_contain_text("please look")
        await expect(page.locator(".thread .said.visitor").first).to_be_visible()
        await expect(page.locator(".thread .said.note .text")).to_have_count(1)


async def test_a_note_is_in_sight_while_it_is_saved_and_back_in_its_field_if_it_cannot_be(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        page = await opened(visits, visitor)
        held: asyncio.Queue[Route] = asyncio.Queue()

        async def hold(route: Route) -> None:
            if route.request.method == "POST":
                held.put_nowait(route)
            else:
                await route.continue_()

        await page.route("**/notes", hold)
        field, note = page.get_by_label("Your message"), page.locator(".thread .said.note")
        await page.keyboard.press("n")
        await field.fill("the parcel is in Vigo")
        await page.keyboard.press("Control+Enter")
        await expect(note).to_contain_text("the parcel is in Vigo")
        await expect(note).to_contain_text("Sending…")
        await (await asyncio.wait_for(held.get(), 40)).abort()
        await expect(note).to_have_count(0)
        await expect(field).to_have_value("the parcel is in Vigo")
        await page.unroute("**/notes")
        await page.keyboard.press("Control+Enter")
        await expect(note.locator("time")).to_be_visible()
        await expect(note).to_have_count(1)
        await expect(field).to_be_focused()


async def test_a_visitor_is_merged_with_a_customer_after_a_question_and_separated(
    visits: Visits, stack: RunningStack
) -> None:
    word = f"teapot{uuid.uuid4().hex[:8]}"
    user = f"u{uuid.uuid4().hex[:8]}"
    async with a_visitor(stack) as visitor, ChatClient(stack.url, stack.mint("user", user, "demo")) as customer:
        await customer.hello()
        await customer.ask(f"Is my {word} on its way?")
        await customer.ask(f"Remember that my {word} is blue")
        await visitor.ask("hello from the telephone")
        page = await signed_in(visits)
        row = row_of(page, visitor.conversation)
        await row.click()
        await page.get_by_role("button", name="Merge with…").click()
        dialog = page.get_by_role("dialog", name="Who is this visitor?")
        await expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
        await dialog.get_by_label("Words, name, e-mail or id").fill(word)
        people = dialog.get_by_role("radio")
        await expect(people).to_have_count(1)
        await people.check()
        await expect(dialog).to_contain_text(f"will be shown as {user}'s")
        assert await violations(page) == []
        # Whoever is no longer in the list is not chosen any more.
        await expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_enabled()
        await dialog.get_by_label("Words, name, e-mail or id").fill(f"nobody{word}")
        await expect(people).to_have_count(0)
        await expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
        await dialog.get_by_role("button", name="No", exact=True).click()
        await expect(page.get_by_role("heading", name=user)).to_have_count(0)
        await page.get_by_role("button", name="Merge with…").click()
        await dialog.get_by_label("Words, name, e-mail or id").fill(user)
        await expect(people).to_have_count(1)
        await people.check()
        await expect(dialog).to_contain_text(f"will be shown as {user}'s")
        await dialog.get_by_role("button", name="Merge", exact=True).click()
        await expect(page.get_by_role("button", name="Separate")).to_be_visible()
        await expect(page.locator(".thread .notice.change").last).to_contain_text(f"merged the visitor with {user}")
        await expect(page.locator(f'.details .earlier a[href$="{customer.conversation}"]')).to_be_visible()
        await expect(page.locator(".details .earlier", has_text="Remembered")).to_contain_text(f"{word} is blue")
        await expect(row).to_contain_text(user)
        await page.get_by_role("button", name="Separate").click()
        assert await violations(page) == []
        await page.get_by_role("dialog").get_by_role("button", name="Separate").click()
        await expect(page.get_by_role("button", name="Merge with…")).to_be_visible()
        await expect(row).not_to_contain_text(user)
        # What is the customer's is theirs alone again.
        await expect(page.locator(".details .earlier *")).to_have_count(0)
        # Nobody in the chats has seen anything of it.
        assert word not in str(visitor.frames)
        assert "telephone" not in str(customer.frames)
