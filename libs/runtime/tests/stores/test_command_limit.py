"""A command that never ends, whatever its own deadline, does not keep the store away for good."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from pymongo.errors import NetworkTimeout

from runtime.stores.command_limit import HANGING_SECONDS, CommandLimit
from runtime.testing.servers import eventually


class RefusedError(Exception):
    pass


def a_limit() -> CommandLimit:
    registry = CollectorRegistry()
    return CommandLimit(
        Gauge("running", "-", registry=registry),
        Counter("refused", "-", registry=registry),
        max_running=4,
        max_waiting=4,
        queue_seconds=0.1,
        refusal=RefusedError,
    )


async def answered() -> str:
    return "here"


async def never() -> str:
    await asyncio.Event().wait()
    return ""


async def test_commands_that_never_end_are_broken_off_and_others_served_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.stores.command_limit.COMMAND_TIMEOUT", HANGING_SECONDS + 1.0)
    limit = a_limit()
    lost = [asyncio.create_task(limit.run(never)) for _ in range(2)]

    async def refused() -> bool:
        try:
            await limit.run(answered)
        except RefusedError:
            return True
        return False

    async def served() -> bool:
        return not await refused()

    await eventually(lambda: limit.hanging)
    assert await refused()
    assert limit.stuck_because() is None
    assert [type(one) for one in await asyncio.gather(*lost, return_exceptions=True)] == [NetworkTimeout] * 2
    await eventually(served)
    assert not limit.hanging


async def test_a_command_that_cannot_be_broken_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.stores.command_limit.COMMAND_TIMEOUT", 0.05)
    monkeypatch.setattr("runtime.stores.command_limit.END_TIMEOUT", 0.05)
    let_go = asyncio.Event()

    async def stubborn() -> str:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return ""

    limit = a_limit()
    assert limit.stuck_because() is None
    lost = asyncio.create_task(limit.run(stubborn))
    await eventually(lambda: "does not end" in (limit.stuck_because() or ""))
    let_go.set()
    await asyncio.gather(lost, return_exceptions=True)
    assert limit.stuck_because() is None
