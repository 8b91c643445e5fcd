"""Measures how much of a consumer's work is due but not begun, and for how long: the figures that autoscaling uses.

JetStream's own lag does not tell: what was handed back with a pause counts as delivered, so it is 0 with five hundred
turns waiting. Of all that is not acknowledged, this takes off what workers run and what is not due yet. Only the
workers know both, so whoever is asked for the figures (by /metrics) asks the others first, under the user's own inbox,
and then the server. While nobody asks it costs nothing. Every worker has the figure of all: take the greatest, not the
sum.

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

FRESH = 0.5
"""Seconds for which the figures are cached."""
ANSWER = 0.5
"""Seconds for the other workers, and the server, to reply."""
UNKNOWN_AFTER = 5.0
"""Seconds without a reply from the server after which the figures are NaN: no figure scales better than a wrong one."""


@dataclass(frozen=True, slots=True)
class Figures:
    """`due` messages wait to be started; the oldest of them has been due for `oldest` seconds."""

    due: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True)
class _Report:
    """Another worker's report about itself, by this machine's monotonic clock. A worker that no longer answers is
    `gone`; the server knows its pauses."""

    at: float
    running: int
    paused: tuple[float, ...]
    gone: bool = False


class Backlog:
    """Sets the gauges `due` and `oldest` for one worker's consumer. `known`: an upper bound of what can wait, from
    another source; it matters after the consumer was lost and recreated, which delivers finished messages again."""

    def __init__(self, worker: PullWorker, due: Gauge, oldest: Gauge, known: Callable[[], int] | None = None) -> None:
        self._worker, self._due, self._oldest, self._known = worker, due, oldest, known
        client, spec = worker.client, worker.spec
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._log = DirectReader(client, spec.stream)
        self._info = f"CONSUMER.INFO.{spec.stream}.{spec.durable}"
        self._me = uuid.uuid4().hex[:12]
        # Beside the replies to this user: no other user may listen or write there.
        self._subject = f"{client.new_inbox().rpartition('.')[0]}.waiting.{spec.stream}.{spec.durable}"
        self._words: dict[str, _Report] = {}
        self._all_told = asyncio.Event()
        self._asked_at = 0.0
        self._made: str | None = None
        self._made_anew = False
        self._unexplained_since: float | None = None
        self._looked = -math.inf
        self._looking = asyncio.Lock()
        self._subscriptions: list[Subscription] = []
        self.figures = Figures()

    async def start(self) -> None:
        """Announces this worker to the others, and learns of them."""
        self._subscriptions = [
            await subscribe(self._client, self._subject, self._asked),
            await listen(self._client, f"{self._subject}.{self._me}", self._heard),
        ]
        with suppress(NatsError):
            await self._ask()

    async def stop(self) -> None:
        for subscription in self._subscriptions:
            with suppress(NatsError):
                await subscription.unsubscribe()

    async def refresh(self) -> None:
        """Sets the gauges from figures at most half a second old; NaN if the server gives none."""
        async with self._looking:
            if time.monotonic() - self._looked <= FRESH:
                return
            try:
                await self.look()
            except (NatsError, TimeoutError, ReadFailedError, KeyError, ValueError) as error:
                log.debug("waiting.unknown", consumer=self._worker.spec.durable, error=str(error))
            known = time.monotonic() - self._looked <= UNKNOWN_AFTER
            self._due.set(self.figures.due if known else math.nan)
            self._oldest.set(self.figures.oldest if known else math.nan)

    async def look(self) -> Figures:
        """The current figures; the previous ones while the consumer is gone or without a leader.

        Raises:
            TimeoutError, NatsError, ReadFailedError: the server did not answer.
        """
        await self._ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER):
                await self._all_told.wait()
        for who, word in self._words.items():
            if word.at < self._asked_at - LEASE:
                self._words[who] = replace(word, running=0, gone=True)
        info = await ask(self._inbox, ConsumerInfo, self._info, deadline=ANSWER)
        if "error" not in info:
            # Else what was known goes on until it is back. The worker makes a lost one anew.
            await self._reckon(info)
        return self.figures

    async def _ask(self) -> None:
        self._asked_at = time.monotonic()
        self._all_told.clear()
        await self._client.publish(self._subject, self._own_word(), reply=f"{self._subject}.{self._me}")
        self._check_all_told()

    def _own_word(self) -> bytes:
        now = time.monotonic()
        return orjson.dumps([self._me, self._worker.in_work, [round(at - now, 2) for at in self._worker.handed_back]])

    async def _asked(self, message: Msg) -> None:
        """Another worker asks, and sends its own report with that."""
        self._heard(message)
        if message.reply and message.reply != f"{self._subject}.{self._me}":
            with suppress(NatsError):
                await self._client.publish(message.reply, self._own_word())

    def _heard(self, message: Msg) -> None:
        now = time.monotonic()
        try:
            who, running, paused = orjson.loads(message.data)
            word = _Report(now, int(running), tuple(now + float(left) for left in paused))
        except (ValueError, TypeError):
            return  # another release's
        if who != self._me:
            self._words[str(who)] = word
            self._check_all_told()

    def _check_all_told(self) -> None:
        if all(word.gone or word.at >= self._asked_at for word in self._words.values()):
            self._all_told.set()

    async def _reckon(self, info: ConsumerInfo) -> None:
        now = time.monotonic()
        never = self._never_delivered(info)
        running = self._worker.in_work + sum(word.running for word in self._words.values())
        pauses = sorted([*self._worker.handed_back, *(at for word in self._words.values() for at in word.paused)])
        over = [at for at in pauses if at <= now]
        again = max(info["num_ack_pending"] - running - (len(pauses) - len(over)), 0)
        over = over[len(over) - min(again, len(over)) :]
        self._forget(now, min(over, default=now))
        since = [*over[:1], *self._unexplained(again - len(over), now)]
        age = max((now - at for at in since), default=0.0)
        if never:
            age = max(age, await self._age_of_first(info))
        self.figures = Figures(never + again, age)
        self._looked = now

    def _never_delivered(self, info: ConsumerInfo) -> int:
        never, made = info["num_pending"], info["created"]
        self._made_anew = (self._made_anew or self._made not in {None, made}) and never > 0
        self._made = made
        return min(never, self._known()) if self._made_anew and self._known is not None else never

    def _forget(self, now: float, oldest: float) -> None:
        """Forgets pauses that have ended: the server delivers due messages in order, so what still waits are the
        newest."""
        handed_back = self._worker.handed_back
        keep = [at for at in handed_back if at > now or at >= oldest]
        handed_back.clear()
        handed_back.extend(keep)
        for who, word in list(self._words.items()):
            paused = _after(word.paused, oldest)
            if word.gone and not paused:
                del self._words[who]
            else:
                self._words[who] = replace(word, paused=paused)

    def _unexplained(self, count: int, now: float) -> Sequence[float]:
        """Messages of a dead worker, which have waited since they were first missed."""
        if count <= 0:
            self._unexplained_since = None
            return ()
        self._unexplained_since = self._unexplained_since or now
        return (self._unexplained_since,)

    async def _age_of_first(self, info: ConsumerInfo) -> float:
        """The age of the first message never delivered; both times are the server's."""
        after = info["delivered"]["stream_seq"] + 1
        stored = [await self._log.next(subject, after, deadline=ANSWER) for subject in self._worker.spec.subjects]
        now = datetime.fromisoformat(info["ts"])
        return max((max((now - one.time).total_seconds(), 0.0) for one in stored if one is not None), default=0.0)


def _after(times: Iterable[float], oldest: float) -> tuple[float, ...]:
    return tuple(at for at in times if at >= oldest)
