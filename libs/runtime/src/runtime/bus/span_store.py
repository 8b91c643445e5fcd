"""Stores spans on the bus, in the stream TRACES, so that `nexus trace` needs no other server.

Best effort and in the background: a bounded list is sent ten seconds after its first span, when there are many spans,
when the service ends, or when somebody wants to read; all traces of a company go in one message, unacknowledged. Spans
that do not fit, or find no connection, are lost and counted.
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
"""Seconds after the first span during which others are added, so that a service sends one message however many turns
there are."""
SEND_AT_ONCE = 1_000
"""So many spans are sent without waiting longer."""
SEND_TIMEOUT = 60.0
"""Seconds for sending all spans that wait."""
MAX_WAITING = 10_000
"""The maximum number of spans that wait to be sent."""
SPANS_PER_MESSAGE = 200


class SpanStore:
    """Sends spans over the bus, in batches; `take` is a telemetry.Sink."""

    def __init__(self, client: Client, service: str) -> None:
        self._client = client
        self._service = service
        self._spans: list[tuple[str, Span]] = []
        """Spans that wait to be sent, each with its company; "" if that is not known yet."""
        self._loop = BackgroundLoop("spans", self._send_all, wait=self._until_gathered, step_timeout=SEND_TIMEOUT)
        self.stuck_because = self._loop.stuck_because
        self._has_spans, self._has_many = asyncio.Event(), asyncio.Event()

    def take(self, span: Span) -> None:
        """Adds a span; it is sent soon."""
        if len(self._spans) >= MAX_WAITING:
            SPANS.labels("dropped").inc()
            return
        work = correlation.current()
        if not self._spans:
            self._has_spans.set()
        self._spans.append((work.company if work is not None else "", span))
        if len(self._spans) >= SEND_AT_ONCE:
            self._has_many.set()

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
        for company, company_spans in companies.items():
            # The spans of one trace must be next to each other.
            company_spans.sort(key=lambda span: span.trace_id)
            for start in range(0, len(company_spans), SPANS_PER_MESSAGE):
                await self._send(company, company_spans[start : start + SPANS_PER_MESSAGE])

    async def _send(self, company: str, spans: list[Span]) -> None:
        traces: dict[int, list[dict[str, object]]] = {}
        for span in spans:
            traces.setdefault(span.trace_id, []).append(_wire(span))
        first, *others = ({"traceId": f"{trace:032x}", "spans": wires} for trace, wires in traces.items())
        data = {"service": self._service, **first, **({"others": others} if others else {})}
        event = event_json("traces.recorded.v1", f"/nexus/{self._service}", data)
        outcome = "lost"
        # While the connection is down nothing is sent: the reconnect buffer is for durable facts.
        if self._client.is_connected:
            with contextlib.suppress(NatsError):
                subject = trace_part(company if is_company(company) else None, os.urandom(8).hex())
                await self._client.publish(subject, event)
                outcome = "sent"
        SPANS.labels(outcome).inc(len(spans))

    async def _on_wanted(self, _: Msg) -> None:
        await self.flush()

    async def _until_gathered(self) -> None:
        await self._has_spans.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_SECONDS):
                await self._has_many.wait()

    async def _send_all(self) -> None:
        self._has_spans.clear()
        self._has_many.clear()
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
