"""Calls that are answered in parts, over core NATS, with flow control; every call ends.

The parts go to the caller's own inbox, numbered from 0; a missing one ends the call, since the answer would be
incomplete. The first frame, `opened`, names the server's control subject. On it the caller reports how far it has read
and that it still waits. A server that has received no report for SILENCE_TIMEOUT seconds abandons the work, as it does
when the caller reports that it is gone. While there is nothing to send, both sides send heartbeats.

server → caller   {"n", "opened": {"stream", "control"}}, then "data" or "alive" in its place, "end" or "error" last|
caller → server   {"stream", "heard", "gone"?}
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from pydantic import BaseModel, ValidationError

from contracts.errors import ErrorCode
from contracts.rpc import Method, Rpc
from runtime.background import finish
from runtime.bus.connection import subscribe
from runtime.bus.replies import ReplyInbox, headers_of, is_no_responders
from runtime.calls.deadlines import HEADER, Arrivals, ClockOrigin
from runtime.calls.refusals import EXPIRED, Answers, ErrorBody, error_body, error_of, refusal, unread
from runtime.errors import NobodyServesError, RpcError
from runtime.observability import correlation
from runtime.observability.metrics import RPC_SERVED
from runtime.observability.telemetry import remote_span, work_headers

log = structlog.get_logger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)
PartT = TypeVar("PartT", bound=BaseModel)

WINDOW = 32
"""Parts that may be sent before the caller has read them."""
PROGRESS_EVERY = 8
"""Parts after which the caller reports how far it has read."""
BEAT_INTERVAL = 4.0
"""Seconds between heartbeats, of either side."""
SILENCE_TIMEOUT = 15.0
"""Seconds without a heartbeat after which the other side counts as dead."""
OPEN_TIMEOUT = 5.0
"""Seconds to wait for the first frame."""
MAX_IN_FLIGHT = 256
"""Calls that a server works on concurrently; the next is refused."""
MAX_UNREAD_FRAMES = 2 * WINDOW + 64
"""The maximum number of received but unread frames: more than a server that respects the window can send."""


class _Opened(TypedDict):
    stream: str
    control: str


class _Frame(TypedDict):
    n: int
    opened: NotRequired[_Opened]
    data: NotRequired[object]
    error: NotRequired[ErrorBody]


class _Progress(TypedDict):
    stream: str
    heard: int
    gone: NotRequired[bool]


class ReplyStream(Generic[PartT]):
    """The server's side of one call."""

    def __init__(self, client: Client, reply_to: str) -> None:
        self._client = client
        self._reply_to = reply_to
        self._sent = 0
        self._heard = -1
        self._room = asyncio.Event()
        self.heard_at = time.monotonic()

    async def send(self, part: PartT) -> None:
        """Sends a part; waits while the caller is more than a window behind."""
        while self._sent - self._heard > WINDOW:
            self._room.clear()
            await self._room.wait()
        await self.frame(b'"data":' + part.model_dump_json(by_alias=True, exclude_none=True).encode())

    async def frame(self, member: bytes) -> None:
        number, self._sent = self._sent, self._sent + 1
        try:
            await self._client.publish(self._reply_to, b'{"n":%d,%b}' % (number, member))
        except NatsError as error:
            log.debug("stream.part_lost", error=str(error))

    def record_progress(self, heard: int) -> None:
        """Records that the caller has read up to this frame."""
        self.heard_at = time.monotonic()
        if heard > self._heard:
            self._heard = heard
            self._room.set()


Serve = Callable[[RequestT, ReplyStream[PartT]], Awaitable[None]]


class StreamServer:
    """Serves calls that are answered in parts, at most `in_flight` concurrently; further ones get UNAVAILABLE
    immediately."""

    def __init__(self, client: Client, *, in_flight: int = MAX_IN_FLIGHT, answers: Answers = lambda _: None) -> None:
        self._client = client
        self._limit = in_flight
        self._answers = answers
        self._instance = uuid.uuid4().hex[:16]
        self._arrivals = Arrivals()
        self._running: dict[str, tuple[ReplyStream[Any], asyncio.Task[None]]] = {}
        self._subscriptions: list[Subscription] = []

    @property
    def count(self) -> int:
        return len(self._running)

    async def serve(self, method: Rpc[RequestT, PartT], handler: Serve[RequestT, PartT]) -> None:
        """Serves a method from now on. The handler returns when everything is sent, or raises as in RpcServer.serve."""
        control = f"{method.subject}.control.{self._instance}"

        async def take(message: Msg) -> None:
            if not message.reply:
                return
            replies: ReplyStream[PartT] = ReplyStream(self._client, message.reply)
            remaining = self._arrivals.left(headers_of(message))
            if (refused := unread(method, remaining, len(self._running), self._limit)) is not None:
                await replies.frame(b'"error":' + error_body(refused))
                return
            name = uuid.uuid4().hex
            with correlation.received(headers_of(message)):
                task = asyncio.create_task(self._handle(method, handler, message, replies, name, control))
            self._running[name] = (replies, task)
            task.add_done_callback(lambda _: self._running.pop(name, None))

        self._subscriptions.append(await subscribe(self._client, control, self._on_progress))
        self._subscriptions.append(await subscribe(self._client, method.subject, take, queue=method.queue or ""))

    async def drain(self, deadline: float) -> None:
        """Accepts no new calls and finishes the running ones; those not finished by the deadline end in UNAVAILABLE."""
        end = time.monotonic() + deadline
        for subscription in self._subscriptions[1::2]:
            with contextlib.suppress(NatsError):
                await subscription.unsubscribe()
        await finish([task for _, task in self._running.values()], end - time.monotonic())

    async def _on_progress(self, message: Msg) -> None:
        try:
            progress: _Progress = orjson.loads(message.data)
            replies, task = self._running[progress["stream"]]
            replies.record_progress(int(progress["heard"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return
        if progress.get("gone"):
            task.cancel()

    async def _handle(
        self,
        method: Rpc[RequestT, PartT],
        handler: Serve[RequestT, PartT],
        message: Msg,
        replies: ReplyStream[PartT],
        name: str,
        control: str,
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - made as a task by serve
        watch_task = asyncio.create_task(_watch(replies, task))
        outcome, last = "ok", b'"end":true'
        try:
            with remote_span(method.subject, headers_of(message)):
                request = method.request.model_validate_json(message.data)
                await replies.frame(b'"opened":' + orjson.dumps({"stream": name, "control": control}))
                await handler(request, replies)
        except asyncio.CancelledError:
            outcome = "GONE"
            last = b'"error":' + error_body(RpcError(ErrorCode.UNAVAILABLE, "the service is stopping", retryable=True))
        except Exception as error:
            refused = refusal(method, error, self._answers)
            outcome, last = refused.code, b'"error":' + error_body(refused)
        finally:
            watch_task.cancel()
        RPC_SERVED.labels(method.subject, outcome).inc()
        log.debug("rpc.served", method=method.subject, outcome=outcome)
        await replies.frame(last)


async def _watch(replies: ReplyStream[Any], task: asyncio.Task[None]) -> None:
    """Sends heartbeats; cancels the task once the caller has been silent for too long."""
    while time.monotonic() - replies.heard_at < SILENCE_TIMEOUT:
        await asyncio.sleep(BEAT_INTERVAL)
        await replies.frame(b'"alive":true')
    log.info("stream.abandoned")
    task.cancel()


class _CallReader:
    """The caller's side of one call: checks the order of the frames, and reports how far it has read."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._frames: asyncio.Queue[Msg] = asyncio.Queue(MAX_UNREAD_FRAMES)
        self._next = 0
        self._on_progress = -1
        self._stream = self._control = ""

    def accept(self, message: Msg) -> None:
        """Queues a frame. If the queue is full it is dropped, which the gap in the numbers reveals."""
        with contextlib.suppress(asyncio.QueueFull):
            self._frames.put_nowait(message)

    async def frame(self, seconds: float) -> _Frame | None:
        """Returns the next frame; None if nobody serves the method. Raises RpcError if a frame is missing or none comes
        in time."""
        try:
            async with asyncio.timeout(seconds):
                message = await self._frames.get()
        except TimeoutError as error:
            raise RpcError(ErrorCode.UNAVAILABLE, "the answer has stopped coming", retryable=True) from error
        if is_no_responders(message):
            return None
        try:
            frame: _Frame = orjson.loads(message.data)
            number = frame["n"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise RpcError(ErrorCode.INTERNAL, "a part cannot be read") from error
        if number != self._next:
            raise RpcError(ErrorCode.UNAVAILABLE, "a part of the answer was lost", retryable=True)
        self._next += 1
        opened = frame.get("opened")
        if opened:
            self._stream, self._control = opened["stream"], opened["control"]
        if self._next - 1 - self._on_progress >= PROGRESS_EVERY:
            await self.report()
        return frame

    async def report(self, *, gone: bool = False) -> None:
        """Reports how far this side has read."""
        if not self._control:
            return
        progress: _Progress = {"stream": self._stream, "heard": self._next - 1}
        if gone:
            progress["gone"] = True
        self._on_progress = self._next - 1
        with contextlib.suppress(NatsError):
            await self._client.publish(self._control, orjson.dumps(progress))

    async def keep_reporting(self) -> None:
        """Sends heartbeats until it is cancelled."""
        while True:
            await asyncio.sleep(BEAT_INTERVAL)
            await self.report()


class StreamClient:
    """Calls methods that are answered in parts."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._origin = ClockOrigin()

    @asynccontextmanager
    async def open(self, method: Rpc[RequestT, PartT], request: RequestT) -> AsyncGenerator[AsyncIterator[PartT]]:
        """Yields an iterator over the parts; leaving the block early stops the server's work.

        Raises:
            RpcError: the error in the reply, among the parts; UNAVAILABLE if nobody serves the method, the server
                falls silent, or a part was lost.
        """
        reader = _CallReader(self._client)
        with await self._inbox.follow(reader.accept) as pending:
            await self._ask(method, request, reader, pending.reply_to)
            heartbeat = asyncio.create_task(reader.keep_reporting())
            parts = _parts(method, reader)
            try:
                yield parts
            finally:
                heartbeat.cancel()
                await parts.aclose()

    async def _ask(self, method: Method, request: BaseModel, reader: _CallReader, reply_to: str) -> None:
        """Sends the request until a server has accepted it: a request that no server has received may be repeated."""
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode()
        end = time.monotonic() + OPEN_TIMEOUT
        while True:
            # A server that opened it after that would work for a caller that has gone.
            headers = work_headers() | {HEADER: self._origin.header(end - time.monotonic())}
            try:
                await self._client.publish(method.subject, body, reply=reply_to, headers=headers)
            except NatsError as error:
                raise RpcError(ErrorCode.UNAVAILABLE, f"{method.subject}: {error}", retryable=True) from error
            frame = await reader.frame(max(end - time.monotonic(), 0.05))
            if frame is not None and "error" in frame:
                refused = error_of(frame["error"])
                if refused.reason == EXPIRED:
                    self._origin.renew()  # the server is wrong about our clock: the next call goes through
                raise refused
            if frame is not None:
                return
            if time.monotonic() >= end:
                raise NobodyServesError(method.subject)
            await asyncio.sleep(0.05)


async def _parts(method: Rpc[Any, PartT], reader: _CallReader) -> AsyncGenerator[PartT]:
    finished = False
    try:
        while True:
            frame = await reader.frame(SILENCE_TIMEOUT)
            if frame is None:
                continue
            if "data" in frame:
                try:
                    part = method.reply.model_validate(frame["data"])
                except ValidationError as error:
                    raise RpcError(ErrorCode.INTERNAL, f"{method.subject} sent a part that is none") from error
                yield part
            elif "error" in frame:
                finished = True
                raise error_of(frame["error"])
            elif "end" in frame:
                finished = True
                return
    finally:
        if not finished:
            await reader.report(gone=True)
