"""Reports to memory that human agents are still reading or typing, seldom enough to cost little at a busy desk, and how
far they have read, whenever that advances."""

from gateway.adapters.memory import BusMemory
from gateway.errors import GatewayError
from gateway.ports import TokenCaller
from runtime.clock import Clock
from runtime.recent import Bounded

REPORT_INTERVAL_SECONDS = 20.0
"""Seconds between two reports on one person in one conversation; the shortest ownerIdleMinutes is one minute."""
MAX_REMEMBERED = 10_000
"""People whose last report is remembered; those forgotten are reported once more than needed."""


class LookReports:
    """Reports to memory when human agents look at a conversation."""

    def __init__(self, memory: BusMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._last_reports = Bounded[tuple[str, str, str], tuple[float, int]](MAX_REMEMBERED)

    async def note(self, caller: TokenCaller, conversation: str, read_seq: int | None = None) -> None:
        """Reports that the caller looks at the conversation now, and has read up to `read_seq`. If a report fails, the
        next one replaces it."""
        key = (caller.company, conversation, caller.subject)
        now = self._clock.monotonic()
        reported_at, reported_seq = self._last_reports.get(key, (-REPORT_INTERVAL_SECONDS, -1))
        if now - reported_at < REPORT_INTERVAL_SECONDS and (read_seq is None or read_seq <= reported_seq):
            return
        self._last_reports[key] = now, max(reported_seq, -1 if read_seq is None else read_seq)
        try:
            await self._memory.owner_seen(caller.company, conversation, caller.subject, read_seq)
        except GatewayError:
            self._last_reports.pop(key, None)
