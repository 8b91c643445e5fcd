"""The official MCP client, and who sits before it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

Answer = Literal["accept", "decline", "cancel"]
Mode = Literal["auto", "legacy"]


class Person:
    """Who sits before the client: what they are asked, and what they say."""

    def __init__(self, answer: Answer = "accept", *, confirm: bool = True, **changes: float) -> None:
        """`changes`: what they write into the form's other fields."""
        self.answer: Answer = answer
        self.confirm = confirm
        self.changes = changes
        self.asked: list[str] = []
        self.fields: list[dict[str, Any]] = []

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        """What they say."""
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
) -> AsyncGenerator[Client]:
    """A client of the gateway at `url`; `mode` legacy is the revision 2025-11-25."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "en"}
    async with httpx2.AsyncClient(headers=headers, timeout=30, transport=transport) as http:
        streams = streamable_http_client(f"{url}/mcp", http_client=http)
        callback = person.elicit if person else None
        async with Client(streams, mode=mode, elicitation_callback=callback) as client:
            yield client
