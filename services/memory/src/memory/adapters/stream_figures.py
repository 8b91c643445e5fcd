"""The streams' fill, age and the lag of their readers, as metrics, and a log entry if one fills up or cannot keep what
it promises. Memory reports them, since it creates the streams.

They are read on requests for /metrics, and every ten minutes for the log, so that a stack without scraping asks the bus
next to nothing.
"""

import time
from collections.abc import Sequence
from datetime import datetime

import structlog
from nats.aio.client import Client

from contracts.streams import Stream
from memory import metrics
from runtime.bus.jetstream_api import AccountInfo, ConsumerPage, StreamInfo, ask
from runtime.bus.replies import ReplyInbox

RECENT = 60.0
"""Seconds for which figures are cached for metrics."""
EVERY = 600.0
"""Seconds between reads for the log."""
ANSWER = 5.0
FILLED = 0.8
CUT_SHORT = 0.9
"""The fill from which on a stream that is younger than promised is so because of its size limit."""
SAY_AGAIN = 3_600.0

_log = structlog.get_logger(__name__)


class StreamFigures:
    """The gauges of every stream."""

    def __init__(self, client: Client, streams: Sequence[Stream]) -> None:
        self._inbox = ReplyInbox.of(client)
        self._streams = streams
        self._said: dict[str, float] = {}
        self._looked = -RECENT

    async def renew(self) -> None:
        """Reads the figures, unless that was a moment ago."""
        if time.monotonic() - self._looked >= RECENT:
            await self.look()

    async def look(self) -> None:
        self._looked = time.monotonic()
        account = await ask(self._inbox, AccountInfo, "INFO", deadline=ANSWER)
        metrics.STORAGE_USED.set(account.get("storage", 0))
        most = account.get("limits", {}).get("max_storage", -1)
        metrics.STORAGE_ROOM.set(max(most - account.get("storage", 0), 0) if most > 0 else float("inf"))
        for stream in self._streams:
            info = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{stream.name}", deadline=ANSWER)
            if "error" not in info:
                self._tell(stream, info)
                if info["state"].get("consumer_count", 0):
                    await self._readers(stream)

    def _tell(self, stream: Stream, info: StreamInfo) -> None:
        state, most = info["state"], info["config"]["max_bytes"]
        fill = state["bytes"] / most if most > 0 else 0.0
        oldest = 0.0
        if state["messages"]:
            # Both times are the server's own.
            oldest = (datetime.fromisoformat(info["ts"]) - datetime.fromisoformat(state["first_ts"])).total_seconds()
        short = stream.discard == "old" and fill >= CUT_SHORT and 0 < oldest < stream.max_age * CUT_SHORT
        metrics.STREAM_FILL.labels(stream.name).set(fill)
        metrics.STREAM_OLDEST.labels(stream.name).set(oldest)
        metrics.STREAM_CUT_SHORT.labels(stream.name).set(short)
        if short:
            self._say("stream.keeps_less_than_promised", stream.name, kept=round(oldest), promised=stream.max_age)
        elif stream.discard == "new" and fill >= FILLED:
            self._say("stream.fills", stream.name, fill=round(fill, 3))

    async def _readers(self, stream: Stream) -> None:
        page = await ask(self._inbox, ConsumerPage, f"CONSUMER.LIST.{stream.name}", deadline=ANSWER)
        for one in page.get("consumers") or ():
            # One without a durable name is somebody's for a moment, and would only leave a label behind.
            if name := one["config"].get("durable_name"):
                behind = one.get("num_pending", 0) + one.get("num_ack_pending", 0)
                metrics.CONSUMER_BEHIND.labels(stream.name, name).set(behind)

    def _say(self, event: str, stream: str, **figures: float) -> None:
        if time.monotonic() - self._said.get(stream, -SAY_AGAIN) >= SAY_AGAIN:
            self._said[stream] = time.monotonic()
            _log.warning(event, stream=stream, advice="raise NEXUS_STREAMS_SIZES", **figures)
