"""The stream CHAT for memory's use cases: decodes facts, and makes sure that a read is complete."""

import asyncio
import time
from datetime import datetime

import structlog

from contracts.channels import ChatAddress, conversation_tree, parse_chat
from memory.domain.facts import BadFactError, LogFact, decode
from memory.domain.keys import LogPosition
from memory.errors import UnknownSequenceError
from runtime.bus.direct import StoredFact
from runtime.bus.publisher import Appended, Publisher
from runtime.conversation import ConversationLog, ConversationWriter, Decide, LogBounds
from runtime.errors import ReadFailedError

SOURCE = "/nexus/memory"
RECENT = 15.0
"""Seconds for which the bounds that another caller has read are recent enough."""

_log = structlog.get_logger(__name__)


class StreamLog:
    """The log as memory reads and appends to it. `refresh` reads the stream's bounds: at the start, after a reconnect,
    and periodically."""

    def __init__(self, log: ConversationLog, publisher: Publisher, deadline: float = 3.0) -> None:
        self._log = log
        self._writer = ConversationWriter(log, publisher, SOURCE)
        self._deadline = deadline
        self._bounds: LogBounds | None = None
        self._asked = float("-inf")

    async def renew(self) -> None:
        """Reads the stream's bounds, unless they were read a moment ago."""
        if time.monotonic() - self._asked >= RECENT:
            await self.refresh()

    async def refresh(self) -> LogBounds:
        """Reads the stream's bounds now."""
        self._asked = time.monotonic()
        self._bounds = await self._log.bounds()
        return self._bounds

    async def reconnected(self) -> None:
        """Reads them after a reconnect; when nobody answers, the next periodic look does."""
        try:
            await self.refresh()
        except ReadFailedError as error:
            _log.warning("log.bounds_unread", error=str(error))

    @property
    def era(self) -> int:
        """The log's era: when it was created, in ms since the epoch."""
        return era_of(self._known.created_at)

    @property
    def first_seq(self) -> int:
        """The log's first sequence, as far as known."""
        return self._known.first_seq

    @property
    def whole_from(self) -> int:
        """The sequence from which on nothing was trimmed, as far as known."""
        return self._known.whole_from

    @property
    def _known(self) -> LogBounds:
        if self._bounds is None:
            raise RuntimeError("the log's bounds are unknown: refresh() comes first")
        return self._bounds

    async def end(self) -> int:
        """The log's current last sequence."""
        return (await self.refresh()).last_seq

    async def read(self, company: str, conversation: str, after: int, up_to: int) -> list[LogFact]:
        """The conversation's facts with after < seq ≤ up_to, in order, certainly complete.

        Raises:
            UnknownSequenceError: the log ends before `up_to`.
        """
        if after >= up_to:
            return []
        clock = asyncio.get_running_loop().time
        end = clock() + self._deadline
        pause = 0.002
        while True:
            stored = await self._log.read(company, conversation, after, up_to, deadline=self._deadline)
            if (stored and stored[-1].seq == up_to) or await self._has_no(company, conversation, up_to):
                return [fact for each in stored if (fact := self.fact(each)) is not None]
            if clock() > end:
                raise UnknownSequenceError(f"the log has not reached {up_to}, which {company}/{conversation} needs")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)

    async def _has_no(self, company: str, conversation: str, seq: int) -> bool:
        """Whether `seq` is in the log but belongs to another conversation, so that nothing is missing at the end."""
        found = await self._log.at(seq)
        if found is not None:
            # By the subject alone: a fact of a kind that a newer release has made is this conversation's as well.
            return not found.subject.startswith(conversation_tree(company, conversation).removesuffix(">"))
        bounds = await self.refresh()
        # Purged, or a replica that has not got it yet: only what lies before the log's beginning is surely gone.
        return bounds.first_seq > seq or bounds.last_seq == 0 == seq

    async def append_if(self, company: str, conversation: str, decide: Decide) -> Appended | None:
        """Appends what `decide` makes of the newest snapshot, fenced (runtime.conversation); None: nothing."""
        return await self._writer.append_if(company, conversation, decide)

    def fact(self, stored: StoredFact) -> LogFact | None:
        """The stored fact decoded; None for a misfit (the projection writes a dead letter)."""
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


def era_of(created: datetime) -> int:
    """The log's era, in ms since the epoch."""
    return int(created.timestamp() * 1000)
