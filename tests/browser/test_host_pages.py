"""The widget on pages of others: strict policies, what pages may do with it, and why it says that it cannot go on."""

import json
import uuid
from collections.abc import AsyncIterator
from urllib.parse import unquote

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Page, Route, WebSocketRoute, expect

from runtime.testing.servers import eventually
from tests.browser.axe import violations
from tests.browser.chat_page import ChatPage
from tests.browser.host_site import HostSite, host_site
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

BRAND = "#c2410c"


@pytest_asyncio.fixture(loop_scope="session")
async def site(stack: RunningStack) -> AsyncIterator[HostSite]:
    """A company's site where its chat may run."""
    company = f"shop-{uuid.uuid4().hex[:8]}"
    async with host_site(stack.url, company, 'data-title="Shop help" data-suggestions="What is RSI?|Hello"') as running:
        settings = {"aiAutoResponseEnabled": True, "responseDelayMs": 0, "allowedOrigins": [running.origin]}
        await stack.create_company(company, brandColor=BRAND, **settings)
        yield running


async def at(visits: Visits, address: str) -> Page:
    """A new visitor there."""
    page = await (await visits.context()).new_page()
    await page.goto(address)
    return page


async def test_the_widget_works_under_the_strictest_policy_of_another_site(visits: Visits, site: HostSite) -> None:
    chat = await ChatPage(await at(visits, site.page)).open()
    await expect(chat.panel.get_by_role("heading", name="Shop help")).to_be_visible()
    await chat.panel.get_by_role("button", name="What is RSI?").click()
    await expect(chat.answers.first.locator("time")).to_be_visible()
    note = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"as agreed")
    await chat.panel.locator("input[type=file]").set_input_files(note)
    await expect(chat.panel.locator(".chosen")).to_contain_text("1 KB")
    await chat.panel.get_by_role("button", name="Send", exact=True).click()
    await expect(chat.own.last.get_by_role("button", name="Open note.txt")).to_be_visible()
    # Another topic, and back to the first one.
    topics = chat.panel.get_by_role("button", name="Your topics")
    await topics.click()
    await chat.panel.get_by_role("button", name="New topic").click()
    await expect(chat.messages).to_have_count(0)
    await chat.ask("Hello")
    await topics.click()
    await chat.panel.get_by_role("navigation", name="Your topics").get_by_role("button").nth(1).click()
    await expect(chat.own).to_have_count(2)
    await expect(chat.own.first).to_contain_text("What is RSI?")
    await topics.click()
    mail = await chat.panel.get_by_role("link", name="E-mail this conversation").get_attribute("href")
    assert "What is RSI?" in unquote(mail or "")
    allowed = (site.origin, visits.url)
    assert [url for url in visits.requests if not url.startswith(allowed)] == []


async def test_the_closed_chat_speaks_first_where_the_company_says_so_and_once(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"first-{uuid.uuid4().hex[:8]}"
    async with host_site(stack.url, company) as site:
        rules = [
            {"text": "Elsewhere", "pages": ["/pricing"], "afterSeconds": 0},
            {"text": "Spanish", "language": "es", "afterSeconds": 0},
            {"text": "Any questions so far?", "pages": ["/*"], "afterSeconds": 0},
        ]
        await stack.create_company(company, allowedOrigins=[site.origin], proactive=rules)
        page = await at(visits, site.page)
        bubble = page.get_by_role("button", name="Any questions so far?")
        await expect(bubble).to_be_visible()
        assert await violations(page) == []
        await bubble.click()
        chat = ChatPage(page)
        await expect(chat.panel).to_contain_text("Any questions so far?")
        await expect(bubble).to_have_count(0)
        kept = await page.evaluate("Object.entries(localStorage).find(([key]) => key.endsWith(':proactive'))[1]")
        assert kept == '["Any questions so far?"]'


async def test_the_chat_wears_the_companys_colour(visits: Visits, site: HostSite) -> None:
    page = await at(visits, site.page)
    launcher = page.get_by_role("button", name="Open the chat")
    await expect(launcher).to_have_css("background-color", "rgb(194, 65, 12)")


async def test_a_page_opens_closes_and_hears_the_chat_and_whoever_signs_in_is_one_person_at_the_desk(
    visits: Visits, site: HostSite, stack: RunningStack
) -> None:
    # The page's own policy lets no script of a test in either: this one has none.
    page = await visits.open("/help")
    await page.evaluate("""() => {
        window.heard = [];
        for (const name of ["open", "close", "message", "unread", "state"]) {
            Nexus.on(name, (event) => window.heard.push([name, event.detail]));
        }
    }""")
    await page.evaluate("Nexus.send('What does the Pro plan cost?')")
    chat = ChatPage(page)
    await expect(chat.answers.first.locator("time")).to_be_visible()
    await page.evaluate("Nexus.close()")
    await expect(chat.panel).to_be_hidden()
    heard = await page.evaluate("window.heard")
    names = [name for name, _ in heard]
    assert names[0] == "open"
    assert names[-1] == "close"
    assert "ready" in [detail["state"] for name, detail in heard if name == "state"]
    assert [detail["role"] for name, detail in heard if name == "message"] == ["assistant"]
    customer = f"u-{uuid.uuid4().hex[:8]}"
    await page.evaluate("(token) => Nexus.identify(token)", stack.mint("user", customer))
    await chat.open()
    await expect(chat.messages).to_have_count(0)  # the conversation is a customer's own
    await chat.ask("And what is RSI?")
    headers = {"Authorization": f"Bearer {stack.mint('commercial', 'ana')}"}

    async def told() -> bool:
        address = f"{stack.url}/v2/conversations?visitor={customer}"
        async with aiohttp.ClientSession(headers=headers) as session, session.get(address) as answer:
            newest, *earlier = (await answer.json())["items"]
        return [one["id"] for one in earlier] == [newest.get("previous")] and earlier[0]["visitor"]["was"] is not None

    await eventually(told)
    # They read it where they are now, and go on in their own.
    await chat.panel.get_by_role("button", name="Your topics").click()
    await chat.panel.locator(".topics button").nth(1).click()
    first = chat.messages.first
    await expect(first).to_contain_text("What does the Pro plan cost?")
    await expect(chat.answers).to_have_count(2)
    await expect(chat.answers.first.get_by_role("button", name="Good answer")).to_have_count(0)
    await expect(chat.answers.last.get_by_role("button", name="Good answer")).to_have_count(1)


async def test_words_go_on_where_what_stands_beside_them_fails_and_it_is_tried_again(visits: Visits) -> None:
    page = await visits.open("/help")
    asked: list[str] = []

    async def first_fails(route: Route) -> None:
        asked.append(route.request.url)
        await (route.abort() if len(asked) == 1 else route.continue_())

    await page.route("**/widget-beside.js?*", first_fails)
    assert asked == []
    chat = await ChatPage(page).open()
    await chat.ask("What does the Pro plan cost?")
    await expect(chat.answers.first.locator("time")).to_be_visible()
    await expect(chat.answers.first.get_by_role("button", name="Good answer")).to_have_count(0)
    await chat.panel.get_by_role("button", name="Your topics").click()
    await expect(chat.panel.get_by_role("button", name="New topic")).to_be_visible()
    await expect(chat.answers.first.get_by_role("button", name="Good answer")).to_have_count(1)
    assert len(set(asked)) == len(asked) == 2
    visits.complaints = [complaint for complaint in visits.complaints if "ERR_FAILED" not in complaint]


async def test_a_page_whose_language_is_no_proper_tag_is_spoken_to_all_the_same(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"shop-{uuid.uuid4().hex[:8]}"
    async with host_site(stack.url, company, lang="es_MX.UTF-8") as site:
        await stack.create_company(company, aiAutoResponseEnabled=True, allowedOrigins=[site.origin])
        await ChatPage(await at(visits, site.page), "es").open()


async def test_a_site_that_is_not_allowed_says_so(visits: Visits, stack: RunningStack) -> None:
    async with host_site(stack.url, "demo") as foreign:
        page = await at(visits, foreign.page)
        await page.get_by_role("button", name="Open the chat").click()
        await expect(page.get_by_role("dialog")).to_contain_text("The chat is not allowed on this site.")
    visits.complaints = [
        complaint for complaint in visits.complaints if "CORS" not in complaint and "403" not in complaint
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4500, "Your session has ended."),
        (4501, "This page is out of date."),
        (4502, "This page is out of date."),
        (4503, "not available from your network"),
        (4504, "open in too many places"),
        (4510, "There is no chat here yet."),
        (4999, "The chat has ended."),
    ],
)
async def test_a_final_close_says_what_to_do_and_does_not_come_back(visits: Visits, code: int, words: str) -> None:
    page = await visits.open("/")
    hellos: list[str] = []

    def connect(route: WebSocketRoute) -> None:
        async def refuse(text: str | bytes) -> None:
            hellos.append(str(text))
            await route.close(code=code)

        route.on_message(refuse)

    await page.route_web_socket("**/v2/chat/ws", connect)
    await page.get_by_role("button", name="Open the chat").click()
    banner = page.get_by_role("dialog").locator(".banner")
    await expect(banner).to_contain_text(words)
    await expect(page.get_by_role("textbox")).to_be_disabled()
    # A visitor whose token is not believed gets another one first, and is then told.
    assert len(hellos) == (2 if code == 4500 else 1)


@pytest.mark.parametrize("code", [4001, 4005, 4008, 4010, 4012, 4499, 1011])
async def test_other_closes_reconnect_by_themselves(visits: Visits, code: int) -> None:
    page = await visits.open("/pricing")
    tokens: list[str] = []

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        async def up(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "hello":
                tokens.append(frame["token"])
                if len(tokens) == 1:
                    await route.close(code=code)
                    return
            server.send(text)

        route.on_message(up)

    await page.route_web_socket("**/v2/chat/ws", connect)
    chat = await ChatPage(page).open()
    await chat.ask("What does the Pro plan cost?")
    assert len(tokens) == 2


async def test_a_customers_expired_token_is_asked_for_again(visits: Visits, stack: RunningStack) -> None:
    page = await visits.open("/")
    good = stack.mint("user", f"u-{uuid.uuid4().hex[:8]}")
    await page.evaluate(
        """(tokens) => { window.asked = 0; return Nexus.identify(() => tokens[window.asked++ && 1]); }""",
        ["eyJhbGciOiJub25lIn0.e30.x", good],
    )
    await ChatPage(page).open()
    assert await page.evaluate("window.asked") == 2
