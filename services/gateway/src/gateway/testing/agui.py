"""For tests: a client of AG-UI over a real socket. Every event is parsed with the protocol's own types, and every run
is checked by ag-ui-validate.
"""

import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
from ag_ui.core import Event, ResumeEntry, RunAgentInput, UserMessage
from ag_ui_validate.transport import TransportOptions, validate_body
from pydantic import TypeAdapter

from gateway.testing.http import PLAIN

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
Events = list[dict[str, Any]]


class AgUi:
    """The client of one user. `messages` is its history, like that of HttpAgent."""

    def __init__(self, url: str, token: str, thread: str | None = None) -> None:
        self.url = f"{url}/v2/ag-ui"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        self.thread = thread or str(uuid.uuid4())
        self.messages: list[Any] = []

    def add_message(self, text: str, message_id: str | None = None) -> None:
        """Adds the user's next message to the history."""
        self.messages.append(UserMessage(id=message_id or str(uuid.uuid4()), content=text))

    def body(self, resume: list[ResumeEntry] | None = None) -> str:
        """The request body of the next run."""
        run = RunAgentInput(
            thread_id=self.thread, run_id=str(uuid.uuid4()), messages=self.messages, state={}, resume=resume
        )
        return run.model_dump_json(by_alias=True)

    @asynccontextmanager
    async def stream(self, body: str) -> AsyncGenerator[httpx.Response]:
        """Opens the streamed response of a run."""
        headers = {**self._headers, "Content-Type": "application/json"}
        async with (
            httpx.AsyncClient(verify=PLAIN, timeout=30) as http,
            http.stream("POST", self.url, content=body, headers=headers) as response,
        ):
            yield response

    async def run(self, resume: list[ResumeEntry] | None = None) -> Events:
        """Runs to the end and returns the checked events."""
        async with self.stream(self.body(resume)) as response:
            assert response.status_code == 200, await response.aread()
            pieces = [piece async for piece in response.aiter_bytes()]
        return await judged(pieces, response.headers["content-type"])


async def judged(pieces: list[bytes], content_type: str = "text/event-stream") -> Events:
    """The events of a run, once the public validator has found no problem in it."""

    async def replay() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    result = await validate_body(replay(), content_type, TransportOptions(recorded=True))
    problems = [problem for problem in result.report.diagnostics if problem.severity in {"error", "warning"}]
    assert (problems, result.report.internal_errors) == ([], [])
    return events_in(b"".join(pieces))


def events_in(body: bytes) -> Events:
    """The events in a stream, which may be incomplete."""
    events: Events = []
    for line in body.decode().split("\n\n"):
        if line.startswith("data: "):
            EVENT.validate_json(line[6:])
            events.append(cast("dict[str, Any]", json.loads(line[6:])))
    return events


def kinds(events: Events) -> list[str]:
    """The types of the events; adjacent events of the same type count once."""
    return [
        event["type"] for index, event in enumerate(events) if index == 0 or events[index - 1]["type"] != event["type"]
    ]


def text(events: Events) -> str:
    """The assistant's text, as a client would show it."""
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
