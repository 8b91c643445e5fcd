"""Requests over one standing inbox.

nats-py's own `request` takes exactly one reply and creates futures, names and timers that cost as much as the round
trip. Here every request of a client shares one wildcard subscription; a reply is matched by the last token of its
subject, and a request may have many replies (direct gets) or be sent again under the same name (publish retries: the
first answer to any copy counts).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar
from weakref import WeakKeyDictionary

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import NoRespondersError

from runtime.connection import listen

NO_RESPONDERS = "503"


class Pending:
    """One question that waits for its answer. Always ended by `close`, so use it in a `with` block."""

    __slots__ = ("_collect", "_done", "_future", "_inbox", "_key", "_parts", "reply_to")

    def __init__(self, inbox: ReplyInbox, key: str, reply_to: str, done: Callable[[Msg], bool] | None) -> None:
        self.reply_to = reply_to
        self._inbox = inbox
        self._key = key
        self._done = done
        self._parts: list[Msg] = []
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __enter__(self) -> Pending:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets the question; later replies are dropped."""
        self._inbox.forget(self._key)
        if not self._future.done():
            self._future.cancel()

    def accept(self, message: Msg) -> None:
        """Takes a reply; the last one ends the wait."""
        self._parts.append(message)
        if (self._done is None or self._done(message)) and not self._future.done():
            self._future.set_result(None)

    async def wait(self, seconds: float) -> list[Msg]:
        """The replies so far, once the last has come. May be called again after a TimeoutError, and goes on waiting.

        Raises:
            TimeoutError: the last reply did not come in time.
        """
        future = self._future
        if not future.done():
            timer = asyncio.get_running_loop().call_later(max(seconds, 0), self._expire)
            try:
                await future
            finally:
                timer.cancel()
        return self._parts

    def _expire(self) -> None:
        # Whoever waits is woken with the old future; the answer, should it still come, finds a new one.
        expired, self._future = self._future, asyncio.get_running_loop().create_future()
        if expired.done():
            self._future.set_result(None)
        else:
            expired.set_exception(TimeoutError())

    def reset(self) -> None:
        """Forgets the replies so far and waits anew, under the same name."""
        self._parts = []
        if self._future.done():
            self._future = asyncio.get_running_loop().create_future()


class Following(Pending):
    """A question with many answers, each handed on as it comes and none kept."""

    __slots__ = ("_take",)

    def __init__(self, inbox: ReplyInbox, key: str, reply_to: str, take: Callable[[Msg], None]) -> None:
        super().__init__(inbox, key, reply_to, None)
        self._take = take

    def accept(self, message: Msg) -> None:
        """Hands a reply on."""
        self._take(message)


class ReplyInbox:
    """The standing inbox of one client; `ReplyInbox.of(client)` gives the one all users of a client share."""

    _shared: ClassVar[WeakKeyDictionary[Client, ReplyInbox]] = WeakKeyDictionary()

    def __init__(self, client: Client) -> None:
        self._client = client
        self._prefix = f"{client.new_inbox()}."
        self._skip = len(self._prefix)
        self._pending: dict[str, Pending] = {}
        self._count = 0
        self._starting: asyncio.Task[Subscription] | None = None

    @classmethod
    def of(cls, client: Client) -> ReplyInbox:
        """The inbox that all users of `client` share."""
        inbox = cls._shared.get(client)
        if inbox is None:
            inbox = cls._shared[client] = cls(client)
        return inbox

    async def expect(self, done: Callable[[Msg], bool] | None = None) -> Pending:
        """A name to reply to. `done` says which reply is the last; without it the first is."""
        key, reply_to = await self._name()
        pending = self._pending[key] = Pending(self, key, reply_to, done)
        return pending

    async def follow(self, take: Callable[[Msg], None]) -> Following:
        """A name to reply to as often as there is something to say; each reply is handed to `take`."""
        key, reply_to = await self._name()
        following = self._pending[key] = Following(self, key, reply_to, take)
        return following

    async def _name(self) -> tuple[str, str]:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._starting = asyncio.create_task(listen(self._client, self._prefix + "*", self._on_message))
        if not self._starting.done() or self._starting.exception() is not None:
            await asyncio.shield(self._starting)
        self._count += 1
        key = str(self._count)
        return key, self._prefix + key

    def forget(self, key: str) -> None:
        """Drops a question; done by Pending.close."""
        self._pending.pop(key, None)

    async def request(
        self, subject: str, payload: bytes, *, deadline: float, headers: dict[str, str] | None = None
    ) -> Msg:
        """One request, one reply.

        Raises:
            TimeoutError: no reply within `deadline` seconds.
            NoRespondersError: nobody listens on `subject`.
        """
        with await self.expect() as pending:
            await self._client.publish(subject, payload, reply=pending.reply_to, headers=headers)
            message = (await pending.wait(deadline))[0]
        if is_no_responders(message):
            raise NoRespondersError
        return message

    async def request_many(
        self, subject: str, payload: bytes, *, deadline: float, done: Callable[[Msg], bool]
    ) -> list[Msg]:
        """One request, replies until `done` says that one is the last, that one included.

        Raises:
            TimeoutError: the last reply did not come within `deadline` seconds.
        """
        with await self.expect(done) as pending:
            await self._client.publish(subject, payload, reply=pending.reply_to)
            return await pending.wait(deadline)

    def _on_message(self, message: Msg) -> None:
        pending = self._pending.get(message.subject[self._skip :])
        if pending is not None:
            pending.accept(message)


def headers_of(message: Msg) -> dict[str, str]:
    """The headers, an empty dict when there are none."""
    return message.headers or {}


def status_of(message: Msg) -> str | None:
    """The inline status of a server's control message, e.g. 404; None for an ordinary message."""
    headers = message.headers
    return headers.get("Status") if headers else None


def is_no_responders(message: Msg) -> bool:
    """Whether the server says that nobody listens on the subject."""
    return not message.data and status_of(message) == NO_RESPONDERS
