"""Tells a driver whether its turn is still its own, after its process stood still so long that another agent may have
taken the turn over.

The compare-and-set of the journal keeps a turn single all the same; this keeps text from two drivers apart.
"""

import asyncio
import time
from collections.abc import Callable

from agent.early_start import start_early
from agent.ports import ConversationKey, Journals


class Lease:
    """One driver's hold on a turn. `stood_still`: when this process last stood still for longer than a lease, by
    time.monotonic(); `lost` is called when the journal turns out to be another's."""

    def __init__(
        self, journals: Journals, key: ConversationKey, stood_still: Callable[[], float], lost: Callable[[], None]
    ) -> None:
        self._journals = journals
        self._key = key
        self._stood_still = stood_still
        self._lost = lost
        self._revision = 0
        self._sure_at = 0.0
        self._look: asyncio.Task[None] | None = None

    def saved(self, revision: int) -> None:
        """The journal is stored: at this moment the turn is ours."""
        self._revision, self._sure_at = revision, time.monotonic()

    def doubtful(self) -> bool:
        """Whether nothing may be said for now; the journal is being looked at then."""
        if self._stood_still() <= self._sure_at:
            return False
        if self._look is None or self._look.done():
            self._look = start_early(self._look_at_journal())
        return True

    def close(self) -> None:
        """Nobody is told any more; the driver is let go of."""
        self._lost = _nobody
        if self._look is not None:
            self._look.cancel()

    async def _look_at_journal(self) -> None:
        now, mine = time.monotonic(), self._revision
        _, revision = await self._journals.read(self._key)
        if revision == mine:
            self._sure_at = now
        elif mine == self._revision:
            self._lost()


def _nobody() -> None:
    """Nothing."""
