"""`nexus trace`: spans on the bus become a waterfall."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from nats.aio.client import Client

from contracts.channels import trace_part
from contracts.envelope import CloudEvent
from contracts.events.trace import SpanRecorded, TraceRecorded, TraceSpans
from nexus_cli.testing.stacks import Nexus
from runtime.bus.connection import jetstream
from runtime.observability import telemetry
from runtime.testing.servers import NatsServer

TURN = "bce0fc3815a98af0a86dcd594a606a3d"
TRACE = "0af7651916cd43dd8448eb211c80319c"
MS = 1_000_000


@pytest.fixture
def nexus(tmp_path: Path, nats_server: NatsServer) -> Nexus:
    return Nexus(tmp_path / "data", {"NEXUS_NATS_URL": nats_server.url, "COLUMNS": "140"})


def span(identity: int, parent: int, name: str, start: float, end: float, error: str | None = None) -> SpanRecorded:
    return SpanRecorded(
        span_id=f"{identity:016x}",
        parent_id=f"{parent:016x}" if parent else None,
        name=name,
        start=int(start * MS),
        end=int(end * MS),
        attributes={"gen_ai.usage.input_tokens": 40} if name.startswith("chat ") else {},
        error=error,
    )


async def keep(bus: Client, service: str, turn: str | None, *spans: SpanRecorded) -> None:
    if turn is not None:
        spans[0].attributes[telemetry.TURN] = turn
    other = TraceSpans(trace_id="f" * 32, spans=[span(1, 0, "of another turn", 0, 1)])
    event = CloudEvent[TraceRecorded](
        source=f"/nexus/{service}",
        type="traces.recorded.v1",
        # Nobody says which of the traces comes first.
        data=TraceRecorded(service=service, trace_id=TRACE, spans=list(spans), others=[other])
        if service == "agent"
        else TraceRecorded(
            service=service,
            trace_id=other.trace_id,
            spans=other.spans,
            others=[TraceSpans(trace_id=TRACE, spans=list(spans))],
        ),
    )
    await jetstream(bus).publish(trace_part("demo", service), event.to_json(), stream="TRACES")


async def run(nexus: Nexus, *arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(nexus.run, *arguments)


async def test_a_turn_is_drawn_across_services_in_the_order_of_its_steps(nexus: Nexus, nats_streams: Client) -> None:
    await keep(nats_streams, "gateway", None, span(1, 0, "chat.message", 0, 2))
    await keep(
        nats_streams,
        "agent",
        TURN,
        span(2, 1, "queue", 1, 10),
        span(3, 1, "invoke_agent", 10, 60),
        span(4, 3, "context", 11, 14),
        span(5, 3, "chat llama", 15, 40),
        span(6, 3, "execute_tool get_price", 40, 50),
        span(7, 3, "commit", 55, 59),
    )
    await keep(nats_streams, "tool-executor", None, span(8, 6, "execute_tool get_price", 42, 48, error="Timeout"))
    shown = await run(nexus, "trace", TURN, "--json")
    assert shown.returncode == 0, shown.stderr
    view = json.loads(shown.stdout)
    assert view["durationMs"] == 60
    steps = [(row["service"], row["step"], row["depth"]) for row in view["spans"]]
    assert steps == [
        ("gateway", None, 0),
        ("agent", "queue", 1),
        ("agent", None, 1),
        ("agent", "context", 2),
        ("agent", "model", 2),
        ("agent", "tool", 2),
        ("tool-executor", None, 3),
        ("agent", "commit", 2),
    ]
    drawn = await run(nexus, "trace", TURN)
    assert "chat llama (40+0 tokens)" in drawn.stdout
    assert "execute_tool get_price !Timeout" in drawn.stdout
    assert "60.0 ms, 8 spans, 3 services" in drawn.stdout


async def test_a_span_whose_parent_was_lost_is_shown_all_the_same(nexus: Nexus, nats_streams: Client) -> None:
    await keep(nats_streams, "agent", TURN, span(3, 99, "invoke_agent", 10, 60))
    view = json.loads((await run(nexus, "trace", TURN, "--json")).stdout)
    assert [row["depth"] for row in view["spans"]] == [0]


async def test_of_a_turn_that_nobody_knows_one_line_says_so(nexus: Nexus, nats_streams: Client) -> None:
    shown = await run(nexus, "trace", TURN)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"nexus: nothing is recorded of turn {TURN}")
    assert (await run(nexus, "trace", "no id")).returncode == 2
