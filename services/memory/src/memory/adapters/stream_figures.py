"""Reports the streams' fill, their age and their consumers' lag as metrics, with a log entry if a stream fills up or
cannot keep facts as long as promised. Memory does this since it creates the streams.

The figures are read on requests for /metrics, and every ten minutes for the log, so that a stack without scraping asks
the bus hardly anything.
"""

import math
import time
from collections.abc import Sequence
from datetime import datetime

import structlog
from nats.aio.client import Client

from contracts.streams import Stream
from memory import metrics
from runtime.bus.jetstream_api import AccountInfo, ConsumerPage, StreamInfo, ask
from runtime.bus.replies import ReplyInbox

RECENT_SECONDS = 60.0
"""How long figures are cached for metrics."""
INTERVAL_SECONDS = 600.0
"""Time between two reads for the log."""
REPLY_TIMEOUT_SECONDS = 5.0
"""Deadline of one request to JetStream's API."""
WARNING_FILL = 0.8
CUT_SHORT_FILL = 0.9
"""From this fill on, a stream whose oldest fact is younger than promised is cut short by its size limit."""
REPEAT_SECONDS = 3_600.0
"""How long a warning about a stream is not repeated."""

_log = structlog.get_logger(__name__)


class StreamFigures:
    """The gauges of every stream."""

    def __init__(self, client: Client, streams: Sequence[Stream]) -> None:
        self._inbox = ReplyInbox.of(client)
        self._streams = streams
        self._warned_at: dict[str, float] = {}
        self._read_at = -RECENT_SECONDS

    async def read_if_old(self) -> None:
        """Reads the figures, unless they were read within RECENT_SECONDS."""
        if time.monotonic() - self._read_at >= RECENT_SECONDS:
            await self.read()

    async def read(self) -> None:
        self._read_at = time.monotonic()
        account = await ask(self._inbox, AccountInfo, "INFO", deadline=REPLY_TIMEOUT_SECONDS)
        metrics.STORAGE_USED.set(account.get("storage", 0))
        max_storage = account.get("limits", {}).get("max_storage", -1)
        metrics.STORAGE_ROOM.set(max(max_storage - account.get("storage", 0), 0) if max_storage > 0 else float("inf"))
        for stream in self._streams:
            info = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{stream.name}", deadline=REPLY_TIMEOUT_SECONDS)
            if "error" not in info:
                self._report(stream, info)
                if info["state"].get("consumer_count", 0):
                    await self._report_consumers(stream)

    def _report(self, stream: Stream, info: StreamInfo) -> None:
        state, max_bytes = info["state"], info["config"]["max_bytes"]
        fill = state["bytes"] / max_bytes if max_bytes > 0 else 0.0
        oldest_age = 0.0
        if state["messages"]:
            # Both times are the server's own.
            oldest_age = (
                datetime.fromisoformat(info["ts"]) - datetime.fromisoformat(state["first_ts"])
            ).total_seconds()
        limit = info["config"]["max_age"] / 1e9  # differs from the setting if somebody has changed the stream
        is_lowered = 0 < limit < (stream.max_age or math.inf)
        is_cut_short = is_lowered or (
            stream.discard == "old" and fill >= CUT_SHORT_FILL and 0 < oldest_age < stream.max_age * CUT_SHORT_FILL
        )
        metrics.STREAM_FILL.labels(stream.name).set(fill)
        metrics.STREAM_OLDEST.labels(stream.name).set(oldest_age)
        metrics.STREAM_CUT_SHORT.labels(stream.name).set(is_cut_short)
        if is_cut_short:
            kept = round(limit if is_lowered else oldest_age)
            self._warn("stream.keeps_less_than_promised", stream.name, kept=kept, promised=stream.max_age)
        elif stream.discard == "new" and fill >= WARNING_FILL:
            self._warn("stream.fills", stream.name, fill=round(fill, 3))

    async def _report_consumers(self, stream: Stream) -> None:
        page = await ask(self._inbox, ConsumerPage, f"CONSUMER.LIST.{stream.name}", deadline=REPLY_TIMEOUT_SECONDS)
        for consumer in page.get("consumers") or ():
            # A consumer without a durable name exists only for a moment, and would leave a useless label.
            if durable := consumer["config"].get("durable_name"):
                lag = consumer.get("num_pending", 0) + consumer.get("num_ack_pending", 0)
                metrics.CONSUMER_BEHIND.labels(stream.name, durable).set(lag)

    def _warn(self, event: str, stream: str, **figures: float) -> None:
        if time.monotonic() - self._warned_at.get(stream, -REPEAT_SECONDS) >= REPEAT_SECONDS:
            self._warned_at[stream] = time.monotonic()
            _log.warning(event, stream=stream, advice="raise NEXUS_STREAMS_SIZES", **figures)
