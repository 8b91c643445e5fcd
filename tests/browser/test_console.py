"""The console as a human agent uses it, beside visitors who chat over the websocket."""

import aiohttp
import pytest
from playwright.async_api import Route, expect

from runtime.testing.servers import eventually
from tests.browser.console import a_visitor, opened, row_of, signed_in, until_focused
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script> \u202eabc 🙂'


async def test_a_hand_off_appears_by_itself_and_its_agent_answers(visits: Visits, stack: RunningStack) -> None:
    page = await signed_in(visits)
    async with a_visitor(stack) as visitor:
        await visitor.say(f"I need somebody: {HOSTILE}")
        await visitor.send_frame("handoff.request")
        row = row_of(page, visitor.conversation)
        await expect(row).to_contain_text("waiting")
        await page.get_by_role("button", name="Needs a person").click()
        await row.click()
        await expect(page.get_by_text("Waiting for a person").first).to_be_visible()
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
        await expect(page.get_by_text("You are answering").first).to_be_visible()
        # Whoever is answered by a person does not wait for one any more.
        await page.get_by_role("button", name="Mine").click()
        await expect(row).to_be_visible()

        async def is_seen_typing() -> bool:
            await visitor.send_frame("typing")  # again and again, as the widget does: one is shown for seconds only
            await expect(page.get_by_text("The visitor is writing…")).to_be_visible(timeout=3_000)
            await expect(page.locator(f'.talks a[data-id="{visitor.conversation}"] .writes')).to_be_visible(timeout=500)
            return True

        await eventually(is_seen_typing)
        await page.get_by_role("button", name="Hand back to the AI").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        # A message whose take-over failed takes the conversation over once it is stored.
        begun = len(visitor.frames)
        await page.evaluate("""() => {
            const { send } = WebSocket.prototype;
            let lost = false;
            WebSocket.prototype.send = function (frame) {
                if (lost || !frame.includes('"owner.take"')) send.call(this, frame);
                else lost = true;
            };
        }""")
        await page.get_by_label("Your message").fill("One more thing")
        await page.get_by_role("button", name="Take over and send").click()
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "human", after=begun)
        await expect(page.get_by_text("You are answering").first).to_be_visible()


async def test_replies_are_suggested_and_a_draft_is_worded_better(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await opened(visits, visitor)
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
    async with a_visitor(stack) as one, a_visitor(stack) as two:
        for client in (one, two):
            await client.ask("hello")
        page = await signed_in(visits)
        await expect(row_of(page, one.conversation)).to_be_visible()
        await page.keyboard.press("j")
        await expect(row_of(page, two.conversation)).to_have_attribute("aria-current", "true")
        await page.keyboard.press("j")
        await expect(row_of(page, one.conversation)).to_have_attribute("aria-current", "true")
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
    await page.get_by_label("Token de acceso").fill("nonsense")
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("alert")).to_contain_text("token no está completo")
    await page.get_by_label("Token de acceso").fill(stack.mint("user", "ana"))
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("alert")).to_contain_text("El rol user no puede usar la consola")
    await page.get_by_label("Token de acceso").fill(stack.mint("commercial", "ana"))
    await page.get_by_role("button", name="Entrar").click()
    await expect(page.get_by_role("heading", name="Bandeja")).to_be_visible()
    # A link that is opened in a new tab needs no second sign-in, and signing out holds for both.
    second = await page.context.new_page()
    await second.goto(f"{visits.url}/console#/reports")
    await expect(second.get_by_role("heading", name="Informes")).to_be_visible()
    await page.get_by_role("button", name="Salir").click()
    await expect(second.get_by_role("heading", name="Entrar en la consola")).to_be_visible()
    await second.close()

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
    await page.goto(f"{visits.url}/console#token={stack.mint('commercial', 'ana')}")
    await expect(page.get_by_role("heading", name="Bandeja")).to_be_visible()


async def test_what_was_rated_and_handed_over_is_counted(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        answer = await visitor.ask("What does the Pro plan cost?")
        await visitor.send_frame("feedback", messageId=answer["id"], rating="down", reason="<b>too long</b>")
        await visitor.send_frame("handoff.request")
        await visitor.wait_for("owner.changed")
        admin = {"Authorization": f"Bearer {stack.mint('admin', 'adam')}"}

        async def counted() -> bool:
            """Ratings are counted a moment after they are given."""
            async with aiohttp.ClientSession(stack.url, headers=admin) as http, http.get("/v2/insights") as answer:
                complaints = (await answer.json())["complaints"]
            return visitor.conversation in [complaint["conversationId"] for complaint in complaints]

        await eventually(counted)
        page = await signed_in(visits, "Admin")
        await page.get_by_role("link", name="Usage").click()
        await page.locator(f'.complaints a[href="#/inbox/{visitor.conversation}"]', has_text="<b>too long</b>").click()
        await expect(page.locator(".thread .said.assistant")).to_have_count(1)


async def test_an_answer_says_what_it_was_made_of(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await opened(visits, visitor)
        await page.get_by_role("button", name="Why this answer").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("link", name="Pricing").first).to_be_visible()
        await expect(dialog.get_by_text("offline", exact=False).first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)


async def test_what_an_agent_writes_offline_stays_in_sight_and_goes_out_once(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor, a_visitor(stack) as other:
        for client in (visitor, other):
            await client.ask("hello")
        page = await opened(visits, visitor)
        await expect(page.get_by_role("button", name="Take over", exact=True)).to_be_visible()
        await page.context.set_offline(True)
        await expect(page.get_by_text("Connection lost. Trying again…")).to_be_visible()
        await page.get_by_label("Your message").fill("Written in a tunnel")
        await page.keyboard.press("Control+Enter")
        waiting = page.locator(".said.waiting")
        await expect(waiting).to_contain_text("Written in a tunnel")
        # It is not lost by looking at another conversation.
        await row_of(page, other.conversation).click()
        await expect(waiting).to_have_count(0)
        await row_of(page, visitor.conversation).click()
        await expect(waiting).to_contain_text("Written in a tunnel")
        await page.context.set_offline(False)
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert (said["message"]["text"], said["message"]["name"]) == ("Written in a tunnel", "Elena")
        await expect(waiting).to_have_count(0)
        await expect(page.locator(".said.operator")).to_have_count(1)
        await expect(page.locator(".banner")).to_contain_text("You are answering")


async def test_a_conversation_is_answered_with_the_keyboard_alone(visits: Visits, stack: RunningStack) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await visits.open("/console")
        await until_focused(page, "Agent")
        await page.keyboard.press("Enter")
        await expect(row_of(page, visitor.conversation)).to_be_visible()
        await page.keyboard.press("j")
        await expect(page.locator(".said.visitor")).to_contain_text("What does the Pro plan cost?")
        # Whoever takes over goes on writing: nothing that is typed at once resolves or labels.
        await page.keyboard.press("t")
        await page.keyboard.type("29 USD, and the first two weeks are free.")
        await expect(page.locator(".banner")).to_contain_text("You are answering")
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
        await expect(page.locator(".banner")).to_contain_text("The AI is answering")
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("Choose a conversation.")).to_be_visible()
