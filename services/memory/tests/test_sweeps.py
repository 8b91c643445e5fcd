"""Looks that come now and then."""

import pytest

from memory.application.sweeps import PeriodicSweep
from runtime.testing.servers import eventually


class Work:
    """Counts its calls; each finds as much as is there."""

    def __init__(self) -> None:
        self.calls = self.there = 0

    async def __call__(self) -> int:
        self.calls += 1
        return self.there


async def test_where_nothing_is_there_it_rests_until_something_stirs() -> None:
    work, busy = Work(), Work()
    busy.there = 1
    # Beside it one of the same pace that never rests: by its calls time has passed.
    sweep, other = PeriodicSweep("things", 0.02, work, idle_seconds=3600), PeriodicSweep("others", 0.02, busy)
    await sweep.start()
    await other.start()
    await eventually(lambda: work.calls == 1)
    await after(busy, 8)
    assert work.calls == 1
    work.there = 1
    sweep.stir()
    # What it found is looked after in the usual time.
    await eventually(lambda: work.calls >= 4)
    work.there = 0
    await after(busy, 8)
    ended = work.calls
    await after(busy, 8)
    assert work.calls == ended
    sweep.hurry()
    await eventually(lambda: work.calls == ended + 1)
    sweep.hurry(again=2)
    await eventually(lambda: work.calls == ended + 4)
    await after(busy, 8)
    assert work.calls == ended + 4
    await sweep.stop()
    await other.stop()


async def after(work: Work, calls: int) -> None:
    """When so many more have been made."""
    before = work.calls
    await eventually(lambda: work.calls >= before + calls)


@pytest.mark.parametrize("usual", [0.02, 3600.0])
async def test_what_fails_is_tried_again_soon(usual: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.application.sweeps.RETRY_SECONDS", 0.05)
    calls = 0

    async def fails() -> int:
        nonlocal calls
        calls += 1
        raise OSError("the store is away")

    sweep = PeriodicSweep("things", usual, fails, idle_seconds=3600)
    await sweep.start()
    await eventually(lambda: calls >= 3)
    await sweep.stop()
