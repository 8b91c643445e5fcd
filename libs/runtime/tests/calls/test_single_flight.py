"""Work that several wait for belongs to none of them."""

from __future__ import annotations

import asyncio

import pytest

from runtime.calls.deadlines import serve_for, time_left
from runtime.calls.single_flight import SingleFlight


class Work:
    """Counts its beginnings, and ends when it is told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.end = asyncio.Event()
        self.left: float | None = None

    async def run(self) -> int:
        self.begun += 1
        self.left = time_left()
        await self.end.wait()
        return self.begun


async def test_who_stops_waiting_takes_nothing_from_the_others() -> None:
    flights, work = SingleFlight[int](), Work()
    first, second = (asyncio.create_task(flights.result("a", work.run)) for _ in range(2))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(first, 0.01)
    third = asyncio.create_task(flights.result("a", work.run))
    await asyncio.sleep(0)
    work.end.set()
    assert (await asyncio.wait_for(second, 20), await asyncio.wait_for(third, 20), work.begun) == (1, 1, 1)
    assert await flights.result("a", work.run) == 2


async def test_the_work_has_not_the_deadline_of_the_request_that_began_it() -> None:
    flights, work = SingleFlight[int](), Work()
    work.end.set()
    serve_for(0.0)
    assert await flights.result("a", work.run) == 1
    assert (work.left, time_left()) == (None, 0.0)


async def test_a_failure_is_told_to_all_who_wait_and_kept_for_nobody() -> None:
    flights = SingleFlight[int]()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    told = await asyncio.gather(*(flights.result("a", fail) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in told] == [ZeroDivisionError] * 2
    work = Work()
    work.end.set()
    assert await flights.result("a", work.run) == 1


async def test_what_is_forgotten_is_begun_anew_by_whoever_asks_next() -> None:
    flights, work = SingleFlight[int](), Work()
    first = asyncio.create_task(flights.result("a", work.run))
    await asyncio.sleep(0)
    flights.forget()
    second = asyncio.create_task(flights.result("a", work.run))
    await asyncio.sleep(0)
    work.end.set()
    await asyncio.gather(first, second)
    assert work.begun == 2
