"""Answers as the console sees them come: stopped, taken over while they are written, failed and asked again."""

import asyncio
import json
import re
import uuid

import pytest
from playwright.async_api import FilePayload, Page, WebSocketRoute, expect

from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from tests.browser.chat_page import QUICKLY, SLOWLY
from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_draft_is_seen_stopped_and_taken_over_and_nobody_is_spoken_over(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=QUICKLY)
    async with a_visitor(scripted_stack) as visitor:
        await visitor.ask("Hello")
        page = await opened(scripted_visits, visitor)
        model.say(default=SLOWLY)
        await visitor.say("Tell me a long story")
        draft = page.locator(".said.draft")
        await expect(draft).to_contain_text("word3")
        # A screen reader is told the whole answer once, when it is there, and not its pieces.
        await expect(page.locator(".thread")).to_have_attribute("aria-live", "polite")
        await expect(draft).to_have_attribute("aria-live", "off")
        assert await page.locator(".talks a").first.evaluate("(row) => row.offsetHeight") == 56
        await draft.get_by_role("button", name="Stop").click()
        await expect(page.get_by_text("The answer was stopped.")).to_be_visible()
        await expect(draft).to_have_count(0)
        await visitor.say("Another one, please")
        await expect(draft).to_contain_text("word3")
        await draft.get_by_role("button", name="Take over with this draft").click()
        await expect(page.get_by_text("You are answering").first).to_be_visible()
        await expect(draft).to_have_count(0)
        field = page.get_by_label("Your message")
        # The text so far is theirs to go on with.
        assert (await field.input_value()).startswith("word0 word1")
        await field.fill("A person tells it.")
        await page.keyboard.press("Control+Enter")
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert said["message"]["text"] == "A person tells it."
        model.say(default=QUICKLY)
        last = await visitor.say("Thank you")
        await expect(page.locator(".thread .said.visitor").last).to_contain_text("Thank you")
        answers = visitor.messages("assistant")
        assert [answer["text"] for answer in answers] == ["A quick answer."]
        assert answers[0]["seq"] < last["seq"]


async def test_two_agents_agree_who_answers_also_when_one_closes_the_laptop_in_mid_conversation(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=QUICKLY)
    async with a_visitor(scripted_stack) as visitor:
        await visitor.ask("Hello")
        one = await opened(scripted_visits, visitor)
        two = await opened(scripted_visits, visitor, "Admin")
        await one.keyboard.press("t")
        await expect(one.locator(".banner")).to_contain_text("You are answering")
        await expect(two.locator(".banner")).to_contain_text("has this conversation")
        await expect(two.locator(".banner")).not_to_contain_text("The AI is answering")
        await one.get_by_label("Your message").fill("One moment, I will look it up")
        await one.context.set_offline(True)
        await expect(one.get_by_text("Connection lost. Trying again…")).to_be_visible()
        await visitor.say("Are you still there?")
        await expect(two.locator(".thread .said.visitor").last).to_contain_text("Are you still there?")
        await expect(two.locator(".banner")).to_contain_text("Elena has this conversation")
        await two.keyboard.press("t")
        await two.get_by_role("dialog").get_by_role("button", name="Take over").click()
        await expect(two.locator(".banner")).to_contain_text("You are answering")
        mine = two.get_by_label("Your message")
        await mine.fill("Elena had to go. I am here.")
        await two.keyboard.press("Control+Enter")
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        owners = [frame["owner"] for frame in visitor.frames if frame["type"] == "owner.changed"]
        assert [owner["name"] for owner in owners] == ["Elena", said["message"]["name"]]
        # Back at the desk: nothing is missing, the draft is there, and nobody is spoken over.
        await one.context.set_offline(False)
        await expect(one.locator(".thread .said.operator").last).to_contain_text("Elena had to go. I am here.")
        await expect(one.locator(".thread .notice:has(time)").last).to_contain_text("took over the conversation")
        await expect(one.locator(".banner")).to_contain_text(f"{said['message']['name']} has this conversation")
        await expect(one.get_by_label("Your message")).to_have_value("One moment, I will look it up")
        assert len(visitor.messages("assistant")) == 1
        await two.get_by_role("button", name="Hand back to the AI").click()
        for page in (one, two):
            await expect(page.locator(".banner")).to_contain_text("The AI is answering")


async def held_back(page: Page, until: asyncio.Event, *kinds: str) -> None:
    """What the server says of those kinds is on its way to the page until then."""

    def route(line: WebSocketRoute) -> None:
        async def pass_on(text: str | bytes) -> None:
            if json.loads(text)["type"] in kinds:
                await until.wait()
            line.send(text)

        line.connect_to_server().on_message(pass_on)

    await page.route_web_socket("**/v2/chat/ws", route)


async def test_of_two_who_write_at_once_the_second_is_told_and_keeps_the_words(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("Hello")
        one, two = await opened(visits, visitor), await opened(visits, visitor, "Admin")
        held = asyncio.Event()
        await held_back(two, held, "owner.changed", "message.created")
        await two.reload()
        await expect(two.locator(".banner")).to_contain_text("The AI is answering")
        for page, text in ((one, "Elena here"), (two, "The admin here")):
            await page.get_by_label("Your message").fill(text)
            await page.keyboard.press("Control+Enter")
            if page is one:
                await visitor.wait_for("message.created", lambda f: f["message"]["text"] == "Elena here")
        await expect(two.locator(".composer .fault")).to_contain_text("Elena took the conversation a moment ago")
        await expect(two.get_by_label("Your message")).to_have_value("The admin here")
        held.set()
        await expect(two.locator(".banner")).to_contain_text("Elena has this conversation")
        assert [message["text"] for message in visitor.messages("operator")] == ["Elena here"]


async def test_who_has_left_a_conversation_hears_that_what_they_wrote_there_was_refused(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor, a_visitor(stack) as other:
        for each in (visitor, other):
            await each.ask("Hello")
        one, two, held = await opened(visits, visitor), await opened(visits, visitor, "Admin"), asyncio.Event()
        await held_back(two, held, "owner.changed", "message.created", "error")
        await two.reload()
        await expect(two.locator(".banner")).to_contain_text("The AI is answering")
        await one.keyboard.press("t")
        await expect(one.locator(".banner")).to_contain_text("You are answering")
        await two.get_by_label("Your message").fill("The admin here")
        await two.keyboard.press("Control+Enter")
        await row_of(two, other.conversation).click()
        await expect(two).to_have_url(re.compile(str(other.conversation)))
        held.set()
        told = two.get_by_role("alert").filter(has_text="Elena took the conversation a moment ago")
        await told.get_by_role("link").click()
        await expect(two.get_by_label("Your message")).to_have_value("The admin here")
        await expect(told).to_have_count(0)


async def test_what_was_written_offline_goes_back_to_its_writer_where_a_colleague_has_taken_over(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("Hello")
        one, two = await opened(visits, visitor), await opened(visits, visitor, "Admin")
        await one.keyboard.press("t")
        await expect(two.locator(".banner")).to_contain_text("has this conversation")
        await one.locator(".composer input[type=file]").set_input_files(
            FilePayload(name="map.txt", mimeType="text/plain", buffer=b"left, then right")
        )
        await expect(one.locator(".chosen")).to_contain_text("1 KB")
        await one.context.set_offline(True)
        await expect(one.get_by_text("Connection lost. Trying again…")).to_be_visible()
        await one.get_by_label("Your message").fill("Written in a tunnel")
        await one.keyboard.press("Control+Enter")
        await expect(one.locator(".said.waiting")).to_contain_text("Written in a tunnel")
        await two.keyboard.press("t")
        await two.get_by_role("dialog").get_by_role("button", name="Take over").click()
        await expect(two.locator(".banner")).to_contain_text("You are answering")
        await one.context.set_offline(False)
        await expect(one.get_by_label("Your message")).to_have_value("Written in a tunnel")
        await expect(one.locator(".chosen")).to_contain_text("map.txt")
        await expect(one.locator(".composer .fault")).to_contain_text("took the conversation a moment ago")
        await expect(one.locator(".said.waiting")).to_have_count(0)
        await expect(two.locator(".banner")).to_contain_text("You are answering")
        assert visitor.messages("operator") == []
        # Whoever sends it all the same takes the conversation from them, after a question.
        await one.get_by_label("Your message").press("Control+Enter")
        dialog = one.get_by_role("dialog")
        await dialog.get_by_role("button", name="No").click()
        await expect(one.get_by_label("Your message")).to_have_value("Written in a tunnel")
        await one.get_by_label("Your message").press("Control+Enter")
        await dialog.get_by_role("button", name="Take over").click()
        sent = await visitor.wait_for("message.created", lambda f: f["message"]["text"] == "Written in a tunnel")
        assert [file["name"] for file in sent["message"]["files"]] == ["map.txt"]


async def test_a_failed_answer_is_listed_and_asked_again_when_the_model_is_back(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    question = f"Are you there {uuid.uuid4().hex[:6]}?"
    model.say(Rule(match=question, replies=[ScriptedReply(status=503)], again=True), default=QUICKLY)
    async with a_visitor(scripted_stack) as visitor:
        page = await signed_in(scripted_visits, "Admin")
        await page.get_by_role("link", name="Failed answers").click()
        await expect(page.get_by_text("Questions of the last 30 days")).to_be_visible()
        await visitor.say(question)
        await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "system")
        link = f'a[href="#/inbox/{visitor.conversation}"]'
        failed = page.locator(".failures li", has=page.locator(link))
        await expect(failed).to_contain_text("No model could answer")
        await expect(failed).to_contain_text(question)
        model.say(default=ScriptedReply(text="Yes, I am back."))
        await failed.get_by_role("button", name="Ask again").click()
        await expect(failed).to_contain_text(re.compile("Asked again|Resolved since"))  # the answer may come at once
        answer = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "assistant")
        assert answer["message"]["text"] == "Yes, I am back."
        # The list is followed: nobody has to ask for it again.
        await expect(failed).to_contain_text("Resolved since")
        await expect(failed.get_by_role("button", name="Ask again")).to_have_count(0)
        await failed.get_by_role("link", name="Show the conversation").click()
        # Asked twice, it is one message.
        await expect(page.locator(".thread .said.visitor")).to_have_count(1)
        await expect(page.locator(".thread .said.assistant")).to_contain_text("Yes, I am back.")


async def test_a_list_without_failed_answers_says_so(visits: Visits) -> None:
    page = await signed_in(visits)
    await page.get_by_role("link", name="Failed answers").click()
    await expect(page.locator(".failures .empty")).to_be_visible()
