"""While an answer is made: reloading, stopping, a person taking over, two screens, an order, settings that change."""

import re
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import aiohttp
import pytest
from playwright.async_api import expect

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from gateway.testing.http import Http
from tests.browser.chat_page import QUICKLY, SLOWLY, ChatPage, conversation_of
from tests.browser.host_site import HostSite, host_site
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

ORDER = ScriptedCall(
    name="create_paper_order", arguments={"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "market"}
)
OFFER = Rule(match="Buy 3", replies=[ScriptedReply(tool_calls=[ORDER])])
SHALL_I = ScriptedReply(text="Shall I buy 3 IBM for you?")
CONFIRMED = re.compile(r"\bconfirmed\b")
"""A card's class. Its text says that it is confirmed until it tells of the fill, which may be at once."""


@asynccontextmanager
async def shop(stack: RunningStack, **settings: object) -> AsyncGenerator[tuple[HostSite, str]]:
    """A company of its own, with its site."""
    company = f"shop-{uuid.uuid4().hex[:8]}"
    async with host_site(stack.url, company) as site:
        given = {"aiAutoResponseEnabled": True, "responseDelayMs": 0, "allowedOrigins": [site.origin], **settings}
        await stack.create_company(company, **given)
        yield site, company


async def test_a_reload_in_mid_answer_shows_the_text_so_far_and_then_the_rest_once(
    scripted_visits: Visits, model: ScriptedModel
) -> None:
    model.say(default=SLOWLY)
    chat = await scripted_visits.chat("/")
    await chat.say("Tell me a long story")
    await expect(chat.answers).to_contain_text("word20")
    await chat.page.reload()
    await chat.ready()
    await expect(chat.answers).to_contain_text("word0 word1 word2")
    await expect(chat.answers.locator("time")).to_be_visible()
    await expect(chat.answers).to_have_count(1)
    assert await chat.answers.locator(".body").inner_text() == SLOWLY.text


async def test_stop_ends_the_answer_and_says_so(scripted_visits: Visits, model: ScriptedModel) -> None:
    model.say(Rule(match="again", replies=[QUICKLY]), default=SLOWLY)
    chat = await scripted_visits.chat("/")
    await chat.say("Tell me a long story")
    await expect(chat.answers).to_contain_text("word3")
    await chat.panel.get_by_role("button", name="Stop").click()
    await expect(chat.panel.get_by_text("You stopped the answer.")).to_be_visible()
    await expect(chat.answers).to_have_count(0)
    await expect(chat.panel.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(await chat.ask("again")).to_contain_text("A quick answer.")


async def test_a_person_who_takes_over_in_mid_answer_is_not_spoken_over(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=SLOWLY)
    chat = await scripted_visits.chat("/")
    await chat.say("Tell me a long story")
    await expect(chat.answers).to_contain_text("word3")
    conversation = await conversation_of(chat.page)
    async with scripted_stack.chat(scripted_stack.mint("commercial", "ana")) as ana:
        await ana.send_frame("conversation.watch", conversationId=conversation)
        await ana.wait_for("snapshot")
        await ana.send_frame("owner.take", conversationId=conversation)
        await expect(chat.panel.locator(".head")).to_contain_text("You are talking to")
        await expect(chat.answers).to_have_count(0)
        await ana.send_frame("typing", conversationId=conversation)
        await expect(chat.panel.get_by_text("is writing…")).to_be_visible()
        text = "I am a person. How can I help?"
        await ana.send_frame("message.send", conversationId=conversation, clientMessageId=str(uuid.uuid4()), text=text)
        await expect(chat.panel.locator("article.operator")).to_contain_text(text)
        await chat.say("Good to hear from you")
        await ana.wait_for("message.created", lambda f: f["message"]["text"] == "Good to hear from you")
        await ana.send_frame("receipt", conversationId=conversation, upToSeq=ana.seq)
        await expect(chat.own.last).to_contain_text("Seen")
        model.say(default=QUICKLY)
        await ana.send_frame("owner.release", conversationId=conversation)
        await expect(chat.panel.get_by_text("You are back with the AI assistant.")).to_be_visible()
    await expect(chat.panel.locator(".head")).to_contain_text("Replies right away")


async def test_two_screens_of_one_customer_agree(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=ScriptedReply(text="An answer for **both** screens, word by word.", token_ms=60))
    token = scripted_stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="pro")
    large = await scripted_visits.chat(token=token)
    await large.ask("First, from the large one")
    small = await scripted_visits.chat(token=token, size=(390, 780))
    await expect(small.messages).to_have_count(2)
    await small.say("Second, from the small one")
    await expect(large.own.last).to_contain_text("Second, from the small one")
    await expect(large.answers.nth(1).locator("time")).to_be_visible()
    await expect(small.answers.nth(1).locator("time")).to_be_visible()
    assert await large.texts() == await small.texts()
    await expect(small.answers.nth(1).locator("strong")).to_have_text("both")


async def test_a_paper_order_waits_for_a_click_and_is_confirmed_with_it(
    scripted_visits: Visits, model: ScriptedModel
) -> None:
    model.say(OFFER, default=SHALL_I)
    page = await scripted_visits.open("/")
    await page.get_by_label("You are").select_option("a Pro customer")
    chat = await ChatPage(page).open()
    await chat.say("Buy 3 shares of IBM")
    card = chat.panel.get_by_role("group", name="Buy 3 IBM at market (paper)")
    await expect(card).to_contain_text("Nothing happens until you confirm.")
    await expect(card).to_contain_text("Expires in")
    await card.get_by_role("button", name="Confirm").click()
    await expect(card).to_have_class(CONFIRMED)
    await expect(card.get_by_role("button")).to_have_count(0)
    await page.reload()
    await expect(card).to_have_class(CONFIRMED)


async def test_the_quantity_of_a_paper_order_can_be_changed_before_the_yes(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(OFFER, default=SHALL_I)
    token = scripted_stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="pro")
    chat = await scripted_visits.chat("/pricing", token=token)
    await chat.say("Buy 3 shares of IBM")
    card = chat.panel.get_by_role("group", name="Buy 3 IBM at market (paper)")
    field = card.get_by_label("Quantity")
    await expect(field).to_have_value("3")
    await expect(card.get_by_text("Estimated amount")).to_be_visible()
    # The estimate is of three: beside another number it would be wrong.
    await field.fill("1000000000")
    await expect(card.get_by_text("Estimated amount")).to_be_hidden()
    await card.get_by_role("button", name="Confirm").click()
    await expect(card.locator(".problem")).to_contain_text("buy less")
    await expect(field).to_have_value("1000000000")
    # What is typed while a try is under way stays, and so does the focus.
    said = await card.locator(".problem").inner_text()
    await field.fill("500000000")
    await card.evaluate("(card) => { card.querySelector('button').click(); card.querySelector('input').value = 1e8; }")
    await expect(card.locator(".problem")).not_to_have_text(said)
    await expect(field).to_have_value("100000000")
    await expect(field).to_be_focused()
    await field.fill("")
    await card.get_by_role("button", name="Confirm").click()
    await expect(field).to_be_focused()
    await field.fill("2")
    await card.get_by_role("button", name="Confirm").click()
    done = chat.panel.get_by_role("group", name="Buy 2 IBM at market (paper)")
    await expect(done).to_have_class(CONFIRMED)
    # The estimate was of three.
    await expect(done).not_to_contain_text("Estimated amount")
    await chat.page.reload()
    await chat.page.evaluate("(token) => Nexus.identify(token)", token)
    await expect(done).to_have_class(CONFIRMED)
    await expect(done).not_to_contain_text("Estimated amount")


async def test_an_order_decided_on_one_screen_is_offered_on_no_other(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(OFFER, default=SHALL_I)
    token = scripted_stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="pro")
    screen = partial(scripted_visits.chat, "/pricing", token=token)
    one = await screen()
    await one.say("Buy 3 shares of IBM")
    name = "Buy 3 IBM at market (paper)"
    confirm = one.panel.get_by_role("group", name=name).get_by_role("button", name="Confirm")
    await expect(confirm).to_be_visible()
    two = await screen()
    await expect(two.panel.get_by_role("group", name=name)).to_contain_text("Expires in")
    # The second one is away while the first one decides, the third one never saw it wait.
    await two.page.context.set_offline(True)
    await confirm.click()
    await expect(one.panel.get_by_role("group", name=name)).to_have_class(CONFIRMED)
    await two.page.context.set_offline(False)
    for chat in (two, await screen()):
        card = chat.panel.get_by_role("group", name=name)
        await expect(card).to_have_class(CONFIRMED)
        await expect(card).to_contain_text("Estimated price")
        await expect(card.get_by_role("button")).to_have_count(0)


async def test_a_long_answer_is_read_from_its_beginning(scripted_visits: Visits, model: ScriptedModel) -> None:
    lines = "\n\n".join(f"Line {number} of a long answer." for number in range(1, 60))
    model.say(default=ScriptedReply(text=lines, token_ms=2))
    chat = await scripted_visits.chat("/")
    for question in ("First", "Again"):
        answer = await chat.ask(question)
        await expect(answer.get_by_text("Line 1 of a long answer.")).to_be_in_viewport()
        await expect(answer.get_by_text("Line 59 of a long answer.")).not_to_be_in_viewport()
        await chat.panel.get_by_role("button", name="Latest messages").click()
        await expect(answer.get_by_text("Line 59 of a long answer.")).to_be_in_viewport()
    await expect(chat.panel.get_by_role("button", name="Latest messages")).to_be_hidden()


async def test_columns_of_a_table_stand_as_the_answer_says(scripted_visits: Visits, model: ScriptedModel) -> None:
    model.say(default=ScriptedReply(text="| Plan | Price | New |\n| :--- | ---: | :---: |\n| Pro | 29 | yes |"))
    answer = await (await scripted_visits.chat("/")).ask("Prices?")
    sides = await answer.locator("td").evaluate_all("(cells) => cells.map((cell) => getComputedStyle(cell).textAlign)")
    assert sides == ["start", "end", "center"]


async def test_an_alert_that_fires_is_shown_to_its_customer(
    scripted_visits: Visits, scripted_stack: RunningStack
) -> None:
    token = scripted_stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="pro")
    chat = await scripted_visits.chat("/", token=token)
    async with aiohttp.ClientSession() as session:
        arguments = {"symbol": "IBM", "condition": ">=", "price": 1, "message": "IBM <b>moves</b>"}
        call = Http(scripted_stack.url, session)
        status, body, _ = await call("POST", "/v2/tools/create_alert", token=token, json={"arguments": arguments})
        assert status == 200, body
    alert = chat.panel.get_by_role("group", name="Price alert")
    await expect(alert).to_contain_text("IBM has reached 1.00 or more", timeout=60_000)
    await expect(alert).to_contain_text("IBM <b>moves</b>")


async def test_settings_are_felt_on_the_next_message(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=QUICKLY)
    async with shop(scripted_stack) as (site, company), aiohttp.ClientSession() as session:
        page = await (await scripted_visits.context()).new_page()
        await page.goto(site.page)
        chat = await ChatPage(page).open()
        await chat.ask("Before")
        call, admin = Http(scripted_stack.url, session), scripted_stack.mint("admin", "root", company)
        path = f"/v2/llm/config/{company}"

        async def change(**settings: object) -> None:
            _, _, headers = await call("GET", path, token=admin)
            status, body, _ = await call(
                "PATCH", path, token=admin, json=settings, headers={"If-Match": headers["etag"]}
            )
            assert status == 200, body

        await change(customSystemPrompt="You are the shop's pirate.")
        await chat.ask("After")
        assert "pirate" in str(model.asked[-1]["messages"])
        assert "pirate" not in str(model.asked[-2]["messages"])
        await change(aiAutoResponseEnabled=False)
        asked = len(model.asked)
        await chat.say("Is anybody there?")
        await expect(chat.own.last).to_contain_text("Sent")
        await expect(chat.panel.locator(".head")).to_contain_text("We reply as soon as we can")
        await page.reload()
        await chat.ready()
        await expect(chat.panel.locator(".head")).to_contain_text("We reply as soon as we can")
        assert len(model.asked) == asked


async def test_a_turn_that_fails_ends_in_words_not_in_dots(scripted_visits: Visits, model: ScriptedModel) -> None:
    model.say(default=ScriptedReply(status=400, error_code="context_length_exceeded"))
    chat = await scripted_visits.chat("/")
    await chat.say("This will go wrong")
    await expect(chat.panel.locator("article.system")).to_be_visible(timeout=60_000)
    await expect(chat.panel.locator(".dots:visible, .spinner:visible")).to_have_count(0)
    await expect(chat.answers).to_have_count(0)
