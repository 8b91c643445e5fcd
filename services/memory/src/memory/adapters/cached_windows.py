"""Caches the most recently used windows in this process: a turn's second read costs no round trip and no parsing."""

import time
from collections.abc import Callable, Sequence

from memory.domain.recent import RecentMessages
from memory.metrics import WINDOWS
from memory.ports import RecentWindows
from runtime.recent import Recent

MAX_WINDOWS = 5_000
MAX_CHARACTERS = 32 * 1024 * 1024


class CachedWindows:
    """A cache in front of other RecentWindows, bounded in windows, in characters and in time."""

    def __init__(self, store: RecentWindows, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._windows = Recent[tuple[int, str, str], RecentMessages](
            MAX_WINDOWS, max_size=MAX_CHARACTERS, size=_characters, clock=clock
        )

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        key = (era, company, conversation)
        cached = self._windows.get(key)
        if cached is not None:
            WINDOWS.labels("process").inc()
            return cached
        window = await self._store.get(era, company, conversation)
        WINDOWS.labels("none" if window is None else "behind").inc()
        if window is not None:
            self._cache(key, window)
        return window

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        self._cache((era, company, conversation), window)
        self._store.keep(era, company, conversation, window)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        dropped = frozenset(conversations)
        for key in self._windows:
            if key[1] == company and key[2] in dropped:
                self._windows.drop(key)

    def _cache(self, key: tuple[int, str, str], window: RecentMessages) -> None:
        cached = self._windows.get(key)
        if cached is None or cached.up_to <= window.up_to:
            self._windows.keep(key, window)


def _characters(window: RecentMessages) -> int:
    return sum(len(message.text) for message in window.messages) + 200 * len(window.messages)
