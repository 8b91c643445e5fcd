"""Has an agent propose, with its small model, what to remember of turns about which none has.

The agent that answers a turn proposes right after it. Its proposals are lost when it dies, when its model fails, and
when it works on too many at once; the row of the turn in the store is not.
"""

import asyncio
import time
from dataclasses import replace

import structlog

from contracts.proposal_rpc import PROPOSE_LATE, UnproposedTurn
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_lessons import MongoLessons, PendingLesson
from memory.application.learner import Learner
from runtime.background import BackgroundLoop
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

FIRST_PAUSE = 60.0
"""Seconds that the agent that answered has for its proposals."""
PAUSE_FACTOR = 8
"""How much longer each pause is than the one before."""
MAX_TRIES = 4
"""How often an agent is asked about a turn: over some ten hours."""
CALL_SECONDS = 45.0
"""Deadline for one turn: the model's reply, and memory's answers before and after it."""
CHECK_SECONDS = 30.0
"""Seconds between two looks for turns that are due."""
PAGE_SIZE = 4
"""Turns about which one replica asks at the same time."""

_log = structlog.get_logger(__name__)


class UnproposedTurns:
    """The turns that wait for proposals."""

    name = "proposals"

    def __init__(self, learner: Learner, store: MongoLessons, log: StreamLog, rpc: RpcClient) -> None:
        self._learner = learner
        self._store = store
        self._log = log
        self._rpc = rpc
        self._pause = 0.0
        self._loop = BackgroundLoop(self.name, self._ask_safely, wait=lambda: asyncio.sleep(self._pause))
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop

    async def start(self) -> None:
        """Starts asking."""
        self._loop.start()

    async def _ask_safely(self) -> None:
        self._pause = CHECK_SECONDS
        try:
            if await self.ask():
                self._pause = 0.0
        except Exception as error:
            _log.warning("no proposals can be asked for now", error=repr(error)[:200])

    async def ask(self) -> int:
        """Asks about the turns that are due first; returns about how many. Raises StoreUnavailableError."""
        now = time.time()
        due = [turn for turn in await self._store.first(PAGE_SIZE, proposals=True) if turn.due <= now]
        await asyncio.gather(*map(self._ask_about, due))
        return len(due)

    async def _ask_about(self, lesson: PendingLesson) -> None:
        if lesson.answered < 1:
            _log.warning("no proposals are asked for a turn that an earlier release stored", turn=lesson.turn)
            await self._store.drop(lesson.company, lesson.conversation, lesson.turn)
        elif lesson.tries >= MAX_TRIES or lesson.basis.era != self._log.era or await self._is_proposed(lesson):
            await self._store.drop(lesson.company, lesson.conversation, lesson.turn)

    async def _is_proposed(self, lesson: PendingLesson) -> bool:
        """Asks an agent, unless another replica does; returns whether there is nothing more to propose."""
        tries = lesson.tries + 1
        claimed = replace(lesson, tries=tries, due=time.time() + FIRST_PAUSE * PAUSE_FACTOR**tries)
        if not await self._store.replace(lesson, claimed):
            return False
        author_messages = await self._learner.unanswered_messages(lesson.company, lesson.conversation, lesson.basis.seq)
        if author_messages is None:
            return True
        turn = UnproposedTurn(
            company_id=lesson.company,
            conversation_id=lesson.conversation,
            turn_id=lesson.turn,
            basis=lesson.basis.seq,
            answered=lesson.answered,
            user_id=author_messages[0],
        )
        try:
            return (await self._rpc.call(PROPOSE_LATE, turn, deadline=CALL_SECONDS)).done
        except RpcError:
            # No agent was there, or it has died: no model has refused the turn.
            await self._store.replace(claimed, replace(lesson, due=time.time() + FIRST_PAUSE))
            return False
