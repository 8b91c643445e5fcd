"""The official MCP client, and the person who answers its questions."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim, advertise
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from pydantic import ConfigDict

from runtime.testing.servers import eventually

Answer = Literal["accept", "decline", "cancel"]
Mode = Literal["auto", "legacy"]


class Person:
    """The person who uses the client: what they are asked and how they answer."""

    def __init__(self, answer: Answer = "accept", *, confirm: bool = True, **changes: float) -> None:
        """`changes`: the values they enter in the form's other fields."""
        self.answer: Answer = answer
        self.confirm = confirm
        self.changes = changes
        self.asked: list[str] = []
        self.fields: list[dict[str, Any]] = []

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Records the question and returns the person's answer."""
        del context
        self.asked.append(params.message)
        if isinstance(params, types.ElicitRequestFormParams):
            self.fields.append(params.requested_schema["properties"])
        content: dict[str, Any] | None = {"confirm": self.confirm, **self.changes} if self.answer == "accept" else None
        return types.ElicitResult(action=self.answer, content=content)


@asynccontextmanager
async def connected(
    url: str,
    token: str,
    person: Person | None = None,
    mode: Mode = "auto",
    transport: httpx2.AsyncBaseTransport | None = None,
    extensions: Sequence[ClientExtension] = (),
    language: str = "en",
) -> AsyncGenerator[Client]:
    """A client of the gateway at `url`; `mode` legacy is the revision 2025-11-25."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": language}
    async with httpx2.AsyncClient(headers=headers, timeout=30, transport=transport) as http:
        streams = streamable_http_client(f"{url}/mcp", http_client=http)
        callback = person.elicit if person else None
        async with Client(streams, mode=mode, elicitation_callback=callback, extensions=extensions) as client:
            yield client


VIEWS = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
"""The extension of a client that shows views beside results."""


class TaskParams(types.RequestParams):
    """Parameters that name a task."""

    task_id: str


class AboutTask(types.Request[TaskParams, str]):
    """`tasks/get` or `tasks/cancel`; the client mirrors the task in the header Mcp-Name."""

    name_param = "taskId"


class Told(types.Result):
    """A task as the server describes it."""

    model_config = ConfigDict(extra="allow")


class Handle(types.Result):
    """A task returned in place of a result."""

    result_type: Literal["task"]
    task_id: str
    status: str


class Tasks(ClientExtension):
    """A client extension that accepts tasks and polls until the result. `statuses`: every status it got."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.statuses: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        """Claims results that are tasks."""
        return [ResultClaim(result_type="task", model=Handle, resolve=self._followed)]

    async def _followed(self, handle: Handle, context: ClaimContext) -> types.CallToolResult:
        self.ids.append(handle.task_id)

        async def ended() -> dict[str, Any] | None:
            task = await about_task(context.session, "tasks/get", handle.task_id)
            self.statuses.append(task["status"])
            return task if task["status"] in ("completed", "failed", "cancelled") else None

        task = await eventually(ended)
        assert task is not None
        return types.CallToolResult.model_validate(task.get("result", {"content": []}))


async def about_task(session: ClientSession, method: str, task_id: str) -> dict[str, Any]:
    """Sends the request and returns the server's answer."""
    request = AboutTask(method=method, params=TaskParams(task_id=task_id))
    return (await session.send_request(request, Told)).model_dump(by_alias=True)
