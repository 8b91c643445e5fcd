"""The sources that fill a store from the bus, and the port through which memory reads and manages their consumers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from contracts.errors import NexusError
from memory.domain.progress import ConsumerProgress
from runtime.bus.direct import StoredFact

BATCH = 256

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProjectionSource:
    """A durable consumer that fills the store.

    `reapply` processes facts again, in order, which changes nothing if they were processed before. `max_age`: facts
    older than this are useless to the store (None: none are). `has_all` returns whether the store has all of these
    facts; only a source that processes its whole stream has it, and a stream may drop facts only for such a store.
    `stored_as`: the durable's name in the store, if several sources share it.
    """

    stream: str
    durable: str
    subject: str
    reapply: Callable[[Sequence[StoredFact]], Awaitable[None]]
    max_age: timedelta | None = None
    has_all: Callable[[Sequence[StoredFact]], Awaitable[bool]] | None = None
    stored_as: str = ""

    @property
    def name(self) -> str:
        """The source's name in the store."""
        return f"{self.stream}/{self.stored_as or self.durable}"


class Consumers(Protocol):
    """The consumers on the bus, and their streams."""

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        """A consumer's progress; None if it does not exist (yet); raises NexusError.

        An answer requested at `since` or later, by time.monotonic(), is shared by all consumers of a stream. A store's
        position must not be compared with an answer requested before it was read.
        """
        ...

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        """Facts after a sequence, in order, and whether there are more; raises NexusError."""
        ...

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        """Continues the stream after a sequence and drops everything before it. Before that, `keep` stores what the
        stream holds up to the sequence with which it is called. Raises NexusError."""
        ...

    async def note_lost_end(self, stream: str, up_to: int) -> None:
        """Records in the stream that it has lost its end, which reached this sequence; raises NexusError."""
        ...

    async def delete(self, stream: str, durable: str) -> None:
        """Deletes a consumer, if it exists; raises NexusError."""
        ...

    async def since(self, stream: str, subject: str, start: datetime) -> int:
        """The sequence of the first fact stored at `start` or later; 0 if there is none."""
        ...


async def process_all(facts: Sequence[StoredFact], take: Callable[[Sequence[StoredFact]], Awaitable[object]]) -> None:
    """Processes facts together, or one by one if that fails, so that a bad fact does not block the others.

    Raises:
        NexusError: a retry may succeed.
    """
    try:
        await take(facts)
    except Exception as error:
        if isinstance(error, NexusError) and error.retryable:
            raise
        await process_each(facts, lambda fact: take([fact]))


async def process_each(facts: Sequence[StoredFact], take: Callable[[StoredFact], Awaitable[object]]) -> None:
    """Processes facts one by one, and skips those that can never be processed: they are dead letters already.

    Raises:
        NexusError: a retry may succeed.
    """
    for fact in facts:
        try:
            await take(fact)
        except Exception as error:
            if isinstance(error, NexusError) and error.retryable:
                raise
            _log.warning("a fact is left out once more", subject=fact.subject, seq=fact.seq, error=repr(error)[:200])
