"""Checks whether a driver still owns its turn, after its process stood still so long that another agent may have taken
the turn over.

The journal's compare-and-set already guarantees a single answer; the lease keeps two drivers from streaming text at the
same time.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.ports import ConversationKey, Journals
from runtime.background import start_early


@dataclass(slots=True, eq=False)
class Lease:
    """One driver's hold on a turn. `last_standstill` returns when this process last stood still for longer than a
    lease, by time.monotonic(). `on_lost` is called if another driver has written the journal."""

    journals: Journals
    key: ConversationKey
    last_standstill: Callable[[], float]
    on_lost: Callable[[], None]
    _revision: int = field(init=False, default=0)
    _confirmed_at: float = field(init=False, default=0.0)
    _check: asyncio.Task[None] | None = field(init=False, default=None)

    def saved(self, revision: int) -> None:
        """Notes that the journal was just saved, which proves that the turn is ours now."""
        self._revision, self._confirmed_at = revision, time.monotonic()

    def doubtful(self) -> bool:
        """Whether ownership is unknown, so that no text may be sent; starts a check of the journal then."""
        if self.last_standstill() <= self._confirmed_at:
            return False
        if self._check is None or self._check.done():
            self._check = start_early(self._check_journal())
        return True

    def close(self) -> None:
        """Ends the check, and drops the reference to the driver."""
        self.on_lost = _do_nothing
        if self._check is not None:
            self._check.cancel()

    async def _check_journal(self) -> None:
        started_at, saved_revision = time.monotonic(), self._revision
        _, revision = await self.journals.read(self.key)
        if revision == saved_revision:
            self._confirmed_at = started_at
        elif saved_revision == self._revision:
            self.on_lost()


def _do_nothing() -> None:
    """Replaces the callback of a closed lease."""
