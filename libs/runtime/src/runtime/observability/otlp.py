"""Exports spans to an OpenTelemetry collector, if the standard variables name one and the OTLP exporter is installed.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
import time

import structlog
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from runtime.addresses import http_address
from runtime.errors import NotReadyError
from runtime.observability.telemetry import Span

log = structlog.get_logger(__name__)

CLOSE_SECONDS = 3.0
"""Seconds that a closing service gives its collector for the spans that are not sent yet; the rest is lost."""
LINE_SECONDS = 60.0
"""Seconds between two lines that tell that the collector does not take spans."""
_LOGGERS = ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.sdk._shared_internal")
"""The SDK's loggers of failed and of dropped spans: they write a line for each batch, however often one fails."""
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class OneLineAMinute(logging.Filter):
    """Lets one line of a logger pass in each minute."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        del record
        now = time.monotonic()
        passes = now >= self._next
        if passes:
            self._next = now + LINE_SECONDS
        return passes


class Collector:
    """Sends spans to an OTLP collector, from the SDK's own thread; `take` is a telemetry.Sink."""

    def __init__(self, service: str, exporter: SpanExporter) -> None:
        self._resource = Resource.create({"service.name": service, "service.namespace": "nexus"})
        self._processor = BatchSpanProcessor(exporter)

    def take(self, span: Span) -> None:
        self._processor.on_end(
            ReadableSpan(
                name=span.name,
                context=_context(span.trace_id, span.span_id),
                parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
                resource=self._resource,
                attributes=span.attributes,
                status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
                start_time=span.start,
                end_time=span.end,
            )
        )

    def flush(self) -> None:
        self._processor.force_flush()

    def close(self) -> None:
        """Sends the remaining spans, within CLOSE_SECONDS: the SDK waits half a minute for a collector that hangs."""
        closing = threading.Thread(target=self._processor.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)


def collector(service: str) -> Collector | None:
    exporter = _exporter()
    return Collector(service, exporter) if exporter is not None else None


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id=trace_id, span_id=span_id, is_remote=False, trace_flags=_SAMPLED)


def _exporter() -> SpanExporter | None:
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    present = [name for name in names if os.environ.get(name)]
    if not present:
        return None
    for name in present:
        try:
            http_address(os.environ[name])
        except ValueError as error:
            raise NotReadyError(f"{name}: {error}, such as http://127.0.0.1:4318") from error
    try:
        module = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        log.warning("traces.no_exporter", install="opentelemetry-exporter-otlp-proto-http")
        return None
    exporter: SpanExporter = module.OTLPSpanExporter()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(OneLineAMinute())
    return exporter
