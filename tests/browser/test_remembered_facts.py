"""What is remembered of a customer, and the buttons that correct or forget each fact."""

import re
import uuid

import aiohttp
import pytest
from playwright.async_api import expect

from gateway.testing.http import Http
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_each_remembered_fact_is_corrected_or_forgotten_by_a_button(visits: Visits, stack: RunningStack) -> None:
    token = stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="pro")
    facts = {"name": "Ana", "userNotes": ["I save 300 a month", "I have a *small* boat"]}
    async with aiohttp.ClientSession() as session:
        status, body, _ = await Http(stack.url, session)("PATCH", "/v2/memory", token=token, json=facts)
        assert status == 200, body
    chat = await visits.chat("/", token=token)
    first = await chat.ask("What do you remember about me?")
    name, (saves, boat) = first.locator("p").last, [first.locator("li").nth(place) for place in (0, 1)]
    await expect(saves).to_contain_text("“I save 300 a month”. Correct")
    await expect(saves).not_to_contain_text("Say")
    await expect(boat.get_by_role("button")).to_have_count(2)
    await name.get_by_role("button", name="Correct").click()
    await expect(chat.input).to_have_value("call me ")
    await saves.get_by_role("button", name="Correct").click()
    await expect(chat.input).to_have_value("correct 1: I save 300 a month")
    await chat.ask("correct 1: I save 450 a month")
    await boat.get_by_role("button", name="Forget").click()
    await expect(chat.own.last).to_contain_text("forget 2")
    await expect(chat.answers.nth(2)).to_contain_text("boat")
    await chat.ask("What do you remember about me?")
    await expect(first.locator(".offer").first).to_be_hidden()  # its numbers are others' now
    chat = await visits.chat("/es", language="es", token=token)
    await expect(chat.answers).to_have_count(4)
    told = await chat.ask("¿qué recuerdas de mí?")
    await expect(told.locator("li")).to_have_text(re.compile("«I save 450 a month». CorregirOlvidar$"))
    await expect(told.locator("p").last).to_contain_text("«I save 300 a month» ya no vale")
    await told.locator("li").get_by_role("button", name="Olvidar").click()
    await expect(chat.own.last).to_contain_text("olvida la 1")
    await expect(chat.answers.last).to_contain_text("450")
