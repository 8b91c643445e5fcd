"""Spans kept on the bus, in the stream TRACES, so that `nexus trace` needs no other server.

Best effort, behind everybody's back: a bounded list, sent two seconds after its first, one message a trace, with no
acknowledgement. What does not fit, or finds no connection, is lost, and counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from datetime import UTC, datetime
from typing import Any

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.channels import trace_part
from contracts.ids import is_id, uuid7
from runtime.metrics import SPANS
from runtime.telemetry import TURN, Span

GATHERED = 2.0
"""Seconds after the first span in which others may join it: the spans of a turn go out as one message a service."""
WAITING = 10_000
"""Spans that wait to be sent, at most."""
IN_A_MESSAGE = 200


class SpanStore:
    """A telemetry.Sink."""

    def __init__(self, client: Client, service: str) -> None:
        self._client = client
        self._service = service
        self._spans: list[Span] = []
        self._task: asyncio.Task[None] | None = None
        self._came = asyncio.Event()

    def take(self, span: Span) -> None:
        """One span; it is sent in a moment."""
        if len(self._spans) < WAITING:
            self._spans.append(span)
            self._came.set()
        else:
            SPANS.labels("dropped").inc()

    def start(self) -> None:
        """Sends from now on."""
        self._task = asyncio.create_task(self._send_now_and_then(), name="spans")

    async def stop(self) -> None:
        """Sends what is left."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self.flush()

    async def flush(self) -> None:
        """Sends what waits."""
        spans, self._spans = self._spans, []
        traces: dict[int, list[Span]] = {}
        for span in spans:
            traces.setdefault(span.trace_id, []).append(span)
        for trace_id, found in traces.items():
            for first in range(0, len(found), IN_A_MESSAGE):
                await self._send(f"{trace_id:032x}", found[first : first + IN_A_MESSAGE])

    async def _send(self, trace_id: str, spans: list[Span]) -> None:
        turn = next((value for span in spans if is_id(value := str(span.attributes.get(TURN, "")))), None)
        event = {
            "specversion": "1.0",
            "id": uuid7(),
            "source": f"/nexus/{self._service}",
            "type": "traces.recorded.v1",
            "time": datetime.now(UTC),
            "datacontenttype": "application/json",
            "data": {"service": self._service, "traceId": trace_id, "spans": [_wire(span) for span in spans]},
        }
        outcome = "lost"
        # While the connection is away nothing is kept: the reconnect buffer belongs to durable facts.
        if self._client.is_connected:
            with contextlib.suppress(NatsError):
                part = os.urandom(8).hex()
                await self._client.publish(
                    trace_part(trace_id, turn, part), orjson.dumps(event, option=orjson.OPT_UTC_Z)
                )
                outcome = "sent"
        SPANS.labels(outcome).inc(len(spans))

    async def _send_now_and_then(self) -> None:
        while True:
            await self._came.wait()
            await asyncio.sleep(GATHERED)
            self._came.clear()
            await self.flush()


def _wire(span: Span) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "spanId": f"{span.span_id:016x}",
        "name": span.name,
        "start": span.start,
        "end": span.end,
        "attributes": span.attributes,
    }
    if span.parent_id:
        wire["parentId"] = f"{span.parent_id:016x}"
    if span.error is not None:
        wire["error"] = span.error
    return wire
