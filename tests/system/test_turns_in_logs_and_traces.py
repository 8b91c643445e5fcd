"""Who has a turn's id finds what every service wrote of it, and a collector gets it as one trace."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

SERVICES = {"gateway", "agent", "tool-executor", "market-adapter", "memory"}


@dataclass(frozen=True)
class Exported:
    """A span as the collector was given it."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    turn: str


class Collector(ThreadingHTTPServer):
    """Takes spans as an OpenTelemetry collector does: protobuf over HTTP, on a socket of its own."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Intake)
        self.spans: list[Exported] = []


class _Intake(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        request = ExportTraceServiceRequest.FromString(body)
        assert self.path == "/v1/traces"
        for resource in request.resource_spans:
            service = next(
                attribute.value.string_value
                for attribute in resource.resource.attributes
                if attribute.key == "service.name"
            )
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                turn = next(
                    (attribute.value.string_value for attribute in span.attributes if attribute.key == "nexus.turn.id"),
                    "",
                )
                ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                cast(Collector, self.server).spans.append(Exported(service, span.name, *ids, turn))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[RunningStack]:
    """A stack that logs whatever it does, and sends its traces to the collector."""
    env = {
        "NEXUS_SAMPLE_SECONDS_PER_BAR": "0",
        "NEXUS_LOG_LEVEL": "debug",
        "NEXUS_LOG_FORMAT": "json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    with RunningStack(tmp_path_factory.mktemp("talkative"), env) as running:
        yield running


def lines(stack: RunningStack) -> Iterator[dict[str, Any]]:
    for file in (stack.data / "logs").iterdir():
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("{"):
                yield json.loads(line)


async def test_a_turns_lines_are_found_in_every_service_by_its_id(talkative: RunningStack) -> None:
    async with talkative.chat(talkative.mint("user", "logged", plan="pro"), locale="en") as customer:
        answers = [await customer.ask(f"What is {symbol} trading at?") for symbol in ("AAPL", "MSFT")]
        for answer in answers:
            turn = answer["turnId"]

            def found(turn: str = turn) -> list[dict[str, Any]]:
                own = [line for line in lines(talkative) if line.get("turn") == turn]
                assert {line["service"] for line in own} == SERVICES
                return own

            own = await eventually(found)
            assert {line["company"] for line in own} == {"demo"}
            assert len({line["conversation"] for line in own}) == 1
            (trace,) = {line["trace"] for line in own if "trace" in line}
            # The gateway's line of the message was written before the turn had its id: the trace leads to it.
            assert {line["service"] for line in lines(talkative) if line.get("trace") == trace} == SERVICES
            assert "chat.stored" in {line["event"] for line in lines(talkative) if line.get("trace") == trace}
    assert answers[0]["turnId"] != answers[1]["turnId"]
    shown = await asyncio.to_thread(
        talkative.nexus, "chat", "--locale", "en", "--data", str(talkative.data), typed="Hello\n"
    )
    asides = dict(line.split()[1:3] for line in shown.stderr.splitlines() if line.startswith("·"))
    own = [line for line in lines(talkative) if line.get("turn") == asides["turn"]]
    assert {line["conversation"] for line in own} == {asides["conversation"]}


async def test_a_collector_gets_every_turn_as_one_trace(talkative: RunningStack, collector: Collector) -> None:
    async with talkative.chat(talkative.mint("user", "traced", plan="pro"), locale="en") as customer:
        answers = [await customer.ask(f"What is {symbol} trading at?") for symbol in ("AAPL", "MSFT")]

    def whole(turn: str) -> list[Exported]:
        of_turn = {span.trace for span in collector.spans if span.turn == turn}
        assert len(of_turn) == 1
        found = [span for span in collector.spans if span.trace in of_turn]
        assert {span.service for span in found} == SERVICES
        ids = {span.span for span in found}
        # The message at the gateway is the one root; whatever else there is lies below a span that is there too.
        assert [span.name for span in found if not span.parent] == ["chat.message"]
        assert [span.name for span in found if span.parent and span.parent not in ids] == []
        return found

    first, second = [await eventually(lambda turn=answer["turnId"]: whole(turn)) for answer in answers]
    assert not {span.trace for span in first} & {span.trace for span in second}
