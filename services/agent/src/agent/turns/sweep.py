"""The safety net for messages without an answer: looks again at a visitor's message that has waited too long.

The turn consumer delivers every message until it is acknowledged, so this finds something only when the consumer was
lost. It follows the live subscription, and begins by reading the log. It looks twice within PATIENCE, so that what is
left is settled within a minute.
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

PATIENCE = 40.0
"""Seconds that a message may wait before it is looked at: a turn and a burst have their time."""
AT_REST = 60.0
"""Seconds between two settings of the clock while no message waits."""
MOST = 100_000
"""Conversations that are remembered; the oldest are forgotten first."""
LONGEST_LOOK = 120.0
"""Seconds for one look, with all that it reads."""
AT_ONCE = 16
"""Conversations looked at side by side."""
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
        every: float = 15.0,
        patience: float = PATIENCE,
        first: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """`first` is awaited before each look (the agent sets its clock by the bus's); while no message waits, once a
        minute."""
        self._handle = handle
        self._first = first
        self._every = every
        self._patience = patience
        self._waiting = Bounded[ConversationKey, _WaitingMessage](MOST)
        self._look_back: Callable[[], Awaitable[object]] | None = None
        self._missed = True
        self._first_at = float("-inf")
        self._looks: dict[ConversationKey, asyncio.Task[None]] = {}
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._loop = BackgroundLoop(
            "sweep", self._look_again, wait=lambda: asyncio.sleep(self._every), longest=LONGEST_LOOK
        )
        self.stuck_because = self._loop.stuck_because

    def start(self, look_back: Callable[[], Awaitable[object]]) -> None:
        """Begins. `look_back` shows it what was in the log before."""
        self._look_back = look_back
        self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()
        looks = list(self._looks.values())
        for look in looks:
            look.cancel()
        if looks:
            await asyncio.wait(looks)

    def missed(self) -> None:
        """The connection was lost: the facts stored since then are read from the log."""
        self._missed = True

    def waits(self, key: ConversationKey) -> bool:
        """Whether a message of the conversation is not known to be settled."""
        return key in self._waiting

    @property
    def count(self) -> int:
        """The number of conversations with a message that is not known to be settled."""
        return len(self._waiting)

    def saw(self, key: ConversationKey, fact: Fact, *, old: bool = False) -> None:
        """A fact has come: a visitor message waits from now on, an `old` one has waited long enough; a basis settles
        it."""
        waiting = self._waiting.get(key)
        if fact.kind is ChatKind.VISITOR:
            if waiting is None or waiting.seq < fact.seq:
                self._waiting[key] = _WaitingMessage(fact.seq, float("-inf") if old else time.monotonic())
        elif waiting is not None and fact.settled_up_to >= waiting.seq:
            del self._waiting[key]

    async def look(self) -> int:
        """Handles messages that have waited too long; returns how many."""
        looks = self._begin()
        if looks:
            await asyncio.wait(looks)
        return len(looks)

    def _begin(self) -> list[asyncio.Task[None]]:
        """Begins to look at what has waited too long and is not being looked at. A look may drive a turn, so that it
        lasts: no other message waits for its end."""
        before = time.monotonic() - self._patience
        late = [(key, waiting.seq) for key, waiting in self._waiting.items() if waiting.since <= before]
        begun: list[asyncio.Task[None]] = []
        for key, seq in late:
            if key not in self._looks:
                look = self._looks[key] = asyncio.create_task(self._look_at(key, seq))
                look.add_done_callback(lambda _, key=key: self._looks.pop(key, None))
                begun.append(look)
        return begun

    async def _look_at(self, key: ConversationKey, seq: int) -> None:
        async with self._gate:
            try:
                with Correlation(key.company, key.conversation):
                    outcome = await self._handle(key, Trigger(seq, visitor=True), 0.0)
            except Exception:
                log.exception("sweep.failed", company=key.company, conversation=key.conversation)
                return
        if isinstance(outcome, Ack):
            if outcome.why == "answered":
                log.warning("sweep.found", company=key.company, conversation=key.conversation, seq=seq)
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.seq == seq:
                del self._waiting[key]

    async def _look_again(self) -> None:
        try:
            if self._missed and self._look_back is not None:
                self._missed = False
                try:
                    await self._look_back()
                except BaseException:
                    self._missed = True
                    raise
            if self._first is not None and (self._waiting or time.monotonic() - self._first_at >= AT_REST):
                self._first_at = time.monotonic()
                await self._first()
            self._begin()
        except Exception:
            # The net must not tear: it looks again at its next time.
            log.exception("sweep.failed")
