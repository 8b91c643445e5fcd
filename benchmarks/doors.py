"""What does a turn cost through the door of another protocol, compared with the websocket?

Each door gets the same turn of a signed-in customer, an answer of 20 words in a burst, in its own protocol, and the
stream is read to its end; MCP has no turns, so there it is one tool call. The doors alternate in laps of 15 turns, each
lap with a new customer and conversation, so that other load on the machine affects all of them. It counts the CPU time
of the services minus their idle CPU: a door's own code is in the gateway, and what it causes in the others is shown as
well.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp
import orjson

from agent.scripted_model.server import scripted_model
from benchmarks.first_token import BURST, COMPANY, SERVICES, running, spent
from benchmarks.report import Figure, growth
from tests.support.chat_client import ChatClient
from tests.support.mcp_client import connected
from tests.support.running_stack import RunningStack

QUESTION = "a turn through another's door"
TEXT = "what is the price of AAPL?"
LAPS, WARM_UP, LAP = 14, 2, 15
SETTLED, REST = 5.0, 5.0
"""Seconds until no work is left after the turns, and seconds in which the services' idle CPU is measured."""
MAX_EXTRA_MS = 0.3
"""Milliseconds of CPU that a turn through a door may cost more than through the websocket."""
Turn = Callable[[], Awaitable[None]]
Events = list[dict[str, Any]]
Post = Callable[[str, dict[str, Any]], Awaitable[Events]]
Door = Callable[[RunningStack, str], AbstractAsyncContextManager[Turn]]


async def run() -> list[Figure]:
    """Returns all figures; takes about a minute."""
    at_rest = dict.fromkeys(SERVICES, 0.0)
    spent_by = {name: dict.fromkeys(SERVICES, 0.0) for name in DOORS}
    async with scripted_model(default=BURST) as model, running(model) as stack:
        for lap in range(WARM_UP + LAPS):
            if lap == WARM_UP:
                await asyncio.sleep(SETTLED)
                spent_before = spent(stack)
                await asyncio.sleep(REST)
                at_rest = growth(spent_before, spent(stack), REST)
            for name, door in DOORS.items():
                token = stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", COMPANY)
                async with door(stack, token) as turn:
                    spent_before, started = spent(stack), time.monotonic()
                    for _ in range(LAP):
                        await turn()
                    spent_after, seconds = spent(stack), time.monotonic() - started
                if lap >= WARM_UP:
                    for service in SERVICES:
                        spent_by[name][service] += (
                            spent_after[service] - spent_before[service] - at_rest[service] * seconds
                        )
    turns = LAPS * LAP
    websocket_cpu = {service: total / turns for service, total in spent_by.pop("websocket").items()}
    figures = [
        Figure(QUESTION, "CPU a turn: websocket", sum(websocket_cpu.values()), "ms", note="five services"),
        Figure(QUESTION, "CPU a turn: websocket, gateway", websocket_cpu["gateway"], "ms"),
    ]
    for name, cpu in spent_by.items():
        extra_cpu = {service: total / turns - websocket_cpu[service] for service, total in cpu.items()}
        figures += [
            Figure(QUESTION, f"CPU a turn more, gateway: {name}", extra_cpu["gateway"], "ms", MAX_EXTRA_MS),
            Figure(QUESTION, f"CPU a turn more, all: {name}", sum(extra_cpu.values()), "ms", note="five services"),
        ]
    return figures


@asynccontextmanager
async def websocket(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """A turn with the product's own client."""
    async with ChatClient(stack.url, token) as client:
        await client.hello(locale="en")

        async def turn() -> None:
            mark = len(client.frames)
            await client.send_frame("message.send", clientMessageId=str(uuid.uuid4()), text=TEXT)
            await client.wait_for("run.finished", after=mark)

        yield turn


def over_http(turns: Callable[[Post], Turn]) -> Door:
    """Makes a door of a function that gets `post`, which posts over one connection and reads the server-sent events to
    their end."""

    @asynccontextmanager
    async def door(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream", "A2A-Version": "1.0"}
        async with aiohttp.ClientSession(stack.url, headers=headers) as session:

            async def post(path: str, body: dict[str, Any]) -> Events:
                async with session.post(path, json=body) as response:
                    assert response.status == 200, await response.text()
                    lines = (await response.read()).split(b"\n")
                return [orjson.loads(line[6:]) for line in lines if line.startswith(b"data: {")]

            yield turns(post)

    return door


@over_http
def completions(post: Post) -> Turn:
    """A turn with OpenAI chat completions; the client sends the whole conversation each time."""
    messages: list[dict[str, str]] = []

    async def turn() -> None:
        messages.append({"role": "user", "content": TEXT})
        events = await post("/v1/chat/completions", {"model": "nexus", "messages": messages, "stream": True})
        (*pieces, last) = [choice for event in events for choice in event["choices"]]
        assert last["finish_reason"] == "stop"
        text = "".join(piece["delta"].get("content") or "" for piece in pieces)
        messages.append({"role": "assistant", "content": text})

    return turn


@asynccontextmanager
async def mcp(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """One tool call with MCP's official client."""
    async with connected(stack.url, token) as client:

        async def turn() -> None:
            assert not (await client.call_tool("get_price", {"symbol": "AAPL"})).is_error

        yield turn


@over_http
def responses(post: Post) -> Turn:
    """A turn with Open Responses."""
    previous: dict[str, str] = {}

    async def turn() -> None:
        events = await post("/v1/responses", {"model": "nexus", "input": TEXT, "stream": True, **previous})
        assert events[-1]["type"] == "response.completed"
        previous["previous_response_id"] = events[-1]["response"]["id"]

    return turn


@over_http
def ag_ui(post: Post) -> Turn:
    """A turn with AG-UI."""
    run: dict[str, Any] = {"threadId": uuid.uuid4().hex, "state": {}, "tools": [], "context": [], "forwardedProps": {}}

    async def turn() -> None:
        message = {"id": uuid.uuid4().hex, "role": "user", "content": TEXT}
        events = await post("/v2/ag-ui", {**run, "runId": uuid.uuid4().hex, "messages": [message]})
        assert events[-1]["type"] == "RUN_FINISHED"

    return turn


@over_http
def ai_sdk(post: Post) -> Turn:
    """A turn with the AI SDK's UI message stream."""
    chat = uuid.uuid4().hex

    async def turn() -> None:
        message = {"id": uuid.uuid4().hex, "role": "user", "parts": [{"type": "text", "text": TEXT}]}
        events = await post("/v2/ui/chat", {"id": chat, "message": message})
        assert events[-1]["type"] == "finish"

    return turn


@over_http
def a2a(post: Post) -> Turn:
    """A turn with A2A, as a stream."""
    context: dict[str, str] = {}

    async def turn() -> None:
        message = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": TEXT}], **context}
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
        last = (await post("/a2a", call))[-1]["result"]["statusUpdate"]
        assert last["status"]["state"] == "TASK_STATE_COMPLETED"
        context["contextId"] = last["contextId"]

    return turn


DOORS = {
    "websocket": websocket,
    "chat completions": completions,
    "Open Responses": responses,
    "AG-UI": ag_ui,
    "AI SDK": ai_sdk,
    "A2A": a2a,
    "MCP": mcp,
}
