"""Keeps spans on the bus, in the stream TRACES, so that `nexus trace` needs no other server.

Best effort and in the background: a bounded list, sent ten seconds after its first span, when there are many, at the
end, or when somebody wants to read; all traces of a company in one message, unacknowledged. What does not fit, or finds
no connection, is lost and counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from contracts.channels import TRACES_WANTED, trace_part
from contracts.ids import is_company
from runtime.background import BackgroundLoop
from runtime.bus.connection import subscribe
from runtime.bus.publisher import event_json
from runtime.observability import correlation
from runtime.observability.metrics import SPANS
from runtime.observability.telemetry import Span

GATHER_SECONDS = 10.0
"""Seconds after the first span during which others are added: however many turns there are, a service sends one
message."""
SEND_AT_ONCE = 1_000
"""Spans that are sent without waiting longer."""
SEND_TIMEOUT = 60.0
MAX_WAITING = 10_000
"""The most spans that wait to be sent."""
SPANS_PER_MESSAGE = 200


class SpanStore:
    """Sends spans over the bus, in batches; `take` is a telemetry.Sink."""

    def __init__(self, client: Client, service: str) -> None:
        self._client = client
        self._service = service
        self._spans: list[tuple[str, Span]] = []
        """Spans that wait to be stored, each with its company; "" if that is not known yet."""
        self._loop = BackgroundLoop("spans", self._send_all, wait=self._until_gathered, longest=SEND_TIMEOUT)
        self.stuck_because = self._loop.stuck_because
        self._came, self._many = asyncio.Event(), asyncio.Event()

    def take(self, span: Span) -> None:
        """Adds a span; it is sent soon."""
        if len(self._spans) >= MAX_WAITING:
            SPANS.labels("dropped").inc()
            return
        known = correlation.current()
        if not self._spans:
            self._came.set()
        self._spans.append((known.company if known is not None else "", span))
        if len(self._spans) >= SEND_AT_ONCE:
            self._many.set()

    async def start(self) -> None:
        await subscribe(self._client, TRACES_WANTED, self._on_wanted)
        self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()
        await self.flush()

    async def flush(self) -> None:
        spans, self._spans = self._spans, []
        owners: dict[int, str] = {}
        for company, span in spans:
            owners[span.trace_id] = owners.get(span.trace_id) or company
        companies: dict[str, list[Span]] = {}
        for _, span in spans:
            companies.setdefault(owners[span.trace_id], []).append(span)
        for company, found in companies.items():
            # Those of one trace lie beside each other.
            found.sort(key=lambda span: span.trace_id)
            for first in range(0, len(found), SPANS_PER_MESSAGE):
                await self._send(company, found[first : first + SPANS_PER_MESSAGE])

    async def _send(self, company: str, spans: list[Span]) -> None:
        traces: dict[int, list[dict[str, object]]] = {}
        for span in spans:
            traces.setdefault(span.trace_id, []).append(_wire(span))
        first, *others = ({"traceId": f"{trace:032x}", "spans": wires} for trace, wires in traces.items())
        data = {"service": self._service, **first, **({"others": others} if others else {})}
        event = event_json("traces.recorded.v1", f"/nexus/{self._service}", data)
        outcome = "lost"
        # While the connection is away nothing is kept: the reconnect buffer belongs to durable facts.
        if self._client.is_connected:
            with contextlib.suppress(NatsError):
                subject = trace_part(company if is_company(company) else None, os.urandom(8).hex())
                await self._client.publish(subject, event)
                outcome = "sent"
        SPANS.labels(outcome).inc(len(spans))

    async def _on_wanted(self, _: Msg) -> None:
        await self.flush()

    async def _until_gathered(self) -> None:
        await self._came.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_SECONDS):
                await self._many.wait()

    async def _send_all(self) -> None:
        self._came.clear()
        self._many.clear()
        await self.flush()


def _wire(span: Span) -> dict[str, object]:
    wire: dict[str, object] = {
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
