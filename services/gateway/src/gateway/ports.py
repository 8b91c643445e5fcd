"""What the gateway needs of the outside, as Protocols; adapters/ holds the real ones."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Protocol

from contracts.conversation import Snapshot
from contracts.envelope import Wire
from gateway.domain.close_codes import CloseCode

Unsubscribe = Callable[[], Awaitable[None]]
Decide = Callable[[Snapshot], Awaitable[Wire | None]]


@dataclass(frozen=True, slots=True)
class Visit:
    """What was said of a visitor when their token was asked for; a hello may say otherwise. `page`: its address."""

    funnel_stage: str | None = None
    locale: str | None = None
    page: str | None = None
    name: str | None = None
    """Of a customer, and below their e-mail: as their company says it, for human agents."""
    email: str | None = None


@dataclass(frozen=True, slots=True)
class TokenCaller:
    """Who is calling, from a verified token alone. `expires`: seconds since the epoch."""

    subject: str
    role: str
    company: str
    plan: str
    expires: float
    name: str | None = None
    visit: Visit = Visit()
    issued: float = 0.0
    """When the token was made, in seconds since the epoch; 0: it does not say."""
    member: bool = False
    """The token was given to somebody of the company's team, and counts while they are of it."""

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
    """A new token of a visitor. `expires`: seconds since the epoch."""

    token: str
    visitor: str
    expires: float


@dataclass(frozen=True, slots=True)
class SignedPrincipal:
    """A principal to be handed out. `expires`: seconds since the epoch."""

    principal: str
    expires: float


class Socket(Protocol):
    """One client's websocket. Sending never waits: a client that reads too slowly is closed (4008)."""

    def push(self, frame: bytes) -> None:
        """Sends a text frame; does nothing once the socket is closed."""
        ...

    def terminate(self, code: CloseCode) -> None:
        """Closes it."""
        ...

    async def drained(self) -> None:
        """Waits until what was pushed is on its way: paces long answers."""
        ...


class ClientSocket(Protocol):
    """Somebody's open chat, whoever they are; `caller` is None before they have said so, `home` is the conversation
    that they have open."""

    caller: TokenCaller | None
    home: str | None

    def push(self, frame: bytes) -> None:
        """Sends a frame."""
        ...

    def follows(self, conversation: str) -> bool:
        """Whether the conversation is open on it."""
        ...

    def terminate(self, code: CloseCode) -> None:
        """Closes it."""
        ...


class TokenReader(Protocol):
    """Users' tokens."""

    async def verify(self, token: str) -> TokenCaller:
        """The caller; raises TokenExpired or TokenInvalid (errors.py)."""
        ...

    async def verify_for_renewal(self, token: str) -> TokenCaller:
        """The visitor of a token that expired at most 30 days ago; raises TokenInvalid."""
        ...

    def visitor(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """A visitor's token, new."""
        ...

    def known_user(self, company: str, subject: str, plan: str, expires: float, visit: Visit) -> VisitorToken:
        """The token of a user whom the company vouches for until then (seconds since the epoch)."""
        ...


@dataclass(frozen=True, slots=True)
class GatewayToolCall:
    """One call of a tool; the same `call_id` again is the same call. `arguments`: JSON values, snake_case."""

    call_id: str
    tool: str
    arguments: dict[str, object]
    language: str


Follow = Callable[[str, str], Coroutine[None, None, Unsubscribe]]
"""Hands the live signs of a company's conversation to the hub until the returned function is called."""
Present = Callable[[str], Coroutine[None, None, Unsubscribe]]
"""Hands signs of who is there in a company's conversations to its inboxes until the returned function is called."""
