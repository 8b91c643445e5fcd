"""A company's site on another origin, with the strictest content security policy."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web


@dataclass(slots=True)
class HostSite:
    """A site. `page`: the address of its page with the widget; `words`: the text of that page."""

    origin: str
    words: str = "Open from nine to five, every day."

    @property
    def page(self) -> str:
        """Returns the address of the page with the widget."""
        return f"{self.origin}/"


@asynccontextmanager
async def host_site(server: str, company: str, attributes: str = "", lang: str = "en") -> AsyncGenerator[HostSite]:
    """Serves a site on a free port whose pages may load the widget and reach its server, and nothing else.

    Trusted types are required and none is allowed, so that making markup from text fails.
    """
    policy = (
        f"default-src 'none'; script-src {server}; connect-src {server} {server.replace('http', 'ws', 1)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>Shop &lt;b&gt;&amp;amp;</title>'
        f'<script src="{server}/widget.js" data-company="{company}" {attributes} defer></script></head>'
        "<body><main><h1>Shop</h1>"
    )
    running = HostSite("")

    async def page(_: web.Request) -> web.Response:
        body = f"{head}<p>{running.words}</p></main></body></html>"
        return web.Response(text=body, content_type="text/html", headers={"Content-Security-Policy": policy})

    async def icon(_: web.Request) -> web.Response:
        return web.Response(status=204)

    application = web.Application()
    application.add_routes([web.get("/", page), web.get("/favicon.ico", icon)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        running.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield running
    finally:
        await runner.cleanup()
