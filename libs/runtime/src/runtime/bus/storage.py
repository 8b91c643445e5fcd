"""Checks whether the streams still store what is written: they may be full or without a leader, JetStream may be off,
or the disk may be full.

There are two signs. One is how appends are answered: a stream whose disk ran full still answers questions but
acknowledges no append until its server is restarted. The other is the stream's own information, requested by readiness
checks, one stream every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.streams import Stream
from runtime.bus.jetstream_api import StreamInfo, ask, error_text
from runtime.bus.per_client import PerClient
from runtime.bus.replies import ReplyInbox
from runtime.errors import NotReadyError
from runtime.observability.metrics import APPENDS_REFUSED

log = structlog.get_logger(__name__)

REFUSAL_SECONDS = 15.0
"""Seconds for which a refused append counts against its stream. After that it is tried again: if nobody sends
anything to a service that is not ready, nothing else would show that there is room."""
CHECK_INTERVAL = 3.0
ANSWER_DEADLINE = 0.8
LOG_INTERVAL = 60.0
MIN_LOGGED_SECONDS = 1.0
_MAX_SILENCE_NS = 6_000_000_000
"""Nanoseconds without a message from a replica, which sends one every second, after which it counts as away."""
NO_ACKNOWLEDGEMENT = "it acknowledges nothing: if its disk was full, make room and restart nats-server"
_ADVICE = "raise NEXUS_STREAMS_SIZES or make room; what is stored stays, and writing goes on by itself"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Refused appends in a row: since when, the last one's time and reason."""

    since: float
    last: float
    why: str

    @property
    def lasted(self) -> float:
        return self.last - self.since


class Storage(PerClient):
    """The state of the streams that one connection writes to."""

    def __init__(self, client: Client) -> None:
        self._inbox = ReplyInbox.of(client)
        self._refused: dict[str, _Refusal] = {}
        self._told: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        self._next_look = 0.0
        self._turn = 0

    def took(self, stream: str) -> None:
        """An append was acknowledged."""
        if (
            self._refused
            and (ended := self._refused.pop(stream, None)) is not None
            and ended.lasted >= MIN_LOGGED_SECONDS
        ):
            log.info("storage.takes_again", stream=stream)

    def refused(self, stream: str, why: str) -> None:
        """An append was not accepted or acknowledged, for a reason other than its content. Logged once a minute."""
        now = time.monotonic()
        APPENDS_REFUSED.labels(stream).inc()
        before = self._refused.get(stream)
        refusal = self._refused[stream] = _Refusal(before.since if before else now, now, why)
        # A server that starts again refuses too, for a moment that nobody needs to hear of.
        if refusal.lasted >= MIN_LOGGED_SECONDS and now - self._told.get(stream, -LOG_INTERVAL) >= LOG_INTERVAL:
            self._told[stream] = now
            log.error("storage.refuses", stream=stream, why=why, advice=_ADVICE)

    async def check(self, streams: Sequence[Stream]) -> None:
        """Raises NotReadyError if one of the streams accepts nothing; asks the server at most every few seconds."""
        now = time.monotonic()
        if now >= self._next_look and streams:
            self._next_look = now + CHECK_INTERVAL
            # Whoever has a problem is asked again before the others.
            asked = [one for one in streams if one.name in self._problems] or list(streams)
            self._turn += 1
            stream = asked[self._turn % len(asked)]
            problem = await self._look(stream)
            if problem is None:
                self._problems.pop(stream.name, None)
            else:
                self._problems[stream.name] = problem
        names = {one.name for one in streams}
        found = {
            name: one.why for name, one in self._refused.items() if name in names and now - one.last < REFUSAL_SECONDS
        }
        found |= self._problems
        if found:
            raise NotReadyError("; ".join(f"stream {name}: {why}" for name, why in sorted(found.items())))

    async def _look(self, stream: Stream) -> str | None:
        try:
            answer = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{stream.name}", deadline=ANSWER_DEADLINE)
        except (TimeoutError, NatsError):
            return "nobody answers for it: JetStream is off, or a cluster has no quorum"
        if "error" in answer:
            return error_text(answer)
        return quorum_problem(answer) or fullness_problem(answer)


def quorum_problem(info: StreamInfo) -> str | None:
    """Reports that most of a stream's replicas are gone; `info` is STREAM.INFO's. The remaining leader goes on
    answering questions for twenty seconds, but cannot store anything."""
    cluster = info.get("cluster")
    copies = info["config"]["num_replicas"]
    if copies == 1 or cluster is None:
        return None
    near = sum(0 < one.get("active", 0) < _MAX_SILENCE_NS for one in cluster.get("replicas") or ())
    if "leader" in cluster and 1 + near > copies // 2:
        return None
    return f"no quorum: of {copies} nats-servers that hold it most are away"


def fullness_problem(info: StreamInfo) -> str | None:
    """Reports that a stream that drops nothing has no room for another large message; `info` is STREAM.INFO's."""
    config, held = info["config"], info["state"]["bytes"]
    most = config["max_bytes"]
    if most <= 0 or config["discard"] != "new":
        return None
    largest = config["max_msg_size"]
    needed = most // 50 if largest <= 0 else min(largest, most // 50)
    return f"full: it holds {held} of {most} bytes" if most - held < needed else None
