"""The gateway's ports (Protocols) and the values that pass through them; adapters/ has the implementations."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Protocol

from contracts.conversation import Snapshot
from contracts.envelope import Wire
from contracts.events.tool import QuotaView, ToolResult
from gateway.domain.close_codes import CloseCode

Unsubscribe = Callable[[], Awaitable[None]]
Decide = Callable[[Snapshot], Awaitable[Wire | None]]


@dataclass(frozen=True, slots=True)
class Visit:
    """What is known about a visitor from the request for their token; a hello may change it. `page`: the page's
    address."""

    funnel_stage: str | None = None
    locale: str | None = None
    page: str | None = None
    name: str | None = None
    """The customer's name according to their company, for human agents."""
    email: str | None = None
    """The customer's e-mail address according to their company, for human agents."""


@dataclass(frozen=True, slots=True)
class TokenCaller:
    """The caller according to a verified token. `expires`: seconds since the epoch."""

    subject: str
    role: str
    company: str
    plan: str
    expires: float
    name: str | None = None
    visit: Visit = Visit()
    issued: float = 0.0
    """The time at which the token was made, in seconds since the epoch; 0 if unknown."""
    member: bool = False
    """The token was issued to a member of the company's team, and is valid while they are one."""
    identity_key: str | None = None
    """The mark of the company's key that identified this customer; the token is valid while the company keeps it."""

    @property
    def is_operator(self) -> bool:
        """Whether this is a human agent of the company."""
        return self.role in {"commercial", "admin"}

    @property
    def writes_as_visitor(self) -> bool:
        """Whether this is a visitor or a customer, who own their conversations."""
        return self.role in {"visitor", "user"}


@dataclass(frozen=True, slots=True)
class VisitorToken:
    """A new token of a visitor or user. `expires`: seconds since the epoch."""

    token: str
    visitor: str
    expires: float


class Socket(Protocol):
    """One client's websocket. Sending never waits: a client that reads too slowly is cut off (close code 4008)."""

    def push(self, frame: bytes) -> None:
        """Sends a text frame; does nothing once the socket is closed."""
        ...

    def terminate(self, code: CloseCode) -> None:
        """Closes it."""
        ...

    async def drained(self) -> None:
        """Waits until pushed frames have left, to pace long answers."""
        ...


class ClientSocket(Protocol):
    """A client's open chat, for the parts of which chat.session.ClientSession is built. `caller`: None before hello;
    `home`: a visitor's or customer's current conversation; `locale`: the language of error messages."""

    caller: TokenCaller | None
    home: str | None
    locale: str | None

    def push(self, frame: bytes) -> None:
        """Sends a frame."""
        ...

    def follows(self, conversation: str) -> bool:
        """Whether this conversation is open on the socket."""
        ...

    def terminate(self, code: CloseCode) -> None:
        """Closes it."""
        ...


@dataclass(frozen=True, slots=True)
class GatewayToolCall:
    """One call of a tool; calls with the same `call_id` are the same call. `arguments`: JSON values, snake_case."""

    call_id: str
    tool: str
    arguments: dict[str, object]
    language: str


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A call's result, and the remaining quota of the tool by window; empty if unknown."""

    result: ToolResult
    quota: Mapping[str, QuotaView]

    @property
    def nearest(self) -> tuple[str, QuotaView] | None:
        """The window with the least remaining quota."""
        return min(self.quota.items(), key=lambda window: window[1].remaining, default=None)


FollowSigns = Callable[[str, str], Coroutine[None, None, Unsubscribe]]
"""Subscribes the hub to the live signs of (company, conversation); the returned function ends it."""
FollowPresence = Callable[[str], Coroutine[None, None, Unsubscribe]]
"""Subscribes the inboxes to a company's presence signals; the returned function ends it."""
