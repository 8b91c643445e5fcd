"""One socket's session: hello, then frames. Frames are queued, so that a client's requests are handled in order;
only a ping is answered at once, even while the bus is slow."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from contracts import ws
from contracts.errors import ErrorCode
from contracts.events.chat import OwnerKind, Page
from gateway.adapters.bus import NatsBus
from gateway.adapters.companies import BusCompanies
from gateway.adapters.log import NatsLog
from gateway.chat.access import Access
from gateway.chat.admission import Admission
from gateway.chat.commands import Commands
from gateway.chat.customers import Customers, has_account
from gateway.chat.files import Files
from gateway.chat.hub import Attachment, Hub
from gateway.chat.inboxes import Inboxes
from gateway.chat.limits import ClientLimits, FrameRate
from gateway.chat.looks import LookReports
from gateway.chat.recovery import Recovery
from gateway.chat.topics import Topics
from gateway.domain import client_frames, server_frames
from gateway.domain.close_codes import CloseCode
from gateway.errors import (
    GatewayError,
    RateLimitedError,
    RefusedError,
    TokenExpiredError,
    TokenInvalidError,
    UnavailableError,
    found,
    unexpected,
)
from gateway.metrics import FRAMES, REFUSED, SOCKETS
from gateway.ports import Socket, TokenCaller
from runtime.background import start_task
from runtime.clock import Clock
from runtime.http.read_deadline import ReadDeadline
from runtime.observability.correlation import Correlation

MAX_QUEUED_FRAMES = 64
"""Frames of one socket that may wait in its queue."""
MAX_FOLLOWED = 200
"""Conversations that one human agent's socket may follow."""
OWN_FACT_SECONDS = 2.0
"""Seconds within which an acknowledged message must arrive on the live feed; otherwise the feed has a gap."""
MAX_CONCURRENT_HELLOS = 256
"""Hellos handled concurrently: after a restart everybody reconnects, and memory refuses more than 512 requests."""
HELLO_QUEUE_SECONDS = 20.0
"""Seconds for which a further hello waits for a free slot."""

Handler = Callable[["ClientSession", TokenCaller, Any], Awaitable[None]]
"""Handles one frame (handlers.py); may raise GatewayError."""


@dataclass(frozen=True, slots=True)
class Chat:
    """The parts that all sessions share."""

    tokens: Admission
    companies: BusCompanies
    access: Access
    recovery: Recovery
    commands: Commands
    bus: NatsBus
    log: NatsLog
    hub: Hub
    customers: Customers
    inboxes: Inboxes
    limits: ClientLimits
    files: Files
    looks: LookReports
    topics: Topics
    clock: Clock
    handlers: Mapping[type[ws.ClientFrame], Handler]
    hello_seconds: float
    heartbeat_ms: int
    hello_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_HELLOS))
    sessions: set[ClientSession] = field(default_factory=lambda: set[ClientSession]())
    background: set[asyncio.Task[None]] = field(default_factory=lambda: set[asyncio.Task[None]]())

    async def drain(self) -> None:
        """Sends every client to another gateway (close code 4001) and finishes what they have requested."""
        sessions = list(self.sessions)
        for session in sessions:
            session.terminate(CloseCode.DRAINING)
        await asyncio.gather(*(session.finish() for session in sessions))

    def expect_fact(self, attachment: Attachment, seq: int) -> None:
        """Fills the gap if a stored fact does not arrive soon: a stream leader that dies after storing a fact never
        republishes it."""

        def fill_gap() -> None:
            if attachment.feed.cursor < seq and not attachment.feed.is_buffering:
                self.in_background(self.recovery.resync(attachment))

        asyncio.get_running_loop().call_later(OWN_FACT_SECONDS, fill_gap)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a coroutine that nobody waits for."""
        start_task(work, self.background)


@dataclass(eq=False, repr=False, slots=True)
class ClientSession:
    """A client's session. There are tens of thousands of these, so rarely needed attributes are created on demand."""

    chat: Chat
    _socket: Socket
    address: str
    caller: TokenCaller | None = None
    home: str | None = None
    locale: str | None = None
    page: Page | None = None
    previous: str | None = None
    """The conversation that the home conversation follows, until memory knows."""
    started: set[str] = field(default_factory=set[str])
    """Conversations known to have a message already."""
    closed: bool = False
    _rate: FrameRate = field(init=False)
    _hello_timer: ReadDeadline = field(init=False)
    _attachments: dict[str, Attachment] = field(default_factory=dict[str, Attachment])
    _queued: deque[tuple[TokenCaller, ws.ClientFrame]] | None = None
    _worker: asyncio.Task[None] | None = None
    _expiry: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._rate = FrameRate(self.chat.limits.frames_per_socket, self.chat.clock.monotonic())
        self._hello_timer = self._await_hello()
        self.chat.sessions.add(self)
        SOCKETS.inc()

    # ------------------------------------------------------------------ what the endpoint calls

    async def receive(self, text: str | bytes) -> None:
        if self._rate.is_flooded(self.chat.clock.monotonic()):
            self._socket.terminate(CloseCode.RATE_LIMITED)
            return
        try:
            frame = client_frames.parse_frame(text)
        except client_frames.NotJsonError:
            self._socket.terminate(CloseCode.BAD_FRAME)
        except client_frames.FrameError as error:
            if self.caller is not None:
                self.push(server_frames.error(self.home, error.code, error.message, ref=error.ref, locale=self.locale))
            elif error.in_hello:
                self.push(server_frames.error(None, error.code, error.message, in_hello=True))
            else:
                self._socket.terminate(CloseCode.NO_HELLO)
        else:
            if isinstance(frame, ws.Hello):
                await self._hello(frame)
            elif self.caller is None:
                self._socket.terminate(CloseCode.NO_HELLO)
            elif isinstance(frame, ws.Ping):
                await self._process(self.caller, frame)
            else:
                self._queue(self.caller, frame)

    async def close(self) -> None:
        """The socket is gone. Queued frames are still handled; a disconnect never cancels a turn."""
        self.closed = True
        self.chat.sessions.discard(self)
        SOCKETS.dec()
        self._hello_timer.cancel()
        if self._expiry is not None:
            self._expiry.cancel()
        if self.caller is not None:
            self.chat.limits.leave_subject(self.caller.company, self.caller.subject)
            self.chat.customers.leave(self.caller, self)
            await self.chat.inboxes.leave(self.caller, self)
        for attachment in list(self._attachments.values()):
            self.chat.customers.unwatch(attachment.company, attachment.conversation, self.push)
            await self.chat.hub.leave(attachment)

    async def finish(self) -> None:
        """Waits for queued frames; each has its own deadline."""
        if self._worker is not None:
            await self._worker

    def terminate(self, code: CloseCode) -> None:
        self._socket.terminate(code)

    # ------------------------------------------------------------------ what handlers use

    def push(self, frame: bytes) -> None:
        self._socket.push(frame)

    def attachment(self, frame: ws.ClientFrame) -> Attachment:
        """The attachment of the frame's conversation; raises NOT_FOUND if it is not open on this socket."""
        conversation = frame.conversation_id or self.home
        if conversation is None and len(self._attachments) == 1:
            conversation = next(iter(self._attachments))
        if conversation is None:
            raise RefusedError(ErrorCode.BAD_FIELD, "conversationId: say which conversation this is about")
        return found(self._attachments.get(conversation), "conversation")

    def follows(self, conversation: str) -> bool:
        return conversation in self._attachments

    async def follow(
        self, caller: TokenCaller, conversation: str, since: ws.Cursor | None, *, is_new: bool = False
    ) -> None:
        """Opens a conversation on this socket: sends welcome, what was missed, then live frames. `is_new`: its id was
        made just now."""
        previous = self._attachments.pop(conversation, None)
        if previous is not None:
            await self.chat.hub.leave(previous)
        if len(self._attachments) >= MAX_FOLLOWED:
            raise RefusedError(ErrorCode.FORBIDDEN, f"a socket follows at most {MAX_FOLLOWED} conversations")
        attachment = Attachment(self._socket, caller.company, conversation)
        pending = await self.chat.customers.pending(caller)
        actions = [action.to_wire() for action in pending]
        snapshot = await self.chat.recovery.open(attachment, since, actions, is_new=is_new)
        if self.closed:
            await self.chat.hub.leave(attachment)
            return
        self._attachments[conversation] = attachment
        if caller.is_operator:
            self.chat.customers.watch(caller.company, conversation, self.push)
        elif snapshot.owner is not OwnerKind.AI:
            self.chat.in_background(self.chat.topics.report_resolved(attachment, snapshot))
        if snapshot.newest_visitor:
            self.started.add(conversation)

    def send_error(self, error: GatewayError, frame: ws.ClientFrame) -> None:
        """Tells the client why a frame failed."""
        REFUSED.labels(error.code).inc()
        self.push(
            server_frames.error(
                frame.conversation_id or self.home,
                error.code,
                error.message,
                retryable=error.retryable,
                retry_after_ms=error.wait_ms,
                ref=client_frames.reference(frame),
                locale=self.locale,
            )
        )

    # ------------------------------------------------------------------ inside

    def _await_hello(self) -> ReadDeadline:
        return ReadDeadline(self.chat.hello_seconds, lambda: self._socket.terminate(CloseCode.NO_HELLO))

    def _queue(self, caller: TokenCaller, frame: ws.ClientFrame) -> None:
        if self._queued is None:
            self._queued = deque()
            self._worker = asyncio.get_running_loop().create_task(self._process_queue(self._queued))
        if len(self._queued) >= MAX_QUEUED_FRAMES:
            self.send_error(RateLimitedError("too much at once: wait for the answers", 1.0), frame)
            return
        self._queued.append((caller, frame))

    async def _process_queue(self, queued: deque[tuple[TokenCaller, ws.ClientFrame]]) -> None:
        while queued:
            caller, frame = queued.popleft()
            await self._process(caller, frame)
        self._queued = self._worker = None

    async def _process(self, caller: TokenCaller, frame: ws.ClientFrame) -> None:
        FRAMES.labels(type(frame).__name__).inc()
        with Correlation(caller.company, frame.conversation_id or self.home or ""):
            try:
                await self.chat.handlers[type(frame)](self, caller, frame)
            except Exception as failure:
                self.send_error(failure if isinstance(failure, GatewayError) else unexpected(failure), frame)

    async def _hello(self, frame: ws.Hello) -> None:
        if self.caller is not None:
            self.send_error(RefusedError(ErrorCode.BAD_FIELD, "type: hello was already sent"), frame)
            return
        # Hello came in time: how long admission takes is not the client's fault.
        self._hello_timer.cancel()
        self.locale = frame.locale
        try:
            async with asyncio.timeout(HELLO_QUEUE_SECONDS):
                await self.chat.hello_slots.acquire()
        except TimeoutError:
            self._refuse_hello(UnavailableError("too many requests are arriving at once: try again"))
            return
        try:
            await self._authenticate(frame)
        finally:
            self.chat.hello_slots.release()

    async def _authenticate(self, frame: ws.Hello) -> None:
        try:
            caller = await self.chat.tokens.verify(frame.token)
        except TokenExpiredError:
            self._socket.terminate(CloseCode.TOKEN_EXPIRED)
            return
        except TokenInvalidError:
            self._socket.terminate(CloseCode.BAD_TOKEN)
            return
        except GatewayError as error:
            self._refuse_hello(error)
            return
        if await self.chat.companies.missing_company(caller.company):
            self._socket.terminate(CloseCode.NO_SUCH_COMPANY)
            return
        if not self.chat.limits.enter_subject(caller.company, caller.subject):
            self._socket.terminate(CloseCode.TOO_MANY_CONNECTIONS)
            return
        try:
            await self._open_chat(caller, frame)
        except Exception as failure:
            self.chat.limits.leave_subject(caller.company, caller.subject)
            self._refuse_hello(failure if isinstance(failure, GatewayError) else unexpected(failure))

    def _refuse_hello(self, error: GatewayError) -> None:
        REFUSED.labels(error.code).inc()
        self.push(
            server_frames.error(
                None,
                error.code,
                error.message,
                retryable=error.retryable,
                retry_after_ms=error.wait_ms,
                locale=self.locale,
                in_hello=True,
            )
        )
        self._hello_timer = self._await_hello()

    async def _open_chat(self, caller: TokenCaller, frame: ws.Hello) -> None:
        if not (caller.is_operator or caller.writes_as_visitor):
            raise RefusedError(ErrorCode.FORBIDDEN, f"the role {caller.role} has no chat")
        self.locale = frame.locale or caller.visit.locale
        self.page = frame.page or (Page(url=caller.visit.page) if caller.visit.page else None)
        if caller.is_operator:
            if frame.conversation_id is None:
                await self._greet_operator()
            else:
                await self.chat.access.check_watchable(caller, frame.conversation_id)
                await self.follow(caller, frame.conversation_id, frame.since)
        else:
            access = self.chat.access
            requested = frame.conversation_id
            existing = await (
                access.latest(caller) if requested is None else access.own_conversation(caller, requested)
            )
            candidate = existing or access.new_conversation(caller)
            conversation, self.previous = await self.chat.topics.current_conversation(caller, candidate)
            linked = await self.chat.topics.link_visitor(caller, frame.visitor)
            self.previous = self.previous or (linked if requested is None else None)
            since = frame.since if conversation == candidate else None
            await self.follow(caller, conversation, since, is_new=existing is None)
            self.home = conversation
        self._finish_hello(caller)

    async def _greet_operator(self) -> None:
        epoch = await self.chat.recovery.epoch()
        self.push(server_frames.welcome(None, epoch=epoch, heartbeat_ms=self.chat.heartbeat_ms))

    def _finish_hello(self, caller: TokenCaller) -> None:
        if self.closed:
            self.chat.limits.leave_subject(caller.company, caller.subject)
            return
        self.caller = caller
        if not self.chat.tokens.is_valid(caller):
            # They were signed out during admission.
            self._socket.terminate(CloseCode.BAD_TOKEN)
        self.chat.customers.enter(caller, self)
        if has_account(caller):
            self.chat.in_background(self.chat.customers.catch_up(caller.company, caller.subject))
        remaining = caller.expires - self.chat.clock.now().timestamp()
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(max(remaining, 0.0), self._socket.terminate, CloseCode.TOKEN_EXPIRED)
