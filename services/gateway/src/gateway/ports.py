"""What the gateway needs of the outside, as Protocols; adapters/ holds the real ones."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from contracts.channels import ChatKind, PresenceKind
from contracts.company import CompanySettings
from contracts.company_rpc import CompaniesReply
from contracts.conversation import Fact, Snapshot
from contracts.envelope import Wire
from contracts.events.chat import Action
from contracts.events.tool import ToolResult
from contracts.identity_rpc import IdentifyReply
from contracts.market_rpc import UntoldAlertsReply
from contracts.rpc import (
    CatalogueTool,
    ConversationsReply,
    ConversationsRequest,
    ConversationView,
    FactsReply,
    MessagesReply,
    MessageView,
    SnapshotReply,
)
from contracts.tools_rpc import ToolDetails
from gateway.domain.close_codes import CloseCode
from gateway.domain.recovery import Bounds
from runtime.publishing import Appended

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
class Caller:
    """Who is calling, from a verified token alone. `expires`: seconds since the epoch."""

    subject: str
    role: str
    company: str
    plan: str
    expires: float
    name: str | None = None
    visit: Visit = Visit()

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


class Tokens(Protocol):
    """Users' tokens."""

    async def verify(self, token: str) -> Caller:
        """The caller; raises TokenExpired or TokenInvalid (errors.py)."""
        ...

    async def verify_for_renewal(self, token: str) -> Caller:
        """The visitor of a token that expired at most 30 days ago; raises TokenInvalid."""
        ...

    def visitor(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """A visitor's token, new."""
        ...

    def known_user(self, company: str, subject: str, plan: str, expires: float, visit: Visit) -> VisitorToken:
        """The token of a user whom the company vouches for until then (seconds since the epoch)."""
        ...


class Personas(Protocol):
    """Ready-made people of the development stack."""

    def token(self, persona: str) -> VisitorToken | None:
        """A token of one of them; None when nobody is called so."""
        ...


class Principals(Protocol):
    """Signed statements of who is behind a message."""

    def sign(self, caller: Caller, conversation: str | None, language: str | None) -> str:
        """A compact JWS for data.principal, of one conversation or of none; the same one while it is fresh."""
        ...

    def vouch(self, caller: Caller, conversation: str | None) -> SignedPrincipal:
        """A principal of its own, with its expiry, for somebody else to use."""
        ...

    def renewed(self, principal: str, company: str) -> str | None:
        """The same principal, valid from now on, expired or not; None when it is not ours or of another company."""
        ...

    def subject(self, principal: str, company: str) -> str | None:
        """Whose principal this is, expired or not; None when it is not ours or of another company."""
        ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool; the same `call_id` again is the same call. `arguments`: JSON values, snake_case."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    language: str


class Tools(Protocol):
    """The tool-executor."""

    async def catalogue(self, caller: Caller, language: str) -> list[CatalogueTool]:
        """The caller's tools, with quota; raises Unavailable."""
        ...

    async def every(self, company: str, language: str) -> list[CatalogueTool]:
        """All tools that a user of the company could have on some plan; raises Unavailable."""
        ...

    async def details(self, caller: Caller, language: str) -> list[ToolDetails]:
        """The caller's tools with both schemas and what they do, in the catalogue's own order; raises Unavailable."""
        ...

    async def quota(self, caller: Caller, name: str) -> CatalogueTool | None:
        """One tool with what is left of its limits; None when it is not the caller's or nobody can say now."""
        ...

    async def call(self, caller: Caller, asked: ToolCall) -> ToolResult:
        """The result, always: UNAVAILABLE and TIMEOUT are results too."""
        ...


class Log(Protocol):
    """The conversations' log (stream CHAT). Every method raises Unavailable (errors.py) at its deadline."""

    async def snapshot(self, company: str, conversation: str, at_least: int = 0) -> Snapshot:
        """The last fact of each kind, at least as new as `at_least`."""
        ...

    async def read(self, company: str, conversation: str, after: int, up_to: int) -> list[Fact]:
        """The facts in (after, up_to], in order."""
        ...

    async def near(self, company: str, conversation: str, up_to: int, distance: int) -> tuple[list[Fact], bool]:
        """The facts up to `up_to` that are among the log's last `distance`, in order; whether these are all of them."""
        ...

    async def first_visitor(self, company: str, conversation: str) -> Fact | None:
        """The first visitor message that the stream still holds."""
        ...

    async def bounds(self) -> Bounds:
        """Incarnation and first and last sequence of the whole log."""
        ...

    async def append(self, company: str, conversation: str, kind: ChatKind, data: Wire, *, identity: str) -> Appended:
        """Appends a fact under an id derived from company, conversation, kind and `identity`; raises Unavailable: no
        acknowledgement within 15 s, try again with the same identity."""
        ...

    async def append_if(
        self, company: str, conversation: str, kind: ChatKind, *, identity: str, decide: Decide
    ) -> Appended | None:
        """Appends what `decide` makes of the newest snapshot, fenced, and decides again when something newer got there
        first; None: it makes nothing of it."""
        ...

    async def append_again(
        self, company: str, conversation: str, fact: Fact, data: dict[str, Any], *, identity: str, fence: int
    ) -> Appended:
        """A fact once more at the end of its conversation: its own event and id, with `data`.

        Raises:
            FenceRefused: the conversation holds something newer than `fence`.
        """
        ...


class Bus(Protocol):
    """Signs that may be lost, and facts outside the conversations."""

    async def presence(self, company: str, conversation: str, kind: PresenceKind, data: Wire, source: str) -> None:
        """Tells the other sockets of a conversation; `source` is the socket's own id."""
        ...

    async def fact(self, kind: str, company: str, user: str | None, data: Wire, *, identity: str) -> None:
        """Appends a fact to FACTS; raises Unavailable."""
        ...


class LiveSource(Protocol):
    """The live signs of single conversations."""

    async def follow(self, company: str, conversation: str) -> Unsubscribe:
        """Hands the conversation's live signs to the hub until the returned function is called."""
        ...


class Companies(Protocol):
    """Companies' settings, cached."""

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None when there is no such company. Raises Unavailable."""
        ...


class Settings(Protocol):
    """Companies' settings as memory keeps them. Every method raises Unavailable when it does not answer in time."""

    async def newest(self, company: str) -> CompanySettings | None:
        """The settings as they are now, not from a cache; None when there are none."""
        ...

    async def create(self, config: dict[str, Any]) -> CompanySettings:
        """A company's first settings (camelCase); raises Refused: BAD_FIELD with fields, CONFLICT."""
        ...

    async def patch(self, company: str, version: int, patch: dict[str, Any]) -> CompanySettings:
        """After a merge patch on `version`; raises Refused: BAD_FIELD with fields, NOT_FOUND, PRECONDITION_FAILED."""
        ...

    async def page(self, after: str, limit: int) -> CompaniesReply:
        """The companies behind `after`, in the order of their ids."""
        ...

    async def delete(self, company: str) -> bool:
        """Deletes a company and all that there is of it; False: there is none."""
        ...


class Actions(Protocol):
    """What waits for a person's yes."""

    async def decide(
        self,
        company: str,
        user: str,
        action: str,
        decision: Literal["confirm", "reject"],
        language: str | None = None,
        edits: dict[str, Any] | None = None,
    ) -> Action:
        """The action as it is now: a first decision stands. `edits`, with a yes: other values of what is editable.
        Raises Refused (NOT_FOUND; BAD_FIELD: the edits, and nothing is decided; in `language`), Unavailable."""
        ...

    async def pending(self, company: str, user: str) -> list[Action]:
        """What waits for this user, oldest first; raises Unavailable soon."""
        ...

    async def known(self, company: str, user: str, actions: list[str]) -> list[Action]:
        """Those of these actions (100 at most) that are the user's, as they stand; raises Unavailable soon."""
        ...


class Alerts(Protocol):
    """Alerts that have fired, and orders that the market has filled or ended. Every method raises Unavailable when it
    gets no answer in time."""

    async def untold(self, company: str, user: str) -> UntoldAlertsReply:
        """Those that the user has not been told yet, oldest first."""
        ...

    async def told(self, company: str, user: str, alerts: list[str], actions: list[str]) -> None:
        """These were told."""
        ...


class Memory(Protocol):
    """What memory has kept. Every method raises Unavailable when it does not answer in time."""

    async def snapshot(
        self, company: str, conversation: str, min_seq: int, limit: int, *, events: bool
    ) -> SnapshotReply:
        """The last messages, at least as new as min_seq."""
        ...

    async def owner_seen(self, company: str, conversation: str, operator: str) -> None:
        """A human agent has just read or typed in the conversation."""
        ...

    async def facts(self, company: str, conversation: str, since: int, min_seq: int) -> FactsReply:
        """A page of durable facts after `since`."""
        ...

    async def message(self, company: str, conversation: str, message_id: str) -> MessageView | None:
        """A message by its id."""
        ...

    async def identify(self, company: str, token: str) -> IdentifyReply:
        """Whom a JWT signed by the company names, or what is wrong with it."""
        ...

    async def latest(self, company: str, user: str) -> str | None:
        """The id of a user's latest conversation."""
        ...

    async def conversation(self, company: str, conversation: str) -> ConversationView | None:
        """A conversation as the inbox shows it."""
        ...

    async def conversations(self, request: ConversationsRequest) -> ConversationsReply:
        """A page of the inbox."""
        ...

    async def messages(
        self, company: str, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
    ) -> MessagesReply:
        """A page of a conversation's messages, oldest first; `latest`: the last page, and then those before it."""
        ...
