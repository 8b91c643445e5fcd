"""What fills a store from the bus, and how the bus is asked about it."""

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

    `again` processes facts again, in order, which changes nothing if they were processed before. `kept`: facts older
    than this are useless to the store (None: none are). `holds`: whether the store has all of these facts; only the
    source that brings it everything of its stream can tell, and the stream may drop facts only for such a store.
    `kept_as`: the durable's name in the store, if several sources share one.
    """

    stream: str
    durable: str
    subject: str
    again: Callable[[Sequence[StoredFact]], Awaitable[None]]
    kept: timedelta | None = None
    holds: Callable[[Sequence[StoredFact]], Awaitable[bool]] | None = None
    kept_as: str = ""

    @property
    def name(self) -> str:
        """The source's name in the store."""
        return f"{self.stream}/{self.kept_as or self.durable}"


class Consumers(Protocol):
    """The consumers on the bus, and their streams."""

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        """None: there is no such consumer (yet); raises NexusError. An answer requested at `since` or later, by
        time.monotonic(), serves all consumers of a stream: a store's position read since then must not be compared
        with an older answer."""
        ...

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        """Facts after a sequence, in order, and whether there are more; raises NexusError."""
        ...

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        """Continues the stream after a sequence and drops everything before it, once `keep` has stored what it holds
        up to the given sequence; raises NexusError."""
        ...

    async def note_lost_end(self, stream: str, up_to: int) -> None:
        """Records at the stream that it has lost its end, which reached this sequence; raises NexusError."""
        ...

    async def delete(self, stream: str, durable: str) -> None:
        """Deletes a consumer, if it exists; raises NexusError."""
        ...

    async def since(self, stream: str, subject: str, at: datetime) -> int:
        """The sequence of the first fact stored at `at` or later; 0: there is none."""
        ...


async def process_all(facts: Sequence[StoredFact], take: Callable[[Sequence[StoredFact]], Awaitable[object]]) -> None:
    """Processes facts together, and one by one if that fails, so that a bad one does not hold up the others.

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
    """Processes facts one by one; one that can never be processed is already a dead letter.

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
