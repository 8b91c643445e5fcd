"""Limits the concurrent commands to MongoDB.

A command runs in a task of its own: a caller that gives up leaves it to its own deadline. Cancelling it would close its
connection, and a slow store would be kept busy with new connections, of which the driver makes two at a time: it would
stay away for as long as anybody asks (decision 0044). For services that depend on pymongo.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from prometheus_client import Counter, Gauge
from pymongo.errors import ConnectionFailure, NetworkTimeout, PyMongoError

ReplyT = TypeVar("ReplyT")

STALLED = 1.5
"""Seconds without any answer to a command after which the store counts as hanging."""
LONGEST = 30.0
"""Seconds after which a command is cancelled that has not ended at its own deadline: otherwise it would look like a
silent store for ever, and two of them would block all others."""
ENDED_WITHIN = 10.0
"""Seconds for a cancelled command to end."""
TRIALS = 2
"""Commands let through to a hanging store, so that its first answer is noticed."""


class CommandLimit:
    """`at_once` commands run and `in_line` wait, each for `patience` seconds at most; the newest is refused first.

    `refusal`: what is raised instead of running a command. `waits`: queue also while the store hangs; otherwise
    commands are refused then.
    """

    def __init__(
        self,
        running: Gauge,
        refused: Counter,
        *,
        at_once: int,
        in_line: int,
        patience: float,
        refusal: Callable[[str], Exception],
        waits: bool = False,
    ) -> None:
        self._counted = running
        self._refused = refused
        self._refusal = refusal
        self._in_line = in_line
        self._patience = patience
        self._waits = waits
        self._free = at_once
        self._line: deque[asyncio.Future[None]] = deque()
        self._running: dict[asyncio.Task[object], float] = {}
        self._failing = False
        self._answered = 0.0

    async def run(self, command: Callable[[], Coroutine[Any, Any, ReplyT]]) -> ReplyT:
        """The command's result, or what it raises.

        Raises:
            What `refusal` makes: too many commands run and wait, or the store hangs; the command was not started.
        """
        await self._slot()
        task = asyncio.create_task(_within(LONGEST, command()))
        self._running[task] = time.monotonic()
        task.add_done_callback(self._ended)
        self._counted.inc()
        return await asyncio.shield(task)

    @property
    def hanging(self) -> bool:
        """Whether the last command failed to reach the store, or none has been answered for a while."""
        if self._failing or not self._running:
            return self._failing
        oldest = next(iter(self._running.values()))
        return time.monotonic() - max(oldest, self._answered) > STALLED

    def stuck_because(self) -> str | None:
        """See runtime.liveness: problems that only a new process can solve."""
        oldest = next(iter(self._running.values()), None)
        if oldest is not None and time.monotonic() - oldest > LONGEST + ENDED_WITHIN:
            return f"a command of MongoDB was broken off after {LONGEST:g} s and does not end"
        return None

    async def _slot(self) -> None:
        if not self._waits and len(self._running) >= TRIALS and self.hanging:
            self._refused.inc()
            raise self._refusal("MongoDB does not answer: try again")
        if self._free > 0:
            self._free -= 1
            return
        if len(self._line) >= self._in_line:
            self._refused.inc()
            raise self._refusal("MongoDB has too much to do: try again")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout(self._patience):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._hand_on()
            else:
                with contextlib.suppress(ValueError):
                    self._line.remove(turn)
            if isinstance(error, TimeoutError):
                self._refused.inc()
                raise self._refusal("MongoDB has had too much to do for too long: try again") from error
            raise

    def _ended(self, task: asyncio.Task[object]) -> None:
        del self._running[task]
        self._counted.dec()
        if not task.cancelled():
            # Looked at here in any case: whoever asked may be gone.
            self._failing = _away(task.exception())
            if not self._failing:
                self._answered = time.monotonic()
        self._hand_on()

    def _hand_on(self) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


async def _within(seconds: float, command: Coroutine[Any, Any, ReplyT]) -> ReplyT:
    try:
        async with asyncio.timeout(seconds):
            return await command
    except TimeoutError as error:
        raise NetworkTimeout(f"no answer within {seconds:g} s") from error


def _away(error: BaseException | None) -> bool:
    """Whether the error means that MongoDB did not answer."""
    return isinstance(error, ConnectionFailure) or (isinstance(error, PyMongoError) and error.timeout)
