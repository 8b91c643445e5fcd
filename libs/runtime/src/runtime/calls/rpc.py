"""Calls between services on core NATS, with queue groups: every call has a deadline and gets an answer.

The client treats all attempts of a call as one: each has its own reply subject, and the first answer to any of them
counts, however late. Repeats have a budget, so that a slow server does not get every request twice. The server turns
everything a handler can raise into an error reply, does not read requests whose callers have gone, and works no longer
than the caller waits (runtime.calls.deadlines).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
from runtime.background import finish, start_task
from runtime.bus.connection import listen, post
from runtime.bus.replies import Pending, ReplyInbox, headers_of, is_no_responders
from runtime.calls.deadlines import HEADER, Arrivals, ClockOrigin, serve_for
from runtime.calls.refusals import EXPIRED, Answers, ErrorBody, error_body, error_of, refusal, unread
from runtime.errors import NobodyServesError, RpcError
from runtime.observability import correlation
from runtime.observability.metrics import RPC_REPEATS, RPC_SECONDS, RPC_SERVED
from runtime.observability.telemetry import remote_span, work_headers

log = structlog.get_logger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)
Handler = Callable[[RequestT], Awaitable[ReplyT | None]]

CALL_DEADLINE = 5.0
"""Default deadline of a call, in seconds, for all attempts together."""
LONG_CALL = 10.0
"""Seconds from which on a call first finds out whether anybody serves it."""
REACH_DEADLINE = 4.0
"""Seconds to find that out, for both attempts together."""
ASK_ALL_DEADLINE = 0.25
"""Deadline of `ask_all`, in seconds."""
RETRY_PAUSE = 0.05
"""Seconds before a request that no server received is sent again."""
SLICE = 0.2
"""Seconds between checks that the connection is still the one on which the request was sent."""
MAX_REPEATS = 10.0
"""Repeats of one method that a client may make in a row; after that, one for every ten answers, so that a slow server
gets a tenth more work, not twice as much."""
REPEATS_PER_ANSWER = 0.1
"""How much each answer adds to that budget."""
MAX_IN_FLIGHT = 512
"""Requests that a server works on concurrently; the next is refused."""
SERVE_DEADLINE = 30.0
"""The longest that a server works on a request, in seconds; less if its caller waits less."""


class _ReplyBody(TypedDict):
    data: object
    error: NotRequired[ErrorBody | None]


@dataclass(slots=True)
class _Attempts:
    """The attempts of one call. `unanswered`: requests that may still be answered; `sent`: attempts made."""

    allowed: int
    sent: int = 0
    unanswered: int = 0
    reconnects: int = 0
    next_at: float = 0.0
    refused: RpcError | None = None
    is_renewed: bool = False
    has_no_server: bool = False
    is_expired: bool = False
    """Whether the requests say that their caller has gone, so that they are answered unread."""

    def take_back(self) -> None:
        """Notes that the last attempt reached no server that worked for it, so that it may be made again at once."""
        self.sent, self.next_at = self.sent - 1, 0.0


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
        """Calls a method and returns its reply.

        Args:
            deadline: seconds for all attempts together.
            retries: further attempts if no reply has come, for methods that are safe to repeat, as far as their budget
                allows; a method that nobody serves at the moment is retried until the deadline, since no server has
                received the request.

        Raises:
            RpcError: the error in the reply; TIMEOUT without a reply; UNAVAILABLE if nobody serves it.
        """
        started = time.perf_counter()
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode()
        attempts = _Attempts(1 + (retries if method.safe else 0))
        outcome = "ok"
        try:
            if deadline > LONG_CALL:
                await self._reach(method)
            with await self._inbox.expect() as pending:
                return await self._ask(method, body, pending, deadline, attempts)
        except RpcError as error:
            outcome = error.code
            raise
        finally:
            RPC_SECONDS.labels(method.subject, outcome).observe(time.perf_counter() - started)

    async def _reach(self, method: Method) -> None:
        """Raises RpcError if no server of the method answers soon. A request whose caller has gone is refused unread,
        so nothing is begun, and a server of any version answers at once."""
        attempts = _Attempts(2, is_renewed=True, is_expired=True)
        try:
            with await self._inbox.expect() as pending:
                await self._ask(method, b"", pending, REACH_DEADLINE, attempts)
        except RpcError as error:
            if error.reason != EXPIRED:
                raise

    async def ask_all(
        self, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = ASK_ALL_DEADLINE
    ) -> ReplyT | None:
        """Sends a request to every server of a method without a queue group; returns the first reply, or None."""
        try:
            return await self.call(method, request, deadline=deadline, retries=0)
        except RpcError as error:
            if error.code in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE):
                return None
            raise

    async def _ask(
        self, method: Rpc[RequestT, ReplyT], body: bytes, pending: Pending, deadline: float, attempts: _Attempts
    ) -> ReplyT:
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        while True:
            remaining = end - clock()
            if attempts.refused is not None and (attempts.unanswered == 0 or remaining <= 0):
                raise attempts.refused
            if remaining <= 0:
                if attempts.unanswered == 0:
                    raise NobodyServesError(method.subject)
                raise RpcError(
                    ErrorCode.TIMEOUT, f"no reply from {method.subject} within {deadline:g} s", retryable=method.safe
                )
            if not self._client.is_connected:
                await asyncio.sleep(min(RETRY_PAUSE, remaining))
                continue
            if self._is_due(method, attempts, clock()):
                # A reply subject on which a reply may still come is not used again.
                reply_to = pending.another_name() if attempts.unanswered else pending.reply_to
                attempts.unanswered += 1
                attempts.reconnects = self._client.stats["reconnects"]
                attempts.next_at = clock() + remaining / (attempts.allowed - attempts.sent + 1)
                await self._send(method, body, reply_to, 0.0 if attempts.is_expired else remaining)
            try:
                answers = await pending.wait(min(remaining, SLICE))
            except TimeoutError:
                continue
            pending.reset()
            attempts.has_no_server = False
            for answer in answers:
                if (reply := self._reply(method, answer, attempts)) is not None:
                    return reply
            if attempts.has_no_server:
                if method.queue is None and attempts.unanswered == 0:
                    raise NobodyServesError(method.subject)
                await asyncio.sleep(min(RETRY_PAUSE, max(end - clock(), 0)))

    def _is_due(self, method: Method, attempts: _Attempts, now: float) -> bool:
        """Decides whether a request is to be sent now, and counts it."""
        if method.safe and attempts.unanswered > 0 and attempts.reconnects != self._client.stats["reconnects"]:
            return True  # a request on a connection that broke is usually lost, so it does not count as an attempt
        if attempts.sent >= attempts.allowed or now < attempts.next_at:
            return False
        if attempts.unanswered > 0 and not self._may_repeat(method):
            attempts.allowed = attempts.sent
            return False
        attempts.sent += 1
        return True

    def _reply(self, method: Rpc[Any, ReplyT], answer: Msg, attempts: _Attempts) -> ReplyT | None:
        """Returns the reply in an answer; None if another attempt may still bring one."""
        attempts.unanswered -= 1
        if is_no_responders(answer):
            attempts.has_no_server = True
            attempts.take_back()
            if attempts.unanswered > 0:
                self._earn(method, 1.0)  # no server worked for that repeat
            return None
        try:
            reply = _read_reply(method, answer.data)
        except RpcError as error:
            if error.reason == EXPIRED and not attempts.is_renewed:
                # This caller is still waiting: the server is wrong about our clock, and has done nothing.
                attempts.is_renewed = True
                attempts.take_back()
                self._origin.renew()
            elif error.retryable:
                attempts.refused = error  # the answer to another attempt may still come
            else:
                raise
            return None
        self._earn(method, REPEATS_PER_ANSWER)
        return reply

    async def _send(self, method: Method, body: bytes, reply_to: str, remaining: float) -> None:
        headers = work_headers() | {HEADER: self._origin.header(remaining)}
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

    def _earn(self, method: Method, amount: float) -> None:
        budget = self._repeats.get(method.subject)
        if budget is not None:
            self._repeats[method.subject] = min(budget + amount, MAX_REPEATS)


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

    At most `in_flight` requests are worked on concurrently; further ones get UNAVAILABLE immediately, since a quick
    refusal helps a caller with a deadline more. A request whose caller has gone is not even read. Because of both, and
    because work ends at the caller's deadline, an overloaded server recovers by itself.
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
        without a queue group it may return None: then it sends no reply, because another server has the answer.
        """

        def take(message: Msg) -> None:
            remaining = self._arrivals.left(headers_of(message))
            if (refused := unread(method, remaining, len(self._running), self._limit)) is not None:
                if message.reply:
                    post(self._client, message.reply, _error(refused))
                return
            start_task(self._take(method, handler, message, remaining), self._running)

        self._subscriptions.append(await listen(self._client, method.subject, take, queue=method.queue or ""))

    async def drain(self, deadline: float) -> None:
        """Accepts no new requests and finishes the running ones; those not finished by the deadline get UNAVAILABLE."""
        end = time.monotonic() + deadline
        # drain, not unsubscribe, so that requests already on their way to this process are still answered.
        leaving = [asyncio.create_task(subscription.drain()) for subscription in self._subscriptions]
        self._subscriptions.clear()
        if leaving:
            await asyncio.wait(leaving, timeout=min(2.0, deadline))
        for task in leaving:
            if not task.done():
                task.cancel()
            elif not task.cancelled() and (error := task.exception()) is not None:
                log.debug("rpc.unsubscribe_failed", error=str(error))
        await finish(self._running, end - time.monotonic())

    async def _take(
        self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT], message: Msg, remaining: float | None
    ) -> None:
        with correlation.received(headers_of(message)):
            await self._handle(method, handler, message, remaining)

    async def _handle(
        self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT], message: Msg, remaining: float | None
    ) -> None:
        outcome = "ok"
        answer: bytes | None
        seconds = SERVE_DEADLINE if remaining is None else min(SERVE_DEADLINE, remaining)
        if remaining is not None:
            serve_for(seconds)
        try:
            with remote_span(method.subject, headers_of(message)):
                async with asyncio.timeout(seconds):
                    answer = await self._reply(method, handler, method.request.model_validate_json(message.data))
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

    async def _reply(
        self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT], request: RequestT
    ) -> bytes | None:
        """The handler's reply. One that is too large for the bus is read again as a page of half the length (every
        request for a page has `limit`): the longest messages of a conversation do not fit by the fifty."""
        while (reply := await handler(request)) is not None:
            answer = b'{"data":' + _json(reply) + b"}"
            if len(answer) <= self._client.max_payload:
                return answer
            limit = getattr(request, "limit", 1)
            if limit <= 1:
                raise RpcError(ErrorCode.INTERNAL, f"the reply has {len(answer)} bytes: more than the bus carries")
            request = request.model_copy(update={"limit": limit // 2})
        return None

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
