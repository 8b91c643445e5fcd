"""Common steps of the console's tests: sign in, write as a visitor, open a conversation, move the focus."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.visits import Visits
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def signed_in(visits: Visits, persona: str = "Agent", path: str = "/console", **options: Any) -> Page:
    """Signs in to the console as one of the demo's people; returns the page with the inbox."""
    page = await visits.open(path, **options)
    await page.get_by_role("button", name=persona).click()
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    return page


def a_visitor(stack: RunningStack, **fields: Any) -> AbstractAsyncContextManager[ChatClient]:
    """The chat of a visitor on the demo's page of prices."""
    return stack.visit(page={"url": f"{stack.url}/pricing", "title": "Pricing"}, **fields)


async def until_focused(page: Page, name: str, *, back: bool = False, most: int = 60) -> None:
    """Presses Tab until the button of that name has the focus."""
    assert await is_focused_within(page, name, most, back=back), f"Tab does not lead to {name!r}"


async def is_focused_within(page: Page, name: str, most: int, *, back: bool = False) -> bool:
    """Whether at most so many Tabs lead to the button of that name, which then has the focus."""
    for _ in range(most):
        if await page.evaluate("document.activeElement.textContent") == name:
            return True
        await page.keyboard.press("Shift+Tab" if back else "Tab")
    return False


def row_of(page: Page, conversation: str | None) -> Locator:
    """Returns the conversation's row in the list."""
    return page.locator(f'.talks a[data-id="{conversation}"]')


async def opened(visits: Visits, visitor: ChatClient, persona: str = "Agent") -> Page:
    """Opens the visitor's conversation in an agent's browser and waits until it is connected."""
    page = await signed_in(visits, persona)
    await row_of(page, visitor.conversation).click()
    await expect(page.locator(".banner button")).to_be_visible()
    return page
