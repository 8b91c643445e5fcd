"""The connections whose clients do not keep up with what is sent, and a bound on the bytes held for them all."""

import asyncio
from typing import Protocol

MAX_TOTAL_BYTES = 64 * 1024 * 1024
"""Bytes that may be held for all slow readers together: an eighth of the memory that the manifests give a gateway."""


class Reader(Protocol):
    """A connection of the web server."""

    transport: asyncio.Transport

    def cut_off(self) -> None:
        """Disconnects without sending what is held."""


class SlowReaders:
    """Counts what is held for slow readers. Above the bound those that have lagged longest are cut off: a client that
    reads at all leaves the list sooner than one that holds memory on purpose."""

    def __init__(self, max_total_bytes: int = MAX_TOTAL_BYTES) -> None:
        self.max_total_bytes = max_total_bytes
        self.total = 0
        self._held: dict[Reader, int] = {}

    def lags(self, reader: Reader) -> None:
        """The transport holds more than its high-water mark for this reader; called again after each write to it."""
        size = reader.transport.get_write_buffer_size()
        self.total += size - self._held.get(reader, 0)
        self._held[reader] = size
        while self.total > self.max_total_bytes:
            oldest = next(iter(self._held))
            self.caught_up(oldest)
            oldest.cut_off()

    def caught_up(self, reader: Reader) -> None:
        """The reader has read nearly everything, or is gone."""
        self.total -= self._held.pop(reader, 0)


SLOW_READERS = SlowReaders()
"""Those of this process."""
