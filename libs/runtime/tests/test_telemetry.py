"""The trace of whoever asked goes with every event and call."""

from __future__ import annotations

import asyncio

import pytest
from nats.aio.client import Client
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contracts.envelope import Wire
from contracts.rpc import Rpc
from runtime import telemetry
from runtime.publishing import Publisher
from runtime.pulling import Delivery, Done, Outcome, PullWorker
from runtime.rpc import RpcClient, RpcServer

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


class Text(Wire):
    text: str


WHOSE = Rpc("rpc.test.whose.v1", Text, Text, queue="test")


def current_trace() -> str:
    return telemetry.trace_headers().get("traceparent", "none")


async def test_a_call_and_an_event_carry_the_trace_they_were_made_in(nats_streams: Client) -> None:
    async def whose(request: Text) -> Text:
        return Text(text=current_trace())

    seen: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def work(delivery: Delivery) -> Outcome:
        seen.set_result(current_trace())
        return Done()

    await RpcServer(nats_streams).serve(WHOSE, whose)
    worker = PullWorker(nats_streams, "TOOLS", "traced", ["tools.call.requested.v1.*"], work)
    await worker.start()
    with telemetry.remote_span("outside", {"traceparent": PARENT}):
        assert TRACE in current_trace()
        answer = await RpcClient(nats_streams).call(WHOSE, Text(text=""))
        await Publisher(nats_streams).append("tools.call.requested.v1.x", b"", stream="TOOLS", msg_id="1")
    assert TRACE in answer.text
    assert TRACE in await asyncio.wait_for(seen, 5)
    await worker.drain()


@pytest.mark.parametrize(
    "header",
    ["", "nonsense", "00-xyz-b7ad6b7169203331-01", f"00-{'0' * 32}-b7ad6b7169203331-01", f"00-{TRACE}-b7ad-01"],
)
def test_a_header_that_names_no_span_is_no_parent(header: str) -> None:
    with telemetry.remote_span("outside", {"traceparent": header}):
        assert TRACE not in current_trace()


class Forwarding(SpanExporter):
    """Keeps what is exported, in a class of its own so that the global provider can be told apart."""

    def __init__(self) -> None:
        self.kept = InMemorySpanExporter()

    def export(self, spans: object) -> SpanExportResult:
        return self.kept.export(spans)  # pyright: ignore[reportArgumentType]


def test_spans_are_recorded_once_there_is_an_exporter() -> None:
    exporter = Forwarding()
    telemetry.configure("test", exporter=exporter)
    with telemetry.remote_span("asked", {"traceparent": PARENT}), telemetry.span("work", turn="t1"):
        pass
    provider = trace.get_tracer_provider()
    assert provider.force_flush()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    spans = {span.name: span for span in exporter.kept.get_finished_spans()}
    assert spans["work"].parent is not None
    assert spans["work"].context is not None
    assert f"{spans['work'].context.trace_id:032x}" == TRACE
    assert dict(spans["work"].attributes or {}) == {"turn": "t1"}
