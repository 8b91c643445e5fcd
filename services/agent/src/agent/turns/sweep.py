"""The safety net for messages without an answer: handles again a visitor's message that has waited too long.

The turn consumer delivers every message until it is acknowledged, so the sweep finds something only if the consumer was
lost. It reads the log once at its start and then follows the live subscription. It looks at least twice within
OVERDUE_SECONDS, so that a forgotten message is handled within a minute.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from agent.domain.turn.effects import Ack, Retry, Trigger
from agent.ports import ConversationKey
from contracts.channels import ChatKind
from contracts.conversation import Fact
from runtime.background import BackgroundLoop
from runtime.observability.correlation import Correlation
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

OVERDUE_SECONDS = 40.0
"""Seconds that a message may wait before it is handled again; long enough for a burst and a turn."""
IDLE_CLOCK_SECONDS = 60.0
"""Seconds between two calls of `before_look` (which sets the clock) while no message waits."""
MAX_CONVERSATIONS = 100_000
"""Conversations remembered at once; the oldest are dropped first."""
LOOK_TIMEOUT_SECONDS = 120.0
"""Seconds after which one look of the sweep counts as stuck."""
COMPANIES_SECONDS = 0.5
"""Seconds after which the waiting conversations are read again for their companies: it is asked for each message."""
MAX_PARALLEL_LOOKS = 16
"""Conversations handled at the same time."""
Handle = Callable[[ConversationKey, Trigger, float], Awaitable[Ack | Retry]]


@dataclass(frozen=True, slots=True)
class _WaitingMessage:
    seq: int
    since: float


class TurnSweep:
    """Compares, for each conversation, the newest visitor message with the newest basis."""

    def __init__(
        self,
        handle: Handle,
        *,
        interval: float = 15.0,
        overdue_after: float = OVERDUE_SECONDS,
        before_look: Callable[[], Awaitable[object]] | None = None,
        has_room: Callable[[], object] = lambda: True,
    ) -> None:
        """`interval`: seconds between two looks. `overdue_after`: seconds that a message may wait. `before_look` is
        awaited before each look, but at most every IDLE_CLOCK_SECONDS while no message waits; the agent sets its clock
        there. While `has_room` says no, nothing is handled again: messages wait because the agent has enough to do."""
        self._handle = handle
        self._before_look = before_look
        self._has_room = has_room
        self._interval = interval
        self._overdue_after = overdue_after
        self._waiting = Bounded[ConversationKey, _WaitingMessage](MAX_CONVERSATIONS)
        self._companies, self._companies_read_at = frozenset[str](), float("-inf")
        self._read_log: Callable[[], Awaitable[object]] | None = None
        self._has_missed_facts = True
        self._before_look_ran_at = float("-inf")
        self._looks: dict[ConversationKey, asyncio.Task[None]] = {}
        self._gate = asyncio.Semaphore(MAX_PARALLEL_LOOKS)
        self._loop = BackgroundLoop(
            "sweep", self._look_again, wait=lambda: asyncio.sleep(self._interval), step_timeout=LOOK_TIMEOUT_SECONDS
        )
        self.stuck_because = self._loop.stuck_because

    def start(self, look_back: Callable[[], Awaitable[object]]) -> None:
        """Starts the sweep. `read_log` passes the facts already in the log to `observe`."""
        self._read_log = look_back
        self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()
        looks = list(self._looks.values())
        for look in looks:
            look.cancel()
        if looks:
            await asyncio.wait(looks)

    def missed(self) -> None:
        """Makes the next look read the log again, because the connection was lost and facts may have been missed."""
        self._has_missed_facts = True

    def is_waiting(self, key: ConversationKey) -> bool:
        """Whether the conversation has a message that is not known to be settled."""
        return key in self._waiting

    def others_wait(self, company: str) -> bool:
        """Whether a conversation of another company has, or had half a second ago, such a message."""
        now = time.monotonic()
        if now - self._companies_read_at >= COMPANIES_SECONDS:
            self._companies, self._companies_read_at = frozenset(key.company for key in self._waiting), now
        return bool(self._companies - {company})

    @property
    def count(self) -> int:
        """The number of conversations with a message that is not known to be settled."""
        return len(self._waiting)

    def observe(self, key: ConversationKey, fact: Fact, *, is_old: bool = False) -> None:
        """Takes note of a fact. A visitor message waits from now on; if `is_old`, it counts as overdue at once. A fact
        whose basis covers the waiting message settles it."""
        waiting = self._waiting.get(key)
        if fact.kind is ChatKind.VISITOR:
            if waiting is None or waiting.seq < fact.seq:
                self._waiting[key] = _WaitingMessage(fact.seq, float("-inf") if is_old else time.monotonic())
        elif waiting is not None and fact.settled_up_to >= waiting.seq:
            del self._waiting[key]

    async def look(self) -> int:
        """Handles the overdue messages and returns their number."""
        looks = self._start_looks()
        if looks:
            await asyncio.wait(looks)
        return len(looks)

    def _start_looks(self) -> list[asyncio.Task[None]]:
        """Starts a task for each overdue message that has none. A task may drive a whole turn, so no other message
        waits for its end."""
        if not self._has_room():
            return []
        overdue_since = time.monotonic() - self._overdue_after
        overdue = [(key, waiting.seq) for key, waiting in self._waiting.items() if waiting.since <= overdue_since]
        tasks: list[asyncio.Task[None]] = []
        for key, seq in overdue:
            if key not in self._looks:
                look = self._looks[key] = asyncio.create_task(self._look_at(key, seq))
                look.add_done_callback(lambda _, key=key: self._looks.pop(key, None))
                tasks.append(look)
        return tasks

    async def _look_at(self, key: ConversationKey, seq: int) -> None:
        async with self._gate:
            try:
                with Correlation(key.company, key.conversation):
                    outcome = await self._handle(key, Trigger(seq, visitor=True), 0.0)
            except Exception:
                log.exception("sweep.failed", company=key.company, conversation=key.conversation)
                return
        if isinstance(outcome, Ack):
            if outcome.reason == "answered":
                log.warning("sweep.found", company=key.company, conversation=key.conversation, seq=seq)
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.seq == seq:
                del self._waiting[key]

    async def _look_again(self) -> None:
        try:
            if self._has_missed_facts and self._read_log is not None:
                self._has_missed_facts = False
                try:
                    await self._read_log()
                except BaseException:
                    self._has_missed_facts = True
                    raise
            if self._before_look is not None and (
                self._waiting or time.monotonic() - self._before_look_ran_at >= IDLE_CLOCK_SECONDS
            ):
                self._before_look_ran_at = time.monotonic()
                await self._before_look()
            self._start_looks()
        except Exception:
            # An error must not end the sweep; it looks again after its interval.
            log.exception("sweep.failed")
