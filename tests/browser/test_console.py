"""The console as a human agent uses it, beside visitors who chat over the websocket."""

from typing import Any

import aiohttp
import pytest
from playwright.async_api import Page, Route, expect

from runtime.testing import eventually
from tests.browser.visits import Visits
from tests.support.chat_client import ChatClient
from tests.support.chatwoot import ACCOUNT, INBOX, SECRET, TOKEN, chatwoot
from tests.support.own_site import own_site
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script> \u202eabc 🙂'


async def signed_in(visits: Visits, persona: str = "Agent", path: str = "/console", **options: Any) -> Page:
    page = await visits.open(path, **options)
    await page.get_by_role("button", name=persona).click()
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    return page


async def a_visitor(stack: RunningStack) -> ChatClient:
    token, _ = await stack.visitor(page={"url": f"{stack.url}/pricing", "title": "Pricing"})
    return ChatClient(stack.url, token)


async def test_a_hand_off_appears_by_itself_and_its_agent_answers(visits: Visits, stack: RunningStack) -> None:
    page = await signed_in(visits)
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        await visitor.say(f"I need somebody: {HOSTILE}")
        await visitor.send_frame("handoff.request")
        row = page.locator(f'.talks a[data-id="{visitor.conversation}"]')
        await expect(row).to_contain_text("waits")
        await page.get_by_role("button", name="Needs a person").click()
        await row.click()
        await expect(page.get_by_text("Waits for a person").first).to_be_visible()
        # Who asks with a button says nothing else: no summary, no language.
        await expect(page.locator(".handover")).to_contain_text("Asked for a person")
        await expect(page.locator(".handover")).not_to_contain_text("undefined")
        # What a visitor writes is text, whatever it looks like.
        await expect(page.locator(".thread .said.visitor")).to_contain_text("<script>document.title=2</script>")
        assert await page.title() not in {"1", "2"}
        await page.get_by_label("Your message").fill("I am here. How can I help?")
        await page.get_by_role("button", name="Take over and send").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "human")
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert said["message"]["text"] == "I am here. How can I help?"
        await expect(page.get_by_text("You answer").first).to_be_visible()
        # Whoever is answered by a person does not wait for one any more.
        await page.get_by_role("button", name="Mine").click()
        await expect(row).to_be_visible()
        await visitor.send_frame("typing")
        await expect(page.get_by_text("The visitor is writing…")).to_be_visible()
        await expect(page.locator(f'.talks a[data-id="{visitor.conversation}"] .writes')).to_be_visible()
        await page.get_by_role("button", name="Return to AI").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")


async def test_replies_are_suggested_and_a_draft_is_worded_better(visits: Visits, stack: RunningStack) -> None:
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits)
        await page.locator(f'.talks a[data-id="{visitor.conversation}"]').click()
        await page.get_by_role("button", name="Suggest replies").click()
        offers = page.locator(".offer")
        await expect(offers).to_have_count(3)
        await offers.first.click()
        field = page.get_by_label("Your message")
        await expect(field).to_have_value(await offers.first.inner_text())
        await field.fill("it cost 29 dollar")
        await page.get_by_role("button", name="Improve").click()
        await expect(field).not_to_have_value("it cost 29 dollar")


async def test_the_list_is_walked_with_keys_and_the_address_names_the_conversation(
    visits: Visits, stack: RunningStack
) -> None:
    async with await a_visitor(stack) as one, await a_visitor(stack) as two:
        for client in (one, two):
            await client.hello()
            await client.ask("hello")
        page = await signed_in(visits)
        await expect(page.locator(f'.talks a[data-id="{one.conversation}"]')).to_be_visible()
        await page.keyboard.press("j")
        await expect(page.locator(f'.talks a[data-id="{two.conversation}"]')).to_have_attribute("aria-current", "true")
        await page.keyboard.press("j")
        await expect(page.locator(f'.talks a[data-id="{one.conversation}"]')).to_have_attribute("aria-current", "true")
        await page.reload()
        await expect(page.locator(".thread .said")).to_have_count(2)
        await page.keyboard.press("r")
        await expect(page.get_by_label("Your message")).to_be_focused()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("Choose a conversation.")).to_be_visible()


async def test_a_token_that_is_none_or_of_another_role_is_told_what_it_takes(
    visits: Visits, stack: RunningStack
) -> None:
    page = await visits.open("/console", locale="es-MX")
    await page.get_by_label("Token de tu empresa").fill("nonsense")
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("alert")).to_contain_text("no es un token")
    await page.get_by_label("Token de tu empresa").fill(stack.token("user", "ana"))
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("alert")).to_contain_text("El rol user no tiene consola")
    await page.get_by_label("Token de tu empresa").fill(stack.token("commercial", "ana"))
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("heading", name="Bandeja")).to_be_visible()

    # In production the page says so, and offers what is meant for it: accounts, and the link with a token.
    async def in_production(route: Route) -> None:
        answer = await route.fetch()
        text = await answer.text()
        assert 'data-dev="true"' in text
        await route.fulfill(response=answer, body=text.replace('data-dev="true"', 'data-dev="false"'))

    await page.evaluate("sessionStorage.clear()")
    await page.route("**/console", in_production)
    await page.goto(f"{visits.url}/console")
    await expect(page.get_by_role("button", name="Continuar con la cuenta de tu empresa")).to_be_visible()
    await expect(page.get_by_role("button")).to_have_count(1)
    await expect(page.locator("textarea, summary")).to_have_count(0)
    await page.goto(f"{visits.url}/help")
    await page.goto(f"{visits.url}/console#token={stack.token('commercial', 'ana')}")
    await expect(page.get_by_role("heading", name="Bandeja")).to_be_visible()


async def test_settings_are_checked_saved_and_felt_and_the_kill_switch_stops_answers(
    visits: Visits, stack: RunningStack
) -> None:
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    tokens = page.get_by_label("Longest answer (tokens)")
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
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        unanswered = await visitor.say("What does the Pro plan cost?")
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("The assistant answers", exact=True)).to_be_visible()
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
    await one.get_by_label("Keep pages for (s)").fill("60")
    await one.get_by_role("button", name="Save").click()
    await expect(one.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()
    await two.get_by_label("Tool rounds").fill("5")
    await two.get_by_role("button", name="Save").click()
    await expect(two.get_by_text("Somebody else has changed the same fields")).to_be_visible()
    await expect(two.get_by_text("Changed by somebody else to 4")).to_be_visible()
    await expect(two.get_by_label("Keep pages for (s)")).to_have_value("60")
    await two.get_by_label("Tool rounds").fill("3")
    await two.get_by_role("button", name="Save").click()
    await expect(two.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()


async def test_what_was_rated_and_handed_over_is_counted(visits: Visits, stack: RunningStack) -> None:
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        answer = await visitor.ask("What does the Pro plan cost?")
        await visitor.send_frame("feedback", messageId=answer["id"], rating="down", reason="<b>too long</b>")
        await visitor.send_frame("handoff.request")
        await visitor.wait_for("owner.changed")
        admin = {"Authorization": f"Bearer {stack.mint('admin', 'adam')}"}

        async def counted() -> bool:
            """Ratings are counted a moment after they are given."""
            async with aiohttp.ClientSession(stack.url, headers=admin) as http, http.get("/v2/insights") as answer:
                complaints = (await answer.json())["complaints"]
            return visitor.conversation in [one["conversationId"] for one in complaints]

        await eventually(counted)
        page = await signed_in(visits, "Admin")
        await page.get_by_role("link", name="Usage").click()
        await page.locator(f'.complaints a[href="#/inbox/{visitor.conversation}"]', has_text="<b>too long</b>").click()
        await expect(page.locator(".thread .said.assistant")).to_have_count(1)


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


async def test_an_answer_says_what_it_was_made_of(visits: Visits, stack: RunningStack) -> None:
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits)
        await page.locator(f'.talks a[data-id="{visitor.conversation}"]').click()
        await page.get_by_role("button", name="Why this answer").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("link", name="Pricing").first).to_be_visible()
        await expect(dialog.get_by_text("offline", exact=False).first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)


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
    await expect(one.get_by_text("Somebody else has saved meanwhile")).to_be_visible()
    await one.get_by_role("button", name="Save").click()
    await expect(one.get_by_text("Saved. It takes effect with the next message.")).to_be_visible()


async def test_what_an_agent_writes_offline_stays_in_sight_and_goes_out_once(
    visits: Visits, stack: RunningStack
) -> None:
    async with await a_visitor(stack) as visitor, await a_visitor(stack) as other:
        for client in (visitor, other):
            await client.hello()
            await client.ask("hello")
        page = await signed_in(visits)
        await page.locator(f'.talks a[data-id="{visitor.conversation}"]').click()
        await expect(page.get_by_role("button", name="Take over", exact=True)).to_be_visible()
        await page.context.set_offline(True)
        await expect(page.get_by_text("Connection lost. Trying again…")).to_be_visible()
        await page.get_by_label("Your message").fill("Written in a tunnel")
        await page.keyboard.press("Control+Enter")
        waiting = page.locator(".said.waiting")
        await expect(waiting).to_contain_text("Written in a tunnel")
        # It is not lost by looking at another conversation.
        await page.locator(f'.talks a[data-id="{other.conversation}"]').click()
        await expect(waiting).to_have_count(0)
        await page.locator(f'.talks a[data-id="{visitor.conversation}"]').click()
        await expect(waiting).to_contain_text("Written in a tunnel")
        await page.context.set_offline(False)
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert (said["message"]["text"], said["message"]["name"]) == ("Written in a tunnel", "Elena")
        await expect(waiting).to_have_count(0)
        await expect(page.locator(".said.operator")).to_have_count(1)
        await expect(page.locator(".banner")).to_contain_text("You answer")


async def test_a_conversation_is_answered_with_the_keyboard_alone(visits: Visits, stack: RunningStack) -> None:
    async with await a_visitor(stack) as visitor:
        await visitor.hello()
        await visitor.ask("What does the Pro plan cost?")
        page = await visits.open("/console")
        await until_focused(page, "Agent")
        await page.keyboard.press("Enter")
        await expect(page.locator(f'.talks a[data-id="{visitor.conversation}"]')).to_be_visible()
        await page.keyboard.press("j")
        await expect(page.locator(".said.visitor")).to_contain_text("What does the Pro plan cost?")
        await page.keyboard.press("t")
        await expect(page.locator(".banner")).to_contain_text("You answer")
        await page.keyboard.press("r")
        await page.keyboard.type("29 USD, and the first two weeks are free.")
        await page.keyboard.press("Control+Enter")
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert said["message"]["text"] == "29 USD, and the first two weeks are free."
        await until_focused(page, "Suggest replies")
        await page.keyboard.press("Enter")
        await expect(page.locator(".offer")).to_have_count(3)
        await until_focused(page, await page.locator(".offer").first.inner_text(), back=True)
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Your message")).to_be_focused()
        await page.keyboard.press("Escape")
        await until_focused(page, "Why this answer", back=True)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").get_by_role("link", name="Pricing").first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("button", name="Why this answer")).to_be_focused()
        await page.keyboard.press("t")
        await expect(page.locator(".banner")).to_contain_text("The AI answers")
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("Choose a conversation.")).to_be_visible()


async def until_focused(page: Page, name: str, *, back: bool = False, most: int = 60) -> None:
    """Presses Tab until the button of that name has the focus."""
    for _ in range(most):
        if await page.evaluate("document.activeElement.textContent") == name:
            return
        await page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"Tab does not lead to {name!r}")


async def test_own_tools_and_a_model_are_tried_and_kept_without_their_secrets(visits: Visits) -> None:
    schema = '{"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}'
    page = await signed_in(visits, "Admin")
    await page.get_by_role("link", name="Settings").click()
    tries, model = page.get_by_label("Try it"), page.get_by_role("group", name="Your own model")
    tools = page.get_by_role("group", name="Your own tools")
    await expect(page.get_by_text("answers, by rules: no model has a key")).to_be_visible()
    async with own_site() as site:
        await model.get_by_label("Address, e.g.").fill(f"{site}/v1")
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
