"""People's browsers: each visit has a context of its own (storage, language, colours); complaints are collected."""

from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.browser.chat_page import ChatPage

DEADLINE_MS = 40_000
"""How long a test waits for what should appear; one that needs longer says so."""
Scheme = Literal["light", "dark"]


class Visits:
    """Opens pages of the stack at `url`."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    async def context(
        self, *, locale: str = "en-US", scheme: Scheme = "light", size: tuple[int, int] = (1280, 800), **options: Any
    ) -> BrowserContext:
        """Another person's browser."""
        context = await self._browser.new_context(
            locale=locale,
            color_scheme=scheme,
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(DEADLINE_MS)
        context.on("page", self._listen)
        context.on("request", self._count)
        self._contexts.append(context)
        return context

    async def open(self, path: str = "/", **options: Any) -> Page:
        """A page of the site, in a browser of its own."""
        page = await (await self.context(**options)).new_page()
        await page.goto(self.url + path)
        return page

    async def chat(self, path: str = "/", *, language: str = "en", **options: Any) -> ChatPage:
        """A page with its chat open."""
        page = await self.open(path, locale="es-ES" if language == "es" else "en-US", **options)
        return await ChatPage(page, language).open()

    async def end(self) -> None:
        """Closes all; raises AssertionError with what the pages' consoles said."""
        for context in self._contexts:
            await context.close()
        assert self.complaints == []

    def _listen(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        # Breaches of the content security policy and uncaught errors are told here. A request that a test cuts off on
        # purpose is no complaint, and neither is one that the server refuses: the page says what is to be done.
        refused = "net::ERR_" in message.text or "responded with a status of 4" in message.text
        if message.type == "error" and not refused:
            self.complaints.append(message.text)

    def _count(self, request: Request) -> None:
        self.requests.append(request.url)
