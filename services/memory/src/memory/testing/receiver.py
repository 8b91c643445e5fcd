"""For tests: a company's own system, a real HTTP server that receives webhooks and answers as the test wants."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks.webhooks import Webhook

AnswerFunction = Callable[["ReceivedWebhook"], Awaitable[int | web.Response]]


@dataclass(frozen=True, slots=True)
class ReceivedWebhook:
    """One request, its signature verified by the standard's own library."""

    id: str
    event: dict[str, Any]

    @property
    def text(self) -> str:
        """The text, if it is a message."""
        return self.event["data"].get("text", "")


@dataclass
class Receiver:
    """`url` is its address, `taken` the requests that it received, `say` returns its answer: without it, 204."""

    url: str
    key: str | bytes
    taken: list[ReceivedWebhook] = field(default_factory=list[ReceivedWebhook])
    say: AnswerFunction | None = None

    def texts(self) -> list[str]:
        """The texts of the messages received, in order."""
        return [request.text for request in self.taken]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Receives one request; a bad signature is an error of the server."""
        body = await request.read()
        event = Webhook(self.key).verify(body, dict(request.headers))
        taken = ReceivedWebhook(request.headers["webhook-id"], event)
        self.taken.append(taken)
        answer = 204 if self.say is None else await self.say(taken)
        return web.Response(status=answer) if isinstance(answer, int) else answer


@asynccontextmanager
async def receiving(key: str | bytes) -> AsyncGenerator[Receiver]:
    """Runs a receiver on a free port for the length of the block."""
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
