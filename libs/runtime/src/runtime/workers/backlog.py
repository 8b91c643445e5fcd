"""Measures how many messages of a consumer are due but not started, and for how long: the figures for autoscaling.

JetStream's own lag does not show this: a message that was handed back with a pause counts as delivered, so the lag is 0
with five hundred turns waiting. From all unacknowledged messages this subtracts those that workers are handling and
those that are not due yet. Only the workers know both, so a worker that needs the figures (for /metrics) asks the
others first, under the user's own inbox, and then the server. It costs nothing while nobody asks. Every worker computes
the figures for all: use the maximum, not the sum.

    due = messages never delivered + delivered ones - running at any worker - paused and not due yet
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import orjson
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from prometheus_client import Gauge

from runtime.bus.connection import listen, subscribe
from runtime.bus.direct import DirectReader
from runtime.bus.jetstream_api import ConsumerInfo, ask
from runtime.bus.replies import ReplyInbox
from runtime.errors import ReadFailedError
from runtime.workers.pull_worker import LEASE, PullWorker

log = structlog.get_logger(__name__)

CACHE_SECONDS = 0.5
"""Seconds for which the figures are cached."""
ANSWER_TIMEOUT = 0.5
"""Seconds that the other workers have to reply."""
SERVER_TIMEOUT = 4.0
"""Seconds for the server's reply. An overloaded worker reads it late, and that is when the figures matter."""
UNKNOWN_AFTER_SECONDS = 5.0
"""Seconds without a reply from the server after which the figures are NaN: for scaling, no figure is better than a
wrong one."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The number of messages that wait to be started, and for how many seconds the oldest of them has been due."""

    due: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True)
class _Report:
    """Another worker's report about itself. `at` and `paused` (when each paused message is due) are times of this
    machine's monotonic clock. `gone`: the worker no longer answers; its pauses still apply, since the server keeps
    them."""

    at: float
    running: int
    paused: tuple[float, ...]
    gone: bool = False


class Backlog:
    """Gives the gauges `due` and `oldest` their values, for one worker's consumer. `known`: an upper bound on waiting
    messages from another source, which matters after the consumer was lost and recreated: it then delivers finished
    messages again."""

    def __init__(self, worker: PullWorker, due: Gauge, oldest: Gauge, known: Callable[[], int] | None = None) -> None:
        self._worker, self._known = worker, known
        # Computed when they are read: on an event loop that is late the last figures would stay for good.
        due.set_function(lambda: self.figures.due if self._is_current() else math.nan)
        oldest.set_function(lambda: self.figures.oldest if self._is_current() else math.nan)
        client, spec = worker.client, worker.spec
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._log = DirectReader(client, spec.stream)
        self._info = f"CONSUMER.INFO.{spec.stream}.{spec.durable}"
        self._id = uuid.uuid4().hex[:12]
        # Next to this user's reply subjects, where no other user may listen or write.
        self._subject = f"{client.new_inbox().rpartition('.')[0]}.waiting.{spec.stream}.{spec.durable}"
        self._reports: dict[str, _Report] = {}
        self._all_reported = asyncio.Event()
        self._asked_at = 0.0
        self._created: str | None = None
        self._was_recreated = False
        self._unexplained_since: float | None = None
        self._refreshed_at = -math.inf
        self._refresh_lock = asyncio.Lock()
        self._subscriptions: list[Subscription] = []
        self.figures = Figures()

    async def start(self) -> None:
        """Announces this worker to the others, which then report to it."""
        self._subscriptions = [
            await subscribe(self._client, self._subject, self._on_request),
            await listen(self._client, f"{self._subject}.{self._id}", self._on_report),
        ]
        with suppress(NatsError):
            await self._ask()

    async def stop(self) -> None:
        for subscription in self._subscriptions:
            with suppress(NatsError):
                await subscription.unsubscribe()

    async def refresh(self) -> None:
        """Makes sure that the figures are at most half a second old, if the server answers."""
        async with self._refresh_lock:
            if time.monotonic() - self._refreshed_at <= CACHE_SECONDS:
                return
            try:
                await self.look()
            except (NatsError, TimeoutError, ReadFailedError, KeyError, ValueError) as error:
                log.debug("waiting.unknown", consumer=self._worker.spec.durable, error=str(error))

    def _is_current(self) -> bool:
        return time.monotonic() - self._refreshed_at <= UNKNOWN_AFTER_SECONDS

    async def look(self) -> Figures:
        """Returns the current figures; the previous ones while the consumer is missing or without a leader.

        Raises:
            TimeoutError, NatsError, ReadFailedError: the server did not answer.
        """
        await self._ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await self._all_reported.wait()
        for worker_id, report in self._reports.items():
            if report.at < self._asked_at - LEASE:
                self._reports[worker_id] = replace(report, running=0, gone=True)
        info = await ask(self._inbox, ConsumerInfo, self._info, deadline=SERVER_TIMEOUT)
        if "error" not in info:
            # Otherwise the previous figures stay until the consumer is back; the worker recreates a lost one.
            await self._compute(info)
        return self.figures

    async def _ask(self) -> None:
        self._asked_at = time.monotonic()
        self._all_reported.clear()
        await self._client.publish(self._subject, self._own_report(), reply=f"{self._subject}.{self._id}")
        self._check_all_reported()

    def _own_report(self) -> bytes:
        now = time.monotonic()
        return orjson.dumps([self._id, self._worker.in_work, [round(at - now, 2) for at in self._worker.handed_back]])

    async def _on_request(self, message: Msg) -> None:
        """Handles another worker's request, which contains its own report."""
        self._on_report(message)
        if message.reply and message.reply != f"{self._subject}.{self._id}":
            with suppress(NatsError):
                await self._client.publish(message.reply, self._own_report())

    def _on_report(self, message: Msg) -> None:
        now = time.monotonic()
        try:
            worker_id, running, paused = orjson.loads(message.data)
            report = _Report(now, int(running), tuple(now + float(seconds) for seconds in paused))
        except (ValueError, TypeError):
            return  # another release's format
        if worker_id != self._id:
            self._reports[str(worker_id)] = report
            self._check_all_reported()

    def _check_all_reported(self) -> None:
        if all(report.gone or report.at >= self._asked_at for report in self._reports.values()):
            self._all_reported.set()

    async def _compute(self, info: ConsumerInfo) -> None:
        now = time.monotonic()
        undelivered = self._undelivered(info)
        running = self._worker.in_work + sum(report.running for report in self._reports.values())
        pauses = sorted([*self._worker.handed_back, *(at for report in self._reports.values() for at in report.paused)])
        due_times = [at for at in pauses if at <= now]
        redeliverable = max(info["num_ack_pending"] - running - (len(pauses) - len(due_times)), 0)
        due_times = due_times[len(due_times) - min(redeliverable, len(due_times)) :]
        self._forget(now, min(due_times, default=now))
        waiting_since = [*due_times[:1], *self._unexplained(redeliverable - len(due_times), now)]
        age = max((now - at for at in waiting_since), default=0.0)
        if undelivered:
            age = max(age, await self._age_of_first(info))
        self.figures = Figures(undelivered + redeliverable, age)
        self._refreshed_at = now

    def _undelivered(self, info: ConsumerInfo) -> int:
        undelivered, created = info["num_pending"], info["created"]
        self._was_recreated = (self._was_recreated or self._created not in {None, created}) and undelivered > 0
        self._created = created
        return min(undelivered, self._known()) if self._was_recreated and self._known is not None else undelivered

    def _forget(self, now: float, oldest: float) -> None:
        """Forgets pauses that have ended: the server delivers due messages in order, so the newest are those that still
        wait."""
        handed_back = self._worker.handed_back
        keep = [at for at in handed_back if at > now or at >= oldest]
        handed_back.clear()
        handed_back.extend(keep)
        for worker_id, report in list(self._reports.items()):
            paused = _after(report.paused, oldest)
            if report.gone and not paused:
                del self._reports[worker_id]
            else:
                self._reports[worker_id] = replace(report, paused=paused)

    def _unexplained(self, count: int, now: float) -> Sequence[float]:
        """Returns since when messages of a dead worker have waited: since they were first noticed."""
        if count <= 0:
            self._unexplained_since = None
            return ()
        self._unexplained_since = self._unexplained_since or now
        return (self._unexplained_since,)

    async def _age_of_first(self, info: ConsumerInfo) -> float:
        """Returns the age of the first message never delivered; both times are the server's."""
        after = info["delivered"]["stream_seq"] + 1
        stored = [
            await self._log.next(subject, after, deadline=SERVER_TIMEOUT) for subject in self._worker.spec.subjects
        ]
        now = datetime.fromisoformat(info["ts"])
        return max((max((now - fact.time).total_seconds(), 0.0) for fact in stored if fact is not None), default=0.0)


def _after(times: Iterable[float], oldest: float) -> tuple[float, ...]:
    return tuple(at for at in times if at >= oldest)
