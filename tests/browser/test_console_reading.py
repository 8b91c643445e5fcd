"""What an agent reads: the charts that the customer sees, orders as they stand, the details on a small screen."""

import re
import uuid

import pytest
from playwright.async_api import WebSocketRoute, expect

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from tests.browser.axe import violations
from tests.browser.chat_page import conversation_of
from tests.browser.console import a_visitor, opened, row_of, signed_in, until_focused
from tests.browser.visits import Scheme, Visits
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


def calling(tool: str, **arguments: object) -> ScriptedReply:
    return ScriptedReply(tool_calls=[ScriptedCall(name=tool, arguments=arguments)])


def customer(stack: RunningStack) -> str:
    """The token of a customer whom no other test knows."""
    return stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="premium")


@pytest.mark.parametrize(("size", "scheme"), [((900, 700), "light"), ((390, 700), "dark")])
async def test_on_a_small_screen_the_visitors_details_and_the_transcript_are_a_key_away(
    visits: Visits, stack: RunningStack, size: tuple[int, int], scheme: Scheme
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        page = await signed_in(visits, size=size, scheme=scheme)
        await row_of(page, visitor.conversation).click()
        details = page.get_by_role("complementary", name="Visitor details")
        await expect(page.locator(".banner button")).to_be_visible()
        await expect(details).to_be_hidden()
        # By pointer.
        shows = page.get_by_role("button", name="Visitor details")
        await shows.click()
        await expect(shows).to_have_attribute("aria-expanded", "true")
        await expect(details.get_by_role("button", name="JSON")).to_be_in_viewport()
        assert await violations(page) == []
        await shows.click()
        await expect(details).to_be_hidden()
        # By keys: open, on to the transcript, and back to where one was.
        await page.keyboard.press("i")
        await expect(details).to_be_focused()
        await until_focused(page, "JSON", most=3)
        await expect(details.get_by_role("button", name="JSON")).to_be_in_viewport()
        async with page.expect_download() as saved:
            await page.keyboard.press("Enter")
        assert (await saved.value).suggested_filename == f"{visitor.conversation}.json"
        await page.keyboard.press("Escape")
        await expect(details).to_be_hidden()
        await expect(shows).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page).to_have_url(f"{visits.url}/console#/inbox")


async def test_a_message_that_is_read_with_the_older_ones_before_the_socket_tells_it_is_last(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("the first")
        page = await (await visits.context()).new_page()
        await page.route_web_socket("**/v2/chat/ws", _without_messages)
        await page.goto(f"{visits.url}/console")
        await page.get_by_role("button", name="Agent").click()
        await row_of(page, visitor.conversation).click()
        said = page.locator(".thread .said")
        await expect(said).to_have_count(2)
        await visitor.say("the newest")
        await page.locator(".thread").dispatch_event("scroll")
        await expect(said.last).to_contain_text("the newest")
        await expect(said.first).to_contain_text("the first")


def _without_messages(page_socket: WebSocketRoute) -> None:
    """Tells the page everything but new messages."""
    server = page_socket.connect_to_server()

    def on_frame(frame: str | bytes) -> None:
        if '"message.created"' not in str(frame):
            page_socket.send(frame)

    server.on_message(on_frame)


@pytest.mark.parametrize("language", ["en", "es"])
async def test_an_agent_sees_the_charts_that_the_customer_sees(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel, language: str
) -> None:
    locale = "es-ES" if language == "es" else "en-GB"
    bars = calling("get_ohlcv", symbol="IBM", timeframe="1d", limit=30)
    model.say(Rule(match="IBM", replies=[bars, ScriptedReply(text="It moved.")], again=True))
    path, token = "/es" if language == "es" else "/", customer(scripted_stack)
    chat = await scripted_visits.chat(path, language=language, token=token, locale=locale)
    answer = await chat.ask("IBM?")
    theirs = answer.get_by_role("img")
    page = await scripted_visits.open("/console", locale=locale)
    await page.locator(".people button").first.click()
    await row_of(page, await conversation_of(chat.page)).click()
    chart = page.locator(".thread .said.assistant figure")
    label = await theirs.get_attribute("aria-label")
    assert label
    assert re.search(r"\d{1,2} [a-zñ]{3,4} \d{4}", label, re.IGNORECASE)  # as in Madrid and London, not in New York
    await expect(chart.get_by_role("img")).to_have_attribute("aria-label", label)
    assert await chart.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    # It is read with keys, as the customer's is.
    await chart.get_by_role("img").focus()
    await page.keyboard.press("Home")
    await expect(chart.locator(".readout")).to_contain_text("20")
    await chart.locator("summary").click()
    await expect(chart.locator("tbody tr")).to_have_count(30)
    assert await violations(page) == []


async def test_an_order_decided_while_the_agents_line_was_lost_is_shown_as_it_stands(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    order = calling("create_paper_order", symbol="IBM", side="buy", quantity=3, order_type="market")
    model.say(Rule(match="Buy", replies=[order, ScriptedReply(text="Shall I?")], again=True))
    async with scripted_stack.chat(customer(scripted_stack)) as client:
        first = (await client.ask("Buy 3 IBM"))["actions"][0]
        page = await opened(scripted_visits, client)
        states = page.locator(".thread .action .state")
        await expect(states).to_have_text(["waiting for the customer to confirm"])
        await page.context.set_offline(True)
        await expect(page.get_by_text("Connection lost. Trying again…")).to_be_visible()
        # One was asked before the line was lost, the other one after it; both are decided before it is back.
        second = (await client.ask("Buy 3 IBM more"))["actions"][0]
        for one, decision in ((first, "confirm"), (second, "reject")):
            await client.send_frame(f"action.{decision}", actionId=one["id"])
            await client.wait_for("action.updated", lambda f, one=one: f["action"]["id"] == one["id"])
        await page.context.set_offline(False)
        await expect(states).to_have_text(["confirmed", "rejected"])


async def test_a_conversation_that_cannot_be_read_now_shows_what_the_list_knows(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        page = await signed_in(visits)
        row = row_of(page, visitor.conversation)
        await expect(row).to_be_visible()
        await page.route(f"**/v2/conversations/{visitor.conversation}", lambda route: route.abort())
        await row.click()
        await expect(page.locator(".talk h1")).to_have_text(await row.locator("b").inner_text())
        await expect(page.get_by_role("button", name="Resolve", exact=True)).to_be_visible()
        await expect(page.get_by_role("complementary", name="Visitor details")).to_contain_text("/pricing")


async def test_what_has_left_the_list_is_followed_by_what_stands_in_its_place(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"c-{uuid.uuid4().hex[:8]}"
    await stack.create_company(company, aiAutoResponseEnabled=True, profile="support", responseDelayMs=0)
    clients: list[ChatClient] = []
    for _ in range(4):
        token, _ = await stack.visitor(company)
        client = ChatClient(stack.url, token)
        clients.append(client)
        await client.connect()
        await client.hello()
        await client.ask("hello")
    page = await visits.open(f"/console#token={stack.mint('commercial', 'ana', company)}")
    rows = page.locator(".talks a")
    await expect(rows).to_have_count(4)
    await page.get_by_role("button", name=re.compile("^Unassigned")).click()
    ids = [client.conversation for client in reversed(clients)]
    await expect(rows.nth(1)).to_have_attribute("data-id", ids[1] or "")
    await rows.nth(1).click()
    await page.get_by_role("button", name="Resolve", exact=True).click()
    await expect(rows).to_have_count(3)
    await page.locator(".thread").focus()
    await page.keyboard.press("j")
    await expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    await expect(rows.nth(1)).to_have_attribute("data-id", ids[2] or "")
    await page.get_by_role("button", name="Resolve", exact=True).click()
    await expect(rows).to_have_count(2)
    await page.locator(".thread").focus()
    await page.keyboard.press("k")
    await expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    for client in clients:
        await client.__aexit__(None, None, None)
