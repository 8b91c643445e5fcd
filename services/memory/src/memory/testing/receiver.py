"""A company's own system: a real HTTP server that takes webhooks and says what it is told to."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks.webhooks import Webhook

Say = Callable[["Taken"], Awaitable[int | web.Response]]


@dataclass(frozen=True, slots=True)
class Taken:
    """One request, its signature verified by the standard's own library."""

    id: str
    event: dict[str, Any]

    @property
    def text(self) -> str:
        """What was written, where it is a message."""
        return self.event["data"].get("text", "")


@dataclass
class Receiver:
    """`url` is its address, `taken` what came, `say` what it answers: 204 at first."""

    url: str
    key: str | bytes
    taken: list[Taken] = field(default_factory=list[Taken])
    say: Say | None = None

    def texts(self) -> list[str]:
        """What was written in the messages that came, in order."""
        return [one.text for one in self.taken]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Takes one; a bad signature is an error of the server."""
        body = await request.read()
        event = Webhook(self.key).verify(body, dict(request.headers))
        taken = Taken(request.headers["webhook-id"], event)
        self.taken.append(taken)
        answer = 204 if self.say is None else await self.say(taken)
        return web.Response(status=answer) if isinstance(answer, int) else answer


@asynccontextmanager
async def receiving(key: str | bytes) -> AsyncGenerator[Receiver]:
    """A receiver on a free port, for the length of the block."""
    receiver = Receiver("", key)
    app = web.Application()
    app.router.add_post("/hook", receiver.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    receiver.url = f"http://127.0.0.1:{port}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
