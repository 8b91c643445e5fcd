"""Windows in Redis, one string each, for an hour after the conversation's last use.

A window stays true up to its sequence, so writes need no order: an old one only makes the next reader read slightly
more of the log. One task writes after the reply has gone out; if too much is queued, or Redis is away, windows are
dropped.
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
"""Seconds after its last use for which a conversation's newest messages are cached."""
PREFIX = "nexus:memory:window:"
WAITING = 2_000
"""The most windows queued for writing."""
BATCH = 64
LATER = 0.1
"""Seconds before a window is written: its reply goes out first, and the next message's window replaces it."""
LONGEST_WRITE = 60.0
"""Seconds for writing the whole queue."""
AWAY = 2.0
"""Seconds without using Redis after it failed, so that it does not cost more than it saves."""

_log = structlog.get_logger(__name__)


class WindowRecord(Wire):
    """A window as it is kept."""

    up_to: int
    whole: bool
    messages: list[MessageView]
    profile: VisitorProfile
    seen_at: datetime | None = None


class RedisWindows:
    name = "windows"

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: dict[str, RecentMessages] = {}
        self._wake = asyncio.Event()
        self._away_until = 0.0
        self._writer = BackgroundLoop(self.name, self._write, wait=self._gather_writes, longest=LONGEST_WRITE)
        self.stuck_because = self._writer.stuck_because
        self.stop = self._writer.stop

    async def start(self) -> None:
        self._writer.start()

    @property
    def _away(self) -> bool:
        return time.monotonic() < self._away_until

    def _failed(self, what: str, error: Exception) -> None:
        self._away_until = time.monotonic() + AWAY
        _log.warning("windows in redis cannot be had for now", what=what, error=str(error)[:200])

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        if self._away:
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
        if self._away:
            return
        key = _key(era, company, conversation)
        waiting = self._waiting.get(key)
        if waiting is None and len(self._waiting) >= WAITING:
            return
        if waiting is None or waiting.up_to < window.up_to:
            self._waiting[key] = window
            self._wake.set()

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Removes these conversations' windows from the queue."""
        gone = {f"{company}:{name}" for name in conversations}
        for key in [key for key in self._waiting if key.removeprefix(PREFIX).split(":", 1)[1] in gone]:
            del self._waiting[key]

    async def _gather_writes(self) -> None:
        await self._wake.wait()
        await asyncio.sleep(LATER)
        self._wake.clear()

    async def _write(self) -> None:
        while self._waiting and not self._away:
            keys = list(self._waiting)[:BATCH]
            batch = {key: self._waiting.pop(key) for key in keys}
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
        whole=window.whole,
        messages=list(window.messages),
        profile=window.seen.profile,
        seen_at=window.seen.last_at,
    ).to_json()
