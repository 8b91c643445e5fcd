"""The trace of whoever asked goes with every event and call."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Generator, Sequence

import opentelemetry.sdk._shared_internal as batch_processor
import pytest
from nats.aio.client import Client
from opentelemetry.exporter.otlp.proto.http import trace_exporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contracts.channels import TRACE_PARTS, TRACES_WANTED
from contracts.envelope import CloudEvent, Wire
from contracts.events.trace import TraceRecorded
from contracts.rpc import Rpc
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.bus.span_store import SEND_AT_ONCE, SPANS_PER_MESSAGE, SpanStore
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.errors import NotReadyError
from runtime.observability import correlation, otlp, telemetry
from runtime.observability.otlp import Collector
from runtime.observability.telemetry import Span
from runtime.testing.servers import eventually
from runtime.workers.pull_worker import Ack, Delivery, Outcome, PullWorker

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
        return Ack()

    await RpcServer(nats_streams).serve(WHOSE, whose)
    worker = PullWorker(nats_streams, "TOOLS", "traced", ["tools.call.requested.v1.*"], work)
    await worker.start()
    with telemetry.remote_span("outside", {"traceparent": PARENT}):
        assert TRACE in current_trace()
        answer = await RpcClient(nats_streams).call(WHOSE, Text(text=""))
        await Publisher(nats_streams).append("tools.call.requested.v1.x", b"", stream="TOOLS", msg_id="1")
    assert TRACE in answer.text
    assert TRACE in await asyncio.wait_for(seen, 20)
    await worker.drain()


class Kept:
    """A sink that keeps."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def take(self, span: Span) -> None:
        self.spans.append(span)

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found


@pytest.fixture
def kept() -> Generator[Kept]:
    sink = Kept()
    telemetry.add_sink(sink.take)
    yield sink
    telemetry.remove_sink(sink.take)
    telemetry.sample(1.0)


@pytest.mark.parametrize(
    "header",
    ["", "nonsense", "00-xyz-b7ad6b7169203331-01", f"00-{'0' * 32}-b7ad6b7169203331-01", f"00-{TRACE}-b7ad-01"],
)
def test_a_header_that_names_no_span_is_no_parent(header: str) -> None:
    with telemetry.remote_span("outside", {"traceparent": header}):
        assert TRACE not in current_trace()


def test_spans_form_a_tree_across_services(kept: Kept) -> None:
    with telemetry.remote_span("asked", {"traceparent": PARENT}), telemetry.span("work", turn="t1"):
        pass
    asked, work = kept.named("asked"), kept.named("work")
    assert f"{work.trace_id:032x}" == TRACE
    assert (f"{asked.parent_id:016x}", work.parent_id) == ("b7ad6b7169203331", asked.span_id)
    assert work.attributes == {"turn": "t1"}
    assert asked.start <= work.start <= work.end <= asked.end


def test_what_a_block_raises_marks_its_span(kept: Kept) -> None:
    with pytest.raises(KeyError), telemetry.span("work"):
        raise KeyError
    assert kept.named("work").error == "KeyError"


def test_whoever_is_called_goes_by_the_callers_choice(kept: Kept) -> None:
    telemetry.sample(0.0)
    with telemetry.span("first"), telemetry.span("second"):
        assert current_trace().endswith("-00")
    with telemetry.remote_span("asked", {"traceparent": current_trace()}), telemetry.span("work"):
        pass
    with telemetry.remote_span("chosen", {"traceparent": PARENT}), telemetry.span("its work"):
        pass
    assert {span.name for span in kept.spans} == {"chosen", "its work"}


def test_a_span_that_was_nothing_leaves_none_and_a_wait_can_be_told_afterwards(kept: Kept) -> None:
    with telemetry.span("turn") as turn:
        with telemetry.span("look") as look:
            look.discard()
        telemetry.record("queue", 5, 9, under=turn)
    assert {span.name for span in kept.spans} == {"turn", "queue"}
    queue = kept.named("queue")
    assert (queue.start, queue.end, queue.parent_id) == (5, 9, kept.named("turn").span_id)


def test_spans_reach_a_collector_in_its_own_shape() -> None:
    exporter = InMemorySpanExporter()
    collector = Collector("test", exporter)
    telemetry.add_sink(collector.take)
    with telemetry.remote_span("asked", {"traceparent": PARENT}), telemetry.span("work", turn="t1"):
        pass
    telemetry.remove_sink(collector.take)
    collector.flush()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    collector.close()
    context = spans["work"].context
    assert context is not None
    assert f"{context.trace_id:032x}" == TRACE
    assert spans["work"].parent == spans["asked"].context
    assert dict(spans["work"].attributes or {}) == {"turn": "t1"}


async def parts(client: Client) -> list[tuple[str, TraceRecorded]]:
    """What is stored: the company of each message, and what it tells."""
    found = (await DirectReader(client, "TRACES").batch(TRACE_PARTS, 1, 100)).facts
    return [(part.subject.split(".")[-2], CloudEvent[TraceRecorded].parse(part.event).data) for part in found]


async def test_the_end_leaves_no_span_behind(nats_streams: Client) -> None:
    store = SpanStore(nats_streams, "agent")
    telemetry.add_sink(store.take)
    with telemetry.remote_span("turn", {"traceparent": PARENT}) as turn, telemetry.span("work"):
        turn.set_attributes({telemetry.TURN: "t" * 32})
    telemetry.remove_sink(store.take)
    await store.stop()

    await eventually(lambda: parts(nats_streams))
    ((company, data),) = await parts(nats_streams)
    assert (company, data.service, data.trace_id, data.others) == ("-", "agent", TRACE, None)
    assert {span.name for span in data.spans} == {"turn", "work"}


async def test_a_companys_traces_go_out_together_when_somebody_wants_them(nats_streams: Client) -> None:
    store = SpanStore(nats_streams, "agent")
    await store.start()
    telemetry.add_sink(store.take)
    for company in ("acme", "acme", "Not An Id", "other", "acme"):
        with correlation.Correlation(), telemetry.span("turn"):
            with telemetry.span("before it is known whose"):
                pass
            correlation.add_ids(company=company)
    telemetry.remove_sink(store.take)
    await nats_streams.flush()
    assert await parts(nats_streams) == []
    await nats_streams.publish(TRACES_WANTED)

    async def stored() -> dict[str, list[int]]:
        found = {company: [len(trace.spans) for trace in data.traces] for company, data in await parts(nats_streams)}
        assert found == {"acme": [2, 2, 2], "-": [2], "other": [2]}
        return found

    await eventually(stored)
    await store.stop()
    assert len(await parts(nats_streams)) == 3


async def test_many_spans_wait_for_nothing_and_fit_into_messages(nats_streams: Client) -> None:
    store = SpanStore(nats_streams, "agent")
    await store.start()
    for number in range(SEND_AT_ONCE):
        span = telemetry.Span("work", 1 + number % 2, number + 1, sampled=True)
        span.start = span.end = 1
        store.take(span)

    async def stored() -> bool:
        found = [data for _, data in await parts(nats_streams)]
        kept = sum(len(trace.spans) for data in found for trace in data.traces)
        return (kept, len(found)) == (SEND_AT_ONCE, SEND_AT_ONCE / SPANS_PER_MESSAGE)

    await eventually(stored)
    await store.stop()


def test_a_collector_that_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318")
    with pytest.raises(NotReadyError, match="OTEL_EXPORTER_OTLP_ENDPOINT: write http://HOST:PORT"):
        otlp.collector("test")


class _Hanging(SpanExporter):
    """An exporter whose collector never answers."""

    def __init__(self) -> None:
        self.may_end, self.is_shut = threading.Event(), False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        del spans
        self.may_end.wait()
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self.is_shut = True


def test_a_service_that_ends_does_not_wait_for_a_collector_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "CLOSE_SECONDS", 0.01)
    exporter = _Hanging()
    collector = Collector("test", exporter)
    telemetry.add_sink(collector.take)
    with telemetry.remote_span("asked", {"traceparent": PARENT}):
        pass
    telemetry.remove_sink(collector.take)
    collector.close()
    assert not exporter.is_shut
    exporter.may_end.set()


def test_a_collector_that_refuses_every_batch_is_told_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    collector = otlp.collector("test")
    assert collector is not None
    for batch in range(100):
        for module in (trace_exporter, batch_processor):
            logging.getLogger(module.__name__).error("batch %d", batch)
    collector.close()
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("opentelemetry")]
    assert lines == ["batch 0"] * 2
