"""A shift at the desk: states, labels, notes, ready replies, search, and a colleague at the same conversation."""

import asyncio
import re
import uuid
from itertools import count

import aiohttp
import pytest
from playwright.async_api import Page, Route, expect

from runtime.testing.servers import eventually
from tests.browser.axe import violations
from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
COUNTING = """() => {
  window.changes = 0;
  new MutationObserver((all) => {
    window.changes += all.some((one) => [...one.addedNodes].some((node) => node.querySelector?.("a[data-id]"))) ? 1 : 0;
  }).observe(document.querySelector(".talks"), { childList: true, subtree: true });
  const waiting = document.querySelector(".unseen");
  window.told = [waiting.textContent];
  new MutationObserver(() => window.told.push(waiting.textContent)).observe(waiting, { childList: true });
}"""


async def as_colleague(visits: Visits, stack: RunningStack, conversation: str) -> Page:
    page = await visits.open("/console")
    await page.get_by_label("Access token").fill(stack.mint("commercial", "ben", "demo"))
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await row_of(page, conversation).click()
    return page


async def test_a_label_that_is_begun_while_the_one_before_is_saved_keeps_its_field(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("Do you sell kites?")
        page = await opened(visits, visitor)
        begun = asyncio.Event()

        async def wait(route: Route) -> None:
            if route.request.method == "PATCH":
                await begun.wait()
            await route.fallback()

        await page.route("**/v2/conversations/**", wait)
        await page.get_by_label("Add a label").focus()
        await page.keyboard.type("one")
        await page.keyboard.press("Enter")
        await page.keyboard.type("tw")
        begun.set()
        await expect(row_of(page, visitor.conversation).locator(".chip")).to_have_text("one")
        await page.keyboard.type("o")
        await page.keyboard.press("Enter")
        await expect(page.locator(".desk .chip > span")).to_have_text(["one", "two"])


async def test_a_conversation_is_labelled_noted_on_resolved_found_and_opened_by_the_next_message(
    visits: Visits, stack: RunningStack
) -> None:
    word = f"zebra{uuid.uuid4().hex[:8]}"
    async with a_visitor(stack) as visitor:
        await visitor.ask(f"Do you sell {word}?")
        page = await signed_in(visits)
        row = row_of(page, visitor.conversation)
        await visitor.say("hello?")
        await expect(row).to_have_attribute("data-unread", "")
        # A row that changes is another node: what is asked of it is asked until it stands.
        await expect(row).to_have_css("height", "56px")
        await row.click()
        await expect(row).not_to_have_attribute("data-unread", "")
        colleague = await as_colleague(visits, stack, visitor.conversation or "")
        await page.get_by_label("Add a label").fill("vip")
        await page.keyboard.press("Enter")
        await expect(row.locator(".chip")).to_have_text("vip")
        # What is refused when one has gone on is told where one is by then, and leads back.
        gone_on = asyncio.Event()

        async def refuse(route: Route) -> None:
            if route.request.method in {"PATCH", "POST"}:
                await gone_on.wait()
                await route.fulfill(status=422, content_type="application/problem+json", json={"detail": "not now"})
            else:
                await route.fallback()

        await page.route("**/v2/conversations/**", refuse)
        await page.get_by_label("Add a label").fill("late")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Mentions").click()
        gone_on.set()
        await page.get_by_role("alert").filter(has_text="not now").get_by_role("link").click()
        # A label that was refused stays in its field when the fields are drawn anew, until it is saved.
        label, fault = page.get_by_label("Add a label"), page.locator(".fault")
        await label.fill("late")
        await page.keyboard.press("Enter")
        await expect(fault).to_have_text("not now")
        await page.evaluate("document.activeElement.blur()")
        await colleague.get_by_label("Add a label").fill("vip 2")
        await colleague.keyboard.press("Enter")
        await expect(page.locator(".desk .chip")).to_have_count(2)
        await expect(label).to_have_value("late")
        await page.unroute_all()
        await label.press("End")
        await page.keyboard.type("r")
        await page.keyboard.press("Enter")
        await expect(page.locator(".desk .chip")).to_have_count(3)
        await expect(label).to_have_value("")
        await expect(fault).to_have_text("")
        await page.route("**/v2/conversations/**", refuse)
        gone_on.clear()
        await page.get_by_role("button", name="Private note").click()
        await page.get_by_label("Your message").fill("@ben knows")
        await page.get_by_role("button", name="Save note").click()
        await page.get_by_role("link", name="Mentions").click()
        gone_on.set()
        await page.get_by_role("alert").filter(has_text="not now").get_by_role("link").click()
        await page.unroute("**/v2/conversations/**")
        await expect(page.get_by_label("Your message")).to_have_value("@ben knows")
        await page.get_by_label("Your message").fill("@ben knows <b>more</b>")
        # What is begun is there again, and as the note that it was: after a look elsewhere, and after a reload.
        await page.get_by_role("link", name="Mentions").click()
        await expect(page.get_by_role("heading", name="Mentions")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_label("Your message")).to_have_value("@ben knows <b>more</b>")
        await page.reload()
        await page.get_by_role("button", name="Save note").click()
        # Whoever has it open sees it without a reload, as the text that it is.
        for one in (page, colleague):
            await expect(one.locator(".said.note .text")).to_have_text("@ben knows <b>more</b>")
        assert "knows" not in str(visitor.frames)
        assert await violations(page) == []
        # Whoever is named is told, in the rail and in a list, until they have looked.
        mentions = colleague.get_by_role("link", name="Mentions")
        await expect(mentions.locator(".count")).to_have_attribute("aria-label", re.compile(r"\d new"))
        await expect(page.get_by_role("link", name="Mentions").locator(".count")).to_have_count(0)
        await mentions.click()
        await expect(colleague.locator(".noted").first).to_have_text("@ben knows <b>more</b>")
        await expect(mentions.locator(".count")).to_have_count(0)
        await expect(colleague.locator(".told")).to_have_text("")
        assert await violations(colleague) == []
        await colleague.get_by_role("link", name="Open the conversation").first.click()
        await expect(colleague.locator(".said.note .text")).to_have_text("@ben knows <b>more</b>")
        await page.get_by_role("button", name="Resolve", exact=True).click()
        for one in (page, colleague):
            await expect(one.locator(".thread .notice.change").last).to_contain_text("resolved the conversation")
        await page.get_by_role("button", name="Resolved").click()
        await page.get_by_label("Search conversations").fill(word[:9])
        await expect(page).to_have_url(re.compile(f"list=resolved&q={word[:9]}$"))
        await expect(page.locator(".talks a")).to_have_count(1)
        await page.reload()
        await expect(row).to_contain_text("Resolved")
        await visitor.say("one more thing")
        await expect(page.get_by_role("button", name="Resolve", exact=True)).to_be_visible()
        await expect(row).to_have_count(0)
        await page.get_by_role("button", name="Unassigned").click()
        await expect(row).to_be_visible()
        assert await violations(page) == []


async def test_a_colleagues_conversation_is_taken_only_after_a_question_and_both_are_told(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        page = await opened(visits, visitor)
        await expect(page.locator(".banner")).to_contain_text("The AI is answering")
        await page.keyboard.press("t")
        await expect(page.locator(".banner")).to_contain_text("You are answering")
        colleague = await as_colleague(visits, stack, visitor.conversation or "")
        await expect(colleague.locator(".banner")).to_contain_text("Elena has this conversation")
        await colleague.locator(".thread").focus()
        await colleague.keyboard.press("t")
        dialog = colleague.get_by_role("dialog")
        await expect(dialog).to_contain_text("Take the conversation from Elena?")
        assert await violations(colleague) == []
        await dialog.get_by_role("button", name="No", exact=True).click()
        await expect(colleague.locator(".banner")).to_contain_text("Elena has this conversation")
        await colleague.locator(".thread").focus()
        await colleague.keyboard.press("t")
        await dialog.get_by_role("button", name="Take over").click()
        await expect(colleague.locator(".banner")).to_contain_text("You are answering")
        await expect(page.locator(".thread .notice").last).to_contain_text("ben took over the conversation")
        # It is settled with not a word written: one's own take-over is nothing that one has not seen.
        await colleague.keyboard.press("Escape")
        await colleague.keyboard.press("e")
        await expect(colleague.get_by_role("button", name="Reopen")).to_be_visible()
        await colleague.get_by_label("Your message").type("I")
        await expect(page.locator(".here")).to_contain_text("is writing")
        # Whoever looks elsewhere sees it in the row.
        await page.keyboard.press("Escape")
        row = row_of(page, visitor.conversation)
        await expect(row.get_by_role("img", name=re.compile("is (writing|looking)"))).to_be_visible()
        assert await violations(page) == []


async def test_a_ready_reply_is_found_by_its_slash_and_filled_in(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        page = await signed_in(visits)
        await page.get_by_role("link", name="Saved replies").click()
        await page.get_by_label("Shortcut, e.g. refund").fill("hours")
        await page.get_by_label("Reply", exact=True).fill(
            "Hello {name}, we open at {time}. Greetings, {agent} of {company}"
        )
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator(".replies")).to_contain_text("/hours")
        assert await violations(page) == []
        await page.get_by_role("link", name="Inbox").click()
        await row_of(page, visitor.conversation).click()
        field = page.get_by_label("Your message")
        await field.type("/hou")
        await expect(page.locator(".picker").get_by_role("option")).to_have_count(1)
        assert await violations(page) == []
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("Hello, we open at {time}. Greetings, Elena of Northwind Markets")
        # What nothing is known for is not sent as it is without a question.
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("dialog")).to_contain_text("{time}")
        await page.get_by_role("button", name="No", exact=True).click()
        await expect(field).to_be_focused()
        assert (
            await field.evaluate("(field) => field.value.slice(field.selectionStart, field.selectionEnd)") == "{time}"
        )
        await page.keyboard.type("9")
        await expect(field).to_have_value("Hello, we open at 9. Greetings, Elena of Northwind Markets")


async def test_a_busy_conversation_moves_its_row_all_the_while_and_its_thread_is_read_to_its_beginning(
    visits: Visits, stack: RunningStack
) -> None:
    token, _ = await stack.visitor()
    async with stack.chat(token) as visitor:
        await visitor.ask("The very beginning")
        page = await signed_in(visits)
        row = row_of(page, visitor.conversation)
        await expect(row).to_be_visible()
        await page.evaluate(COUNTING)
        agent = {"Authorization": f"Bearer {stack.mint('commercial', 'ben', 'demo')}"}
        moved = asyncio.Event()
        async with aiohttp.ClientSession(stack.url, headers=agent) as http:

            async def has_moved() -> bool:
                return await page.evaluate("window.changes") >= 3

            async def write_on() -> int:
                """Without a silence, until the row has moved; then the number of the last message."""
                for number in count():
                    text = f"message {number}"
                    body = {"text": text, "clientMessageId": str(uuid.uuid4())}
                    async with http.post(f"/v2/conversations/{visitor.conversation}/messages", json=body) as answer:
                        assert answer.status == 201
                    await visitor.wait_for("message.created", lambda f, text=text: f["message"]["text"] == text)
                    if moved.is_set() and number >= 59:
                        return number
                raise AssertionError

            async with asyncio.timeout(180), asyncio.TaskGroup() as together:
                writing = together.create_task(write_on())
                await eventually(has_moved)
                moved.set()
        number = writing.result()
        await expect(row).to_contain_text(f"message {number}")
        # Screen readers hear the number of those who wait when it changes, not with each row that does.
        assert await page.evaluate("window.told.every((text, index) => text !== window.told[index - 1])")
        await row.click()
        said = page.locator(".thread .said")
        await expect(said.last).to_contain_text(f"message {number}")
        await expect(said).to_have_count(50)
        while await said.count() < number + 3:
            shown = await said.count()
            await page.locator(".thread").evaluate("(node) => { node.scrollTop = 0; }")
            await expect(said).not_to_have_count(shown)
        await expect(said.first).to_contain_text("The very beginning")
        # And so it is in the visitor's own chat.
        chat = await visits.chat("/help", token=token)
        await expect(chat.messages.last).to_contain_text(f"message {number}")
        while await chat.messages.count() < number + 3:
            shown = await chat.messages.count()
            await chat.panel.locator(".log").evaluate("(node) => { node.scrollTop = 0; }")
            await expect(chat.messages).not_to_have_count(shown)
        await expect(chat.messages.first).to_contain_text("The very beginning")
