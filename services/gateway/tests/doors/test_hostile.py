"""Clients that mean no good, or are very poor: at every door alike."""

import asyncio
import json
import os
import uuid
from contextlib import AsyncExitStack
from copy import deepcopy
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from nats.aio.client import Client

from contracts.channel_rpc import CHANNEL_VERIFY, ChannelVerifyReply, ChannelVerifyRequest
from contracts.channels import LiveTurnKind, conversation_tree
from contracts.erasure_rpc import FORGOTTEN, DeletedConversations
from contracts.events.tool import ToolMetadata, ToolResult
from contracts.streams import CHAT
from gateway.domain.conversation_ids import named_conversation_id
from gateway.doors.table import DOORS
from gateway.testing.doors import AnsweringAgent, no_answer
from gateway.testing.executor import ExecutorStandIn
from gateway.testing.harness import AgentStandIn, GatewayUnderTest
from gateway.testing.http import PLAIN
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually

pytestmark = pytest.mark.usefixtures("memory", "records")
READERS, EACH = int(os.environ.get("NEXUS_READERS", "100")), 50
"""`make kill-doors` tries a thousand."""
PIECE, PIECES = "x" * 8_000, 24
"""More than a socket takes that nobody reads."""

MCP = "2026-07-28"
BODIES: dict[str, dict[str, Any]] = {
    "/v1/responses": {"model": "nexus", "input": "hi", "background": True},
    "/v2/ag-ui": {
        "threadId": "t",
        "runId": "r",
        "messages": [{"id": "m", "role": "user", "content": "hi"}],
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    },
    "/v2/ui/chat": {"id": "c", "message": {"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]}},
    "/a2a": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
    },
    "/v1/chat/completions": {"model": "nexus", "messages": [{"role": "user", "content": "hi"}]},
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "get_price",
            "arguments": {"symbol": "IBM"},
            "_meta": {
                PROTOCOL_VERSION_META_KEY: MCP,
                CLIENT_INFO_META_KEY: {"name": "poor", "version": "1"},
                CLIENT_CAPABILITIES_META_KEY: {},
            },
        },
    },
    "/v2/channels/chatwoot/acme_shop": {
        "event": "message_created",
        "id": 1,
        "content": "hi",
        "message_type": "incoming",
        "conversation": {
            "id": 1,
            "status": "pending",
            "inbox_id": 7,
            "updated_at": 1,
            "meta": {"sender": {"id": 101, "name": "Ana"}},
        },
    },
}
HEADERS = {
    "A2A-Version": "1.0",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": MCP,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "get_price",
    "X-Chatwoot-Signature": "sha256=1",
    "X-Chatwoot-Timestamp": "1",
}


def request(gateway: GatewayUnderTest, token: str, path: str, body: bytes, method: str = "POST") -> bytes:
    more = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {gateway.url.removeprefix('http://')}\r\nAuthorization: Bearer {token}\r\n"
        f"{more}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def connected(gateway: GatewayUnderTest) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = gateway.url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port), limit=1024)


async def _verified(_: ChannelVerifyRequest) -> ChannelVerifyReply:
    return ChannelVerifyReply(company_id="acme")


def test_every_door_has_a_request_here() -> None:
    for door in DOORS:
        routes = [route for route in door.routes if isinstance(route, APIRoute)]
        assert any(route.path_regex.match(path) for route in routes for path in BODIES), routes


@pytest.mark.parametrize("path", BODIES)
async def test_a_request_that_is_cut_at_any_byte_says_nothing_and_one_that_drips_says_it_once(
    gateway: GatewayUnderTest,
    tokens: TokenMaker,
    agent: AnsweringAgent,
    completions: CompletionsStandIn,
    nats_client: Client,
    path: str,
) -> None:
    executor = ExecutorStandIn(nats_client)
    await executor.start()
    await RpcServer(nats_client).serve(CHANNEL_VERIFY, _verified)
    await nats_client.flush()

    def heard() -> int:
        return len(agent.received_messages) + len(completions.asked) + len(executor.calls)

    body = json.dumps(BODIES[path]).encode()
    whole = request(gateway, tokens.user("ana", "user"), path, body)
    for end in range(len(whole) - len(body), len(whole)):
        _, writer = await connected(gateway)
        writer.write(whole[:end])
        writer.close()
    reader, writer = await connected(gateway)
    for at in range(len(whole)):
        writer.write(whole[at : at + 1])
        await writer.drain()
    assert b" 200 " in await reader.readline()
    await eventually(lambda: heard() == 1)
    writer.close()
    # What was cut off has had its turn by now: each of them was there before.
    assert heard() == 1


async def test_an_mcp_request_that_cannot_be_passed_on_is_refused_and_no_form_goes_to_who_shows_none(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    executor = ExecutorStandIn(nats_client)
    executor.result = ToolResult(
        success=True,
        data={"action_id": "a1", "status": "pending_confirmation", "order": {"quantity": 1}},
        metadata=ToolMetadata(execution_time=1.0),
    )
    await executor.start()
    call = deepcopy(BODIES["/mcp"])
    own = {"Authorization": f"Bearer {tokens.user('ana', 'user')}"}
    async with httpx.AsyncClient(verify=PLAIN, base_url=gateway.url, headers=HEADERS | own) as http:
        for named in ("2025-11-25", "2099-01-01"):
            refused = await http.post("/mcp", json=call, headers={"MCP-Protocol-Version": named})
            assert (refused.status_code, refused.json()["error"]["code"], refused.json()["id"]) == (400, -32020, 1)
        call["params"]["arguments"] = {"symbol": 10**30}
        refused = await http.post("/mcp", json=call)
        assert refused.json()["error"]["message"] == "arguments: symbol: must be a finite number of at most 64 bits"
        assert executor.calls == []
        call["params"]["arguments"] = {"symbol": "IBM"}
        for modes, asked in (((), True), (("form", "url"), True), (("url",), False)):
            call["params"]["_meta"][CLIENT_CAPABILITIES_META_KEY] = {"elicitation": {mode: {} for mode in modes}}
            told = await http.post("/mcp", json=call)
            assert (told.json()["result"]["resultType"] == "input_required") is asked


async def test_chatwoots_messages_keep_their_order_when_the_first_is_checked_last(
    gateway: GatewayUnderTest, agent: AnsweringAgent, nats_client: Client
) -> None:
    path, second_was_checked = "/v2/channels/chatwoot/acme_shop", asyncio.Event()

    async def verify(asked: ChannelVerifyRequest) -> ChannelVerifyReply:
        if "number 1" in asked.body:
            await second_was_checked.wait()
        elif "number 2" in asked.body:
            second_was_checked.set()
        return ChannelVerifyReply(company_id="acme")

    await RpcServer(nats_client).serve(CHANNEL_VERIFY, verify)
    await nats_client.flush()
    async with httpx.AsyncClient(verify=PLAIN, base_url=gateway.url, headers=HEADERS) as http:
        for number in (1, 2):
            event = {**BODIES[path], "id": number, "content": f"number {number}"}
            assert (await http.post(path, json=event)).status_code == 200
    await eventually(lambda: len(agent.received_messages) == 2)
    assert [text for _, text in agent.received_messages] == ["number 1", "number 2"]


def rereading(door: str, conversation: str, asked: int) -> list[tuple[str, str, Any]]:
    """How clients read an answer again: by the door that it was asked at, and by those that know its conversation."""
    run: Any = {**BODIES["/v2/ag-ui"], "threadId": "c", "messages": []}
    task = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": f"{conversation}-{asked}"}}
    own: tuple[str, str, Any] = ("GET", "/v2/ui/chat/c/stream", None) if door == "ui" else ("POST", "/v2/ag-ui", run)
    return [own, ("GET", f"/v1/responses/resp_{conversation}.{asked}?stream=true", None), ("POST", "/a2a", task)]


async def test_readers_that_do_not_read_hold_nobody_up(
    gateway: GatewayUnderTest, tokens: TokenMaker, agent: AnsweringAgent, nats_client: Client
) -> None:
    released = asyncio.Event()

    async def long_winded(answering: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del answering
        if text == "short":
            await turn.answer(basis, "Soon.")
            return
        await turn.delta(0, PIECE)
        await released.wait()
        for number in range(1, PIECES):
            await turn.delta(number, PIECE)
        await turn.live(LiveTurnKind.RUN_FINISHED, usage={"promptTokens": 1, "completionTokens": 1})

    agent.answering = long_winded
    async with AsyncExitStack() as stack, httpx.AsyncClient(verify=PLAIN, base_url=gateway.url, timeout=20) as http:

        async def told(user: str, door: str, text: str) -> httpx.Response:
            message = {"id": uuid.uuid4().hex, "role": "user"}
            bodies = {
                "ui": {"id": "c", "message": {**message, "parts": [{"type": "text", "text": text}]}},
                "ag-ui": {**BODIES["/v2/ag-ui"], "threadId": "c", "messages": [{**message, "content": text}]},
            }
            headers = {"Authorization": f"Bearer {tokens.user(user, 'user')}"}
            path = "/v2/ui/chat" if door == "ui" else "/v2/ag-ui"
            return await stack.enter_async_context(http.stream("POST", path, json=bodies[door], headers=headers))

        writers: list[asyncio.StreamWriter] = []
        for number in range(READERS // EACH):
            user, door = f"slow{number}", ("ui", "ag-ui")[number % 2]
            assert (await told(user, door, "long")).status_code == 200
            conversation = named_conversation_id("acme", user, door, "c")
            asked = (await ConversationLog(nats_client).snapshot("acme", conversation)).newest_visitor
            ways = rereading(door, conversation, asked)
            for at in range(EACH - 1):
                method, path, body = ways[at % len(ways)]
                reader, writer = await connected(gateway)
                content = json.dumps(body).encode() if body else b""
                writer.write(request(gateway, tokens.user(user, "user"), path, content, method))
                assert b" 200 " in await reader.readline(), path
                writers.append(writer)
        released.set()
        async with asyncio.timeout(15):
            answer = await told("quick", "ui", "short")
            said = [line async for line in answer.aiter_lines()]
        assert any("Soon." in line for line in said)
        for writer in writers:
            writer.transport.abort()
    await eventually(lambda: gateway.gateway.chat.hub.conversations == 0)


async def test_whose_conversation_is_deleted_in_mid_answer_is_told_so_at_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, agent: AnsweringAgent, nats_client: Client
) -> None:
    async def begun(answering: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del answering, basis, text
        await turn.delta(0, "One ")

    agent.answering = begun
    kept = {"model": "nexus", "input": "hi"}
    streamed = {**BODIES["/a2a"], "method": "SendStreamingMessage"}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/v1/responses", kept),
        ("/v1/responses", {**kept, "stream": True}),
        ("/v2/ag-ui", {**BODIES["/v2/ag-ui"], "messages": [{"id": "m1", "role": "user", "content": "¿cómo va?"}]}),
        ("/v2/ui/chat", BODIES["/v2/ui/chat"]),
        ("/a2a", BODIES["/a2a"]),
        ("/a2a", streamed),
    ]
    async with httpx.AsyncClient(verify=PLAIN, base_url=gateway.url, timeout=60, headers=HEADERS) as http:

        async def answer(number: int) -> httpx.Response:
            path, body = asked[number]
            own = {"Authorization": f"Bearer {tokens.user(f'u{number}', 'user')}"}
            return await http.post(path, json=body, headers=own)

        answers = [asyncio.create_task(answer(number)) for number in range(len(asked))]
        await eventually(lambda: len(agent.received_messages) == len(asked))
        names = [conversation for conversation, _ in agent.received_messages]
        notice = DeletedConversations(company="acme", conversations=names).to_json()
        # A notice of what is there again ends nothing.
        await nats_client.publish(FORGOTTEN, notice)
        done, _ = await asyncio.wait(answers, timeout=0.2)
        assert not done
        for name in names:
            await nats_client.jetstream().purge_stream(CHAT.name, subject=conversation_tree("acme", name))  # pyright: ignore[reportUnknownMemberType]
        await nats_client.publish(FORGOTTEN, notice)
        whole, events, run, chat, task, tasks = await asyncio.gather(*answers)
    assert (whole.status_code, whole.json()["error"]["code"]) == (404, "not_found")
    assert '"type":"response.failed"' in events.text
    assert '"code":"not_found","message":"the conversation was deleted' in events.text
    last = json.loads(run.text.rstrip().rpartition("data: ")[2])
    # Their clients show what went wrong to the user.
    assert (last["type"], last["message"]) == ("RUN_ERROR", "la conversación se ha borrado: empieza otra")
    assert '"type":"error","errorText":"the conversation was deleted' in chat.text
    assert task.json()["error"]["code"] == -32001
    assert '"error":{"code":-32001' in tasks.text


async def test_who_hangs_up_while_waiting_for_a_whole_answer_holds_nothing(
    gateway: GatewayUnderTest, tokens: TokenMaker, agent: AnsweringAgent
) -> None:
    agent.answering = no_answer
    for path, body in (("/v1/responses", {"model": "nexus", "input": "hi"}), ("/a2a", BODIES["/a2a"])):
        _, writer = await connected(gateway)
        writer.write(request(gateway, tokens.user("ana", "user"), path, json.dumps(body).encode()))
        said = len(agent.received_messages)
        await eventually(lambda said=said: len(agent.received_messages) > said)
        writer.transport.abort()
    await eventually(lambda: gateway.gateway.chat.hub.conversations == 0)


async def test_a_card_that_names_a_forged_host_is_its_forgers_alone(gateway: GatewayUnderTest) -> None:
    path = "/.well-known/agent-card.json"
    async with httpx.AsyncClient(verify=PLAIN, base_url=gateway.url) as http:
        forged = await http.get(path, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
        assert forged.json()["supportedInterfaces"][0]["url"] == "http://evil.example/a2a"
        assert forged.headers["cache-control"].startswith("private")
        honest = await http.get(
            path, headers={"If-None-Match": forged.headers["etag"], "X-Forwarded-Host": "evil.example"}
        )
    assert honest.json()["supportedInterfaces"][0]["url"] == f"{gateway.url}/a2a"
