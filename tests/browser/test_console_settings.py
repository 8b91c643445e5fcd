"""A company's settings in the console: checked, tried, saved, by several admins at once, and the kill switch."""

import json
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from runtime.testing.servers import eventually
from tests.browser.chat_page import ChatPage
from tests.browser.console import a_visitor, signed_in
from tests.browser.visits import Visits
from tests.support.chatwoot import ACCOUNT, INBOX, SECRET, TOKEN, chatwoot
from tests.support.own_site import own_site
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_settings_are_checked_saved_and_felt_and_the_kill_switch_stops_answers(
    visits: Visits, stack: RunningStack
) -> None:
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    tokens = page.get_by_label("Maximum answer length (tokens)")
    await tokens.fill("9999")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#setting-maxResponseTokens-fault")).not_to_be_empty()
    await tokens.fill("400")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
    await a_channel_is_set_up(page)
    await page.get_by_role("button", name="Switch off").click()
    await page.get_by_role("dialog").get_by_role("button", name="Switch off").click()
    await expect(page.get_by_text("The assistant is switched off")).to_be_visible()
    # Who opens the chat now is told of no assistant, and is again once there is one.
    chat = await ChatPage(await visits.open("/")).open()
    disclosure = chat.panel.get_by_text("You are chatting with an AI assistant")
    await expect(chat.panel.get_by_text("We reply as soon as we can")).to_be_visible()
    await expect(disclosure).to_be_hidden()
    async with a_visitor(stack) as visitor:
        unanswered = await visitor.say("What does the Pro plan cost?")
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("The assistant answers", exact=True)).to_be_visible()
        await expect(disclosure).to_be_visible()
        answer = await visitor.ask("And the Premium plan?")
        assert answer["seq"] > unanswered["seq"]
        assert [m for m in visitor.messages("assistant") if m["seq"] < answer["seq"]] == []


async def a_channel_is_set_up(page: Page) -> None:
    """A wrong token shows at once; the secrets never again."""
    save, hook = page.get_by_role("button", name="Save"), page.get_by_text("/v2/channels/chatwoot/")
    refused = page.get_by_text("does not accept the token")
    async with chatwoot() as there:
        await page.get_by_role("button", name="Add a Chatwoot").click()
        await page.get_by_label("Address of your Chatwoot").fill(there.url)
        await page.get_by_label("Account number").fill(str(ACCOUNT))
        await page.get_by_label("Inbox number (empty: all)").fill(str(INBOX))
        await page.get_by_label("The bot's access token").fill("another-token")
        await page.get_by_label("Secret of the webhook").fill(SECRET)
        await save.click()
        await expect(refused).to_be_visible()
        await expect(hook).to_be_visible()
        await expect(page.get_by_label("Secret of the webhook")).to_have_value("********")
        await page.get_by_label("The bot's access token").fill(TOKEN)
        await save.click()
        await expect(refused).to_have_count(0)
        await expect(page.get_by_label("The bot's access token")).to_have_value("********")
        await page.locator(".hook", has=hook).get_by_role("button").click()
        await save.click()
        await expect(page.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
        await expect(hook).to_have_count(0)


async def test_two_admins_who_save_at_once_see_what_the_other_changed(visits: Visits) -> None:
    one, two = await signed_in(visits, "Admin"), await signed_in(visits, "Admin")
    for page in (one, two):
        await page.get_by_role("link", name="Settings").click()
        await expect(page.get_by_label("Tool rounds")).to_have_value("3")
    await one.get_by_label("Tool rounds").fill("4")
    await one.get_by_label("Cache pages for (s)").fill("60")
    await one.get_by_role("button", name="Save").click()
    await expect(one.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
    await two.get_by_label("Tool rounds").fill("5")
    await two.get_by_role("button", name="Save").click()
    await expect(two.get_by_text("Somebody else changed the same fields")).to_be_visible()
    await expect(two.get_by_text("Changed by somebody else to 4")).to_be_visible()
    await expect(two.get_by_label("Cache pages for (s)")).to_have_value("60")
    await two.get_by_label("Tool rounds").fill("3")
    await two.get_by_role("button", name="Save").click()
    await expect(two.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()


async def test_settings_are_tried_before_they_are_saved(visits: Visits) -> None:
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    tries = page.get_by_label("Try it")
    await page.get_by_label("Own system prompt").fill("You are the parrot of Northwind.")
    await tries.get_by_role("button", name="Show").click()
    await expect(tries.locator("pre").first).to_have_text("You are the parrot of Northwind.")
    await tries.get_by_label("May this page be read?").fill("https://evil.example/pricing")
    await tries.get_by_role("button", name="Check").click()
    await expect(tries.get_by_text("none of the site's addresses")).to_be_visible()
    await page.get_by_label("Allowed paths").fill("/help")
    await tries.get_by_label("May this page be read?").fill("/pricing")
    await tries.get_by_role("button", name="Check").click()
    await expect(tries.get_by_text("does not let this page be read")).to_be_visible()
    await tries.get_by_label("A visitor asks").fill("What does the Pro plan cost?")
    await tries.get_by_role("button", name="Ask").click()
    await expect(tries.locator(".result .text")).to_contain_text("29")
    await expect(tries.get_by_text("offline-rules")).to_be_visible()
    await expect(tries.locator(".result .text")).to_contain_text("[1]")


async def test_the_kill_switch_waits_for_nobody_and_loses_nothing_that_is_written(visits: Visits) -> None:
    one, two = await signed_in(visits, "Admin"), await signed_in(visits, "Admin")
    for page in (one, two):
        await page.get_by_role("link", name="Settings").click()
        await expect(page.get_by_label("Tool rounds")).to_have_value("3")
    await one.get_by_label("Wait before answering (ms)").fill("900")
    await one.get_by_role("button", name="Save").click()
    await expect(one.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
    # The other one has an older version before them, and something half written.
    await two.get_by_label("Tool rounds").fill("7")
    await two.get_by_role("button", name="Switch off").click()
    await two.get_by_role("dialog").get_by_role("button", name="Switch off").click()
    await expect(two.get_by_text("The assistant is switched off")).to_be_visible()
    await expect(two.get_by_role("button", name="Switch on")).to_be_focused()
    await expect(two.get_by_label("Tool rounds")).to_have_value("7")
    await expect(two.get_by_text("Not saved yet")).to_be_visible()
    await two.get_by_role("button", name="Switch on").click()
    await expect(two.get_by_text("The assistant answers", exact=True)).to_be_visible()
    await two.get_by_label("Tool rounds").fill("3")
    await one.get_by_label("Wait before answering (ms)").fill("1000")
    await one.get_by_role("button", name="Save").click()
    # Whoever has the older version is told so once, with what the other has changed.
    await expect(one.get_by_text("Somebody else saved in the meantime")).to_be_visible()
    await one.get_by_role("button", name="Save").click()
    await expect(one.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()


async def test_own_tools_and_a_model_are_tried_and_kept_without_their_secrets(visits: Visits) -> None:
    schema = '{"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}'
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    tries, model = page.get_by_label("Try it"), page.get_by_role("group", name="Your own model")
    tools = page.get_by_role("group", name="Your own tools")
    await expect(page.get_by_text("answers, by rules: no model has a key")).to_be_visible()
    async with own_site() as site:
        await model.get_by_label("Address").fill(f"{site}/v1")
        await model.get_by_label("Name of the model").fill("house-1")
        await model.get_by_label("Key").fill("my-key")
        await tries.get_by_role("button", name="Test the model").click()
        await expect(tries.get_by_text("house-1 (compatible) answered")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await expect(model.get_by_label("Name of the model")).to_have_value("")

        await tools.get_by_role("button", name="Add a tool").click()
        await tools.get_by_label("Name of the tool").fill("order_status")
        await tools.get_by_label("What it does").fill("Where an order is")
        await tools.get_by_label("Method").select_option("GET")
        await tools.get_by_label("Address; arguments").fill(f"{site}/orders/{{order}}")
        await tools.get_by_label("Header with a secret").fill("X-Api-Key")
        await tools.get_by_label("The header's value").fill("my-secret")
        await tools.get_by_label("Arguments (JSON Schema)").fill("no schema")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator("#setting-ownTools-fault")).not_to_be_empty()
        await tools.get_by_label("Arguments (JSON Schema)").fill(schema)
        for saved in (False, True):
            if saved:
                await page.get_by_role("button", name="Save").click()
                await expect(page.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
                await page.reload()
                await expect(tools.get_by_label("The header's value")).to_have_value("********")
            await tries.get_by_label("Call one of your tools").fill("order_status order=A-17")
            await tries.get_by_role("button", name="Call").click()
            await expect(tries.locator("pre")).to_contain_text('"state": "sent"')
        await tools.get_by_role("button", name="Remove").click()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()


async def test_what_a_newer_version_has_stored_is_kept_by_an_older_console(visits: Visits) -> None:
    """It is no change when it is looked at, and goes back with what is changed beside it."""
    newer = {"newer": {"kept": 1}}
    hours = {"days": ["mon"], "opens": "09:00", "closes": "18:00"} | newer
    stored: dict[str, Any] = {
        "customSystemPrompt": "",
        "officeHours": {"timezone": "Europe/Madrid", "hours": [hours], "holidays": [], "askAddress": False} | newer,
        "personRules": [{"to": "person", "words": ["refund"], "topics": [], "plans": ["team"], "pages": []} | newer],
        "proactive": [{"text": "Any questions?", "pages": [], "afterSeconds": 5, "language": "pt"} | newer],
        "webhooks": [{"url": "https://www.example.com", "events": [], "secret": "********"} | newer],
        "channels": [{"id": "demo_1", "kind": "chatwoot", "address": "https://www.example.com", "account": 1,
                      "token": "********", "secret": "********"} | newer],
    }  # fmt: skip
    page = await signed_in(visits, "Admin")
    sent: list[dict[str, Any]] = []

    async def of_a_newer_server(route: Route) -> None:
        if route.request.method == "PATCH":
            sent.append(json.loads(route.request.post_data or ""))
            await route.abort()
        else:
            found = await route.fetch()
            await route.fulfill(response=found, json=await found.json() | stored)

    async def with_a_newer_provider(route: Route) -> None:
        found = await route.fetch()
        body = await found.json()
        body["providers"].append({"id": "newer", "label": "Newer", "configured": False, "models": []})
        await route.fulfill(response=found, json=body)

    await page.route("**/v2/llm/config/demo*", of_a_newer_server)
    await page.route("**/v2/llm/config/providers", with_a_newer_provider)
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_label("Tool rounds")).to_have_value("3")
    own_model = page.get_by_role("group", name="Your own model").locator("option")
    await expect(own_model).to_have_text(["Groq", "OpenAI", "Anthropic", "OpenAI-compatible", "Newer"])
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()
    await page.get_by_label("What it says").fill("May I help?")
    await page.get_by_label("Words or phrases, one per line").fill("refunds")
    await page.get_by_role("button", name="Save").click()
    assert await eventually(lambda: sent)
    assert sent == [{
        "personRules": [stored["personRules"][0] | {"words": ["refunds"]}],
        "proactive": [stored["proactive"][0] | {"text": "May I help?"}],
    }]  # fmt: skip
