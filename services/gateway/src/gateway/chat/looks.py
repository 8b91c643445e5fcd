"""Tells memory that human agents are still reading or typing, rarely enough to cost nothing at a busy desk, and how
far they have read, whenever that advances."""

from gateway.adapters.memory import BusMemory
from gateway.errors import GatewayError
from gateway.ports import TokenCaller
from runtime.clock import Clock
from runtime.recent import Bounded

EVERY = 20.0
"""Seconds between two reports of one person in one conversation; the shortest ownerIdleMinutes is one minute."""
MOST = 10_000
"""People whose last report is remembered; anyone beyond is reported once more than needed."""


class LookReports:
    """Reports looks to memory."""

    def __init__(self, memory: BusMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._told = Bounded[tuple[str, str, str], tuple[float, int]](MOST)

    async def note(self, caller: TokenCaller, conversation: str, up_to: int | None = None) -> None:
        """Reports that they have just looked. A lost report is made good by the next one."""
        key = (caller.company, conversation, caller.subject)
        now = self._clock.monotonic()
        told, read = self._told.get(key, (-EVERY, -1))
        if now - told < EVERY and (up_to is None or up_to <= read):
            return
        self._told[key] = now, max(read, -1 if up_to is None else up_to)
        try:
            await self._memory.owner_seen(caller.company, conversation, caller.subject, up_to)
        except GatewayError:
            self._told.pop(key, None)
