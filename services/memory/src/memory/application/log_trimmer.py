"""Trims the log conversation by conversation: removes facts that are old, stored, and read by every consumer."""

from datetime import timedelta

import structlog

from memory.adapters.trimmed_chat import TrimmedChat
from memory.domain.log_window import HIGH_FILL, cuts, kept_seconds
from memory.metrics import TRIMMED
from memory.ports import LogClock
from runtime.conversation import UNTRIMMED_FACTS

KEPT_AT_END = 2 * UNTRIMMED_FACTS
"""Facts at the log's end that are never removed. Readers with slightly outdated bounds rely on half of them."""
CONVERSATIONS_PER_SWEEP = 500
"""Conversations examined in one sweep, while the log is in use."""
SWEEPS_PER_ROUND = 720
"""Sweeps after which trimming starts from the beginning, since conversations then in use may be finished by now."""

_log = structlog.get_logger(__name__)


class LogTrimmer:
    """Sweeps the log. Replicas may do so at the same time."""

    def __init__(self, log: TrimmedChat, clock: LogClock, window: float, *, always_kept: int = KEPT_AT_END) -> None:
        self._chat = log
        self._clock = clock
        self._window = window
        self._always_kept = always_kept
        self._position = 0
        self._sweeps = 0

    async def sweep(self) -> int:
        """Trims some conversations; returns how many facts were removed."""
        self._sweeps += 1
        if self._sweeps % SWEEPS_PER_ROUND == 0:
            self._position = 0
        cut_before = await self._first_to_keep()
        examined = removed = 0
        while self._position < cut_before and examined < CONVERSATIONS_PER_SWEEP:
            names, self._position = await self._chat.conversations(self._position, cut_before)
            for company, conversation in names:
                removed += await self._trim(company, conversation, cut_before)
            examined += len(names)
        if removed:
            TRIMMED.inc(removed)
            _log.info("the log was trimmed", facts=removed, before=cut_before)
        return removed

    async def _first_to_keep(self) -> int:
        """The first sequence that no sweep may remove."""
        state = await self._chat.state(self._always_kept)
        if state is None:
            return 0
        age = timedelta(seconds=kept_seconds(self._window, state.fill))
        oldest = min(await self._chat.first_since(age, self._clock), state.last_seq - self._always_kept + 1)
        if state.fill >= HIGH_FILL and state.read_up_to + 1 < oldest:
            _log.warning("the log fills, and is kept for who has not read it", consumer=state.slowest)
        return min(oldest, state.read_up_to + 1)

    async def _trim(self, company: str, conversation: str, cut_before: int) -> int:
        conversation_log = await self._chat.read(company, conversation)
        if conversation_log is None:
            return 0
        removed = 0
        for cut in cuts(conversation_log.snapshot, conversation_log.first_waiting, cut_before):
            removed += await self._chat.purge(company, conversation, cut.kind, cut.before)
        return removed
