"""Trims the log: facts that are old, stored and read by everybody are removed, conversation by conversation."""

from datetime import timedelta

import structlog

from memory.adapters.trimmed_chat import TrimmedChat
from memory.domain.log_window import HIGH_FILL, cuts, kept_seconds
from memory.metrics import TRIMMED
from memory.ports import LogClock
from runtime.conversation import NEVER_TRIMMED

KEPT = 2 * NEVER_TRIMMED
"""Facts at the log's end that always stay. Readers with slightly outdated bounds rely on half of them."""
AT_ONCE = 500
"""Conversations of one sweep; the log stays in use meanwhile."""
AGAIN = 720
"""Sweeps after which it starts over, since conversations that were in use may be finished by now."""

_log = structlog.get_logger(__name__)


class LogTrimmer:
    """The sweep. Replicas may run it at the same time."""

    def __init__(self, log: TrimmedChat, clock: LogClock, window: float, *, kept: int = KEPT) -> None:
        self._trimmed = log
        self._clock = clock
        self._window = window
        self._kept = kept
        self._position = 0
        self._sweeps = 0

    async def sweep(self) -> int:
        """Trims some conversations; returns how many facts were removed."""
        self._sweeps += 1
        if self._sweeps % AGAIN == 0:
            self._position = 0
        before = await self._before()
        looked_at = gone = 0
        while self._position < before and looked_at < AT_ONCE:
            names, self._position = await self._trimmed.conversations(self._position, before)
            for company, conversation in names:
                gone += await self._trim(company, conversation, before)
            looked_at += len(names)
        if gone:
            TRIMMED.inc(gone)
            _log.info("the log was trimmed", facts=gone, before=before)
        return gone

    async def _before(self) -> int:
        """Facts from this sequence on stay."""
        state = await self._trimmed.state(self._kept)
        if state is None:
            return 0
        age = timedelta(seconds=kept_seconds(self._window, state.fill))
        old = min(await self._trimmed.first_since(age, self._clock), state.last_seq - self._kept + 1)
        if state.fill >= HIGH_FILL and state.read_up_to + 1 < old:
            _log.warning("the log fills, and is kept for who has not read it", consumer=state.slowest)
        return min(old, state.read_up_to + 1)

    async def _trim(self, company: str, conversation: str, before: int) -> int:
        lying = await self._trimmed.look(company, conversation)
        if lying is None:
            return 0
        gone = 0
        for cut in cuts(lying.snapshot, lying.first_waiting, before):
            gone += await self._trimmed.cut(company, conversation, cut.kind, cut.before)
        return gone
