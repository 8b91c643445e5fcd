"""Finds parts of a service that are stuck although everything that they need is there, so that only a restart helps:
/healthz then fails.

A part that is slow, or that waits for a store that is away, is not stuck. It counts as stuck when LOOKS looks in a row
find that it reports what it waits for in vain while every check behind /readyz holds. A process that was
stopped as a whole (SIGSTOP) gets one look when it goes on, however long it stood.

A store's client is stuck when the store seems to be away but answers a new client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

StuckCheck = Callable[[], str | None]
"""Returns what a part waits for in vain, or None if it works. It must never report a part that is merely slow."""

LOOK_EVERY = 5.0
"""Seconds between two looks."""
ANSWER = 1.0
"""Deadline of a question to a store."""
LOOKS = 6
"""Looks in a row after which a part counts as stuck: half a minute."""


Ask = Callable[[], Awaitable[object]]
"""Asks a store whether it is there; raises if it is not."""


@dataclass(frozen=True, slots=True)
class Store:
    """`seems_away`: the service's last calls to it were not answered (known without a call); `ours` asks it with the
    service's own client, `afresh` with a new one."""

    seems_away: Callable[[], bool]
    ours: Ask
    afresh: Ask


class Liveness:
    """Watches a service's parts. `holds`: whether every check holds, except those of the given names."""

    def __init__(self, holds: Callable[[Collection[str]], Awaitable[bool]]) -> None:
        self._holds = holds
        self._parts: dict[str, StuckCheck] = {}
        self._stores: dict[str, Store] = {}
        self._seen: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self.stuck: dict[str, str] = {}
        """The stuck parts, and what they wait for: the process is to be restarted."""

    def add(self, name: str, stuck_because: StuckCheck) -> None:
        """Adds a part. A check of the same name is about the part itself and says nothing about its stores."""
        self._parts[name] = stuck_because

    def add_store(self, name: str, store: Store) -> None:
        """Adds a store, whose client is watched while the store seems to be away."""
        self._stores[name] = store

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_looking())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self) -> None:
        waiting = {name: why for name, part in self._parts.items() if (why := part()) is not None}
        if waiting and not await self._holds(self._parts):
            waiting = {}
        for name, store in self._stores.items():
            if store.seems_away() and not await _answers(store.ours) and await _answers(store.afresh):
                waiting[name] = "it answers a new client, and not this service's"
        self._seen = {name: self._seen.get(name, 0) + 1 for name in waiting}
        stuck = {name: why for name, why in waiting.items() if self._seen[name] >= LOOKS}
        for name in stuck.keys() - self.stuck.keys():
            log.error("service.stuck", part=name, why=stuck[name], advice="it cannot go on by itself: restart it")
        self.stuck = stuck

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look()
            except Exception:
                log.exception("standstill.failed")


async def _answers(ask: Ask) -> bool:
    try:
        async with asyncio.timeout(ANSWER):
            await ask()
    except Exception:
        return False
    return True
