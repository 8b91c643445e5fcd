"""A model provider's API over HTTP whose answers and refusals a test decides."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
from aiohttp import web

from agent.domain.offered_tool import OfferedTool
from agent.ports import ModelRequest

Refusal = tuple[int, dict[str, Any]]
"""An HTTP status and a JSON body."""
Answer = Refusal | bytes
"""A refusal, or the bytes of an event stream."""


LOOK = OfferedTool("look", "Looks.", "market", {"type": "object"}, "Looking")
HI = ModelRequest(
    messages=[{"role": "user", "content": "hi"}],
    tools=[LOOK],
    tool_choice="auto",
    model="m",
    temperature=0.7,
    max_tokens=50,
    time_limit=5.0,
)
"""A request of one message, with one tool."""


def openai_error(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Refusal:
    """Returns a refusal in OpenAI's format."""
    return status, {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def streamed(*events: Mapping[str, Any]) -> bytes:
    """Returns the bytes of these server-sent events."""
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)


class Endpoint:
    """An API that responds with `answer(body)`. `asked`: the bodies of the requests; `paths`: their paths."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self._answer = answer
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        self.asked.append(body)
        self.paths.append(request.path)
        answer = self._answer(body)
        if isinstance(answer, tuple):
            status, refusal = answer
            return web.json_response(refusal, status=status)
        return web.Response(body=answer, content_type="text/event-stream")


@asynccontextmanager
async def serving(answer: Callable[[dict[str, Any]], Answer]) -> AsyncGenerator[Endpoint]:
    """Serves the endpoint on a free port."""
    endpoint, app = Endpoint(answer), web.Application()
    app.router.add_post("/{path:.*}", endpoint.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield endpoint
    finally:
        await runner.cleanup()
