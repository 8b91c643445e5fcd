"""What a call asks its user in mid-call (revisions with a handshake): the answer is a request of its own.

The second gateway is this process: the stack's own is another one, and they share the bus and the keys alone.
"""

import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
import pytest
from pydantic import SecretStr

from gateway.adapters.identity import build_identity
from gateway.domain.client_answers import MAX_QUESTIONS_PER_CALLER
from gateway.settings import GatewaySettings
from gateway.testing.harness import run_gateway
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from tests.support.mcp_client import Person, connected
from tests.support.running_stack import JWT_SECRET, RunningStack

ORDER: dict[str, Any] = {"symbol": "IBM", "side": "buy", "quantity": 2, "order_type": "market"}


@asynccontextmanager
async def another_gateway(stack: RunningStack, question_seconds: float = 60.0) -> AsyncGenerator[str]:
    """The address of a second gateway of the stack."""
    made = json.loads((stack.data / "secrets.json").read_text())
    keys = TokenSettings(jwt_secret=SecretStr(JWT_SECRET), principal_key=SecretStr(made["principal_key"]))
    settings = GatewaySettings(question_seconds=question_seconds)
    identity = build_identity(keys, 3600, SystemClock())
    async with run_gateway(stack.facts()["urls"]["nats"], identity, settings) as gateway:
        yield gateway.url


class Spread(httpx2.AsyncBaseTransport):
    """Answers to questions go to another gateway than all else: what a load balancer may do."""

    def __init__(self, answers_to: str) -> None:
        self._answers_to = httpx2.URL(answers_to)
        self._inner = httpx2.AsyncHTTPTransport()
        self.answers = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        if body and "method" not in json.loads(body):
            self.answers += 1
            request.url = request.url.copy_with(port=self._answers_to.port)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class Raw:
    """One session of a client, message by message."""

    def __init__(self, http: httpx2.AsyncClient, url: str, token: str) -> None:
        self._http = http
        self._url = f"{url}/mcp"
        self.headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    async def begin(self) -> None:
        """The handshake of a client that can show forms."""
        params: dict[str, Any] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        answer = await self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        self.headers |= {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        assert (await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status_code == 202

    async def post(self, message: dict[str, Any], **headers: str) -> httpx2.Response:
        """One message."""
        return await self._http.post(self._url, json=message, headers=self.headers | headers)

    @asynccontextmanager
    async def order(self) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
        """What comes on the stream of an order, for as long as the block lasts."""
        params = {"name": "create_paper_order", "arguments": ORDER}
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        async with self._http.stream("POST", self._url, json=message, headers=self.headers) as answer:
            assert answer.status_code == 200
            lines = answer.aiter_lines()
            yield (json.loads(line[5:]) async for line in lines if line.startswith("data:") and line[5:].strip())


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    """For messages by hand."""
    async with httpx2.AsyncClient(timeout=30) as client:
        yield client


@pytest.fixture
def ana(stack: RunningStack) -> str:
    """The token of a customer of this test alone."""
    return stack.mint("user", f"mcp-{uuid.uuid4().hex[:12]}", plan="pro")


async def test_an_answer_that_reaches_another_gateway_finds_the_one_that_waits(stack: RunningStack, ana: str) -> None:
    person = Person()
    async with another_gateway(stack) as other:
        for asking, answered in ((stack.url, other), (other, stack.url)):
            spread = Spread(answered)
            async with connected(asking, ana, person, "legacy", spread) as client:
                result = await client.call_tool("create_paper_order", ORDER)
            assert result.structured_content["status"] == "confirmed"
            assert spread.answers == 1
    assert len(person.asked) == 2


async def test_nobody_answers_for_another(stack: RunningStack, http: httpx2.AsyncClient, ana: str) -> None:
    mine, theirs = Raw(http, stack.url, ana), Raw(http, stack.url, stack.mint("user", "mcp-eva", plan="pro"))
    await mine.begin()
    await theirs.begin()
    async with mine.order() as stream:
        question = await anext(stream)
        assert question["method"] == "elicitation/create"
        said = yes_to(question)

        async with another_gateway(stack) as other:
            for url in (stack.url, other):
                elsewhere = Raw(http, url, "")
                elsewhere.headers = theirs.headers
                assert (await elsewhere.post(said)).status_code == 400, "another user's answer"
        assert (await theirs.post(said, **{"Mcp-Session-Id": mine.headers["Mcp-Session-Id"]})).status_code == 404
        assert (await mine.post({**said, "id": f"{'0' * 32}..{'0' * 32}"})).status_code == 400, "nobody's question"
        for made_up in (1, None, 1.5, True):
            assert (await mine.post({**said, "id": made_up})).status_code == 400
            called = await mine.post({"jsonrpc": "2.0", "id": made_up, "method": "ping"})
            assert called.status_code == (200 if type(made_up) is int else 400)
        assert (await mine.post(said, Authorization="Bearer none")).status_code == 401

        assert (await mine.post(said)).status_code == 202
        assert status_of(await anext(stream)) == "confirmed"
        assert (await mine.post(said)).status_code == 400, "it has been answered"


async def test_an_order_waits_when_nobody_answers_in_time(
    stack: RunningStack, http: httpx2.AsyncClient, ana: str
) -> None:
    async with another_gateway(stack, question_seconds=0.3) as other:
        client = Raw(http, other, ana)
        await client.begin()
        async with client.order() as stream:
            question, cancelled, result = [message async for message in stream]
        assert question["method"] == "elicitation/create"
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == question["id"]
        assert status_of(result) == "pending_confirmation"
        assert (await client.post(yes_to(question))).status_code == 400, "too late"


async def test_an_answer_that_is_none_leaves_the_order_waiting(
    stack: RunningStack, http: httpx2.AsyncClient, ana: str
) -> None:
    client = Raw(http, stack.url, ana)
    await client.begin()
    refusal = {"error": {"code": types.METHOD_NOT_FOUND, "message": "no forms here"}}
    worded = {"result": {"action": "accept", "content": {"confirm": "yes"}}}
    for answer in (refusal, {"result": {"action": "maybe"}}, {"result": "yes"}, {"error": "no"}, worded):
        async with client.order() as stream:
            question = await anext(stream)
            assert (await client.post({"jsonrpc": "2.0", "id": question["id"], **answer})).status_code == 202
            assert status_of(await anext(stream)) == "pending_confirmation", answer


async def test_a_client_that_hangs_up_leaves_nothing_that_waits(stack: RunningStack, ana: str) -> None:
    async with httpx2.AsyncClient(timeout=30) as http:
        client = Raw(http, stack.url, ana)
        await client.begin()
        # More than may wait of one caller: each ends with its stream.
        for _ in range(MAX_QUESTIONS_PER_CALLER + 2):
            async with client.order() as stream:
                question = await anext(stream)
                assert question.get("method") == "elicitation/create", question


def yes_to(question: dict[str, Any]) -> dict[str, Any]:
    """The user's yes, as a message."""
    return {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"confirm": True}}}


def status_of(result: dict[str, Any]) -> str:
    """What has become of the order."""
    assert result["result"]["isError"] is False
    return result["result"]["structuredContent"]["status"]
