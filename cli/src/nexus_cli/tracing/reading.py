"""The spans of a turn, out of the stream TRACES."""

from __future__ import annotations

from dataclasses import dataclass

from nats.aio.client import Client

from contracts.channels import trace_parts
from contracts.envelope import CloudEvent
from contracts.events.trace import SpanRecorded, TraceRecorded
from contracts.streams import TRACES
from runtime.direct import DirectReader, StoredFact

Recorded = CloudEvent[TraceRecorded]


@dataclass(frozen=True)
class Span:
    """One span and the service that made it."""

    service: str
    trace_id: str
    recorded: SpanRecorded


async def spans_of(client: Client, turn: str) -> list[Span]:
    """Every span of the turn's traces, by start; none: nothing is kept of such a turn.

    A turn that was handed back and taken up again has the same trace; one that another message took over has two.

    Raises:
        ReadFailed: the bus, or the stream, does not answer.
    """
    reader = DirectReader(client, TRACES.name)
    traces = {_data(part).trace_id for part in await reader.last_of_each([trace_parts(turn=turn)])}
    found: dict[str, Span] = {}
    for trace in traces:
        for part in await reader.last_of_each([trace_parts(trace=trace)]):
            data = _data(part)
            found |= {span.span_id: Span(data.service, trace, span) for span in data.spans}
    return sorted(found.values(), key=lambda span: span.recorded.start)


def _data(part: StoredFact) -> TraceRecorded:
    return Recorded.parse(part.event).data
