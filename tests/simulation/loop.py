"""An event loop in virtual time that holds several processes, each of which can be stopped for a while or killed.

A process is a name in the context of its callbacks. Time stands still while callbacks run and jumps to the next timer
when nothing is left to do, so idle time costs nothing. There are no sockets and no threads.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar, TypeVarTuple, cast

from typing_extensions import override

from tests.simulation.network import Listener, Network

Ts = TypeVarTuple("Ts")
ResultT = TypeVar("ResultT")

_MAX_WAITS = 20
"""Times that the `finally` blocks of one coroutine may wait while it is closed."""
PROCESS: ContextVar[str] = ContextVar("process", default="")
"""The process that runs now; `SimulatedLoop.clock_ahead` shifts its clock."""


class VirtualTimeOverError(Exception):
    """The simulation took too much virtual time: something waits forever or never comes to rest."""


def _close(coroutine: Any) -> None:
    """Ends a coroutine whose `finally` blocks may wait for something, or reset a variable of another context."""
    for _ in range(_MAX_WAITS):
        with suppress(Exception):
            coroutine.close()
            return


class _Handle(asyncio.Handle):
    """A callback without the fields for debugging: a simulation makes thousands."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: asyncio.AbstractEventLoop, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = self._source_traceback = None


class _TimerHandle(_Handle, asyncio.TimerHandle):
    """A callback for a later time, without the fields for debugging."""

    __slots__ = ()

    def __init__(
        self, when: float, callback: Any, args: Any, loop: asyncio.AbstractEventLoop, context: Context | None
    ) -> None:
        _Handle.__init__(self, callback, args, loop, context)
        self._when = when
        self._scheduled = False


class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs callbacks in the order in which they become due; the seed affects it through the delays of the network."""

    def __init__(self, network: Network, most_seconds: float) -> None:
        super().__init__()
        self._now = 0.0
        self._max_seconds = most_seconds
        self._queue: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._count = 0
        self.network = network
        self._parked: dict[str, list[asyncio.Handle]] = {}
        self._dead: set[str] = set()
        self._tasks: list[asyncio.Task[Any]] = []
        self.clock_ahead: dict[str, float] = {}
        self.faults: list[str] = []
        """Exceptions of tasks that nobody retrieved."""
        self.get_debug = bool
        """bool() is False; a built-in saves a Python frame, since every future calls this."""
        self.set_exception_handler(self._on_exception)
        self.set_task_factory(cast("Any", self._make_task))

    # ------------------------------------------------------------ processes

    def process(self, name: str) -> Context:
        """Returns a context for a process: whatever starts in it belongs to the process."""
        context = copy_context()
        context.run(PROCESS.set, name)
        return context

    def stop_process(self, name: str) -> None:
        """Pauses a process, like SIGSTOP, until `continue_process`."""
        self._parked.setdefault(name, [])

    def continue_process(self, name: str) -> None:
        """Resumes a paused process."""
        for handle in self._parked.pop(name, ()):
            self._queue.append(handle)

    def kill_process(self, name: str) -> None:
        """Kills a process, like SIGKILL: none of its code runs again, not even `finally`. The network closes its
        connections."""
        self._parked.pop(name, None)
        self._dead.add(name)

    # ------------------------------------------------------------ the loop

    @override
    def time(self) -> float:
        return self._now

    @override
    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._queue.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    @override
    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    @override
    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = _TimerHandle(when, callback, args, self, context)
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Does nothing: cancelled timers stay in the heap until they are due and are skipped then."""

    def _run_once(self) -> None:
        queue, timers = self._queue, self._timers
        while not queue:
            if not timers:
                raise VirtualTimeOverError("nothing is left to happen")
            when, _, timer = heapq.heappop(timers)
            if timer.cancelled():
                continue
            if when > self._now:
                self._now = when
                if when > self._max_seconds:
                    raise VirtualTimeOverError(f"{self._max_seconds:g} s of virtual time have passed")
            queue.append(timer)
            while timers and timers[0][0] <= self._now:
                timer = heapq.heappop(timers)[2]
                if not timer.cancelled():
                    queue.append(timer)
        dead, parked = self._dead, self._parked
        for _ in range(len(queue)):
            handle = queue.popleft()
            if handle._cancelled:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
                continue
            if dead or parked:
                name = cast("Context", handle._context).get(PROCESS, "")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
                if name in dead:
                    continue
                if name in parked:
                    parked[name].append(handle)
                    continue
            handle._run()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    def _process_events(self, event_list: object) -> None:
        """Does nothing: there are no sockets."""

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT], context: Context | None = None
    ) -> asyncio.Task[ResultT]:
        task = asyncio.Task(coroutine, loop=loop, context=context)
        self._tasks.append(task)
        if len(self._tasks) > 4096:
            self._tasks = [task for task in self._tasks if not task.done()]
        return task

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        message, error = str(context.get("message", "")), context.get("exception")
        if message.startswith("Unclosed") or "was destroyed" in message:
            return  # a killed process closes nothing
        self.faults.append(f"{message}: {error!r}")

    def abandon(self) -> None:
        """Closes every task that still waits, at the end. Its `finally` blocks run on a loop that does nothing."""
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue]
                _close(task.get_coro())
        self._tasks.clear()
        self._queue.clear()
        self._timers.clear()
        self._parked.clear()

    # ------------------------------------------------------------ what there is none of

    @override
    def run_in_executor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, executor: object, func: Callable[[*Ts], ResultT], *args: *Ts
    ) -> asyncio.Future[ResultT]:
        """Runs the function at once, since a thread would take real time."""
        done: asyncio.Future[ResultT] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    @override
    async def create_connection(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: object
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Connects the process that runs now to one of the network's listeners."""
        del host, options
        protocol = protocol_factory()
        return await self.network.connect(self, port, protocol, PROCESS.get()), protocol


__all__ = ["PROCESS", "Listener", "SimulatedLoop", "VirtualTimeOverError"]
