"""The connection to Redis or Valkey: scripts with a deadline, and one word for every way of not answering.

A server that hangs must not cost each call a deadline: after a failure the store counts as away for a moment, and is
then asked again.
"""

import hashlib
import time
from collections.abc import Awaitable, Sequence
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError

from tool_executor.ports import StoreAway

_AWAY_SECONDS = 0.5
_CONNECTIONS = 32


class RedisStore:
    """One for the process."""

    def __init__(self, url: str, deadline: float) -> None:
        # One retry, at once: a pooled connection may have died with the server's last restart. The pool makes callers
        # wait for a connection; the plain one raises when all are in use.
        pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            url,
            socket_timeout=deadline,
            socket_connect_timeout=deadline,
            retry=Retry(NoBackoff(), 1),
            max_connections=_CONNECTIONS,
            timeout=deadline,
        )
        self._redis = Redis.from_pool(pool)  # pyright: ignore[reportUnknownArgumentType]
        self._away_until = 0.0

    async def run(self, script: "Script", key: str, *arguments: str | bytes | int) -> Any:
        """Runs a Lua script on one key. Raises StoreAway."""
        try:
            return await self._guarded(self._command("EVALSHA", script.sha, 1, key, *arguments))
        except NoScriptError:
            return await self._guarded(self._command("EVAL", script.source, 1, key, *arguments))

    async def command(self, *parts: str | bytes | int) -> Any:
        """One command. Raises StoreAway."""
        return await self._guarded(self._command(*parts))

    async def ping(self) -> None:
        """Raises StoreAway."""
        await self._guarded(self._command("PING"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._redis.aclose()

    def _command(self, *parts: str | bytes | int) -> Awaitable[Any]:
        return cast("Awaitable[Any]", self._redis.execute_command(*parts))  # pyright: ignore[reportUnknownMemberType]

    async def _guarded(self, answer: Awaitable[Any]) -> Any:
        if time.monotonic() < self._away_until:
            cast("Any", answer).close()
            raise StoreAway("Redis did not answer a moment ago")
        try:
            return await answer
        except NoScriptError:
            raise
        except ResponseError as error:
            raise StoreAway(f"Redis refused a command: {error}") from error
        except (RedisError, OSError, TimeoutError) as error:
            self._away_until = time.monotonic() + _AWAY_SECONDS
            raise StoreAway(f"Redis does not answer: {error}") from error


class Script:
    """A Lua script and the SHA-1 under which the server keeps it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


def texts(answer: Any) -> Sequence[bytes]:
    """An array reply of strings and numbers, each as bytes."""
    return [item if isinstance(item, bytes) else str(item).encode() for item in cast("list[Any]", answer)]
