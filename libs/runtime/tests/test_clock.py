"""The clock that tests move by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from runtime.clock import SystemClock
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually


async def test_sleepers_wake_in_order_each_at_its_own_moment() -> None:
    clock = FakeClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            woken.append((name, clock.monotonic()))

    tasks = [asyncio.create_task(sleeper("a", 2, 2)), asyncio.create_task(sleeper("b", 3))]
    await eventually(lambda: clock.sleeping == 2)
    await clock.advance(3.5)
    assert woken == [("a", 2), ("b", 3)]
    await clock.advance(0.5)
    await asyncio.gather(*tasks)
    assert woken[-1] == ("a", 4)
    assert clock.sleeping == 0


async def test_both_of_its_times_move_together() -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    clock = FakeClock(start)
    await clock.advance(90)
    assert clock.now() == start + timedelta(seconds=90)
    assert clock.monotonic() == 90
    await clock.sleep(0)


async def test_the_system_clock_is_in_utc() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() >= before
