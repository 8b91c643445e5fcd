"""Limits the number of concurrent commands to MongoDB.

Each command runs in its own task, and if its caller gives up it runs on until its own deadline. Cancelling it would
close its connection, and a slow store would be kept busy with new connections, of which the driver opens two at a time:
it would stay unreachable as long as anybody sends commands (decision 0044). For services that depend on pymongo.
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

HANGING_SECONDS = 1.5
"""Seconds without any answer to a command after which the store counts as hanging."""
COMMAND_TIMEOUT = 30.0
"""Seconds after which a command that has not ended at its own deadline is cancelled: otherwise it would look like a
silent store for ever, and two of them would block all others."""
END_TIMEOUT = 10.0
"""Seconds that a cancelled command has to end."""
TRIAL_ATTEMPTS = 2
"""Commands that are sent to a hanging store, so that its first answer is noticed."""


class CommandLimit:
    """At most `max_running` commands run and `max_waiting` wait, each for at most `queue_seconds`; further ones are
    refused.

    `refusal`: makes the error that is raised instead of running a command. `queue_while_hanging`: commands queue even
    while the store hangs; otherwise they are refused then.
    """

    def __init__(
        self,
        running: Gauge,
        refused: Counter,
        *,
        max_running: int,
        max_waiting: int,
        queue_seconds: float,
        refusal: Callable[[str], Exception],
        queue_while_hanging: bool = False,
    ) -> None:
        self._running_gauge = running
        self._refused = refused
        self._refusal = refusal
        self._max_waiting = max_waiting
        self._queue_seconds = queue_seconds
        self._queue_while_hanging = queue_while_hanging
        self._free = max_running
        self._line: deque[asyncio.Future[None]] = deque()
        self._running: dict[asyncio.Task[object], float] = {}
        self._failing = False
        self._answered_at = 0.0

    async def run(self, command: Callable[[], Coroutine[Any, Any, ReplyT]]) -> ReplyT:
        """Returns the command's result, or raises what it raises.

        Raises:
            The error from `refusal`: too many commands run and wait, or the store hangs; the command was not started.
        """
        await self._acquire_slot()
        task = asyncio.create_task(_within(COMMAND_TIMEOUT, command()))
        self._running[task] = time.monotonic()
        task.add_done_callback(self._on_done)
        self._running_gauge.inc()
        return await asyncio.shield(task)

    @property
    def hanging(self) -> bool:
        """Whether the last command did not reach the store, or no command has been answered for a while."""
        if self._failing or not self._running:
            return self._failing
        oldest = next(iter(self._running.values()))
        return time.monotonic() - max(oldest, self._answered_at) > HANGING_SECONDS

    def stuck_because(self) -> str | None:
        """Returns a problem that only a new process can solve (runtime.liveness), or None."""
        oldest = next(iter(self._running.values()), None)
        if oldest is not None and time.monotonic() - oldest > COMMAND_TIMEOUT + END_TIMEOUT:
            return f"a command of MongoDB was broken off after {COMMAND_TIMEOUT:g} s and does not end"
        return None

    async def _acquire_slot(self) -> None:
        if not self._queue_while_hanging and len(self._running) >= TRIAL_ATTEMPTS and self.hanging:
            self._refused.inc()
            raise self._refusal("MongoDB does not answer: try again")
        if self._free > 0:
            self._free -= 1
            return
        if len(self._line) >= self._max_waiting:
            self._refused.inc()
            raise self._refusal("MongoDB has too much to do: try again")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout(self._queue_seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._release_slot()
            else:
                with contextlib.suppress(ValueError):
                    self._line.remove(turn)
            if isinstance(error, TimeoutError):
                self._refused.inc()
                raise self._refusal("MongoDB has had too much to do for too long: try again") from error
            raise

    def _on_done(self, task: asyncio.Task[object]) -> None:
        del self._running[task]
        self._running_gauge.dec()
        if not task.cancelled():
            # The exception is always retrieved here, since the caller may be gone.
            self._failing = _is_unanswered(task.exception())
            if not self._failing:
                self._answered_at = time.monotonic()
        self._release_slot()

    def _release_slot(self) -> None:
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


def _is_unanswered(error: BaseException | None) -> bool:
    """Whether the error means that MongoDB did not answer."""
    return isinstance(error, ConnectionFailure) or (isinstance(error, PyMongoError) and error.timeout)
