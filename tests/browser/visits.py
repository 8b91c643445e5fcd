"""People's browsers: each has its own context (storage, language, colours); errors in the page's console are
collected."""

from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.browser.chat_page import ChatPage

DEADLINE_MS = 40_000
"""Milliseconds to wait for an element, unless a test gives another value."""
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
        """Returns a new browser context, as of another person."""
        context = await self._browser.new_context(
            locale=locale,
            color_scheme=scheme,
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(DEADLINE_MS)
        context.on("page", self._listen)
        context.on("request", self._on_request)
        self._contexts.append(context)
        return context

    async def open(self, path: str = "/", **options: Any) -> Page:
        """Opens a page of the site in a new context."""
        page = await (await self.context(**options)).new_page()
        await page.goto(self.url + path)
        return page

    async def chat(
        self, path: str = "/", *, language: str = "en", token: str | None = None, **options: Any
    ) -> ChatPage:
        """Opens a page and its chat, for the customer of the token if there is one."""
        page = await self.open(path, **{"locale": "es-ES" if language == "es" else "en-US", **options})
        if token is not None:
            await page.evaluate("(token) => Nexus.identify(token)", token)
        return await ChatPage(page, language).open()

    async def end(self) -> None:
        """Closes all contexts; raises AssertionError with the errors of the pages' consoles."""
        for context in self._contexts:
            await context.close()
        assert self.complaints == []

    def _listen(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _on_console(self, message: ConsoleMessage) -> None:
        # The console reports breaches of the content security policy and uncaught errors. A request that a test cuts
        # off on purpose, or that the server refuses, does not count: the page tells the person what to do.
        refused = "net::ERR_" in message.text or "responded with a status of 4" in message.text
        if message.type == "error" and not refused:
            self.complaints.append(message.text)

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)
