"""How much of a consumer's work is due and not begun, and for how long: what autoscaling goes by.

JetStream's own lag does not tell: what was handed back with a pause counts as delivered, so it is 0 with five hundred
turns waiting. Of all that is not acknowledged, this takes off what workers run and what is not due yet. Each worker
tells the others both once a second, under the user's own inbox, so every one of them knows the figure of all: take the
greatest, not the sum.

    due = messages never delivered + delivered ones - running at any worker - paused and not due yet
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from prometheus_client import Gauge

from runtime.connection import listen
from runtime.direct import DirectReader
from runtime.errors import ReadFailed
from runtime.pulling import LEASE, PullWorker
from runtime.replies import ReplyInbox

log = structlog.get_logger(__name__)

EVERY = 1.0
ANSWER = 1.0
UNKNOWN_AFTER = 5.0
"""Seconds without the server's word from which the figures are NaN: no figure scales better than a wrong one."""
MOST_TOLD = 20_000
"""Pauses in one word to the others, which then has some 200 kB."""


@dataclass(frozen=True, slots=True)
class Figures:
    """`due` messages wait to be begun; the oldest of them has been due for `oldest` seconds."""

    due: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True)
class _Word:
    """What another worker has said of itself, by this machine's monotonic clock."""

    at: float
    running: int
    paused: tuple[float, ...]


class Waiting:
    """Sets the gauges `due` and `oldest` for one worker's consumer. `known`: how much can wait at most, as the worker
    knows by other ways; it counts after the consumer was lost and made anew, which delivers all that is long done."""

    def __init__(self, worker: PullWorker, due: Gauge, oldest: Gauge, known: Callable[[], int] | None = None) -> None:
        self._worker, self._due, self._oldest, self._known = worker, due, oldest, known
        client, spec = worker.client, worker.spec
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._log = DirectReader(client, spec.stream)
        self._info = f"$JS.API.CONSUMER.INFO.{spec.stream}.{spec.durable}"
        # Beside the replies to this user: no other user may listen or write there.
        self._subject = f"{client.new_inbox().rpartition('.')[0]}.waiting.{spec.stream}.{spec.durable}"
        self._me = uuid.uuid4().hex[:12]
        self._words: dict[str, _Word] = {}
        self._made: str | None = None
        self._made_anew = False
        self._unexplained_since: float | None = None
        self._asked_well = time.monotonic()
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self.figures = Figures()
        self.looks = 0
        """Times that the server was asked and has answered."""

    async def start(self) -> None:
        """Begins to tell and to look."""
        self._subscription = await listen(self._client, self._subject, self._heard)
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Ends."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._subscription is not None:
            with suppress(NatsError):
                await self._subscription.unsubscribe()

    @property
    def unknown(self) -> bool:
        """Whether the server has not said anything for so long that there is no figure."""
        return time.monotonic() - self._asked_well > UNKNOWN_AFTER

    async def _run(self) -> None:
        while True:
            try:
                await self._tell()
                await self._look()
            except (NatsError, TimeoutError, ReadFailed, KeyError, ValueError) as error:
                log.debug("waiting.unknown", consumer=self._worker.spec.durable, error=str(error))
            except Exception:
                # The figures must not stand still for ever.
                log.exception("waiting.failed", consumer=self._worker.spec.durable)
            if self.unknown:
                self._due.set(math.nan)
                self._oldest.set(math.nan)
            await asyncio.sleep(EVERY)

    async def _tell(self) -> None:
        now = time.monotonic()
        paused = [round(at - now, 2) for at in self._worker.handed_back][-MOST_TOLD:]
        await self._client.publish(self._subject, orjson.dumps([self._me, self._worker.in_work, paused]))

    def _heard(self, message: Msg) -> None:
        now = time.monotonic()
        try:
            who, running, paused = orjson.loads(message.data)
            word = _Word(now, int(running), tuple(now + float(left) for left in paused))
        except (ValueError, TypeError):
            return  # another release's
        if who != self._me:
            self._words[str(who)] = word

    async def _look(self) -> None:
        info = orjson.loads((await self._inbox.request(self._info, b"", deadline=ANSWER)).data)
        if "error" in info:
            # Gone, or without a leader: what was known goes on until it is back. The worker makes a lost one anew.
            return
        now = time.monotonic()
        never = self._never_delivered(info)
        running = self._worker.in_work + sum(one.running for one in self._words.values() if now - one.at <= LEASE)
        pauses = sorted([*self._worker.handed_back, *(at for one in self._words.values() for at in one.paused)])
        over = [at for at in pauses if at <= now]
        again = max(int(info["num_ack_pending"]) - running - (len(pauses) - len(over)), 0)
        over = over[len(over) - min(again, len(over)) :]
        self._forget(now, min(over, default=now))
        since = [*over[:1], *self._unexplained(again - len(over), now)]
        age = max((now - at for at in since), default=0.0)
        if never:
            age = max(age, await self._age_of_first(info))
        self.figures = Figures(never + again, age)
        self._asked_well = now
        self.looks += 1
        self._due.set(self.figures.due)
        self._oldest.set(self.figures.oldest)

    def _never_delivered(self, info: dict[str, Any]) -> int:
        never, made = int(info["num_pending"]), str(info["created"])
        self._made_anew = (self._made_anew or self._made not in {None, made}) and never > 0
        self._made = made
        return min(never, self._known()) if self._made_anew and self._known is not None else never

    def _forget(self, now: float, oldest: float) -> None:
        """The server delivers what is due again in its order, so what still waits are the newest pauses."""
        handed_back = self._worker.handed_back
        keep = [at for at in handed_back if at > now or at >= oldest]
        handed_back.clear()
        handed_back.extend(keep)
        for who, word in list(self._words.items()):
            if now - word.at > LEASE and not _after(word.paused, oldest):
                del self._words[who]
            else:
                self._words[who] = _Word(word.at, word.running, _after(word.paused, oldest))

    def _unexplained(self, count: int, now: float) -> Sequence[float]:
        """What a dead worker held: it waits since it was first missed."""
        if count <= 0:
            self._unexplained_since = None
            return ()
        self._unexplained_since = self._unexplained_since or now
        return (self._unexplained_since,)

    async def _age_of_first(self, info: dict[str, Any]) -> float:
        """Of the first message that was never delivered; both times are the server's."""
        after = int(info["delivered"]["stream_seq"]) + 1
        stored = [await self._log.next(subject, after, deadline=ANSWER) for subject in self._worker.spec.subjects]
        now = datetime.fromisoformat(info["ts"])
        return max((max((now - one.time).total_seconds(), 0.0) for one in stored if one is not None), default=0.0)


def _after(times: Iterable[float], oldest: float) -> tuple[float, ...]:
    return tuple(at for at in times if at >= oldest)
