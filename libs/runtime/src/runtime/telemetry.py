"""Trace context through NATS headers (W3C traceparent)."""

from __future__ import annotations

from opentelemetry import trace


def trace_headers() -> dict[str, str]:
    """The headers that carry the current span; empty when there is none."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"}
