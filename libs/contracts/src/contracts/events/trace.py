"""Spans of traces, kept for a while in TRACES so that a turn can be inspected without another server.

Names follow OpenTelemetry: https://opentelemetry.io/docs/specs/otel/trace/api/#span. No contents of messages.
"""

from pydantic import Field

from contracts.envelope import Wire

SPAN_ID = r"^[0-9a-f]{16}$"
Attribute = str | int | float | bool | list[str]
TRACE_ID = r"^[0-9a-f]{32}$"


class SpanRecorded(Wire):
    """One piece of work. Times in ns since the epoch by the clock of the machine that did it."""

    span_id: str = Field(pattern=SPAN_ID)
    parent_id: str | None = Field(default=None, pattern=SPAN_ID)
    name: str = Field(min_length=1, max_length=256)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    attributes: dict[str, Attribute] = Field(default_factory=dict[str, Attribute])
    error: str | None = Field(default=None, description="the class of what was raised; None: it went well")


class TraceSpans(Wire):
    """Spans of one trace."""

    trace_id: str = Field(pattern=TRACE_ID)
    spans: list[SpanRecorded]


class TraceRecorded(Wire):
    """Spans that a service has ended lately: of one trace, and of others of the same company."""

    service: str
    trace_id: str = Field(pattern=TRACE_ID)
    spans: list[SpanRecorded]
    others: list[TraceSpans] | None = None

    @property
    def traces(self) -> tuple[TraceSpans, ...]:
        """The spans of all traces in this event."""
        return (TraceSpans(trace_id=self.trace_id, spans=self.spans), *(self.others or ()))
