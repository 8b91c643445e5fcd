"""The connection to Redis or Valkey: commands are sent in batches, each has a deadline, and every failure to answer is
one error.

Commands that are issued while the loop is busy go out as one pipeline, which costs much less under load than a
connection from a pool for each. A hanging server must not cost every call a whole deadline: after a failure the store
counts as unavailable for a moment, then it is tried again.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from redis.exceptions import NoScriptError, RedisError, ResponseError

from contracts.errors import ErrorCode
from runtime.background import start_task
from runtime.calls.deadlines import detached_context
from runtime.errors import RpcError
from runtime.stores.redis_client import redis_client
from tool_executor.ports import RedisUnavailableError

_UNAVAILABLE_SECONDS = 0.5
"""Seconds without requests to Redis after it failed to answer."""
_BATCH = 256
_MAX_BATCHES = 4
"""Batches sent at the same time, each on its own connection."""
_MAX_WAITING = 20_000
"""Commands that may wait for a batch; further ones are refused."""
_KEYS_PER_STEP = 1_000
"""Keys that are scanned or deleted in one step."""

Part = str | bytes | int


@contextmanager
def unavailable_errors() -> Generator[None]:
    """Makes the reply of a method, RpcError, of a RedisUnavailableError inside the block."""
    try:
        yield
    except RedisUnavailableError as unavailable:
        raise RpcError(ErrorCode.UNAVAILABLE, f"{unavailable}: try again", retryable=True) from unavailable


class Script:
    """A Lua script and the SHA-1 by which the server knows it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


class RedisStore:
    """The store; one instance for the process."""

    def __init__(self, url: str, deadline: float) -> None:
        self._url = url
        self._batch_timeout = 2 * deadline + 1
        self._redis = redis_client(url, deadline, name="nexus-tool-executor", max_connections=_MAX_BATCHES + 1)
        self._waiting: list[tuple[tuple[Part, ...], asyncio.Future[Any]]] = []
        self._senders: set[asyncio.Task[None]] = set()
        self._deleting = asyncio.Lock()
        self._unavailable_until: float | None = None
        """None while the server answers; otherwise the monotonic time from which one command at a time tries again."""

    async def run(self, script: Script, key: str, *arguments: Part) -> Any:
        """Runs a Lua script on one key. Raises RedisUnavailableError."""
        return await self.run_on(script, (key,), *arguments)

    async def run_on(self, script: Script, keys: tuple[str, ...], *arguments: Part) -> Any:
        """Runs a Lua script on keys of one hash slot. Raises RedisUnavailableError."""
        try:
            return await self._request("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            return await self.command("EVAL", script.source, len(keys), *keys, *arguments)

    async def command(self, *parts: Part) -> Any:
        """Runs one command. Raises RedisUnavailableError."""
        try:
            return await self._request(*parts)
        except NoScriptError as error:
            raise RedisUnavailableError(f"Redis refused a command: {error}") from error

    async def delete(self, pattern: str, is_to_delete: Callable[[str], bool]) -> int:
        """Deletes the keys of the pattern for which `is_to_delete` is true, and returns their number. Raises
        RedisUnavailableError."""
        redis, keys, deleted = cast("Any", self._redis), list[bytes](), 0
        async with self._deleting:  # there is one connection besides those of the batches
            try:
                async for key in cast("AsyncIterator[bytes]", redis.scan_iter(match=pattern, count=_KEYS_PER_STEP)):
                    if is_to_delete(key.decode(errors="replace")):
                        keys.append(key)
                    if len(keys) >= _KEYS_PER_STEP:
                        deleted, keys = deleted + int(await redis.unlink(*keys)), []
                if keys:
                    deleted += int(await redis.unlink(*keys))
            except (RedisError, OSError, TimeoutError) as error:
                raise RedisUnavailableError(f"Redis does not answer: {error}") from error
        return deleted

    async def ping(self) -> None:
        """Pings the server; raises RedisUnavailableError."""
        await self.command("PING")

    @property
    def away(self) -> bool:
        """Whether the last command was not answered."""
        return self._unavailable_until is not None

    async def ping_afresh(self) -> None:
        """Pings the server on a new connection; raises RedisError, OSError, TimeoutError."""
        async with redis_client(self._url, 0.5, name="nexus-tool-executor-looks") as redis:
            await cast("Any", redis).execute_command("PING")

    async def close(self) -> None:
        for sender in list(self._senders):
            sender.cancel()
        waiting, self._waiting = self._waiting, []
        _give_up(waiting)
        await self._redis.aclose()

    async def _request(self, *parts: Part) -> Any:
        is_unavailable = self._unavailable_until is not None and (
            time.monotonic() < self._unavailable_until or self._senders
        )
        if is_unavailable or len(self._waiting) >= _MAX_WAITING:
            raise RedisUnavailableError("Redis does not answer, or too many commands wait for it")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((parts, answer))
        if len(self._senders) < _MAX_BATCHES:
            start_task(self._send(), self._senders, context=detached_context())
        return await answer

    async def _send(self) -> None:
        """Sends the waiting commands, batch after batch, until none waits."""
        while self._waiting:
            batch, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
            try:
                # Longer than the client's own deadlines; a batch that never ends would block all others for good.
                async with asyncio.timeout(self._batch_timeout):
                    answers = await self._batch([parts for parts, _ in batch])
                self._unavailable_until = None
            except (RedisError, OSError, TimeoutError) as error:
                self._unavailable_until = time.monotonic() + _UNAVAILABLE_SECONDS
                # The commands behind this batch fail too; otherwise each would wait for another deadline.
                batch += self._waiting
                self._waiting = []
                answers = [RedisUnavailableError(f"Redis does not answer: {error}") for _ in batch]
            except BaseException:
                _give_up(batch)
                raise
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    _settle(future, answer)

    async def _batch(self, commands: list[tuple[Part, ...]]) -> list[Any]:
        if len(commands) == 1:
            try:
                return [await cast("Any", self._redis).execute_command(*commands[0])]
            except ResponseError as error:
                return [error]
        pipeline = cast("Any", self._redis).pipeline(transaction=False)
        for parts in commands:
            pipeline.execute_command(*parts)
        return await pipeline.execute(raise_on_error=False)


def _give_up(waiting: Sequence[tuple[tuple[Part, ...], asyncio.Future[Any]]]) -> None:
    # The waiting callers were not cancelled themselves, so they get an error.
    for _, future in waiting:
        if not future.done():
            future.set_exception(RedisUnavailableError("the connection to Redis is being closed"))


def _settle(future: asyncio.Future[Any], answer: Any) -> None:
    if isinstance(answer, NoScriptError | RedisUnavailableError):
        future.set_exception(answer)
    elif isinstance(answer, Exception):
        # In a cluster a single server may be unavailable while the others answer.
        future.set_exception(RedisUnavailableError(f"Redis refused a command: {answer}"))
    else:
        future.set_result(answer)


def texts(answer: Any) -> Sequence[bytes]:
    """Returns an array reply of strings and numbers, each as bytes."""
    return [item if isinstance(item, bytes) else str(item).encode() for item in cast("list[Any]", answer)]
