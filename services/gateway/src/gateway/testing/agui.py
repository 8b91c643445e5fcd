"""For tests: a client of AG-UI over a real socket. Every event is read by the protocol's own types, and every run is
judged by ag-ui-validate.
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

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
Told = list[dict[str, Any]]


class AgUi:
    """One user's client. `messages` is what it holds, as HttpAgent would."""

    def __init__(self, url: str, token: str, thread: str | None = None) -> None:
        self.url = f"{url}/v2/ag-ui"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        self.thread = thread or str(uuid.uuid4())
        self.messages: list[Any] = []

    def says(self, text: str, identity: str | None = None) -> None:
        """The user's next message."""
        self.messages.append(UserMessage(id=identity or str(uuid.uuid4()), content=text))

    def body(self, resume: list[ResumeEntry] | None = None) -> str:
        """The next run."""
        run = RunAgentInput(
            thread_id=self.thread, run_id=str(uuid.uuid4()), messages=self.messages, state={}, resume=resume
        )
        return run.model_dump_json(by_alias=True)

    @asynccontextmanager
    async def stream(self, body: str) -> AsyncGenerator[httpx.Response]:
        """The response of a run, as it comes."""
        headers = {**self._headers, "Content-Type": "application/json"}
        async with (
            httpx.AsyncClient(timeout=30) as http,
            http.stream("POST", self.url, content=body, headers=headers) as response,
        ):
            yield response

    async def run(self, resume: list[ResumeEntry] | None = None) -> Told:
        """A whole run, judged."""
        async with self.stream(self.body(resume)) as response:
            assert response.status_code == 200, await response.aread()
            pieces = [piece async for piece in response.aiter_bytes()]
        return await judged(pieces, response.headers["content-type"])


async def judged(pieces: list[bytes], content_type: str = "text/event-stream") -> Told:
    """The events of a run that the public validator finds nothing wrong with."""

    async def again() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    result = await validate_body(again(), content_type, TransportOptions(recorded=True))
    wrong = [one for one in result.report.diagnostics if one.severity in {"error", "warning"}]
    assert (wrong, result.report.internal_errors) == ([], [])
    return events_in(b"".join(pieces))


def events_in(body: bytes) -> Told:
    """The events of a stream, or of its beginning."""
    told: Told = []
    for line in body.decode().split("\n\n"):
        if line.startswith("data: "):
            EVENT.validate_json(line[6:])
            told.append(cast("dict[str, Any]", json.loads(line[6:])))
    return told


def kinds(told: Told) -> list[str]:
    """The events' types, neighbours of one type as one."""
    return [one["type"] for index, one in enumerate(told) if index == 0 or told[index - 1]["type"] != one["type"]]


def text(told: Told) -> str:
    """What the assistant said, as the client would show it."""
    return "".join(one["delta"] for one in told if one["type"] == "TEXT_MESSAGE_CONTENT")
