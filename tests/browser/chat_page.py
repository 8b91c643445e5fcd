"""The widget as a person uses it: by what is written on it, never by what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

from agent.scripted_model.script import ScriptedReply

LANGUAGES = {
    "en": {"open": "Open the chat", "close": "Close the chat", "hint": "Write a message…", "send": "Send"},
    "es": {"open": "Abrir el chat", "close": "Cerrar el chat", "hint": "Escribe un mensaje…", "send": "Enviar"},
}
SLOWLY = ScriptedReply(text=" ".join(f"word{number}" for number in range(120)), token_ms=100)
"""Six seconds of text."""
QUICKLY = ScriptedReply(text="A quick answer.")


@dataclass(frozen=True, slots=True)
class ChatPage:
    """A page with the widget on it."""

    page: Page
    language: str = "en"

    @property
    def panel(self) -> Locator:
        """The open chat."""
        return self.page.get_by_role("dialog")

    @property
    def input(self) -> Locator:
        """Where one writes."""
        return self.panel.get_by_role("textbox", name=LANGUAGES[self.language]["hint"])

    @property
    def messages(self) -> Locator:
        """All messages, in the order in which they are shown."""
        return self.panel.get_by_role("article")

    @property
    def answers(self) -> Locator:
        """The assistant's messages; the one that is being written counts."""
        return self.panel.locator("article.assistant")

    @property
    def own(self) -> Locator:
        """One's own messages."""
        return self.panel.locator("article.mine")

    async def open(self) -> ChatPage:
        """Opens the chat and waits until the line is up."""
        await self.page.get_by_role("button", name=LANGUAGES[self.language]["open"]).click()
        await self.ready()
        return self

    async def ready(self) -> None:
        """Waits until nothing is said about the line any more."""
        await expect(self.input).to_be_visible()
        await expect(self.panel.locator(".banner")).to_be_hidden()

    async def say(self, text: str) -> None:
        """Writes and sends with Enter."""
        await self.input.fill(text)
        await self.input.press("Enter")

    async def ask(self, text: str) -> Locator:
        """Writes, and waits for the whole answer."""
        before = await self.answers.count()
        await self.say(text)
        answer = self.answers.nth(before)
        await expect(answer.locator("time")).to_be_visible()
        return answer

    async def texts(self) -> list[str]:
        """What every message says, without what stands beside it."""
        return await self.messages.locator(".body").all_inner_texts()


async def conversation_of(page: Page) -> str:
    """The conversation that the page's visitor is in."""
    key = "Object.keys(localStorage).find((key) => key.endsWith(':conversation'))"
    return await page.evaluate(f"JSON.parse(localStorage.getItem({key}))")
