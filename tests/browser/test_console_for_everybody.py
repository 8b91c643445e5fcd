"""The console for everybody: axe finds nothing in any view, light or dark, wide or narrow; hostile texts stay text."""

from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.axe import violations_in_any_theme
from tests.browser.console import a_visitor, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> \u202eabc'
SIZES = {"wide": (1280, 800), "narrow": (390, 780)}
VIEWS = {
    "replies": "Saved replies",
    "knowledge": "Knowledge",
    "reports": "Reports",
    "usage": "Usage",
    "settings": "Settings",
    "team": "Team",
    "keys": "Customer keys",
    "erasures": "Data and retention",
    "begin": "First steps",
    "failed": "Failed answers",
}
"""Beside the inbox; the last one stays open."""
FAILED = {
    "turnId": "t1",
    "conversationId": "c1",
    "basis": 1,
    "code": "LLM_UNAVAILABLE",
    "detail": EVIL + "x" * 2000,
    "attempts": 3,
    "failedAt": "2026-01-05T12:00:00Z",
    "open": True,
}


async def clean(page: Page, where: str) -> None:
    """Nothing for axe to find, nothing ran, nothing sticks out."""
    assert await violations_in_any_theme(page) == [], where
    assert await page.evaluate("window.hacked") is None, where
    assert await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), where
    # What scrolls sideways does so on purpose: code and tables.
    assert await page.evaluate(
        "document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth"
    )


async def failures(route: Route) -> None:
    """A page with one that can be asked again, and one that cannot."""
    await route.fulfill(json={"items": [FAILED, {**FAILED, "turnId": "t2", "code": EVIL, "open": False}]})


@pytest.mark.parametrize("size", SIZES)
async def test_axe_finds_nothing_in_any_view(visits: Visits, stack: RunningStack, size: str) -> None:
    page = await visits.open("/console", size=SIZES[size])
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await clean(page, "sign-in")
    async with a_visitor(stack) as visitor:
        answer = await visitor.ask("What does the Pro plan cost?")
        await visitor.send_frame("feedback", messageId=answer["id"], rating="down", reason=EVIL)
        await visitor.say(EVIL)
        await visitor.send_frame("handoff.request")
        await visitor.wait_for("owner.changed")
        page = await signed_in(visits, "Admin", size=SIZES[size])
        row = row_of(page, visitor.conversation)
        await expect(row).to_contain_text("waiting")
        await clean(page, "inbox")
        await page.get_by_role("button", name="Stuck").click()
        await expect(page.get_by_text("No answer has failed.")).to_be_visible()
        await clean(page, "empty inbox")
        await page.get_by_role("group", name="Show").get_by_role("button", name="All").click()
        await row.click()
        await page.get_by_role("button", name="Suggest replies").click()
        await expect(page.locator(".offer")).to_have_count(3)
        await clean(page, "conversation")
        await page.get_by_role("button", name="Why this answer").first.click()
        await expect(page.get_by_role("dialog").get_by_role("link", name="Pricing").first).to_be_visible()
        await page.get_by_role("button", name="Ask again, side by side").click()
        await page.get_by_role("region", name="Answer B").get_by_label("Model").select_option("offline")
        await page.get_by_role("region", name="Answer B").get_by_role("button", name="Answer again").click()
        await expect(page.get_by_text("Same as the recorded answer, word for word")).to_be_visible()
        await page.get_by_role("button", name="Turn this into a test case").click()
        await expect(page.get_by_role("dialog").get_by_role("link", name="Save ")).to_be_visible()
        await clean(page, "why")
        await page.keyboard.press("Escape")
    await page.route("**/v2/turns/failed?*", failures)
    for view, heading in VIEWS.items():
        await page.locator(f'.rail a[data-path="{view}"]').click()
        await expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        await page.wait_for_load_state("networkidle")
        await clean(page, view)
    await expect(page.get_by_text("No model could answer")).to_be_visible()
    await expect(page.get_by_role("button", name="Ask again")).to_have_count(1)
    await page.locator('.rail a[data-path="settings"]').click()
    await page.get_by_role("button", name="Switch off").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await clean(page, "kill switch")


async def test_on_a_low_screen_the_sections_scroll_by_themselves(visits: Visits) -> None:
    page = await signed_in(visits, "Admin", size=(1280, 520))
    await page.locator(".rail").hover()
    await page.mouse.wheel(0, 1000)
    await expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)
    await expect(page.get_by_role("heading", name="Inbox")).to_be_in_viewport(ratio=1)


async def test_what_tools_pages_and_names_say_is_text(visits: Visits, stack: RunningStack) -> None:
    """Names, titles and arguments as a hostile service could send them."""
    async with a_visitor(stack) as visitor:
        await visitor.ask("What does the Pro plan cost?")
        page = await signed_in(visits)

        async def turn(route: Route) -> None:
            call = {"callId": "c", "tool": EVIL, "arguments": {EVIL: EVIL}, "success": False, "code": EVIL, "ms": 1}
            pages = [{"url": "javascript:window.hacked=1", "title": EVIL}, {"url": "https://a.example/b", "title": ""}]
            usage = {"promptTokens": 1, "completionTokens": 1}
            common = {"turnId": "t", "outcome": "answered", "model": EVIL, "provider": EVIL, "usage": usage}
            numbers = {"configVersion": 1, "latencyMs": 1, "attempts": 1, "discarded": 1}
            await route.fulfill(json={**common, **numbers, "calls": [call], "citations": pages, "offered": []})

        async def named(route: Route) -> None:
            found = await route.fetch()
            body = await found.json()
            body["visitor"] |= {"name": EVIL, "page": {"url": "https://a.example/b", "title": EVIL}}
            await route.fulfill(response=found, json=body)

        await page.route("**/turns/*", turn)
        await page.route(f"**/v2/conversations/{visitor.conversation}", named)
        await row_of(page, visitor.conversation).click()
        await expect(page.get_by_role("heading", name="onerror")).to_contain_text("<script>")
        await page.get_by_role("button", name="Why this answer").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator(".calls")).to_contain_text("<script>")
        assert await dialog.get_by_role("link").evaluate_all("(all) => all.map((one) => one.href)") == [
            "https://a.example/b"
        ]
        await clean(page, "why")
        assert await page.locator("#console img, dialog img").count() == 0


async def test_no_script_of_the_console_makes_markup_of_text() -> None:
    folder = Path(__file__).parents[2] / "services/gateway/src/gateway/site/console"
    source = "".join(file.read_text() for file in folder.glob("*.js"))
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert name not in source
