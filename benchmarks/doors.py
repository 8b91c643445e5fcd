"""What does a turn cost through another's door, beside the websocket's own path?

The same turn of a signed-in customer, 20 words in a burst, through each door in its client's own words, the stream
read to its end; MCP knows no turn: there it is one call of a tool. The doors take turns in laps of 15, each lap a
customer and a conversation of its own, so that a machine that is busy for a while is so for all of them. Counted is the
CPU time of the services, without what they spend at rest: a door is all in the gateway, and what it makes the others do
is told beside.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson

from agent.scripted_model.server import scripted_model
from benchmarks.first_token import BURST, COMPANY, SERVICES, running, spent
from benchmarks.report import Figure
from tests.support.chat_client import ChatClient
from tests.support.mcp_client import connected
from tests.support.running_stack import RunningStack

QUESTION = "a turn through another's door"
TEXT = "what is the price of AAPL?"
LAPS, WARM_UP, LAP = 14, 2, 15
SETTLED, REST = 5.0, 5.0
"""Seconds until nothing is done behind the turns any more, and in which it is seen what the services spend at rest."""
MORE_MS = 0.3
"""CPU of a turn above the websocket's: what a door may cost."""
Turn = Callable[[], Awaitable[None]]
Events = list[dict[str, Any]]


async def run() -> list[Figure]:
    """All figures; about a minute."""
    at_rest = dict.fromkeys(SERVICES, 0.0)
    spent_by = {name: dict.fromkeys(SERVICES, 0.0) for name in DOORS}
    async with scripted_model(default=BURST) as model, running(model) as stack:
        for lap in range(WARM_UP + LAPS):
            if lap == WARM_UP:
                await asyncio.sleep(SETTLED)
                before = spent(stack)
                await asyncio.sleep(REST)
                at_rest = {name: (spent(stack)[name] - before[name]) / REST for name in SERVICES}
            for name, door in DOORS.items():
                token = stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", COMPANY)
                async with door(stack, token) as turn:
                    before, began = spent(stack), time.monotonic()
                    for _ in range(LAP):
                        await turn()
                    after, seconds = spent(stack), time.monotonic() - began
                if lap >= WARM_UP:
                    for one in SERVICES:
                        spent_by[name][one] += after[one] - before[one] - at_rest[one] * seconds
    turns = LAPS * LAP
    own = {one: total / turns for one, total in spent_by.pop("websocket").items()}
    figures = [
        Figure(QUESTION, "CPU a turn: websocket", sum(own.values()), "ms", note="five services"),
        Figure(QUESTION, "CPU a turn: websocket, gateway", own["gateway"], "ms"),
    ]
    for name, cpu in spent_by.items():
        more = {one: total / turns - own[one] for one, total in cpu.items()}
        figures += [
            Figure(QUESTION, f"CPU a turn more, gateway: {name}", more["gateway"], "ms", MORE_MS),
            Figure(QUESTION, f"CPU a turn more, all: {name}", sum(more.values()), "ms", note="five services"),
        ]
    return figures


@asynccontextmanager
async def websocket(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """The product's own client."""
    async with ChatClient(stack.url, token) as client:
        await client.hello(locale="en")

        async def turn() -> None:
            mark = len(client.frames)
            await client.send_frame("message.send", clientMessageId=str(uuid.uuid4()), text=TEXT)
            await client.wait_for("run.finished", after=mark)

        yield turn


@asynccontextmanager
async def completions(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """OpenAI chat completions; the client sends the conversation so far each time."""
    messages: list[dict[str, str]] = []
    async with http(stack, token) as post:

        async def turn() -> None:
            messages.append({"role": "user", "content": TEXT})
            told = await post("/v1/chat/completions", {"model": "nexus", "messages": messages, "stream": True})
            (*pieces, last) = [choice for event in told for choice in event["choices"]]
            assert last["finish_reason"] == "stop"
            said = "".join(piece["delta"].get("content") or "" for piece in pieces)
            messages.append({"role": "assistant", "content": said})

        yield turn


@asynccontextmanager
async def mcp(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """MCP, with its official client: one call of a tool."""
    async with connected(stack.url, token) as client:

        async def turn() -> None:
            assert not (await client.call_tool("get_price", {"symbol": "AAPL"})).is_error

        yield turn


@asynccontextmanager
async def responses(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """Open Responses."""
    previous: dict[str, str] = {}
    async with http(stack, token) as post:

        async def turn() -> None:
            told = await post("/v1/responses", {"model": "nexus", "input": TEXT, "stream": True, **previous})
            assert told[-1]["type"] == "response.completed"
            previous["previous_response_id"] = told[-1]["response"]["id"]

        yield turn


@asynccontextmanager
async def ag_ui(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """AG-UI."""
    run: dict[str, Any] = {"threadId": uuid.uuid4().hex, "state": {}, "tools": [], "context": [], "forwardedProps": {}}
    async with http(stack, token) as post:

        async def turn() -> None:
            asked = {"id": uuid.uuid4().hex, "role": "user", "content": TEXT}
            told = await post("/v2/ag-ui", {**run, "runId": uuid.uuid4().hex, "messages": [asked]})
            assert told[-1]["type"] == "RUN_FINISHED"

        yield turn


@asynccontextmanager
async def ai_sdk(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """The AI SDK's UI message stream."""
    chat = uuid.uuid4().hex
    async with http(stack, token) as post:

        async def turn() -> None:
            asked = {"id": uuid.uuid4().hex, "role": "user", "parts": [{"type": "text", "text": TEXT}]}
            told = await post("/v2/ui/chat", {"id": chat, "message": asked})
            assert told[-1]["type"] == "finish"

        yield turn


@asynccontextmanager
async def a2a(stack: RunningStack, token: str) -> AsyncGenerator[Turn]:
    """A2A, as a stream."""
    context: dict[str, str] = {}
    async with http(stack, token) as post:

        async def turn() -> None:
            asked = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": TEXT}], **context}
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": asked}}
            last = (await post("/a2a", call))[-1]["result"]["statusUpdate"]
            assert last["status"]["state"] == "TASK_STATE_COMPLETED"
            context["contextId"] = last["contextId"]

        yield turn


@asynccontextmanager
async def http(stack: RunningStack, token: str) -> AsyncGenerator[Callable[[str, dict[str, Any]], Awaitable[Events]]]:
    """Posts over one connection, and reads the server-sent events to their end."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream", "A2A-Version": "1.0"}
    async with aiohttp.ClientSession(stack.url, headers=headers) as session:

        async def post(path: str, body: dict[str, Any]) -> Events:
            async with session.post(path, json=body) as answer:
                assert answer.status == 200, await answer.text()
                told = (await answer.read()).split(b"\n")
            datas = [line[6:] for line in told if line.startswith(b"data: {")]
            return [orjson.loads(data) for data in datas]

        yield post


DOORS = {
    "websocket": websocket,
    "chat completions": completions,
    "Open Responses": responses,
    "AG-UI": ag_ui,
    "AI SDK": ai_sdk,
    "A2A": a2a,
    "MCP": mcp,
}
