"""Requests over one permanent inbox.

nats-py's own `request` takes exactly one reply and creates futures, names and timers that cost as much as the round
trip. Here all requests of a client share one wildcard subscription; a reply is matched by the last token of its
subject, and a request may have many replies (direct gets). The answer to any attempt counts, however late. A stream's
answers may all use one reply subject, while a service needs one for each attempt (`Pending.another_name`): its
permission to reply allows one reply for each subject, and two requests under one subject would leave it with none
(decision 0036).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import NoRespondersError

from runtime.bus.connection import listen
from runtime.bus.per_client import PerClient

NO_RESPONDERS = "503"


class Pending:
    """A request that waits for its replies, in a `with` block; replies that come after the block are dropped."""

    __slots__ = ("_complete", "_done", "_inbox", "_keys", "_parts", "_waiter", "reply_to")

    def __init__(self, inbox: ReplyInbox, done: Callable[[Msg], bool] | None) -> None:
        self._inbox = inbox
        self._keys: list[str] = []
        self._done = done
        self._parts: list[Msg] = []
        self._complete = False
        self._waiter: asyncio.Future[None] | None = None
        self.reply_to = self.another_name()

    def __enter__(self) -> Pending:
        return self

    def __exit__(self, *_: object) -> None:
        for key in self._keys:
            self._inbox.waiting.pop(key, None)

    def another_name(self) -> str:
        """Returns another reply subject, for another attempt; replies to earlier ones still count."""
        key, name = self._inbox.new_name()
        self._inbox.waiting[key] = self
        self._keys.append(key)
        return name

    def accept(self, message: Msg) -> None:
        """Adds a reply; the last one ends the wait."""
        self._parts.append(message)
        if self._done is None or self._done(message):
            self._complete = True
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_result(None)

    async def wait(self, seconds: float) -> list[Msg]:
        """Returns the replies, at least one, once the last has come. Only one caller may wait at a time.

        After a wait that timed out or was cancelled, the next one continues.

        Raises:
            TimeoutError: the last reply did not come in time.
        """
        if not self._complete:
            loop = asyncio.get_running_loop()
            # A future for this wait alone: a cancelled wait would cancel one that is shared.
            waiter = self._waiter = loop.create_future()
            timer = loop.call_later(max(seconds, 0), _expire, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
            if not self._complete:
                raise TimeoutError
        return self._parts

    def reset(self) -> None:
        """Drops the replies so far, to wait again under the same subjects."""
        self._parts = []
        self._complete = False


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class ReplyFeed(Pending):
    """A request with many replies, each passed on as it comes."""

    __slots__ = ("_take",)

    def __init__(self, inbox: ReplyInbox, take: Callable[[Msg], None]) -> None:
        super().__init__(inbox, None)
        self._take = take

    def accept(self, message: Msg) -> None:
        self._take(message)


class ReplyInbox(PerClient):
    """A client's permanent inbox; `ReplyInbox.of(client)` returns the one that all users of the client share."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._prefix = f"{client.new_inbox()}."
        self._skip = len(self._prefix)
        self.waiting: dict[str, Pending] = {}
        """The requests that wait for a reply, by the last token of their reply subjects."""
        self._count = 0
        self._starting: asyncio.Task[Subscription] | None = None
        self._listens = False

    async def expect(self, done: Callable[[Msg], bool] | None = None) -> Pending:
        """Registers a request. `done` says whether a reply is the last; without it, the first reply is."""
        if not self._listens:
            await self._ensure_listening()
        return Pending(self, done)

    async def follow(self, take: Callable[[Msg], None]) -> ReplyFeed:
        """Registers a request with any number of replies; each is passed to `take`."""
        if not self._listens:
            await self._ensure_listening()
        return ReplyFeed(self, take)

    async def _ensure_listening(self) -> None:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._starting = asyncio.create_task(listen(self._client, self._prefix + "*", self._on_message))
        await asyncio.shield(self._starting)
        self._listens = True

    def new_name(self) -> tuple[str, str]:
        """Returns a new key, and its reply subject."""
        self._count += 1
        key = str(self._count)
        return key, self._prefix + key

    async def request(
        self, subject: str, payload: bytes, *, deadline: float, headers: dict[str, str] | None = None
    ) -> Msg:
        """Sends a request and returns its reply.

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

    async def request_many(self, subject: str, payload: bytes, *, deadline: float) -> list[Msg]:
        """Sends a request and returns its replies, up to and including the server's status.

        Raises:
            TimeoutError: the last reply did not come within `deadline` seconds.
        """
        with await self.expect(lambda message: status_of(message) is not None) as pending:
            await self._client.publish(subject, payload, reply=pending.reply_to)
            return await pending.wait(deadline)

    def _on_message(self, message: Msg) -> None:
        pending = self.waiting.get(message.subject[self._skip :])
        if pending is not None:
            pending.accept(message)


def headers_of(message: Msg) -> dict[str, str]:
    """Returns the headers, or an empty dict."""
    return message.headers or {}


def status_of(message: Msg) -> str | None:
    """Returns the inline status of a server's control message, e.g. 404; None for an ordinary message."""
    headers = message.headers
    return headers.get("Status") if headers else None


def is_no_responders(message: Msg) -> bool:
    """Whether the message is the server's notice that nobody listens on the subject."""
    return not message.data and status_of(message) == NO_RESPONDERS
