"""Calls to memory that read conversations: histories and snapshots for decisions, lists and messages for people."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action, ActionState, Chart, Citation, Owner, Page, Role
from contracts.events.desk import Status
from contracts.files import FileRef
from contracts.ids import CompanyId, Id
from contracts.inbox import HandOver, OwnerEvent, VisitorView
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.rpc import Rpc

MAX_PAGES = 20
"""How many of a visitor's newest pages people are shown."""


class MessageView(Wire):
    """A message as clients see it (the frame message.created carries it)."""

    id: Id
    seq: int
    role: Role
    text: str
    citations: list[Citation] = Field(default_factory=list[Citation])
    actions: list[Action] = Field(default_factory=list[Action])
    charts: list[Chart] = Field(default_factory=list[Chart])
    turn_id: Id | None = None
    client_message_id: str | None = None
    code: str | None = None
    operator_id: str | None = None
    name: str | None = None
    files: list[FileRef] | None = None
    created_at: datetime

    @property
    def waiting(self) -> list[Action]:
        """The turn's actions that wait for their user's confirmation."""
        return [action for action in self.actions if action.state is ActionState.PENDING]


class HistoryRequest(Wire):
    """Asks for the last `limit` messages with seq ≤ up_to_seq, once memory has stored everything up to there."""

    company_id: CompanyId
    conversation_id: Id
    up_to_seq: int = Field(ge=0)
    limit: int = Field(default=20, ge=1, le=200)
    knowledge: KnowledgeQuery | None = Field(
        default=None, description="what to look for besides; whoever holds the history asks rpc.memory.knowledge.search"
    )


class HistoryMessage(Wire):
    """The parts of a message that a prompt needs."""

    id: Id
    seq: int
    role: Role
    text: str
    files: list[FileRef] | None = None
    created_at: datetime


class VisitorProfile(Wire):
    """The known facts about the visitor: layer 3 of the prompt."""

    page: Page | None = None
    funnel_stage: str | None = None
    visits: int = 1
    locale: str | None = None
    pages: list[Page] | None = Field(default=None, max_length=MAX_PAGES, description="those visited, oldest first")
    name: str | None = None
    email: str | None = None


class HistoryReply(Wire):
    """The messages, oldest first."""

    messages: list[HistoryMessage]
    up_to_seq: int
    visitor: VisitorProfile = Field(default_factory=VisitorProfile)
    knowledge: KnowledgeFound | None = Field(default=None, description="None: not asked for, or not to be had in time")


class SnapshotRequest(Wire):
    """Asks for the last `limit` messages, once memory has stored everything up to min_seq."""

    company_id: CompanyId
    conversation_id: Id
    min_seq: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=200)
    events: bool = Field(default=False, description="with the changes of owner between them")


class SnapshotReply(Wire):
    """The messages, oldest first; `seq` is at least min_seq."""

    messages: list[MessageView]
    seq: int
    events: list[OwnerEvent] | None = None


class FactsRequest(Wire):
    """Asks for the durable facts after `since` in order, at least up to min_seq."""

    company_id: CompanyId
    conversation_id: Id
    since: int = Field(ge=0)
    min_seq: int = Field(default=0, ge=0)
    limit: int = Field(default=500, ge=1, le=1000)


class FactView(Wire):
    """One durable fact: its sequence, its kind (message.visitor.v1 …) and its CloudEvent."""

    seq: int
    kind: str
    event: dict[str, Any]


class FactsReply(Wire):
    """`complete`: no facts up to min_seq remain after the last one; `gone`: history before `since` is missing."""

    facts: list[FactView]
    complete: bool
    gone: bool = False


class LatestConversationRequest(Wire):
    """Asks for the latest conversation of a visitor or customer."""

    company_id: CompanyId
    user_id: Id


class LatestConversationReply(Wire):
    """The latest conversation; None if there is none yet."""

    conversation_id: Id | None = None


class ConversationRef(Wire):
    """One conversation."""

    company_id: CompanyId
    conversation_id: Id


ConversationState = Literal["ai", "needs_human", "stuck", "mine"]
InboxList = Literal["all", "needs_human", "mine", "unassigned", "ai", "stuck", "snoozed", "resolved"]
"""The inbox's lists. Resolved and snoozed conversations are in no other list but `all`."""
Direction = Literal["asc", "desc"]


class ConversationView(Wire):
    """One conversation in the inbox. `state`: ai, needs_human, human, stuck if it is open; else snoozed, resolved."""

    id: Id
    company_id: CompanyId
    state: str
    owner: Owner
    visitor: VisitorView
    last_message: MessageView | None = None
    message_count: int
    started_at: datetime
    waiting_since: datetime | None = None
    hand_over: HandOver | None = Field(default=None, description="while the AI is not the owner")
    status: Status | None = None
    assignee: str | None = Field(default=None, description="the human agent in charge, by id; null: nobody")
    assignee_name: str | None = None
    labels: list[str] | None = None
    topic: str | None = None
    snoozed_until: datetime | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    previous: Id | None = Field(default=None, description="the same person's conversation before this one")


class ConversationReply(Wire):
    """The conversation; None if memory knows no such conversation of this company."""

    conversation: ConversationView | None = None


class ConversationsRequest(Wire):
    """A page of the inbox: latest activity first, `needs_human` by longest wait. `which` is the list (`state` is its
    name in earlier releases); `direction` reverses the order, `query` and `label` filter."""

    company_id: CompanyId
    state: ConversationState | None = None
    operator_id: Id | None = None
    user_id: Id | None = None
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=512)
    which: Annotated[InboxList, OPEN] | None = None
    direction: Annotated[Direction, OPEN] | None = None
    query: str | None = Field(default=None, max_length=200)
    label: str | None = Field(default=None, max_length=40)
    since: datetime | None = Field(default=None, description="with their newest message from then on")
    until: datetime | None = None


class ConversationsReply(Wire):
    """`next` is None on the last page."""

    items: list[ConversationView]
    next: str | None = None
    order: str | None = Field(default=None, description="what it is sorted by: activity, waiting")
    direction: Annotated[Direction, OPEN] | None = None
    complete: bool | None = Field(default=None, description="of a search: false while old conversations are still read")


class MessagesRequest(Wire):
    """A page of a conversation's messages, oldest first; `latest`: the newest page, and older ones with each cursor."""

    company_id: CompanyId
    conversation_id: Id
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=512)
    latest: bool = False


class MessagesReply(Wire):
    """`next` is None on the last page."""

    items: list[MessageView]
    next: str | None = None
    events: list[OwnerEvent] | None = Field(
        default=None, description="changes of owner after the page before, up to its last message; all on the last page"
    )


class MessageByIdRequest(Wire):
    """Asks for a message by its id, to recognise a repeat after the deduplication window."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id


class MessageByIdReply(Wire):
    """The message; None if it is not stored (yet)."""

    message: MessageView | None = None


HISTORY = Rpc("rpc.memory.history.v1", HistoryRequest, HistoryReply, queue="memory")
SNAPSHOT = Rpc("rpc.memory.snapshot.v1", SnapshotRequest, SnapshotReply, queue="memory")
FACTS_AFTER = Rpc("rpc.memory.facts.v1", FactsRequest, FactsReply, queue="memory")
LATEST_CONVERSATION = Rpc(
    "rpc.memory.conversation.latest.v1", LatestConversationRequest, LatestConversationReply, queue="memory"
)
CONVERSATION = Rpc("rpc.memory.conversation.get.v1", ConversationRef, ConversationReply, queue="memory")
CONVERSATION_MESSAGES = Rpc("rpc.memory.conversation.messages.v1", MessagesRequest, MessagesReply, queue="memory")
CONVERSATIONS = Rpc("rpc.memory.conversations.list.v1", ConversationsRequest, ConversationsReply, queue="memory")
MESSAGE_BY_ID = Rpc("rpc.memory.message.get.v1", MessageByIdRequest, MessageByIdReply, queue="memory")
