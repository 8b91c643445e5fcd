"""Memory's own loops: none ends by what a store's client raises, and each is looked at."""

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from contracts.conversation_rpc import VisitorProfile
from memory.adapters.redis_windows import RedisWindows
from memory.application.activity import Activity
from memory.application.lessons import Lessons
from memory.domain.recent import RecentMessages, VisitorTraits
from memory.testing.harness import Servers, replica
from runtime.testing.servers import ValkeyServer, eventually

LOOPS = {
    "projection",
    "projection floor",
    "windows",
    "activity",
    "lessons",
    "webhooks",
    "webhook feed",
    "position of MongoDB",
    "position of Redis",
    "waiting conversations",
    "untold settings",
    "the log's window",
    "pages that have come in",
    "spans",
    "upkeep",
}


async def test_windows_are_written_again_after_an_error_that_nobody_foresaw(
    valkey_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.background.RETRY_PAUSE", 0.01)
    redis = Redis.from_url(valkey_server.url)  # pyright: ignore[reportUnknownMemberType]
    windows = RedisWindows(redis)
    execute, failed = Pipeline.execute, False

    async def once_wrong(self: Pipeline, raise_on_error: bool = True) -> list[object]:
        nonlocal failed
        if not failed:
            failed = True
            raise RuntimeError("readuntil() called while another coroutine is already waiting for incoming data")
        return await execute(self, raise_on_error)

    monkeypatch.setattr(Pipeline, "execute", once_wrong)
    window = RecentMessages(7, (), True, VisitorTraits(VisitorProfile(), None))
    await windows.start()
    windows.keep(1, "acme", "lost", window)
    await eventually(lambda: failed)
    windows.keep(1, "acme", "kept", window)

    async def written() -> bool:
        return (await windows.get(1, "acme", "kept")) is not None

    await eventually(written)
    assert windows.stuck_because() is None
    await windows.stop()
    await redis.aclose()


async def test_every_loop_of_a_replica_is_looked_at(servers: Servers) -> None:
    async with replica(servers) as on:
        parts = on.service.health.liveness._parts  # pyright: ignore[reportPrivateUsage]
        assert parts.keys() >= LOOPS
        assert {name: stuck_because() for name, stuck_because in parts.items() if stuck_because()} == {}
        assert Activity.name in parts
        assert Lessons.name in parts
