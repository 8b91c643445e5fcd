"""An admin deletes a conversation for good, after a question, and reads the receipt, which names nobody."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_conversation_is_deleted_after_a_question_and_the_receipt_names_nobody(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.say("a word that is to be nowhere")
        name = str(visitor.conversation)
        colleague = await opened(visits, visitor)
        await expect(colleague.locator(".thread")).to_contain_text("nowhere")
        await colleague.get_by_label("Your message").fill("Are you there?")
        page = await signed_in(visits, "Admin")
        await page.get_by_role("link", name="Data and retention").click()
        await expect(page.get_by_text("Nothing is deleted by age")).to_be_visible()
        await page.get_by_label("What", exact=True).select_option("conversation")
        await page.get_by_label("Its id").fill(name)
        await page.get_by_role("button", name="Delete for good").click()
        question = page.get_by_role("dialog")
        await expect(question).to_contain_text(name)
        await question.get_by_role("button", name="No").click()
        await expect(question).to_have_count(0)
        await page.get_by_role("button", name="Delete for good").click()
        await question.get_by_role("button", name="Delete for good").click()
        receipt = page.locator(".replies li").first
        await expect(receipt).to_contain_text(re.compile(r"by an admin · .+ · (in progress|done)"))
        await receipt.locator("summary").click()
        await expect(receipt.get_by_role("row", name="stream CHAT")).to_contain_text("Until")
        await expect(receipt).not_to_contain_text(name)
        # Whoever has it open is told, and reads and writes no more there; a text they had begun stays.
        await expect(row_of(colleague, name)).to_have_count(0)
        await expect(colleague.locator(".talk")).to_contain_text("This conversation has been deleted.")
        await expect(colleague.locator(".talk")).not_to_contain_text("nowhere")
        field = colleague.get_by_label("Your message")
        await expect(field).to_have_value("Are you there?")
        await field.press("Control+Enter")
        await expect(colleague.get_by_text("There is no such conversation")).to_be_visible()
        await expect(field).to_have_value("Are you there?")
        await page.goto(f"{visits.url}/console/inbox/{name}")
        await expect(page.get_by_text("a word that is to be nowhere")).to_have_count(0)
        # Its visitor begins it anew.
        await visitor.say("I am still here")
        await expect(colleague.locator(".talk")).to_contain_text("I am still here")
        await expect(colleague.get_by_role("button", name="Take over", exact=True)).to_be_visible()
