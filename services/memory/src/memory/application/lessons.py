"""Turns are learned from as soon as their answers are stored. What cannot be learned at once, for the market's sake or
another's, is kept in the store and tried again from there: the log's facts are done with, and nobody waits for it."""

import asyncio
import contextlib
import time
from dataclasses import replace

import structlog

from contracts.events.chat import AssistantMessage
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_lessons import MongoLessons
from memory.application.learner import Learner
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.pending_lesson import PendingLesson
from memory.errors import StoreUnavailable
from runtime.background import BackgroundLoop
from runtime.deliveries import pause_after

AT_FIRST = 1.0
"""Seconds that an answer's own acknowledgement waits for what it teaches."""
LONGEST = 20.0
"""Seconds for one later attempt."""
PATIENT = 5
"""Attempts, the last of which goes on without the market."""
MOST = 10_000
"""Attempts, some three days: then there is a fault that another one does not mend."""
EVERY = 30.0
"""Seconds between looks at what other replicas have left."""
PAGE = 100

_log = structlog.get_logger(__name__)


class Lessons:
    """What turns teach, once each: learned twice it is the same."""

    name = "lessons"

    def __init__(self, learner: Learner, store: MongoLessons, log: StreamLog) -> None:
        self._learner = learner
        self._store = store
        self._log = log
        self._kept = asyncio.Event()
        self._pause = 0.0
        self._loop = BackgroundLoop(self.name, self._try_again, wait=self._until_due, longest=(PAGE + 1) * LONGEST)
        self.still = self._loop.still
        self.stop = self._loop.stop

    async def take(self, fact: LogFact) -> None:
        """Learns from an answer that is stored, or keeps it to be learned from; other facts teach nothing.

        Raises:
            MemoryFault: neither; the same again, later.
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
        """Begins to look after what is kept."""
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
        """Tries what is due; seconds until something is."""
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
        """None: it is learned, or of a log that is no more; otherwise how it is to be tried again."""
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
        except StoreUnavailable:
            raise
        except Exception as error:
            _log.warning("a turn is not learned from yet", turn=lesson.turn, tries=tries, error=repr(error)[:200])
            return replace(lesson, tries=tries, due=time.time() + pause_after(error, tries))
        return None
