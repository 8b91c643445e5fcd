"""The frames of the chat's websocket (docs/architecture/chat.md), in both directions.

A frame is a JSON object {"v": 1, "type": …, "conversationId": …} with the fields of its type's model. Unknown fields
are ignored, so that older and newer ends understand each other. `CLIENT_FRAMES` and `SERVER_FRAMES` list all types:
schemas and the AsyncAPI document are generated from them.
"""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, Strict, StrictBool, StrictInt, StringConstraints

from contracts.agent_rpc import TurnState
from contracts.conversation_rpc import MessageView
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events import turn
from contracts.events.chat import MAX_TEXT, MAX_TITLE, MAX_URL, MAX_VISITED, Action, CancelReason, Owner, Page
from contracts.events.fact import Score
from contracts.events.market import TriggeredAlert
from contracts.files import MAX_FILES
from contracts.ids import UUID_PATTERN, Id
from contracts.inbox import OwnerEvent
from contracts.json_values import is_list, is_object
from contracts.plain_text import WORDS

PROTOCOL_VERSION = 1
LOCALE = re.compile(r"^[A-Za-z0-9-]*$")
Uuid = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]


def _with_cut_fields(page: object) -> object:
    """Cuts a title or address that is too long. It comes from the site's page, so it must not lock the visitor out of
    the chat."""
    if not is_object(page):
        return page
    fields = page
    max_lengths = {"url": MAX_URL, "title": MAX_TITLE}
    return {name: value[: max_lengths.get(name)] if isinstance(value, str) else value for name, value in fields.items()}


def _newest(addresses: object) -> object:
    """Returns the last addresses, cut in the same way, without those that the browser does not disclose (null)."""
    if not is_list(addresses):
        return addresses
    known = [address[:MAX_URL] if isinstance(address, str) else address for address in addresses if address is not None]
    return known[-MAX_VISITED:]


VisitedPage = Annotated[Page, BeforeValidator(_with_cut_fields)]
"""The page that a visitor is on, as the site gives it."""


class ClientFrame(Wire):
    """The fields of every client frame. A socket that follows several conversations names one in each frame."""

    conversation_id: Id | None = None


class Cursor(Wire):
    """The last durable fact that a client has: the log's epoch and the sequence in it."""

    epoch: str = Field(max_length=64)
    seq: StrictInt = Field(ge=0)


class Hello(ClientFrame):
    """The first frame. `since`: resume after that fact. `visitor`: the token of the visitor that a customer was
    before signing in; what they began then is linked to them."""

    token: str = Field(default="", max_length=8192)
    visitor: str | None = Field(default=None, max_length=8192)
    since: Cursor | None = None
    page: VisitedPage | None = None
    locale: str | None = Field(default=None, max_length=35, pattern=LOCALE.pattern)


class MessageSend(ClientFrame):
    """A person's message; `retry` from the second try on, with the same id. `page`: their current page, if not the
    one of hello; `visited`: addresses of the site's pages before it, oldest first. `files`: of the conversation,
    uploaded before (POST …/files). A human agent's is refused (CONFLICT) if a colleague has taken the conversation
    after `seenSeq`."""

    client_message_id: Uuid
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    retry: StrictBool = False
    page: VisitedPage | None = None
    visited: Annotated[list[str], BeforeValidator(_newest)] | None = None
    files: list[Id] | None = Field(default=None, max_length=MAX_FILES)
    seen_seq: int | None = Field(default=None, ge=0)


class Typing(ClientFrame):
    """Somebody is writing."""


class Receipt(ClientFrame):
    """Everything up to the sequence has been read."""

    up_to_seq: StrictInt = Field(ge=0)


class Ping(ClientFrame):
    """Asks for a pong."""


class RunCancel(ClientFrame):
    """Stops the running answer."""

    turn_id: Id


class ActionConfirm(ClientFrame):
    """Confirms an action; `edits`: new values for its editable fields."""

    action_id: Id
    edits: dict[str, object] | None = None


class ActionReject(ClientFrame):
    """Rejects an action."""

    action_id: Id


class Feedback(ClientFrame):
    """An answer was good or bad."""

    message_id: Id
    rating: Literal["up", "down"]
    reason: Annotated[str, Field(max_length=1000), WORDS] | None = None


class ConversationRate(ClientFrame):
    """Whether the conversation helped; replaces an earlier rating."""

    score: Annotated[Score, Strict()]
    comment: Annotated[str, Field(max_length=1000), WORDS] | None = None


class HandoffRequest(ClientFrame):
    """Asks for a person."""


class ConversationWatch(ClientFrame):
    """A human agent follows a conversation; `since` as in hello."""

    since: Cursor | None = None


class InboxWatch(ClientFrame):
    """A human agent wants to know which of the company's conversations change."""


class OwnerTake(ClientFrame):
    """A human agent takes the conversation over.

    CONFLICT if a colleague has taken it after `seenSeq`, the newest change of owner that the agent has seen; without
    it, it is taken from anybody.
    """

    seen_seq: int | None = Field(default=None, ge=0)


class OwnerRelease(ClientFrame):
    """A human agent gives the conversation back to the AI."""


CLIENT_FRAMES: dict[str, type[ClientFrame]] = {
    "hello": Hello,
    "message.send": MessageSend,
    "typing": Typing,
    "receipt": Receipt,
    "ping": Ping,
    "run.cancel": RunCancel,
    "action.confirm": ActionConfirm,
    "action.reject": ActionReject,
    "feedback": Feedback,
    "conversation.rate": ConversationRate,
    "handoff.request": HandoffRequest,
    "conversation.watch": ConversationWatch,
    "inbox.watch": InboxWatch,
    "owner.take": OwnerTake,
    "owner.release": OwnerRelease,
}


class ServerFrame(Wire):
    """A frame from the gateway, which builds frames without validation; this model is for readers."""

    model_config = ConfigDict(defer_build=True)


class WelcomeFrame(ServerFrame):
    """The answer to hello: the conversation's state. A human agent who follows none yet gets no owner."""

    epoch: str
    seq: int = Field(ge=0)
    recovered: bool
    heartbeat_ms: int
    owner: Owner | None
    pending_actions: list[Action] = Field(default_factory=list[Action])
    active_turn: TurnState | None = None


class SnapshotFrame(ServerFrame):
    """The last messages, oldest first: after a hello without `since`, or instead of a gap that cannot be filled."""

    messages: list[MessageView]
    epoch: str
    seq: int = Field(ge=0)
    complete: bool = Field(default=True, description="false: older ones cannot be had now")
    events: list[OwnerEvent] | None = Field(default=None, description="the changes of owner among them")


class AckFrame(ServerFrame):
    """The message is in the log. `duplicate`: it already was."""

    client_message_id: str
    message_id: Id
    seq: int
    duplicate: bool


class MessageFrame(ServerFrame):
    """A new message: a durable fact."""

    message: MessageView


class OwnerFrame(ServerFrame):
    """Tells who answers from this fact on."""

    owner: Owner
    seq: int
    by: str | None = None
    name: str | None = Field(default=None, description="of whoever did it")
    reason: str | None = None
    opens_at: datetime | None = Field(default=None, description="outside office hours: when somebody is there")
    created_at: datetime | None = None


class CancelledFrame(ServerFrame):
    """A run ended without an answer. `seq`: of the durable fact, if a person cancelled it."""

    turn_id: Id
    reason: CancelReason
    seq: int | None = None
    created_at: datetime | None = None


class ActionFrame(ServerFrame):
    """The current state of an action that needs confirmation."""

    action: Action


class AlertFrame(ServerFrame):
    """An alert of the customer fired."""

    alert: TriggeredAlert


class InboxFrame(ServerFrame):
    """These conversations of the company have changed; none named: read the whole list again."""

    conversation_ids: list[Id]


class RatedFrame(ServerFrame):
    """The visitor has rated the conversation: sent to whoever has it open."""

    score: Score
    comment: str | None = None


class UpdatedFrame(ServerFrame):
    """The conversation was resolved or reopened by somebody who had seen it up to `seq`.

    It is reopened by its visitor's next message, and when somebody takes it or asks for a person.
    """

    resolved: bool
    seq: int = Field(ge=0)


class AssistantFrame(ServerFrame):
    """The company's assistant was switched on or off. Sent to visitors."""

    ai: bool


class PongFrame(ServerFrame):
    """The answer to ping."""


class ErrorFrame(ServerFrame):
    """A request of the client failed; the socket stays open. `ref`: the client's own id for the request."""

    code: ErrorCode | str
    message: str
    retryable: bool
    retry_after_ms: int | None = None
    ref: str | None = None


SERVER_FRAMES: dict[str, type[Wire]] = {
    "welcome": WelcomeFrame,
    "snapshot": SnapshotFrame,
    "message.ack": AckFrame,
    "message.created": MessageFrame,
    "run.started": turn.RunStarted,
    "tool.started": turn.ToolStarted,
    "tool.finished": turn.ToolFinished,
    "message.delta": turn.MessageDelta,
    "run.finished": turn.RunFinished,
    "run.error": turn.RunError,
    "run.cancelled": CancelledFrame,
    "owner.changed": OwnerFrame,
    "action.updated": ActionFrame,
    "alert.triggered": AlertFrame,
    "inbox.changed": InboxFrame,
    "typing": turn.Typing,
    "receipt": turn.Receipt,
    "conversation.rated": RatedFrame,
    "conversation.updated": UpdatedFrame,
    "assistant.changed": AssistantFrame,
    "pong": PongFrame,
    "error": ErrorFrame,
}


def fields_of(model: type[Wire]) -> tuple[str, ...]:
    """Returns the wire names of a model's fields."""
    return tuple(field.alias or name for name, field in model.model_fields.items())
