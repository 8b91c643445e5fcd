"""Learns from turns as soon as their answers are stored. If that fails, because the market is away for example, the
turn is saved in the store and retried from there, so that the log's fact can be acknowledged."""

import asyncio
import contextlib
import time
from dataclasses import replace

import structlog

from contracts.events.chat import AssistantMessage
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_lessons import MongoLessons, PendingLesson
from memory.application.learner import Learner
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.errors import StoreUnavailableError
from runtime.background import BackgroundLoop
from runtime.workers.deliveries import pause_after

AT_FIRST = 1.0
"""How long the answer's acknowledgement waits for the first attempt."""
LONGEST = 20.0
"""Deadline of a later attempt."""
PATIENT = 5
"""Attempts that wait for the market; after these it is ignored."""
MOST = 10_000
"""Attempts, over some three days; after that the cause is a fault that retries do not fix."""
EVERY = 30.0
"""Seconds between checks for turns saved by other replicas."""
PAGE = 100

_log = structlog.get_logger(__name__)


class Lessons:
    """Learns from finished turns. A turn may be learned from again without effect."""

    name = "lessons"

    def __init__(self, learner: Learner, store: MongoLessons, log: StreamLog) -> None:
        self._learner = learner
        self._store = store
        self._log = log
        self._kept = asyncio.Event()
        self._pause = 0.0
        self._loop = BackgroundLoop(self.name, self._try_again, wait=self._until_due, longest=(PAGE + 1) * LONGEST)
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop

    async def take(self, fact: LogFact) -> None:
        """Learns from a stored answer, or saves it for later; other facts have no lesson.

        Raises:
            MemoryServiceError: neither worked; try again later.
        """
        if not isinstance(fact.data, AssistantMessage):
            return
        basis = LogPosition(fact.position.era, fact.data.basis)
        lesson = PendingLesson(fact.company, fact.conversation, fact.data.turn_id, basis, fact.at)
        failed = await self._learned(lesson, AT_FIRST)
        if failed is not None:
            await self._store.put(failed)
            self._kept.set()

    async def start(self) -> None:
        """Starts retrying saved turns."""
        self._loop.start()

    async def _until_due(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause):
                await self._kept.wait()
        self._kept.clear()

    async def _try_again(self) -> None:
        self._pause = EVERY
        try:
            self._pause = await self._look()
        except Exception as error:
            _log.warning("no lesson can be learned now", error=repr(error)[:200])

    async def _look(self) -> float:
        """Retries what is due; returns the seconds until the next is."""
        kept = await self._store.first(PAGE)
        for lesson in kept:
            left = lesson.due - time.time()
            if left > 0:
                return min(left, EVERY)
            failed = await self._learned(lesson, LONGEST)
            if failed is None or failed.tries >= MOST:
                await self._store.drop(lesson)
            else:
                await self._store.put(failed)
        return 0.0 if kept else EVERY

    async def _learned(self, lesson: PendingLesson, seconds: float) -> PendingLesson | None:
        """None: learned, or from a log that no longer exists; otherwise the lesson to retry."""
        if lesson.basis.era != self._log.era:
            return None
        tries = lesson.tries + 1
        try:
            async with asyncio.timeout(seconds):
                await self._learner.turn(
                    lesson.company,
                    lesson.conversation,
                    lesson.turn,
                    lesson.basis.seq,
                    lesson.at,
                    patient=tries < PATIENT,
                )
        except StoreUnavailableError:
            raise
        except Exception as error:
            _log.warning("a turn is not learned from yet", turn=lesson.turn, tries=tries, error=repr(error)[:200])
            return replace(lesson, tries=tries, due=time.time() + pause_after(error, tries))
        return None
