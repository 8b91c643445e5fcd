"""Work beside what a service is asked goes on whatever fails in it; where it cannot, it says so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from runtime.background import BackgroundLoop
from runtime.testing.servers import eventually

Step = Callable[[], Awaitable[None]]


class Steps:
    """A step that fails the first time as it is told, and counts."""

    def __init__(self, first: Step) -> None:
        self.first = first
        self.done = 0
        self.begun = 0

    async def __call__(self) -> None:
        self.begun += 1
        if self.begun == 1:
            await self.first()
        self.done += 1


async def wrong() -> None:
    raise RuntimeError("read() called while another coroutine is already waiting")


async def cancelled_by_somebody_else() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


async def hang() -> None:
    await asyncio.Event().wait()


async def soon() -> None:
    return


@pytest.mark.parametrize("first", [wrong, cancelled_by_somebody_else, hang])
async def test_a_step_that_fails_is_cancelled_from_elsewhere_or_hangs_is_followed_by_the_next(
    first: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.background.RETRY_PAUSE", 0.01)
    steps = Steps(first)
    loop = BackgroundLoop("windows", steps, wait=soon, step_timeout=0.1)
    loop.start()
    await eventually(lambda: steps.done >= 2)
    assert loop.stuck_because() is None
    await loop.stop()
    assert loop.stuck_because() is None
    assert loop.name not in {task.get_name() for task in asyncio.all_tasks()}


async def test_a_wait_that_fails_ends_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.background.RETRY_PAUSE", 0.01)
    waits = Steps(wrong)
    steps = Steps(soon)
    loop = BackgroundLoop("windows", steps, wait=waits)
    loop.start()
    await eventually(lambda: steps.done >= 1)
    await loop.stop()


async def test_a_loop_that_has_ended_and_a_step_that_cannot_be_broken_off_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.background.END_TIMEOUT", 0.05)
    let_go = asyncio.Event()

    async def stubborn() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    loop = BackgroundLoop("windows", stubborn, wait=soon, step_timeout=0.05)
    assert loop.stuck_because() is None
    loop.start()
    await eventually(lambda: "does not end" in (loop.stuck_because() or ""))
    let_go.set()
    await eventually(lambda: loop.stuck_because() is None)
    next(task for task in asyncio.all_tasks() if task.get_name() == "windows").cancel()
    await eventually(lambda: loop.stuck_because() == "its task has ended")
    await loop.stop()
