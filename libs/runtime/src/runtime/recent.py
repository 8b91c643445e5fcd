"""Caches of the newest values, so that a process's memory depends on how many conversations are active, not on how many
there were."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")
KEPT_SECONDS = 120.0
"""A value is kept for about as long as somebody thinks about what to say next. A later use costs a read, and erased
data does not stay here."""


class Bounded(OrderedDict[KeyT, ValueT]):
    """A dictionary of the entries set last, at most `most` of them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class Recent(Generic[KeyT, ValueT]):
    """Bounded in number, in size and in age; the oldest go first, whenever another one is added."""

    def __init__(
        self,
        most: int,
        *,
        largest: int | None = None,
        size: Callable[[ValueT], int] = lambda value: 1,
        seconds: float = KEPT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`largest`: the total of all values' `size`; `seconds`: how long a value is kept."""
        self._most, self._largest, self._seconds = most, largest, seconds
        self._size_of, self._clock = size, clock
        self._kept: OrderedDict[KeyT, tuple[float, int, ValueT]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[KeyT]:
        return iter(list(self._kept))

    def get(self, key: KeyT) -> ValueT | None:
        kept = self._kept.get(key)
        if kept is None or self._clock() - kept[0] > self._seconds:
            return None
        return kept[2]

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Stores a value, replacing the one under its key."""
        self.drop(key)
        now, size = self._clock(), self._size_of(value)
        self._kept[key] = now, size, value
        self._size += size
        while self._kept and (
            len(self._kept) > self._most
            or (self._largest is not None and self._size > self._largest)
            or now - next(iter(self._kept.values()))[0] > self._seconds
        ):
            self.drop(next(iter(self._kept)))

    def drop(self, key: KeyT) -> None:
        """Removes it."""
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._size -= gone[1]

    def clear(self) -> None:
        """Removes everything."""
        self._kept.clear()
        self._size = 0
