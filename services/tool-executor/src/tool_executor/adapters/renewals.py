"""Renews short leases for as long as their holder lives: if the process dies, they expire within seconds.

One task renews all leases of the process. Each has a maximum lifetime, so that a holder that forgot it cannot keep it.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass

from runtime.calls.deadlines import detached_context
from runtime.workers.pull_worker import LEASE
from tool_executor.adapters.redis_store import Part, RedisStore, Script
from tool_executor.ports import RedisUnavailableError

_EVERY = LEASE / 3
"""Seconds: the process may miss two renewals. The lease is a delivery's own: whoever is given a dead process' call may
make it."""


@dataclass(frozen=True, slots=True)
class _Lease:
    script: Script
    arguments: tuple[Part, ...]
    until: float


class Renewals:
    """The leases that this process holds, by key."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._held: dict[str, _Lease] = {}
        self._ticker: asyncio.Task[None] | None = None

    def hold(self, key: str, script: Script, *arguments: Part, longest: float) -> None:
        """Runs `script` on the key again and again, until `drop` or for `longest` seconds."""
        self._held[key] = _Lease(script, arguments, time.monotonic() + longest)
        if self._ticker is None or self._ticker.done():
            self._ticker = asyncio.create_task(self._tick(), context=detached_context())

    def drop(self, key: str) -> None:
        self._held.pop(key, None)

    async def close(self) -> None:
        self._held.clear()
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.wait([self._ticker])

    async def _tick(self) -> None:
        while self._held:
            await asyncio.sleep(_EVERY)
            now = time.monotonic()
            for key in [key for key, held in self._held.items() if held.until < now]:
                del self._held[key]
            await asyncio.gather(*(self._renew(key, held) for key, held in list(self._held.items())))

    async def _renew(self, key: str, held: _Lease) -> None:
        # Missed, the lease runs out: somebody else may then do the same work again, which harms nobody.
        with suppress(RedisUnavailableError):
            await self._store.run(held.script, key, *held.arguments)
