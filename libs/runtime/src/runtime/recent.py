"""Caches of the newest values, so that a process's memory depends on the number of active conversations, not of all
conversations so far."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")
DEFAULT_TTL_SECONDS = 120.0
"""Seconds that a value is cached: about as long as a person takes to write the next message. A later use costs a read,
and erased data does not stay cached."""


class Bounded(OrderedDict[KeyT, ValueT]):
    """A dictionary of the entries set last, at most `most` of them."""

    def __init__(self, max_entries: int) -> None:
        super().__init__()
        self._max_entries = max_entries

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._max_entries:
            self.popitem(last=False)


class Recent(Generic[KeyT, ValueT]):
    """A cache that is bounded in number, size and age. Whenever a value is added, the oldest are dropped first."""

    def __init__(
        self,
        max_entries: int,
        *,
        max_size: int | None = None,
        size: Callable[[ValueT], int] = lambda value: 1,
        ttl_seconds: float = DEFAULT_TTL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`max_size`: the maximum total of all values' `size`; `ttl_seconds`: how long a value is cached."""
        self._max_entries, self._max_size, self._ttl = max_entries, max_size, ttl_seconds
        self._size_of, self._clock = size, clock
        self._entries: OrderedDict[KeyT, tuple[float, int, ValueT]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[KeyT]:
        return iter(list(self._entries))

    def get(self, key: KeyT) -> ValueT | None:
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > self._ttl:
            return None
        return entry[2]

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Caches a value, replacing the one under its key."""
        self.drop(key)
        now, size = self._clock(), self._size_of(value)
        self._entries[key] = now, size, value
        self._size += size
        while self._entries and (
            len(self._entries) > self._max_entries
            or (self._max_size is not None and self._size > self._max_size)
            or now - next(iter(self._entries.values()))[0] > self._ttl
        ):
            self.drop(next(iter(self._entries)))

    def drop(self, key: KeyT) -> None:
        """Removes the value under this key."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry[1]

    def clear(self) -> None:
        """Removes everything."""
        self._entries.clear()
        self._size = 0
