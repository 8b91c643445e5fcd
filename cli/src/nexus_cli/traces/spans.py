"""Reads the spans of a turn from the stream TRACES."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from nats.aio.client import Client

from contracts.channels import TRACE_PARTS, TRACES_WANTED
from contracts.envelope import CloudEvent
from contracts.events.trace import SpanRecorded, TraceRecorded
from contracts.streams import TRACES
from runtime.bus.direct import DirectReader
from runtime.observability.telemetry import TURN

Recorded = CloudEvent[TraceRecorded]
WAITS_SECONDS = (0.3, 1.5)
"""Seconds in which the services send their collected spans; the second wait is used if the first brought nothing."""
PAGE_SIZE = 50
"""Messages in one read; each may have 256 KiB."""


@dataclass(frozen=True)
class ServiceSpan:
    """One span and the service that made it."""

    service: str
    trace_id: str
    recorded: SpanRecorded


async def spans_of(client: Client, turn: str) -> list[ServiceSpan]:
    """All spans of the turn's traces, by start; empty if nothing is recorded of the turn.

    A turn that was given back and resumed stays in one trace; a turn that was superseded by a message has two traces.

    Raises:
        ReadFailedError: the bus or the stream does not answer.
    """
    reader = DirectReader(client, TRACES.name)
    for seconds in WAITS_SECONDS:
        await client.publish(TRACES_WANTED)
        await client.flush()
        await asyncio.sleep(seconds)
        turn_spans = [span async for span in _spans(reader, {turn}) if span.recorded.attributes.get(TURN) == turn]
        if turn_spans:
            traces = {span.trace_id for span in turn_spans}
            spans_by_id = {
                span.recorded.span_id: span async for span in _spans(reader, traces) if span.trace_id in traces
            }
            return sorted(spans_by_id.values(), key=lambda span: span.recorded.start)
    return []


async def _spans(reader: DirectReader, words: set[str]) -> AsyncGenerator[ServiceSpan]:
    """Yields the spans of the messages that contain one of the words. Other messages are not parsed, since parsing JSON
    takes longer than reading the stream."""
    sought = [word.encode() for word in words]
    next_seq, has_more = 1, True
    while has_more:
        batch = await reader.batch(TRACE_PARTS, next_seq, PAGE_SIZE)
        for part in batch.facts:
            next_seq = part.seq + 1
            if not any(word in part.event for word in sought):
                continue
            data = Recorded.parse(part.event).data
            for trace in data.traces:
                for span in trace.spans:
                    yield ServiceSpan(data.service, trace.trace_id, span)
        has_more = batch.more and bool(batch.facts)
