"""Parts of a service that stand still although all that they need is there: what only a restart helps against.

Slow is not still, and a store that is away is no reason: a part counts as still only while it says what it waits for in
vain, while every check behind /readyz holds, and at LOOKS looks in a row. A process that was stopped as a whole
(SIGSTOP) is looked at once when it goes on, however long that was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

import structlog

log = structlog.get_logger(__name__)

Still = Callable[[], str | None]
"""What the part waits for in vain; None: it goes on. It must never be true of a part that is merely slow."""

LOOK_EVERY = 5.0
"""Seconds between two looks."""
LOOKS = 6
"""Looks in a row after which a part is held to be stuck: half a minute."""


class Standstill:
    """Looks at a service's parts. `holds`: whether every check holds, those of the given names left out."""

    def __init__(self, holds: Callable[[Collection[str]], Awaitable[bool]]) -> None:
        self._holds = holds
        self._parts: dict[str, Still] = {}
        self._seen: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self.stuck: dict[str, str] = {}
        """The parts that are stuck, and what they wait for: the process is to be restarted."""

    def add(self, name: str, still: Still) -> None:
        """A part to look at. A check of the same name is about the part itself, and does not speak for its stores."""
        self._parts[name] = still

    def start(self) -> None:
        """Begins to look."""
        self._task = asyncio.create_task(self._keep_looking())

    async def stop(self) -> None:
        """Looks no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self) -> None:
        """One look at all parts."""
        still = {name: why for name, part in self._parts.items() if (why := part()) is not None}
        if still and not await self._holds(self._parts):
            still = {}
        self._seen = {name: self._seen.get(name, 0) + 1 for name in still}
        stuck = {name: why for name, why in still.items() if self._seen[name] >= LOOKS}
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
