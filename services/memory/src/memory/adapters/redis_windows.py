"""Windows in Redis, one string each, for an hour after the conversation's last use.

A window stays valid up to its sequence, so writes need no order: an old one only makes the next reader read slightly
more of the log. One task writes after the reply has been sent; if too many are queued, or Redis is unavailable, windows
are dropped.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime

import structlog
from pydantic import ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.conversation_rpc import MessageView, VisitorProfile
from contracts.envelope import Wire
from memory.domain.recent import RecentMessages, VisitorTraits
from runtime.background import BackgroundLoop

TTL_SECONDS = 3600
"""How long a conversation's window is cached after its last use."""
PREFIX = "nexus:memory:window:"
MAX_QUEUED = 2_000
"""Windows queued for writing at most."""
BATCH = 64
WRITE_DELAY_SECONDS = 0.1
"""How long a window waits before it is written: the reply is sent first, and a later window may replace it."""
WRITE_TIMEOUT_SECONDS = 60.0
"""Deadline for writing the whole queue."""
PAUSE_SECONDS = 2.0
"""How long Redis is not used after it failed, so that it does not cost more than it saves."""

_log = structlog.get_logger(__name__)


class WindowRecord(Wire):
    """A window as it is stored."""

    up_to: int
    whole: bool
    messages: list[MessageView]
    profile: VisitorProfile
    seen_at: datetime | None = None


class RedisWindows:
    name = "windows"

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._queue: dict[str, RecentMessages] = {}
        self._wake = asyncio.Event()
        self._paused_until = 0.0
        self._writer = BackgroundLoop(self.name, self._write, wait=self._until_due, step_timeout=WRITE_TIMEOUT_SECONDS)
        self.stuck_because = self._writer.stuck_because
        self.stop = self._writer.stop

    async def start(self) -> None:
        self._writer.start()

    @property
    def _is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def _failed(self, operation: str, error: Exception) -> None:
        self._paused_until = time.monotonic() + PAUSE_SECONDS
        _log.warning("windows in redis cannot be had for now", what=operation, error=str(error)[:200])

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        if self._is_paused:
            return None
        try:
            text = await self._redis.get(_key(era, company, conversation))
        except (RedisError, OSError, TimeoutError) as error:
            self._failed("read", error)
            return None
        if text is None:
            return None
        try:
            record = WindowRecord.model_validate_json(text)
        except ValidationError:
            return None  # another version of this service wrote it
        return RecentMessages(
            record.up_to, tuple(record.messages), record.whole, VisitorTraits(record.profile, record.seen_at)
        )

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        if self._is_paused:
            return
        key = _key(era, company, conversation)
        queued = self._queue.get(key)
        if queued is None and len(self._queue) >= MAX_QUEUED:
            return
        if queued is None or queued.up_to < window.up_to:
            self._queue[key] = window
            self._wake.set()

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Removes these conversations' windows from the queue."""
        dropped = {f"{company}:{conversation}" for conversation in conversations}
        for key in [key for key in self._queue if key.removeprefix(PREFIX).split(":", 1)[1] in dropped]:
            del self._queue[key]

    async def _until_due(self) -> None:
        await self._wake.wait()
        await asyncio.sleep(WRITE_DELAY_SECONDS)
        self._wake.clear()

    async def _write(self) -> None:
        while self._queue and not self._is_paused:
            keys = list(self._queue)[:BATCH]
            batch = {key: self._queue.pop(key) for key in keys}
            try:
                async with self._redis.pipeline(transaction=False) as pipe:
                    for key, window in batch.items():
                        pipe.set(key, _text(window), ex=TTL_SECONDS)
                    await pipe.execute()
            except (RedisError, OSError, TimeoutError) as error:
                self._failed("write", error)


def _key(era: int, company: str, conversation: str) -> str:
    return f"{PREFIX}{era}:{company}:{conversation}"


def _text(window: RecentMessages) -> bytes:
    return WindowRecord(
        up_to=window.up_to,
        whole=window.is_complete,
        messages=list(window.messages),
        profile=window.visitor_traits.profile,
        seen_at=window.visitor_traits.last_at,
    ).to_json()
