"""This process's rate limits for visitors, addresses and sockets."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.domain.forwarded import UNKNOWN_ADDRESS
from gateway.domain.limits import RateLimit, SlidingLog, address_key, admit
from gateway.errors import RateLimitedError
from gateway.metrics import ADDRESSES, VISITORS
from gateway.settings import GatewaySettings
from runtime.clock import Clock

MINUTE = 60.0
MAX_COUNTED_ADDRESSES = 64
"""Addresses counted for the metric of distinct addresses."""
READS_AT_ONCE = 2
"""Pages of stored conversations that one person reads at a time: a page of a megabyte takes memory some 0.3 s."""
READS_IN_LINE = 100
"""Pages that one person reads or waits for."""


class ClientLimits:
    """Counts connections and requests. If no trusted proxy gives the address (NOBODY), limits by address do not apply:
    the address may be anybody's, and no visitor is refused for another's messages."""

    def __init__(self, settings: GatewaySettings, clock: Clock) -> None:
        self.settings = settings
        self._clock = clock
        self.frames_per_socket = RateLimit(settings.frames_per_ten_seconds, 10.0)
        self._by_visitor = SlidingLog(RateLimit(settings.messages_per_visitor, MINUTE))
        self._by_address = SlidingLog(RateLimit(settings.messages_per_address, MINUTE))
        self._conversations = SlidingLog(RateLimit(settings.conversations_per_address, 60 * MINUTE))
        self._tokens = SlidingLog(RateLimit(settings.tokens_per_address, MINUTE))
        self._connections: Counter[str] = Counter()
        self._addresses: set[str] = set()
        self._reads: dict[str, asyncio.Semaphore] = {}

    def count_message(self, subject: str, address: str, *, opens_conversation: bool) -> None:
        """Counts a message; raises RateLimitedError, and counts nothing, if a limit is reached."""
        windows = [(self._by_visitor, subject)]
        key = address_key(address)
        if address != UNKNOWN_ADDRESS:
            windows.append((self._by_address, key))
            if opens_conversation:
                windows.append((self._conversations, key))
        now = self._clock.monotonic()
        wait = admit(now, *windows)
        if wait > 0:
            is_conversation_limit = (self._conversations, key) in windows and self._conversations.retry_after(
                key, now
            ) == wait
            if is_conversation_limit:
                raise RateLimitedError(
                    f"too many new conversations from one address: try again in {_duration_text(wait)}", wait
                )
            raise RateLimitedError(f"too many messages: try again in {_duration_text(wait)}", wait)

    def count_token(self, address: str) -> None:
        """Counts a visitor's token; raises RateLimitedError if the limit is reached."""
        if address == UNKNOWN_ADDRESS:
            VISITORS.labels("unknown").inc()
            return
        key = address_key(address)
        wait = admit(self._clock.monotonic(), (self._tokens, key))
        if wait > 0:
            raise RateLimitedError(f"too many tokens for this address: try again in {_duration_text(wait)}", wait)
        VISITORS.labels("known").inc()
        if len(self._addresses) < MAX_COUNTED_ADDRESSES:
            self._addresses.add(key)
            ADDRESSES.set(len(self._addresses))

    def enter_address(self, address: str) -> bool:
        """Counts a connection; False (and nothing counted) if the address has too many."""
        return address == UNKNOWN_ADDRESS or self._enter(
            f"a:{address_key(address)}", self.settings.connections_per_address
        )

    def leave_address(self, address: str) -> None:
        if address != UNKNOWN_ADDRESS:
            self._leave(f"a:{address_key(address)}")

    def enter_subject(self, company: str, subject: str) -> bool:
        """Counts a connection of one person; False (and nothing counted) if they have too many."""
        return self._enter(f"s:{company}/{subject}", self.settings.connections_per_person)

    def leave_subject(self, company: str, subject: str) -> None:
        self._leave(f"s:{company}/{subject}")

    @asynccontextmanager
    async def read(self, company: str, subject: str) -> AsyncGenerator[None]:
        """Lets one person read a page when few others of theirs are being read, so that many reads of one person take
        their own time and not everybody's. Raises RateLimitedError if too many wait."""
        key = f"r:{company}/{subject}"
        if not self._enter(key, READS_IN_LINE):
            raise RateLimitedError("too many reads at once: try again in 2 s", 2.0)
        try:
            async with self._reads.setdefault(key, asyncio.Semaphore(READS_AT_ONCE)):
                yield
        finally:
            self._leave(key)
            if key not in self._connections:
                del self._reads[key]

    def _enter(self, key: str, limit: int) -> bool:
        if self._connections[key] >= limit:
            return False
        self._connections[key] += 1
        return True

    def _leave(self, key: str) -> None:
        self._connections[key] -= 1
        if self._connections[key] <= 0:
            del self._connections[key]


def _duration_text(wait: float) -> str:
    seconds = math.ceil(wait)
    return f"{seconds} s" if seconds < 120 else f"{math.ceil(seconds / 60)} min"


class FrameRate:
    """Counts one socket's frames in fixed windows: cheap, and exact enough to detect a flood."""

    __slots__ = ("_count", "_limit", "_start")

    def __init__(self, limit: RateLimit, now: float) -> None:
        self._limit = limit
        self._start = now
        self._count = 0

    def is_flooded(self, now: float) -> bool:
        """Counts one frame; returns whether there are too many."""
        if now - self._start >= self._limit.seconds:
            self._start, self._count = now, 0
        self._count += 1
        return self._count > self._limit.count
