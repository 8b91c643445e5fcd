"""Reads and appends to the stream CHAT for memory's use cases: decodes facts, and guarantees complete reads."""

import asyncio
import time
from datetime import datetime

import structlog

from contracts.channels import ChatAddress, conversation_tree, parse_chat
from memory.domain.facts import BadFactError, LogFact, decode
from memory.domain.keys import LogPosition
from memory.errors import UnknownSequenceError
from runtime.bus.direct import StoredFact
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog, ConversationWriter, LogBounds
from runtime.errors import ReadFailedError

SOURCE = "/nexus/memory"
RECENT_SECONDS = 15.0
"""How long bounds that another caller has read are recent enough."""

_log = structlog.get_logger(__name__)


class StreamLog:
    """The log as memory reads and appends to it. `refresh` reads the stream's bounds: at the start, after a reconnect,
    and periodically."""

    def __init__(self, log: ConversationLog, publisher: Publisher, deadline: float = 3.0) -> None:
        self._log = log
        self.append_if = ConversationWriter(log, publisher, SOURCE).append_if
        """Appends what a decision about the newest snapshot returns, fenced; None if it appends nothing."""
        self._deadline = deadline
        self._bounds: LogBounds | None = None
        self._refreshed_at = float("-inf")

    async def refresh_if_old(self) -> None:
        """Reads the stream's bounds, unless they were read within RECENT_SECONDS."""
        if time.monotonic() - self._refreshed_at >= RECENT_SECONDS:
            await self.refresh()

    async def refresh(self) -> LogBounds:
        """Reads the stream's bounds now."""
        self._refreshed_at = time.monotonic()
        self._bounds = await self._log.bounds()
        return self._bounds

    async def refresh_after_reconnect(self) -> None:
        """Reads the stream's bounds after a reconnect; if the bus does not answer, the next periodic refresh reads
        them."""
        try:
            await self.refresh()
        except ReadFailedError as error:
            _log.warning("log.bounds_unread", error=str(error))

    @property
    def era(self) -> int:
        """The log's era: when it was created, in ms since the epoch."""
        return era_of(self._known_bounds.created_at)

    @property
    def first_seq(self) -> int:
        """The log's first sequence when the bounds were last read."""
        return self._known_bounds.first_seq

    @property
    def whole_from(self) -> int:
        """The sequence from which on nothing had been trimmed when the bounds were last read."""
        return self._known_bounds.whole_from

    @property
    def _known_bounds(self) -> LogBounds:
        if self._bounds is None:
            raise RuntimeError("the log's bounds are unknown: refresh() comes first")
        return self._bounds

    async def end(self) -> int:
        """The log's current last sequence."""
        return (await self.refresh()).last_seq

    async def read(self, company: str, conversation: str, after: int, up_to: int) -> list[LogFact]:
        """The conversation's facts with after < seq ≤ up_to, in order and guaranteed to be complete.

        Raises:
            UnknownSequenceError: the log ends before `up_to`.
        """
        if after >= up_to:
            return []
        clock = asyncio.get_running_loop().time
        give_up_at = clock() + self._deadline
        pause = 0.002
        while True:
            stored = await self._log.read(company, conversation, after, up_to, deadline=self._deadline)
            if (stored and stored[-1].seq == up_to) or await self._is_of_other_conversation(
                company, conversation, up_to
            ):
                return [fact for stored_fact in stored if (fact := self.fact(stored_fact)) is not None]
            if clock() > give_up_at:
                raise UnknownSequenceError(f"the log has not reached {up_to}, which {company}/{conversation} needs")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)

    async def _is_of_other_conversation(self, company: str, conversation: str, seq: int) -> bool:
        """Whether `seq` belongs to another conversation or was purged, so that nothing is missing at the end of a
        read."""
        stored = await self._log.at(seq)
        if stored is not None:
            # Judged by the subject alone, since a kind of fact that only a newer release knows belongs to it as well.
            return not stored.subject.startswith(conversation_tree(company, conversation).removesuffix(">"))
        bounds = await self.refresh()
        # It was purged, or this replica does not have it yet: only what lies before the log's start is certainly gone.
        return bounds.first_seq > seq or bounds.last_seq == 0 == seq

    def fact(self, stored: StoredFact) -> LogFact | None:
        """Decodes a stored fact; None for a misfit (the projection writes a dead letter)."""
        address = parse_chat(stored.subject)
        if address is None:
            return None
        if not stored.genuine:
            _log.warning("a fact that is not ours is left out", subject=stored.subject, seq=stored.seq)
            return None
        try:
            return self.decoded(address, stored.seq, stored.time, stored.event)
        except BadFactError as error:
            _log.warning("a fact that does not fit its contract is left out", error=str(error))
            return None

    def decoded(self, address: ChatAddress, seq: int, stored_at: datetime, raw: bytes) -> LogFact:
        """The fact at `seq` of this era of the log; raises BadFactError."""
        return decode(address, LogPosition(self.era, seq), stored_at, raw)


def era_of(created_at: datetime) -> int:
    """The log's era, in ms since the epoch."""
    return int(created_at.timestamp() * 1000)
