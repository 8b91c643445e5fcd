"""Traces: spans in OpenTelemetry's form, carried between services in NATS headers (W3C traceparent).

Spans go to the sinks added with `add_sink`: the bus (`runtime.bus.span_store`), and an OTLP collector if the standard
variable OTEL_EXPORTER_OTLP_ENDPOINT is set. Without a sink no span is created, but the caller's trace context is still
passed on. This module has its own spans, since the SDK's cost ten times as much (decision 0020). Names and attributes
follow the conventions; the text of a message never becomes an attribute.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from types import TracebackType

from runtime.observability import correlation
from runtime.observability.correlation import TRACEPARENT

TURN = "nexus.turn.id"
"""Attribute: the turn of a span, by which `nexus trace` finds a turn's trace."""
Attribute = str | int | float | bool | Sequence[str]


class Span:
    """One piece of work. Ids as in https://www.w3.org/TR/trace-context/; times in ns since the epoch.

    If not `recorded`, it only carries a received trace context.
    """

    __slots__ = (
        "attributes",
        "end",
        "error",
        "name",
        "parent_id",
        "recorded",
        "sampled",
        "span_id",
        "start",
        "trace_id",
    )

    def __init__(self, name: str, trace_id: int, span_id: int, *, sampled: bool, recorded: bool = False) -> None:
        self.name = name
        self.trace_id = trace_id
        self.span_id = span_id
        self.sampled = sampled
        self.recorded = recorded
        self.parent_id = 0
        self.start = 0
        self.end = 0
        self.error: str | None = None
        self.attributes: dict[str, Attribute] = {}

    def set_attributes(self, attributes: Mapping[str, Attribute]) -> None:
        """Adds attributes."""
        self.attributes.update(attributes)

    def discard(self) -> None:
        """Marks this span as not to be recorded."""
        self.recorded = False


Sink = Callable[[Span], None]
"""Gets a finished span; never waits and never raises."""

_sinks: list[Sink] = []
_sampled_share = 1.0
_current: ContextVar[Span | None] = ContextVar("nexus_span", default=None)
_clock_ahead = time.time_ns() - time.perf_counter_ns()
"""The wall clock minus the monotonic clock: start and end are measured by the monotonic clock, so that changes of the
wall clock do not distort a span's length."""


def add_sink(sink: Sink) -> None:
    """Passes spans that end from now on to the sink."""
    _sinks.append(sink)


def remove_sink(sink: Sink) -> None:
    if sink in _sinks:
        _sinks.remove(sink)


def sample(share: float) -> None:
    """Sets the share of traces started in this process that are recorded, 0 to 1. For other traces the caller
    decides."""
    global _sampled_share
    _sampled_share = share


def current() -> Span | None:
    """Returns the span of the current work, or None."""
    return _current.get()


def current_span() -> Span:
    """Returns the recorded span of the current work, or a stand-in that ignores attributes."""
    span = _current.get()
    return span if span is not None and span.recorded else _NONE


def work_headers() -> dict[str, str]:
    """Returns headers with the current span and the ids of the current work."""
    return trace_headers() | correlation.baggage()


def trace_headers() -> dict[str, str]:
    """Returns headers with the current span; empty if there is none."""
    span = _current.get()
    if span is None:
        return {}
    return {TRACEPARENT: f"00-{span.trace_id:032x}-{span.span_id:016x}-{'01' if span.sampled else '00'}"}


class _Work:
    """A span for the duration of a block; an exception marks it as failed."""

    __slots__ = ("_attributes", "_name", "_parent", "_root", "_span", "_token")

    def __init__(self, name: str, parent: Span | None, attributes: dict[str, Attribute], *, root: bool) -> None:
        self._name = name
        self._parent = parent
        self._attributes = attributes
        self._root = root
        self._span: Span | None = None
        self._token: Token[Span | None] | None = None

    def __enter__(self) -> Span:
        parent, span = self._parent, None
        if parent is not None:
            recorded = parent.sampled and bool(_sinks)
            if recorded:
                span = Span(self._name, parent.trace_id, random.getrandbits(64) or 1, sampled=True, recorded=True)
                span.parent_id = parent.span_id
            else:
                span = parent
        elif self._root and _sinks:
            is_sampled = _sampled_share >= 1 or random.random() < _sampled_share
            span = Span(
                self._name,
                random.getrandbits(128) or 1,
                random.getrandbits(64) or 1,
                sampled=is_sampled,
                recorded=is_sampled,
            )
        if span is None:
            return _NONE
        if span is not parent:
            span.attributes = self._attributes
            span.start = time.perf_counter_ns() + _clock_ahead
            self._span = span
        self._token = _current.set(span)
        ids = correlation.current()
        if ids is not None:
            ids.trace = f"{span.trace_id:032x}"
        return span if self._span is not None else _NONE

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        span = self._span
        if span is not None and span.recorded:
            span.end = time.perf_counter_ns() + _clock_ahead
            if kind is not None:
                span.error = kind.__name__
            for sink in _sinks:
                sink(span)


class _Nothing(Span):
    """The stand-in for a span if nothing is recorded."""

    __slots__ = ()

    def set_attributes(self, attributes: Mapping[str, Attribute]) -> None:
        """Does nothing."""


_NONE = _Nothing("", 0, 0, sampled=False)


def span(name: str, **attributes: Attribute) -> _Work:
    """Returns a span for work of this service, as a child of the current one or as the first of a trace."""
    return _Work(name, _current.get(), attributes, root=True)


def remote_span(name: str, headers: Mapping[str, str], *, root: bool = False, **attributes: Attribute) -> _Work:
    """Returns a span for work that another service requested in a message with these headers.

    `root`: starts a trace if the message belongs to none.
    """
    return _Work(name, _parent(headers.get(TRACEPARENT)), attributes, root=root)


def record(
    name: str, start: int, end: int, *, under: Span | None = None, beside: Span | None = None, **attributes: Attribute
) -> None:
    """Records a span of finished work or of a wait, as a child (`under`) or a sibling (`beside`) of the given one;
    times in ns since the epoch."""
    relative = under or beside
    if relative is None or not relative.sampled or not _sinks:
        return
    span = Span(name, relative.trace_id, random.getrandbits(64) or 1, sampled=True, recorded=True)
    span.parent_id = relative.span_id if under is not None else relative.parent_id
    span.start, span.end, span.attributes = start, max(start, end), attributes
    for sink in _sinks:
        sink(span)


def caller(headers: Mapping[str, str]) -> Span | None:
    """Returns the span in which a message with these headers was sent; it is not recorded here."""
    return _parent(headers.get(TRACEPARENT))


def _parent(traceparent: str | None) -> Span | None:
    """Returns the span named by a valid traceparent (https://www.w3.org/TR/trace-context/#traceparent-header), or
    None."""
    if traceparent is None:
        return None
    parts = traceparent.split("-")
    if len(parts) < 4 or (len(parts[0]), len(parts[1]), len(parts[2]), len(parts[3])) != (2, 32, 16, 2):
        return None
    try:
        trace_id, span_id, flags = int(parts[1], 16), int(parts[2], 16), int(parts[3], 16)
    except ValueError:
        return None
    return Span("", trace_id, span_id, sampled=bool(flags & 1)) if trace_id and span_id else None
