"""A caller of completions over the bus, for tests."""

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from nats.aio.client import Client

from agent.testing.company import COMPANY
from contracts.completion_rpc import COMPLETE, CompleteRequest, CompletionEnd, CompletionMessage, CompletionTool
from runtime.calls.streamed_calls import StreamClient
from runtime.errors import RpcError

WEATHER = CompletionTool(name="get_weather", description="Weather", parameters={"type": "object", "properties": {}})


@dataclass
class Got:
    """The texts and the end of a completion."""

    texts: list[str] = field(default_factory=list[str])
    end: CompletionEnd | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)


def asking(text: str = "hello there, how are you?", **changes: Any) -> CompleteRequest:
    fields: dict[str, Any] = {
        "company_id": COMPANY,
        "request_id": uuid.uuid4().hex,
        "principal": "user/pro/ana",
        "messages": [CompletionMessage(role="user", content=text)],
        "language": "en",
    }
    return CompleteRequest(**{**fields, **changes})


async def complete(client: Client, request: CompleteRequest, got: Got | None = None) -> Got:
    got = got or Got()
    async with asyncio.timeout(30), StreamClient(client).open(COMPLETE, request) as parts:
        async for part in parts:
            if part.text is not None:
                got.texts.append(part.text)
            got.end = part.end or got.end
    return got


async def refused(client: Client, request: CompleteRequest) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await complete(client, request)
    return caught.value
