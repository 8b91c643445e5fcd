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

_RENEWAL_SECONDS = LEASE / 3
"""Seconds between renewals; a process may miss two. The lease is as long as a delivery's: an executor that gets the
call of a dead process may run it at once."""


@dataclass(frozen=True, slots=True)
class _Lease:
    script: Script
    arguments: tuple[Part, ...]
    until: float


class Renewals:
    """The leases that this process holds, by key."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._leases: dict[str, _Lease] = {}
        self._ticker: asyncio.Task[None] | None = None

    def hold(self, key: str, script: Script, *arguments: Part, max_seconds: float) -> None:
        """Runs `script` on the key again and again, until `drop`, or for `max_seconds`."""
        self._leases[key] = _Lease(script, arguments, time.monotonic() + max_seconds)
        if self._ticker is None or self._ticker.done():
            self._ticker = asyncio.create_task(self._tick(), context=detached_context())

    def drop(self, key: str) -> None:
        self._leases.pop(key, None)

    async def close(self) -> None:
        self._leases.clear()
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.wait([self._ticker])

    async def _tick(self) -> None:
        while self._leases:
            await asyncio.sleep(_RENEWAL_SECONDS)
            now = time.monotonic()
            for key in [key for key, lease in self._leases.items() if lease.until < now]:
                del self._leases[key]
            await asyncio.gather(*(self._renew(key, lease) for key, lease in list(self._leases.items())))

    async def _renew(self, key: str, lease: _Lease) -> None:
        # If renewals fail, the lease expires: another executor may then repeat the work, which does no harm.
        with suppress(RedisUnavailableError):
            await self._store.run(lease.script, key, *lease.arguments)
