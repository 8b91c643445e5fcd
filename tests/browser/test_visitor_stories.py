"""A visitor's stories, from the question to the answer."""

import uuid

import pytest
from playwright.async_api import expect

from runtime.testing.servers import eventually
from tests.browser.chat_page import conversation_of
from tests.browser.console import signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_visitor_asks_and_gets_an_answer_that_says_which_page_was_read(visits: Visits) -> None:
    chat = await visits.chat("/pricing")
    await expect(chat.panel).to_contain_text("You are chatting with an AI assistant")
    await expect(chat.panel.get_by_role("button", name="Talk to a person")).to_be_visible()
    answer = await chat.ask("What does the Pro plan cost?")
    await expect(answer).to_contain_text("29 USD per month")
    chip = answer.get_by_role("list", name="Pages read for this answer").get_by_role("link")
    await expect(chip).to_have_attribute("href", f"{visits.url}/pricing")
    await expect(chip).to_contain_text("Pricing · Northwind Markets")
    await expect(chat.own).to_contain_text("Sent")


async def test_the_conversation_is_there_on_the_next_page_and_after_a_reload(visits: Visits) -> None:
    chat = await visits.chat("/")
    await chat.ask("What does the Pro plan cost?")
    said = await chat.texts()
    await chat.page.goto(f"{visits.url}/help")
    await chat.ready()
    await expect(chat.messages).to_have_count(2)
    await chat.page.reload()
    await chat.ready()
    await expect(chat.messages).to_have_count(2)
    assert await chat.texts() == said


async def test_a_visitor_of_a_spanish_page_is_spoken_to_in_spanish(visits: Visits) -> None:
    chat = await visits.chat("/es/pricing", language="es")
    await expect(chat.panel).to_contain_text("Estás hablando con un asistente de IA")
    answer = await chat.ask("¿Cuánto cuesta el plan Pro?")
    await expect(answer).to_contain_text("29 USD al mes")


async def test_a_spanish_question_on_an_english_page_is_answered_from_the_spanish_page(visits: Visits) -> None:
    chat = await visits.chat("/pricing")
    answer = await chat.ask("¿Cuánto cuesta el plan Pro?")
    await expect(answer).to_contain_text("29 USD al mes")
    await expect(answer).not_to_contain_text("per month")
    chip = answer.get_by_role("list", name="Pages read for this answer").get_by_role("link")
    await expect(chip).to_have_attribute("href", f"{visits.url}/es/pricing")


async def test_whoever_is_asked_for_sees_which_pages_the_visitor_was_on_before(
    visits: Visits, stack: RunningStack
) -> None:
    chat = await visits.chat("/")
    await chat.page.goto(f"{visits.url}/pricing")
    await chat.page.goto(f"{visits.url}/guide")
    await chat.page.evaluate("history.pushState({}, '', '/guide?step=2')")
    await chat.ready()
    await chat.say("I would like to talk to a person about my bill 7731")
    desk = await signed_in(visits)
    await desk.get_by_text("bill 7731").first.click()
    pages = desk.locator("dt", has_text="Pages").locator("+ dd")
    await expect(pages).to_have_text("/ → /pricing → /guide → Guide · Northwind Markets")


async def test_a_suggested_question_is_one_click(visits: Visits) -> None:
    chat = await visits.chat("/")
    await chat.panel.get_by_role("button", name="What does the Pro plan cost?").click()
    await expect(chat.answers.first).to_contain_text("29 USD per month")
    await expect(chat.panel.get_by_role("button", name="What is AAPL trading at?")).to_have_count(0)


async def test_a_bad_answer_is_told_with_its_reason_and_stays_told(visits: Visits) -> None:
    chat = await visits.chat("/")
    answer = await chat.ask("What does the Pro plan cost?")
    await answer.get_by_role("button", name="Bad answer").click()
    await answer.get_by_role("button", name="It is wrong").click()
    await expect(answer).to_contain_text("Thank you.")
    await chat.page.reload()
    await chat.ready()
    await expect(chat.answers.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")


async def test_whoever_asks_for_a_person_is_told_that_one_was_asked_for(visits: Visits) -> None:
    chat = await visits.chat("/")
    await chat.ask("What does the Pro plan cost?")
    await chat.panel.get_by_role("button", name="Talk to a person").click()
    await expect(chat.panel.locator(".head")).to_contain_text("Waiting for a person")
    await expect(chat.panel).to_contain_text("I have let the team know")
    await expect(chat.panel.get_by_text("Passing you on to the team.")).to_be_visible()
    await expect(chat.panel.get_by_role("button", name="Talk to a person")).to_be_hidden()


async def test_whoever_asks_for_a_person_before_a_word_is_told_of_the_queue_in_their_language(visits: Visits) -> None:
    chat = await visits.chat("/")
    begun = "Object.keys(localStorage).some((key) => key.endsWith(':conversation'))"
    await eventually(lambda: chat.page.evaluate(begun))
    await chat.panel.get_by_role("button", name="Talk to a person").click()
    await expect(chat.panel.get_by_text("I have let the team know")).to_be_visible()


async def test_a_button_of_the_page_asks_in_the_chat(visits: Visits) -> None:
    page = await visits.open("/pricing")
    await page.get_by_role("button", name="Ask about Pro").click()
    await expect(page.get_by_role("dialog").locator("article.mine")).to_contain_text("What is in the Pro plan?")
    await expect(page.get_by_role("dialog").locator("article.assistant time")).to_be_visible()


async def test_words_that_were_not_sent_survive_a_reload(visits: Visits) -> None:
    chat = await visits.chat("/")
    await chat.input.fill("I was just about to ask")
    await chat.page.reload()
    await expect(chat.input).to_have_value("I was just about to ask")


async def test_a_message_that_comes_while_the_chat_is_closed_is_counted(visits: Visits, stack: RunningStack) -> None:
    chat = await visits.chat("/")
    await chat.ask("What does the Pro plan cost?")
    conversation = await conversation_of(chat.page)
    await chat.panel.get_by_role("button", name="Close the chat").click()
    await expect(chat.page.get_by_role("button", name="Open the chat", exact=True)).to_be_visible()
    async with stack.chat(stack.mint("commercial", "ana")) as ana:
        await ana.send_frame("conversation.watch", conversationId=conversation)
        await ana.wait_for("snapshot")
        text = "And it can be paid by the year."
        await ana.send_frame("message.send", conversationId=conversation, clientMessageId=str(uuid.uuid4()), text=text)
        await expect(chat.page.get_by_role("button", name="Open the chat (1)")).to_be_visible()
