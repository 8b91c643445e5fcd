"""Checks whether the streams still store what is written: they may be full or without a leader, JetStream may be off,
or the disk may be full.

There are two sources. One is the answers to appends: a stream whose disk ran full still answers questions but
acknowledges no append until its server is restarted. The other is the stream's own information, which readiness checks
request for one stream every few seconds.
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
"""Seconds for which a refused append makes the service not ready. After that it counts as ready again: nobody sends
anything to a service that is not ready, so nothing else would show that there is room again."""
CHECK_INTERVAL = 3.0
"""Seconds between questions to the server about a stream."""
ANSWER_DEADLINE = 0.8
"""Seconds for the server to answer such a question."""
LOG_INTERVAL = 60.0
"""Seconds between log entries about the same stream."""
MIN_LOGGED_SECONDS = 1.0
"""Seconds that refusals must last to be logged."""
_MAX_SILENCE_NS = 6_000_000_000
"""Nanoseconds without a message from a replica, which sends one every second, after which it counts as unreachable."""
NO_ACKNOWLEDGEMENT = "it acknowledges nothing: if its disk was full, make room and restart nats-server"
_ADVICE = "raise NEXUS_STREAMS_SIZES or make room; what is stored stays, and writing goes on by itself"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Refused appends in a row: the first one's time, the last one's time and reason."""

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
        self._logged_at: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        self._next_check = 0.0
        self._next_index = 0

    def took(self, stream: str) -> None:
        """Records that an append was acknowledged."""
        if (
            self._refused
            and (refusal := self._refused.pop(stream, None)) is not None
            and refusal.lasted >= MIN_LOGGED_SECONDS
        ):
            log.info("storage.takes_again", stream=stream)

    def refused(self, stream: str, reason: str) -> None:
        """Records an append that was not accepted or acknowledged, for a reason other than its content. Logged once a
        minute."""
        now = time.monotonic()
        APPENDS_REFUSED.labels(stream).inc()
        previous = self._refused.get(stream)
        refusal = self._refused[stream] = _Refusal(previous.since if previous else now, now, reason)
        # A restarting server refuses too, but only for a moment that needs no log entry.
        if refusal.lasted >= MIN_LOGGED_SECONDS and now - self._logged_at.get(stream, -LOG_INTERVAL) >= LOG_INTERVAL:
            self._logged_at[stream] = now
            log.error("storage.refuses", stream=stream, why=reason, advice=_ADVICE)

    async def check(self, streams: Sequence[Stream]) -> None:
        """Raises NotReadyError if one of the streams accepts nothing. Asks the server at most every few seconds, about
        one stream."""
        now = time.monotonic()
        if now >= self._next_check and streams:
            self._next_check = now + CHECK_INTERVAL
            # Streams with a known problem are checked again before the others.
            candidates = [stream for stream in streams if stream.name in self._problems] or list(streams)
            self._next_index += 1
            candidate = candidates[self._next_index % len(candidates)]
            problem = await self._find_problem(candidate)
            if problem is None:
                self._problems.pop(candidate.name, None)
            else:
                self._problems[candidate.name] = problem
        names = {stream.name for stream in streams}
        problems = {
            name: refusal.why
            for name, refusal in self._refused.items()
            if name in names and now - refusal.last < REFUSAL_SECONDS
        }
        problems |= self._problems
        if problems:
            raise NotReadyError("; ".join(f"stream {name}: {why}" for name, why in sorted(problems.items())))

    async def _find_problem(self, stream: Stream) -> str | None:
        try:
            answer = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{stream.name}", deadline=ANSWER_DEADLINE)
        except (TimeoutError, NatsError):
            return "nobody answers for it: JetStream is off, or a cluster has no quorum"
        if "error" in answer:
            return error_text(answer)
        return quorum_problem(answer) or fullness_problem(answer)


def quorum_problem(info: StreamInfo, max_silence_ns: int = _MAX_SILENCE_NS) -> str | None:
    """Describes the problem if most of a stream's replicas are gone; `info` is the answer of STREAM.INFO. The remaining
    leader answers questions for twenty more seconds, but cannot store anything."""
    cluster = info.get("cluster")
    copies = info["config"]["num_replicas"]
    if copies == 1 or cluster is None:
        return None
    reachable = sum(0 < replica.get("active", 0) < max_silence_ns for replica in cluster.get("replicas") or ())
    if "leader" in cluster and 1 + reachable > copies // 2:
        return None
    return f"no quorum: of {copies} nats-servers that hold it most are away"


def fullness_problem(info: StreamInfo) -> str | None:
    """Describes the problem if a stream that never drops messages has no room for another large one; `info` is the
    answer of STREAM.INFO."""
    config, used = info["config"], info["state"]["bytes"]
    limit = config["max_bytes"]
    if limit <= 0 or config["discard"] != "new":
        return None
    largest = config["max_msg_size"]
    needed = limit // 50 if largest <= 0 else min(largest, limit // 50)
    return f"full: it holds {used} of {limit} bytes" if limit - used < needed else None
