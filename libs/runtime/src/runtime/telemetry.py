"""Traces: OpenTelemetry spans, carried between services in NATS headers (W3C traceparent).

Nothing is recorded, and the cost is about a microsecond, until `configure` finds an exporter: the OTLP endpoint of the
standard variable OTEL_EXPORTER_OTLP_ENDPOINT, when the OTLP exporter is installed, or one given by the caller. The
trace context of whoever called is passed on in any case.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import structlog
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags
from opentelemetry.util.types import AttributeValue

log = structlog.get_logger(__name__)

TRACEPARENT = "traceparent"
_tracer = trace.get_tracer("nexus")
_provider: TracerProvider | None = None


def configure(service: str, *, exporter: SpanExporter | None = None) -> None:
    """Starts recording if there is somewhere to send spans; a second call replaces nothing and does nothing."""
    global _provider, _tracer
    exporter = exporter or _otlp_exporter()
    if exporter is None or _provider is not None:
        return
    _provider = TracerProvider(resource=Resource.create({"service.name": service, "service.namespace": "nexus"}))
    _provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(_provider)
    _tracer = _provider.get_tracer("nexus")


def shutdown() -> None:
    """Sends what is left; at most a few seconds."""
    if _provider is not None:
        _provider.shutdown()


def trace_headers() -> dict[str, str]:
    """The headers that carry the current span; empty when there is none."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {TRACEPARENT: f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"}


@contextmanager
def span(name: str, **attributes: AttributeValue) -> Generator[Span]:
    """A span of this service's own work, under the current one; exceptions mark it as failed."""
    if _provider is None:
        yield trace.get_current_span()  # not recorded; its context, if the caller gave one, is passed on
        return
    with _tracer.start_as_current_span(name, attributes=attributes) as current:
        yield current


@contextmanager
def remote_span(name: str, headers: Mapping[str, str], **attributes: AttributeValue) -> Generator[Span]:
    """A span for work that another service asked for in a message with these headers."""
    parent = _parent(headers.get(TRACEPARENT))
    if _provider is None and parent is None:
        yield trace.INVALID_SPAN
        return
    context = trace.set_span_in_context(NonRecordingSpan(parent)) if parent is not None else None
    with _tracer.start_as_current_span(name, context, kind=SpanKind.CONSUMER, attributes=attributes) as current:
        yield current


def _parent(traceparent: str | None) -> SpanContext | None:
    """The span named by a traceparent (https://www.w3.org/TR/trace-context/#traceparent-header), if it is valid."""
    if traceparent is None:
        return None
    parts = traceparent.split("-")
    if len(parts) < 4 or (len(parts[0]), len(parts[1]), len(parts[2]), len(parts[3])) != (2, 32, 16, 2):
        return None
    try:
        context = SpanContext(
            trace_id=int(parts[1], 16),
            span_id=int(parts[2], 16),
            is_remote=True,
            trace_flags=TraceFlags(int(parts[3], 16)),
        )
    except ValueError:
        return None
    return context if context.is_valid else None


def _otlp_exporter() -> SpanExporter | None:
    if not (os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")):
        return None
    try:
        module = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        log.warning("traces.no_exporter", install="opentelemetry-exporter-otlp-proto-http")
        return None
    exporter: SpanExporter = module.OTLPSpanExporter()
    return exporter
