"""Finds parts of a service that are stuck although everything they need is available, so that only a restart helps:
then /healthz fails.

A part that is slow, or that waits for an unreachable store, is not stuck. It counts as stuck when STUCK_CHECKS checks
in a row find that it waits in vain although every check of /readyz passes. A process that was stopped as a whole
(SIGSTOP) is checked once when it continues, however long it stood still.

A store's client is stuck if it gets no answers but a new client does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

StuckCheck = Callable[[], str | None]
"""Returns what a part waits for in vain, or None if it works. It must not report a part that is merely slow."""

CHECK_INTERVAL = 5.0
"""Seconds between checks."""
ANSWER_DEADLINE = 1.0
"""Deadline of a ping of a store, in seconds."""
STUCK_CHECKS = 6
"""Checks in a row after which a part counts as stuck: half a minute."""


Ask = Callable[[], Awaitable[object]]
"""Pings a store; raises if it does not answer."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store to watch. `seems_away`: whether its last calls were not answered, known without a call; `ping` uses the
    service's own client, `ping_afresh` a new one."""

    seems_away: Callable[[], bool]
    ping: Ask
    ping_afresh: Ask


class Liveness:
    """Watches a service's parts. `holds`: whether every check passes, apart from those with the given names."""

    def __init__(self, holds: Callable[[Collection[str]], Awaitable[bool]]) -> None:
        self._holds = holds
        self._parts: dict[str, StuckCheck] = {}
        self._stores: dict[str, Store] = {}
        self._consecutive: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self.stuck: dict[str, str] = {}
        """The stuck parts, and what they wait for. If there are any, the process must be restarted."""

    def add(self, name: str, stuck_because: StuckCheck) -> None:
        """Adds a part. A check with the same name is about the part itself, not about the stores it needs."""
        self._parts[name] = stuck_because

    def add_store(self, name: str, store: Store) -> None:
        """Adds a store, whose client is checked while the store seems to be away."""
        self._stores[name] = store

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self) -> None:
        waiting = {name: why for name, part in self._parts.items() if (why := part()) is not None}
        if waiting and not await self._holds(self._parts):
            waiting = {}
        for name, store in self._stores.items():
            if store.seems_away() and not await _answers(store.ping) and await _answers(store.ping_afresh):
                waiting[name] = "it answers a new client, and not this service's"
        self._consecutive = {name: self._consecutive.get(name, 0) + 1 for name in waiting}
        stuck = {name: why for name, why in waiting.items() if self._consecutive[name] >= STUCK_CHECKS}
        for name in stuck.keys() - self.stuck.keys():
            log.error("service.stuck", part=name, why=stuck[name], advice="it cannot go on by itself: restart it")
        self.stuck = stuck

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            try:
                await self.look()
            except Exception:
                log.exception("standstill.failed")


async def _answers(ask: Ask) -> bool:
    try:
        async with asyncio.timeout(ANSWER_DEADLINE):
            await ask()
    except Exception:
        return False
    return True
