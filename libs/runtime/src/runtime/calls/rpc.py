"""Requests that need an answer now: core NATS, queue groups, an answer always, a deadline always.

The caller's side makes one question out of all its attempts: each goes out under a reply name of its own, and the first
answer to any of them counts, however late. Repeats have a budget, so that a slow server is not asked twice for
everything. The serving side turns everything a handler can raise into an error reply, leaves unread what nobody waits
for any more, and works no longer than the caller waits (runtime.calls.deadlines).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, NotRequired, TypedDict, TypeVar

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from pydantic import BaseModel, ValidationError

from contracts.errors import ErrorCode
from contracts.rpc import Method, Rpc
from runtime.bus.connection import listen, post
from runtime.bus.replies import Pending, ReplyInbox, headers_of, is_no_responders
from runtime.calls.deadlines import HEADER, Arrivals, ClockOrigin, serve_for
from runtime.calls.refusals import EXPIRED, Answers, ErrorBody, error_body, error_of, expired, refusal
from runtime.errors import NobodyServesError, RpcError
from runtime.observability import correlation
from runtime.observability.metrics import RPC_REPEATS, RPC_SECONDS, RPC_SERVED
from runtime.observability.telemetry import remote_span, work_headers

log = structlog.get_logger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)
Handler = Callable[[RequestT], Awaitable[ReplyT | None]]

CALL_DEADLINE = 5.0
"""Default deadline of a call, all attempts together."""
ASK_ALL_DEADLINE = 0.25
"""Deadline for one of many servers to answer."""
RETRY_PAUSE = 0.05
"""Seconds before a request that nobody took is sent again."""
SLICE = 0.2
"""Seconds between two checks whether the connection is still the one on which the request was sent."""
MAX_REPEATS = 10.0
"""Repeats of one method that a client may make at once; after that, one for every ten answers: a slow server gets a
tenth more work, not twice as much."""
REPEATS_PER_ANSWER = 0.1
"""Each answer adds this much to that budget."""
MAX_IN_FLIGHT = 512
"""Requests that a server works on concurrently; the next is refused."""
SERVE_DEADLINE = 30.0
"""The longest work on a request; less if its caller waits less."""


class _ReplyBody(TypedDict):
    data: object
    error: NotRequired[ErrorBody | None]


class RpcClient:
    """Calls other services."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._origin = ClockOrigin()
        self._repeats: dict[str, float] = {}
        """The number of repeats that may be made now, by method."""

    async def call(
        self, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = CALL_DEADLINE, retries: int = 1
    ) -> ReplyT:
        """The method's reply.

        Args:
            deadline: seconds in all.
            retries: further attempts if no reply has come, for methods that are safe to repeat, as far as their
                budget allows; a method that nobody serves at the moment is retried until the deadline, since
                nobody has seen the request.

        Raises:
            RpcError: the error in the reply; TIMEOUT without a reply; UNAVAILABLE if nobody serves it.
        """
        started = time.perf_counter()
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode()
        attempts = 1 + (retries if method.safe else 0)
        outcome = "ok"
        try:
            with await self._inbox.expect() as pending:
                return await self._ask(method, body, pending, deadline, attempts)
        except RpcError as error:
            outcome = error.code
            raise
        finally:
            RPC_SECONDS.labels(method.subject, outcome).observe(time.perf_counter() - started)

    async def ask_all(
        self, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = ASK_ALL_DEADLINE
    ) -> ReplyT | None:
        """The first reply to a request sent to every server of a method without a queue group; None: no reply."""
        try:
            return await self.call(method, request, deadline=deadline, retries=0)
        except RpcError as error:
            if error.code in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE):
                return None
            raise

    async def _ask(
        self, method: Rpc[RequestT, ReplyT], body: bytes, pending: Pending, deadline: float, attempts: int
    ) -> ReplyT:
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        # Requests that may still be answered, and attempts made.
        out = sent = reconnects = 0
        next_attempt = 0.0
        refused: RpcError | None = None
        renewed = False
        while True:
            left = end - clock()
            if refused is not None and (out == 0 or left <= 0):
                raise refused
            if left <= 0:
                if out == 0:
                    raise NobodyServesError(method.subject)
                raise RpcError(
                    ErrorCode.TIMEOUT, f"no reply from {method.subject} within {deadline:g} s", retryable=method.safe
                )
            if not self._client.is_connected:
                await asyncio.sleep(min(RETRY_PAUSE, left))
                continue
            # A request made on a connection that broke is lost more often than not: it is no attempt.
            lost = method.safe and out > 0 and reconnects != self._client.stats["reconnects"]
            due = sent < attempts and clock() >= next_attempt
            if due and out > 0 and not lost and not self._may_repeat(method):
                attempts, due = sent, False
            if lost or due:
                # A name that may still be replied to is left to that reply.
                reply_to = pending.another_name() if out else pending.reply_to
                sent += 0 if lost else 1
                out += 1
                reconnects = self._client.stats["reconnects"]
                next_attempt = clock() + left / (attempts - sent + 1)
                await self._send(method, body, reply_to, left)
            try:
                answers = await pending.wait(min(left, SLICE))
            except TimeoutError:
                continue
            pending.reset()
            nobody = False
            for answer in answers:
                out -= 1
                if is_no_responders(answer):
                    nobody, sent, next_attempt = True, sent - 1, 0.0
                    if out > 0:
                        self._earn(method, 1.0)  # that repeat was no work for anybody
                    continue
                try:
                    reply = _read_reply(method, answer.data)
                except RpcError as error:
                    if error.reason == EXPIRED and not renewed:
                        # We are still here: the server is wrong about our clock, and has done nothing.
                        renewed, sent, next_attempt = True, sent - 1, 0.0
                        self._origin.renew()
                    elif error.retryable:
                        refused = error  # the answer to another attempt may still come
                    else:
                        raise
                else:
                    self._earn(method, REPEATS_PER_ANSWER)
                    return reply
            if nobody:
                if method.queue is None and out == 0:
                    raise NobodyServesError(method.subject)
                await asyncio.sleep(min(RETRY_PAUSE, max(end - clock(), 0)))

    async def _send(self, method: Method, body: bytes, reply_to: str, left: float) -> None:
        headers = work_headers() | {HEADER: self._origin.header(left)}
        try:
            await self._client.publish(method.subject, body, reply=reply_to, headers=headers)
        except NatsError as error:
            raise RpcError(ErrorCode.UNAVAILABLE, f"{method.subject}: {error}", retryable=True) from error

    def repeats_left(self, method: Method) -> float:
        """Returns how many repeats of the method may be made now."""
        return self._repeats.get(method.subject, MAX_REPEATS)

    def _may_repeat(self, method: Method) -> bool:
        budget = self.repeats_left(method)
        if budget < 1:
            RPC_REPEATS.labels(method.subject, "withheld").inc()
            return False
        self._repeats[method.subject] = budget - 1
        RPC_REPEATS.labels(method.subject, "sent").inc()
        return True

    def _earn(self, method: Method, much: float) -> None:
        budget = self._repeats.get(method.subject)
        if budget is not None:
            self._repeats[method.subject] = min(budget + much, MAX_REPEATS)


def _read_reply(method: Rpc[Any, ReplyT], data: bytes) -> ReplyT:
    try:
        reply: _ReplyBody = orjson.loads(data)
        error = reply.get("error")
        if error is None:
            return method.reply.model_validate(reply["data"])
    except (orjson.JSONDecodeError, ValidationError, KeyError, AttributeError) as problem:
        raise RpcError(
            ErrorCode.INTERNAL, f"{method.subject} answered something that is not in its contract: {problem}"
        ) from problem
    raise error_of(error)


class RpcServer:
    """Serves methods. Every request gets a reply: data, or an error.

    At most `in_flight` requests are worked on concurrently; beyond that the newest gets UNAVAILABLE at once, since a
    caller with a deadline is better served by a quick no. A request whose caller has gone is not even read. Because of
    both, and because work ends with the caller's deadline, an overloaded server recovers by itself.
    """

    def __init__(self, client: Client, *, in_flight: int = MAX_IN_FLIGHT, answers: Answers = lambda _: None) -> None:
        self._client = client
        self._limit = in_flight
        self._answers = answers
        self._arrivals = Arrivals()
        self._running: set[asyncio.Task[None]] = set()
        self._subscriptions: list[Subscription] = []

    async def serve(self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT]) -> None:
        """Serves a method from now on (call `client.flush()` before reporting ready).

        The handler returns the reply, or raises RpcError (or what `answers` knows) to reply with an error. For a method
        without a queue group it may return None: no reply, because another server has it.
        """

        def take(message: Msg) -> None:
            left = self._arrivals.left(headers_of(message))
            if left is not None and left <= 0:
                RPC_SERVED.labels(method.subject, "EXPIRED").inc()
                self._refuse(message, expired(method))
                return
            if len(self._running) >= self._limit:
                RPC_SERVED.labels(method.subject, "SHED").inc()
                self._refuse(message, RpcError(ErrorCode.UNAVAILABLE, "too many requests at once", retryable=True))
                return
            task = asyncio.create_task(self._take(method, handler, message, left))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

        self._subscriptions.append(await listen(self._client, method.subject, take, queue=method.queue or ""))

    async def drain(self, deadline: float) -> None:
        """Accepts nothing new, and finishes what runs; what is not finished by the deadline gets UNAVAILABLE."""
        end = time.monotonic() + deadline
        # drain, not unsubscribe: requests that are already on their way to this process are still answered.
        leaving = [asyncio.create_task(subscription.drain()) for subscription in self._subscriptions]
        self._subscriptions.clear()
        if leaving:
            await asyncio.wait(leaving, timeout=min(2.0, deadline))
        for task in leaving:
            if not task.done():
                task.cancel()
            elif not task.cancelled() and (error := task.exception()) is not None:
                log.debug("rpc.unsubscribe_failed", error=str(error))
        if self._running:
            await asyncio.wait(self._running, timeout=max(end - time.monotonic(), 0))
        late = list(self._running)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)

    async def _take(
        self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT], message: Msg, left: float | None
    ) -> None:
        with correlation.received(headers_of(message)):
            await self._handle(method, handler, message, left)

    async def _handle(
        self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT], message: Msg, left: float | None
    ) -> None:
        outcome = "ok"
        answer: bytes | None
        seconds = SERVE_DEADLINE if left is None else min(SERVE_DEADLINE, left)
        if left is not None:
            serve_for(seconds)
        try:
            with remote_span(method.subject, headers_of(message)):
                async with asyncio.timeout(seconds):
                    reply = await handler(method.request.model_validate_json(message.data))
            answer = None if reply is None else b'{"data":' + _json(reply) + b"}"
            if answer is None and method.queue is not None:
                raise RpcError(ErrorCode.INTERNAL, "the handler gave no reply")
        except asyncio.CancelledError:
            stopping = RpcError(ErrorCode.UNAVAILABLE, "the service is stopping", retryable=True)
            await self._answer(message, _error(stopping))
            raise
        except Exception as error:
            refused = refusal(method, error, self._answers)
            outcome, answer = refused.code, _error(refused)
        RPC_SERVED.labels(method.subject, outcome).inc()
        log.debug("rpc.served", method=method.subject, outcome=outcome)
        if answer is not None:
            await self._answer(message, answer)

    def _refuse(self, message: Msg, error: RpcError) -> None:
        if message.reply:
            post(self._client, message.reply, _error(error))

    async def _answer(self, message: Msg, answer: bytes) -> None:
        if not message.reply:
            return
        try:
            await self._client.publish(message.reply, answer)
        except NatsError as error:
            log.warning("rpc.reply_lost", subject=message.subject, error=str(error))


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True, exclude_none=True).encode()


def _error(error: RpcError) -> bytes:
    return b'{"error":' + error_body(error) + b"}"
