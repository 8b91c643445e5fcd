"""The widget as a person uses it: elements are found by their visible texts and roles where possible."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

from agent.scripted_model.script import ScriptedReply

LANGUAGES = {
    "en": {"open": "Open the chat", "close": "Close the chat", "hint": "Write a message…", "send": "Send"},
    "es": {"open": "Abrir el chat", "close": "Cerrar el chat", "hint": "Escribe un mensaje…", "send": "Enviar"},
}
SLOWLY = ScriptedReply(text=" ".join(f"word{number}" for number in range(120)), token_ms=100)
"""An answer of twelve seconds."""
QUICKLY = ScriptedReply(text="A quick answer.")


@dataclass(frozen=True, slots=True)
class ChatPage:
    """A page with the widget on it."""

    page: Page
    language: str = "en"

    @property
    def panel(self) -> Locator:
        """Returns the open chat."""
        return self.page.get_by_role("dialog")

    @property
    def input(self) -> Locator:
        """Returns the text box."""
        return self.panel.get_by_role("textbox", name=LANGUAGES[self.language]["hint"])

    @property
    def messages(self) -> Locator:
        """Returns all messages, in the order in which they are shown."""
        return self.panel.get_by_role("article")

    @property
    def answers(self) -> Locator:
        """Returns the assistant's messages, with the one that is being written."""
        return self.panel.locator("article.assistant")

    @property
    def own(self) -> Locator:
        """Returns the messages of the person."""
        return self.panel.locator("article.mine")

    async def open(self) -> ChatPage:
        """Opens the chat and waits until it is connected."""
        await self.page.get_by_role("button", name=LANGUAGES[self.language]["open"]).click()
        await self.ready()
        return self

    async def ready(self) -> None:
        """Waits until the banner about the connection is hidden."""
        await expect(self.input).to_be_visible()
        await expect(self.panel.locator(".banner")).to_be_hidden()

    async def say(self, text: str) -> None:
        """Sends a message with Enter."""
        await self.input.fill(text)
        await self.input.press("Enter")

    async def ask(self, text: str) -> Locator:
        """Sends a message and waits for the complete answer; returns it."""
        before = await self.answers.count()
        await self.say(text)
        answer = self.answers.nth(before)
        await expect(answer.locator("time")).to_be_visible()
        return answer

    async def texts(self) -> list[str]:
        """Returns the text of every message, without the details beside it."""
        return await self.messages.locator(".body").all_inner_texts()


async def conversation_of(page: Page) -> str:
    """Returns the conversation id of the page's visitor."""
    key = "Object.keys(localStorage).find((key) => key.endsWith(':conversation'))"
    return await page.evaluate(f"JSON.parse(localStorage.getItem({key}))")
