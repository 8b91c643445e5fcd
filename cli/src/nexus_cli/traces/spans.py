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
MOMENTS = (0.3, 1.5)
"""Seconds in which the services send what they have gathered; the second where the first has brought nothing."""
PAGE = 50
"""Messages read at once: each may be 256 KiB."""


@dataclass(frozen=True)
class ServiceSpan:
    """One span and the service that made it."""

    service: str
    trace_id: str
    recorded: SpanRecorded


async def spans_of(client: Client, turn: str) -> list[ServiceSpan]:
    """Returns every span of the turn's traces, by start; none if nothing is kept of such a turn.

    A turn that was handed back and taken up again has the same trace; one that another message took over has two.

    Raises:
        ReadFailedError: the bus, or the stream, does not answer.
    """
    reader = DirectReader(client, TRACES.name)
    for moment in MOMENTS:
        await client.publish(TRACES_WANTED)
        await client.flush()
        await asyncio.sleep(moment)
        named = [one async for one in _spans(reader, {turn}) if one.recorded.attributes.get(TURN) == turn]
        if named:
            traces = {one.trace_id for one in named}
            found = {one.recorded.span_id: one async for one in _spans(reader, traces) if one.trace_id in traces}
            return sorted(found.values(), key=lambda one: one.recorded.start)
    return []


async def _spans(reader: DirectReader, words: set[str]) -> AsyncGenerator[ServiceSpan]:
    """All spans in those messages that hold one of the words: reading JSON takes longer than reading the stream."""
    sought = [word.encode() for word in words]
    at, more = 1, True
    while more:
        batch = await reader.batch(TRACE_PARTS, at, PAGE)
        for part in batch.facts:
            at = part.seq + 1
            if not any(word in part.event for word in sought):
                continue
            data = Recorded.parse(part.event).data
            for trace in data.traces:
                for span in trace.spans:
                    yield ServiceSpan(data.service, trace.trace_id, span)
        more = batch.more and bool(batch.facts)
