"""`nexus tools`, `nexus call` and `nexus dlq` over a real bus; the executor's side is played by the test."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import jwt
import pytest
from nats.aio.client import Client

from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.erasure_rpc import ERASE, RECEIPT, EraseReply, EraseRequest, Receipt, ReceiptRef, ReceiptReply, Removed
from contracts.events.tool import FieldError, ToolCallCompleted, ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.market_rpc import MARKET_STATUS, MarketStatusReply, MarketStatusRequest
from contracts.tools_rpc import CATALOGUE, CatalogueReply, CatalogueRequest, CatalogueTool
from nexus_cli.testing.stacks import Nexus
from runtime.bus.connection import jetstream
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.testing.servers import NatsServer
from runtime.workers.dead_letters import DeadLetters

KEY = "the-principals-key-of-these-tests-0123456789"
PRICE = CatalogueTool(
    id="market.get_price",
    name="get_price",
    description="The price of a symbol.",
    category="market",
    required_plan="free",
    parameters={"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]},
)


@pytest.fixture
def nexus(tmp_path: Path, nats_server: NatsServer) -> Nexus:
    return Nexus(tmp_path / "data", {"NEXUS_NATS_URL": nats_server.url, "NEXUS_PRINCIPAL_KEY": KEY})


@pytest.fixture
async def executor(nats_client: Client) -> AsyncGenerator[Client]:
    """The bus with its streams, and somebody who serves the catalogue."""
    await ensure_streams(nats_client)
    server = RpcServer(nats_client)

    async def catalogue(request: CatalogueRequest) -> CatalogueReply:
        return CatalogueReply(tools=[PRICE] if request.plan == "pro" else [])

    await server.serve(CATALOGUE, catalogue)
    await nats_client.flush()
    yield nats_client
    await server.drain(1)


async def run(nexus: Nexus, *arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(nexus.run, *arguments)


async def test_tools_lists_what_a_plan_may_use(nexus: Nexus, executor: Client) -> None:
    listed = await run(nexus, "tools", "--plan", "pro")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith("get_price symbol=…\n")
    as_json = await run(nexus, "tools", "--plan", "pro", "--json")
    assert [tool["id"] for tool in json.loads(as_json.stdout)] == ["market.get_price"]


async def answer_one_call(bus: Client, result: ToolResult) -> ToolCallRequested:
    """Takes one call from the work queue, as the executor does, and answers it."""
    work = await jetstream(bus).pull_subscribe("tools.call.requested.v1.*", durable="executor", stream="TOOLS")
    message = (await work.fetch(1, timeout=60))[0]
    call = CloudEvent[ToolCallRequested].parse(message.data).data
    completed = ToolCallCompleted(call_id=call.call_id, tool=call.tool, arguments=call.arguments, result=result)
    event = CloudEvent[ToolCallCompleted](source="/test", type="tools.call.completed.v1", data=completed)
    assert call.reply_to is not None
    await bus.publish(call.reply_to, event.to_json())
    await message.ack_sync()
    return call


async def test_call_goes_through_the_bus_with_a_signed_principal(nexus: Nexus, executor: Client) -> None:
    done = ToolResult(success=True, data={"symbol": "600", "price": 1.5}, metadata=ToolMetadata(execution_time=1))
    answering = asyncio.create_task(answer_one_call(executor, done))
    called = await run(nexus, "call", "get_price", "symbol=600", "--as", "pro")
    request = await answering
    assert called.returncode == 0, called.stderr
    assert json.loads(called.stdout) == {"symbol": "600", "price": 1.5}
    assert request.arguments == {"symbol": "600"}
    assert request.principal is not None
    claims = jwt.decode(request.principal, KEY, algorithms=["HS256"], options={"verify_aud": False})
    assert (claims["sub"], claims["plan"], claims["company"]) == ("demo-pro", "pro", "demo")


async def test_a_refused_call_fails_with_its_code(nexus: Nexus, executor: Client) -> None:
    error = ToolError(code="RATE_LIMIT", message="too many calls", reset_at=1)
    refused = ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=1))
    answering = asyncio.create_task(answer_one_call(executor, refused))
    called = await run(nexus, "call", "get_price", "symbol=AAPL", "--as", "pro")
    await answering
    assert called.returncode == 1
    assert called.stderr.strip() == "nexus: RATE_LIMIT: too many calls"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("not valid: symbol: 5 is no text", "not valid: symbol: 5 is no text"),
        ("not valid", "not valid (symbol: 5 is no text)"),
    ],
)
async def test_what_is_wrong_with_a_field_is_said_once(nexus: Nexus, executor: Client, message: str, line: str) -> None:
    field = FieldError(field="symbol", message="5 is no text")
    error = ToolError(code="VALIDATION_ERROR", message=message, fields=[field])
    refused = ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=1))
    answering = asyncio.create_task(answer_one_call(executor, refused))
    called = await run(nexus, "call", "get_price", "symbol=AAPL")
    await answering
    assert called.stderr.strip() == f"nexus: VALIDATION_ERROR: {line}"


async def test_a_dead_letter_is_listed_shown_and_put_back(nexus: Nexus, executor: Client) -> None:
    subject = "feedback.given.v1.demo.u1"
    await DeadLetters(executor).put(
        service="memory", stream="FACTS", subject=subject, body=b'{"a":1}', reason="no such field", origin_seq=7
    )
    listed = await run(nexus, "dlq", "list", "--json")
    assert [letter["reason"] for letter in json.loads(listed.stdout)] == ["no such field"]
    shown = await run(nexus, "dlq", "show", "1", "--json")
    assert json.loads(shown.stdout)["body"] == {"a": 1}
    replayed = await run(nexus, "dlq", "replay", "1")
    assert replayed.returncode == 0, replayed.stderr
    stored = await jetstream(executor).get_last_msg("FACTS", subject)
    assert stored.data == b'{"a":1}'


async def test_a_letter_that_is_not_there_is_one_clear_line(nexus: Nexus, executor: Client) -> None:
    shown = await run(nexus, "dlq", "show", "99")
    assert shown.returncode == 1
    assert shown.stderr.startswith("nexus: there is no dead letter 99")
    assert len(shown.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "notes", "state", "text"),
    [
        ("live", None, "ok", "live: the running stack's"),
        ("sample", None, "note", "sample data, which ends in 2013; the market is at 2012-09-05"),
        (
            "sample",
            {"en": "played again"},
            "note",
            "sample data, which ends in 2013; the market is at 2012-09-05, played",
        ),
    ],
)
async def test_the_doctor_says_which_market_data_the_running_stack_has(
    nexus: Nexus, nats_client: Client, source: str, notes: dict[str, str] | None, state: str, text: str
) -> None:
    now = datetime(2012, 9, 5, 20, tzinfo=UTC)

    async def status(_asked: MarketStatusRequest) -> MarketStatusReply:
        return MarketStatusReply(
            status="closed", current_time=now, next_open=now, next_close=now, source=source, as_of=now, notes=notes
        )

    server = RpcServer(nats_client)
    await server.serve(MARKET_STATUS, status)
    await nats_client.flush()
    examined = await run(nexus, "doctor", "--json")
    (market,) = [load for load in json.loads(examined.stdout) if load["subject"] == "market"]
    assert (market["state"], market["text"][: len(text)]) == (state, text)
    await server.drain(1)


async def test_somebody_is_deleted_from_the_terminal_and_the_receipt_says_what_is_left(
    nexus: Nexus, executor: Client
) -> None:
    at = datetime(2026, 1, 2, 3, tzinfo=UTC)
    asked: list[EraseRequest] = []

    async def delete(request: EraseRequest) -> EraseReply:
        asked.append(request)
        chat = Removed(place="stream CHAT", removed=2, remains="freed_space", gone_after=at)
        receipt = Receipt(
            receipt_id="r1",
            kind=request.kind,
            by=request.by,
            state="running",
            conversations=1,
            requested_at=at,
            removed=[chat, Removed(place="backups", removed=0, remains="backups")],
        )
        return EraseReply(receipt=receipt)

    async def no_receipt(request: ReceiptRef) -> ReceiptReply:
        assert request.receipt_id == "r2"
        return ReceiptReply()

    async def company(request: CompanyRequest) -> CompanyReply:
        config = CompanyConfig(company_id="acme")
        return CompanyReply(
            settings=CompanySettings(config=config, version=1) if request.company_id == "acme" else None
        )

    server = RpcServer(executor)
    await server.serve(COMPANY_GET, company)
    await server.serve(ERASE, delete)
    await server.serve(RECEIPT, no_receipt)
    await executor.flush()
    refused = await run(nexus, "erasures", "r2", "--company", "acme", "--locale", "en")
    assert (refused.returncode, "acme has no receipt r2" in refused.stderr) == (1, True)
    refused = await run(nexus, "erase", "visitor", "v-1", "--company", "acne", "--yes", "--locale", "es")
    assert (refused.returncode, "no hay ninguna empresa acne" in refused.stderr) == (1, True)
    done = await run(nexus, "erase", "visitor", "v-1", "--company", "acme", "--yes", "--locale", "en")
    assert done.returncode == 0, done.stderr
    (one,) = asked
    assert (one.company_id, one.kind, one.name, one.by) == ("acme", "visitor", "v-1", "admin")
    assert "receipt r1 (running), conversations: 1" in done.stdout
    assert "→ 2026-01-02 03:00: The message server no longer gives it out" in done.stdout
    assert "Backups made before this hold it until you delete them." in done.stdout
    assert "freed_space" not in done.stdout
    done = await run(nexus, "erase", "visitor", "v-2", "--company", "acme", "--yes", "--locale", "es")
    assert "justificante r1 (en curso), conversaciones: 1" in done.stdout
    assert "El servidor de mensajes ya no lo entrega" in done.stdout
    await server.drain(1)
