"""Learns from turns as soon as their answers are stored. If that fails, for example because the market-adapter is
unavailable, the turn is saved in the store and retried from there, so that the log's fact can be acknowledged. A turn
that is learned is saved until a model has proposed what else to remember of it (`unproposed`)."""

import asyncio
import contextlib
import time
from dataclasses import replace

import structlog

from contracts.events.chat import AssistantMessage
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_lessons import MongoLessons, PendingLesson
from memory.application.learner import Learner
from memory.application.unproposed import FIRST_PAUSE
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.errors import StoreUnavailableError
from runtime.background import BackgroundLoop
from runtime.workers.deliveries import pause_after

FIRST_ATTEMPT_SECONDS = 1.0
"""How long the answer's acknowledgement waits for the first attempt."""
ATTEMPT_SECONDS = 20.0
"""Deadline of a later attempt."""
PATIENT_ATTEMPTS = 5
"""Attempts that wait for the market; after these it is ignored."""
MAX_ATTEMPTS = 10_000
"""Attempts over some three days; after that the cause must be a fault that retries do not fix."""
CHECK_SECONDS = 30.0
"""Seconds between checks for turns saved by other replicas."""
PAGE_SIZE = 100

_log = structlog.get_logger(__name__)


class Lessons:
    """Learns from finished turns. Learning from a turn again changes nothing."""

    name = "lessons"

    def __init__(self, learner: Learner, store: MongoLessons, log: StreamLog) -> None:
        self._learner = learner
        self._store = store
        self._log = log
        self._has_saved = asyncio.Event()
        self._pause = 0.0
        self._loop = BackgroundLoop(
            self.name, self._retry_safely, wait=self._until_due, step_timeout=(PAGE_SIZE + 1) * ATTEMPT_SECONDS
        )
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop

    async def take(self, fact: LogFact) -> None:
        """Learns from a stored answer, or saves its turn for later; other facts are ignored.

        Raises:
            MemoryServiceError: neither worked; try again later.
        """
        if not isinstance(fact.data, AssistantMessage):
            return
        basis = LogPosition(fact.position.era, fact.data.basis)
        lesson = PendingLesson(fact.company, fact.conversation, fact.data.turn_id, basis, fact.position.seq, fact.at)
        rest = await self._try_to_learn(lesson, FIRST_ATTEMPT_SECONDS)
        if rest is not None:
            await self._store.put(rest)
            if not rest.is_proposal:
                self._has_saved.set()

    async def start(self) -> None:
        """Starts retrying saved turns."""
        self._loop.start()

    async def _until_due(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause):
                await self._has_saved.wait()
        self._has_saved.clear()

    async def _retry_safely(self) -> None:
        self._pause = CHECK_SECONDS
        try:
            self._pause = await self._retry_due()
        except Exception as error:
            _log.warning("no lesson can be learned now", error=repr(error)[:200])

    async def _retry_due(self) -> float:
        """Retries the turns that are due; returns the seconds until the next one is."""
        pending = await self._store.first(PAGE_SIZE, proposals=False)
        for lesson in pending:
            remaining = lesson.due - time.time()
            if remaining > 0:
                return min(remaining, CHECK_SECONDS)
            rest = await self._try_to_learn(lesson, ATTEMPT_SECONDS)
            if rest is None or rest.tries >= MAX_ATTEMPTS:
                await self._store.drop(lesson.company, lesson.conversation, lesson.turn)
            else:
                await self._store.put(rest)
        return 0.0 if pending else CHECK_SECONDS

    async def _try_to_learn(self, lesson: PendingLesson, seconds: float) -> PendingLesson | None:
        """Returns what is left to do: to retry the lesson, or to wait for a model's proposals; None if nothing is, or
        the log no longer exists."""
        if lesson.basis.era != self._log.era:
            return None
        tries = lesson.tries + 1
        try:
            async with asyncio.timeout(seconds):
                may_propose = await self._learner.turn(
                    lesson.company,
                    lesson.conversation,
                    lesson.turn,
                    lesson.basis.seq,
                    lesson.at,
                    patient=tries < PATIENT_ATTEMPTS,
                )
        except StoreUnavailableError:
            raise
        except Exception as error:
            _log.warning("a turn is not learned from yet", turn=lesson.turn, tries=tries, error=repr(error)[:200])
            return replace(lesson, tries=tries, due=time.time() + pause_after(error, tries))
        return replace(lesson, tries=0, due=time.time() + FIRST_PAUSE, is_proposal=True) if may_propose else None
