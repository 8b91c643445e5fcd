"""Requests with something else than what belongs there, in every place: no door fails, each says what is wrong."""

import asyncio
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import aiohttp
import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from nats.aio.client import Client

from gateway.testing.executor import ExecutorStandIn
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.tokens import TokenMaker

pytestmark = pytest.mark.usefixtures("memory", "records", "agent", "completions")
MCP = "2026-07-28"
GONE = object()
WRONG: tuple[Any, ...] = (
    GONE, None, True, -1, 2**70, 1e308, "", "\ud800", "\0", "x" * 300, [], [[]], [None], {}, {"": {}}, {"type": []},
)  # fmt: skip
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object"}}
ORDER = {"approved": True, "editedArgs": {"quantity": 2}}
PICTURE = "data:image/png;base64,AAAA"
SENT = {"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
META: dict[str, Any] = {
    PROTOCOL_VERSION_META_KEY: MCP,
    CLIENT_INFO_META_KEY: {"name": "x", "version": "1"},
    CLIENT_CAPABILITIES_META_KEY: {},
    "nexus/idempotencyKey": "k",
}
RUN: dict[str, Any] = {"threadId": "t", "runId": "r", "state": {}, "context": [], "forwardedProps": {}}


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", {
        "model": "nexus", "stream_options": {"include_usage": True}, "stop": ["x"], "tool_choice": "auto",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]},
                     {"role": "assistant", "tool_calls": [CALL]},
                     {"role": "tool", "tool_call_id": "c", "content": "x"}],
        "tools": [{"type": "function", "function": TOOL}], "response_format": {"type": "text"},
    }),
    ("/v1/responses", {
        "model": "nexus", "store": False, "text": {"format": {"type": "text"}}, "metadata": {"a": "b"},
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                  {"type": "item_reference", "id": "msg_a.1"}, {"role": "user", "content": "hi"}],
        "tools": [{"type": "function", **TOOL}], "tool_choice": {"type": "function", "name": "f"},
    }),
    ("/v1/responses", {
        "model": "nexus", "previous_response_id": "resp_a.1",
        "input": [{"type": "mcp_approval_response", "approval_request_id": "mcpr_a.1.b", "approve": True}],
    }),
    ("/v2/ag-ui", {
        **RUN, "tools": [TOOL], "messages": [{"id": "m", "role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }),
    ("/v2/ag-ui", {
        **RUN, "tools": [], "resume": [{"interruptId": "i", "status": "resolved", "payload": ORDER}],
        "messages": [{"id": "n", "role": "tool", "toolCallId": "c", "content": "x", "error": "e"}, {
            "id": "m", "role": "user",
            "content": [{"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}}],
        }],
    }),
    ("/v2/ui/chat", {
        "id": "c", "trigger": "submit-message", "messageId": "x", "tools": [{"name": "f", "inputSchema": {}}],
        "messages": [{**SENT, "parts": [{"type": "file", "url": PICTURE, "filename": "x"}]}],
    }),
    ("/v2/ui/chat", {"id": "c", "message": SENT}),
    ("/v2/ui/chat", {"id": "c", "messages": [{"id": "m", "role": "assistant", "parts": [
        {"type": "text", "text": "x"}, {"type": "tool-f", "toolCallId": "c", "state": "output-available", "output": {}},
        {"type": "tool-g", "state": "approval-responded", "approval": {"id": "a", "approved": True}, "input": {}},
    ]}]}),
    ("/a2a", rpc(
        "SendMessage", configuration={"acceptedOutputModes": ["text/plain"], "historyLength": 1},
        message={"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "parts": [
            {"text": "hi"}, {"raw": "AAAA", "mediaType": "image/png"}, {"data": {"approved": True, "edits": {"a": 1}}},
        ]},
    )),
    ("/a2a", rpc("ListTasks", contextId="c", status="TASK_STATE_WORKING", pageSize=5, pageToken="1-1")),
    ("/mcp", rpc("tools/call", name="get_price", arguments={"symbol": "IBM"}, inputResponses={}, _meta=META)),
]  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value within the value."""
    held: Any = value
    names: Any = held if isinstance(value, dict) else range(len(held)) if isinstance(value, list) else ()
    for name in names:
        yield (*at, name)
        yield from places(held[name], (*at, name))


def changed(body: dict[str, Any], at: tuple[Any, ...], value: Any) -> bytes:
    """The request with this value there."""
    made: Any = deepcopy(body)
    *way, last = at
    inner = made
    for name in way:
        inner = inner[name]
    if value is GONE:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(made).encode()


def untrue_of(path: str, status: int, text: str) -> str:
    """What is wrong with the answer; empty: nothing."""
    if status >= 500 or "-32603" in text[:200]:
        return text
    if 200 <= status < 300:
        return ""
    told: Any = json.loads(text)
    if path.startswith("/v1") or path == "/a2a" or "error" in told:
        said = told["error"]["message"]
    else:
        said = told["detail"] and told["code"]
    return "" if said else text


@pytest.mark.parametrize("number", range(len(REQUESTS)))
async def test_whatever_stands_in_a_field_is_taken_or_refused_in_the_doors_own_form(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, number: int
) -> None:
    await ExecutorStandIn(nats_client).start()
    path, body = REQUESTS[number]
    headers = {
        "A2A-Version": "1.0",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    headers |= {"MCP-Protocol-Version": MCP, "Mcp-Method": "tools/call", "Mcp-Name": "get_price"}
    faults: list[str] = []
    timeout = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(gateway.url, headers=headers, timeout=timeout) as http:

        async def ask(user: str, at: tuple[Any, ...], value: Any) -> None:
            own = {"Authorization": f"Bearer {tokens.user(user, 'user')}"}
            async with http.post(path, data=changed(body, at, value), headers=own) as answer:
                status, text = answer.status, await answer.text()
            if fault := untrue_of(path, status, text):
                faults.append(f"{at} {value!r:.40}: {status} {fault:.200}")

        for index, at in enumerate(places(body)):
            await asyncio.gather(*[ask(f"u{index}", at, value) for value in WRONG])
    assert faults == []


async def test_arguments_too_large_for_the_bus_are_refused_as_such(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    headers = {"MCP-Protocol-Version": MCP, "Mcp-Method": "tools/call", "Mcp-Name": "get_price"}
    headers |= {"Authorization": f"Bearer {tokens.user('ana', 'user')}", "Content-Type": "application/json"}
    headers["Accept"] = "application/json, text/event-stream"
    body = rpc("tools/call", name="get_price", arguments={"symbol": "x" * 300_000}, _meta=META)
    async with aiohttp.ClientSession(gateway.url, headers=headers) as http, http.post("/mcp", json=body) as answer:
        told = (await answer.json())["error"]
    assert (told["code"], told["data"]) == (-32602, {"code": "BAD_FIELD"})
    assert "send at most 262144 bytes" in told["message"]
