"""For everybody: axe finds nothing on any page, light or dark, and the chat is used with keys alone."""

import uuid

import pytest
from playwright.async_api import expect

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from tests.browser.axe import violations_in_any_theme
from tests.browser.chat_page import ChatPage
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = ("/", "/pricing", "/help", "/guide", "/es", "/es/pricing", "/es/help", "/es/guide", "/docs")
DOCS = ("/docs/es/tus-usuarios", "/docs/en/settings", "/docs/en/api/notes", "/docs/en/search?q=hours")


async def test_axe_finds_nothing_on_any_page(visits: Visits) -> None:
    page = await visits.open("/")
    for path in PAGES + DOCS:
        await page.goto(visits.url + path)
        assert await violations_in_any_theme(page) == [], path


async def test_axe_finds_nothing_in_a_chat_with_all_that_can_be_in_it(
    scripted_visits: Visits, scripted_stack: RunningStack, model: ScriptedModel
) -> None:
    order = {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "market"}
    model.say(
        Rule(
            match="price",
            replies=[ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/pricing"})])],
        ),
        Rule(
            match="Buy", replies=[ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order", arguments=order)])]
        ),
        default=ScriptedReply(
            text="# Prices\n\n- **Pro** [29 USD](/pricing)\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n`code`\n\n> quote"
        ),
    )
    token = scripted_stack.mint("user", f"u-{uuid.uuid4().hex[:8]}", plan="premium")
    chat = await scripted_visits.chat("/", token=token)
    page = chat.page
    assert await violations_in_any_theme(page) == []
    answer = await chat.ask("What is the price of Pro?")
    await expect(answer.get_by_role("link", name="Pricing")).to_be_visible()
    await answer.get_by_role("button", name="Bad answer").click()
    await chat.ask("Buy 3 shares of IBM")
    await chat.panel.get_by_role("button", name="Talk to a person").click()
    await expect(chat.panel.get_by_role("group", name="Buy 3 IBM")).to_be_visible()
    assert await violations_in_any_theme(page) == []


BEFORE_THE_FADE = """() => {
  const [bar, link] = ['.rail nav', '.rail nav [data-here]'].map((one) => document.querySelector(one).getBoundingClientRect());
  return link.left >= bar.left && link.right <= bar.right - 47;
}"""  # noqa: E501
"""Whether the open view's link stands where the bar of views is not faded out."""


async def test_every_view_of_the_console_is_whole_on_a_small_screen(visits: Visits) -> None:
    page = await visits.open("/console", size=(390, 700))
    await page.get_by_role("button", name="Admin").click()
    for view in ("Inbox", "Usage", "Settings", "Team", "Customer keys"):
        await page.get_by_role("link", name=view).click()
        await expect(page.get_by_role("heading", name=view).first).to_be_in_viewport()
        assert await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert await page.evaluate(BEFORE_THE_FADE)


async def test_the_chat_is_used_with_keys_alone(visits: Visits) -> None:
    page = await visits.open("/help")
    launcher = page.get_by_role("button", name="Open the chat")
    await launcher.focus()
    await page.keyboard.press("Enter")
    chat = ChatPage(page)
    await expect(chat.input).to_be_focused()
    await page.keyboard.type("What does the Pro plan cost?")
    await page.keyboard.press("Enter")
    await expect(chat.answers.locator("time")).to_be_visible()
    # What came is said to those who do not see it.
    await expect(page.get_by_role("status").filter(has_text="Assistant: ")).to_contain_text("29 USD per month")
    await page.keyboard.press("Escape")
    await expect(chat.panel).to_be_hidden()
    await expect(page.get_by_role("button", name="Open the chat")).to_be_focused()


async def test_on_a_small_screen_the_chat_is_all_there_is_until_it_is_closed(visits: Visits) -> None:
    chat = await visits.chat("/help", size=(390, 700))
    await expect(chat.panel).to_have_attribute("aria-modal", "true")
    box = await chat.panel.bounding_box()
    assert box == {"x": 0, "y": 0, "width": 390, "height": 700}
    seen: set[str] = set()
    for _ in range(12):
        await chat.page.keyboard.press("Tab")
        inside: str = await chat.page.evaluate(
            "document.activeElement.tagName + '/' + (document.activeElement.shadowRoot?.activeElement?.className ?? '')"
        )
        assert inside.startswith("NEXUS-CHAT/")
        seen.add(inside)
    assert len(seen) > 3
    await chat.page.keyboard.press("Escape")
    await expect(chat.panel).to_be_hidden()


@pytest.mark.parametrize("size", [(320, 568), (844, 390), (2560, 1440)])
async def test_nothing_of_the_page_or_the_chat_is_cut_off(visits: Visits, size: tuple[int, int]) -> None:
    chat = await visits.chat("/pricing", size=size)
    await chat.ask("What does the Pro plan cost?")
    wide = "(node) => node.scrollWidth <= node.clientWidth"
    assert await chat.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert await chat.panel.evaluate(wide)
    box = await chat.panel.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]
    await expect(chat.input).to_be_in_viewport()
