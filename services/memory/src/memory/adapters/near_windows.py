"""The windows used last, in this process: a turn's second read costs no round trip, and no parsing."""

from collections import OrderedDict
from collections.abc import Sequence

from memory.domain.recent import RecentMessages
from memory.metrics import WINDOWS
from memory.ports import RecentWindows

MAX_WINDOWS = 5_000
MAX_CHARACTERS = 32 * 1024 * 1024


class NearWindows:
    """RecentWindows before other RecentWindows: bounded in windows and in characters of text, the oldest go first."""

    def __init__(self, behind: RecentWindows) -> None:
        self._behind = behind
        self._windows: OrderedDict[tuple[int, str, str], tuple[RecentMessages, int]] = OrderedDict()
        self._characters = 0

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        key = (era, company, conversation)
        found = self._windows.get(key)
        if found is not None:
            self._windows.move_to_end(key)
            WINDOWS.labels("process").inc()
            return found[0]
        window = await self._behind.get(era, company, conversation)
        WINDOWS.labels("none" if window is None else "behind").inc()
        if window is not None:
            self._hold(key, window)
        return window

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        self._hold((era, company, conversation), window)
        self._behind.keep(era, company, conversation, window)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Holds these conversations no longer."""
        gone = frozenset(conversations)
        for key in [key for key in self._windows if key[1] == company and key[2] in gone]:
            _, size = self._windows.pop(key)
            self._characters -= size

    def _hold(self, key: tuple[int, str, str], window: RecentMessages) -> None:
        held = self._windows.get(key)
        if held is not None and held[0].up_to > window.up_to:
            return
        size = sum(len(message.text) for message in window.messages) + 200 * len(window.messages)
        self._characters += size - (held[1] if held else 0)
        self._windows[key] = (window, size)
        self._windows.move_to_end(key)
        while len(self._windows) > MAX_WINDOWS or self._characters > MAX_CHARACTERS:
            _, (_, dropped) = self._windows.popitem(last=False)
            self._characters -= dropped
