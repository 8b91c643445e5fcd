"""Calls: reads and small commands, as core NATS requests on queue groups that are always answered."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.errors import CallError
from contracts.events.chat import Action, ActionState, Chart, Citation, Owner, Page, Role
from contracts.events.desk import Status
from contracts.events.tool import QuotaView
from contracts.events.turn import HandedCall
from contracts.files import FileRef
from contracts.ids import CompanyId, Id
from contracts.inbox import HandOver, OwnerEvent, VisitorView
from contracts.knowledge import KnowledgeFound, KnowledgeQuery

RequestT = TypeVar("RequestT", bound=BaseModel, covariant=True)
ReplyT = TypeVar("ReplyT", bound=BaseModel, covariant=True)
MAX_PAGES = 20  # of a visitor, that a person is shown: the newest


class Rpc(Generic[RequestT, ReplyT]):
    """One method: its subject, the queue group that serves it (None: every server receives it), and its models."""

    __slots__ = ("queue", "reply", "request", "safe", "subject")

    def __init__(
        self, subject: str, request: type[RequestT], reply: type[ReplyT], *, queue: str | None, safe: bool = True
    ) -> None:
        self.subject = subject
        self.request = request
        self.reply = reply
        self.queue = queue
        self.safe = safe
        """Whether the call may be repeated, so that a caller may retry."""


Method = Rpc[BaseModel, BaseModel]
"""Any of them."""


class Reply(Wire, Generic[ReplyT]):
    """The reply on the wire: data or an error."""

    data: ReplyT | None = None
    error: CallError | None = None


# ---------------------------------------------------------------- conversations (memory)


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
    """The last `limit` messages with seq ≤ up_to_seq, once memory has stored everything up to there."""

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
    pages: list[Page] | None = Field(default=None, max_length=MAX_PAGES, description="those written on, oldest first")
    name: str | None = None
    email: str | None = None


class HistoryReply(Wire):
    """Oldest first."""

    messages: list[HistoryMessage]
    up_to_seq: int
    visitor: VisitorProfile = Field(default_factory=VisitorProfile)
    knowledge: KnowledgeFound | None = Field(default=None, description="None: not asked for, or not to be had in time")


class SnapshotRequest(Wire):
    """The last `limit` messages, once memory has stored everything up to min_seq."""

    company_id: CompanyId
    conversation_id: Id
    min_seq: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=200)
    events: bool = Field(default=False, description="with the changes of owner between them")


class SnapshotReply(Wire):
    """Oldest first; `seq` is at least min_seq."""

    messages: list[MessageView]
    seq: int
    events: list[OwnerEvent] | None = None


class FactsRequest(Wire):
    """Durable facts after `since` in order, at least up to min_seq."""

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
    """The latest conversation of a visitor or customer."""

    company_id: CompanyId
    user_id: Id


class LatestConversationReply(Wire):
    """None: there is none yet."""

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
    assignee: str | None = Field(default=None, description="whose it is: a human agent's id; null: nobody's")
    assignee_name: str | None = None
    labels: list[str] | None = None
    topic: str | None = None
    snoozed_until: datetime | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    previous: Id | None = Field(default=None, description="the same person's conversation before this one")


class ConversationReply(Wire):
    """None: memory knows no such conversation in this company."""

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
    order: str | None = Field(default=None, description="by what: activity, waiting")
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
    """One message by its id: recognises a late repeat after the deduplication window."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id


class MessageByIdReply(Wire):
    """None: not stored (yet)."""

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


class TurnStateRequest(Wire):
    """Asked of all agents at once; only the one that drives the conversation's turn (or just this one) answers."""

    company_id: CompanyId
    conversation_id: Id
    turn_id: Id | None = None


class TurnState(Wire):
    """The running turn: the text so far and the sequence of its last delta (-1: none yet). `waiting`: handed calls
    whose results the turn waits for."""

    turn_id: Id
    message_id: Id
    text_so_far: str
    delta_seq: int = Field(ge=-1)
    waiting: list[HandedCall] | None = None


TURN_STATE = Rpc("rpc.agent.turn.state.v1", TurnStateRequest, TurnState, queue=None)


class Caller(Wire):
    """The caller as verified by the executor: neither the model nor the arguments can name somebody else. `prompt`: the
    first and last sequence of the messages that the prompt contains in full."""

    company_id: CompanyId
    user_id: Id | None = None
    role: str
    plan: str
    language: str = "es"
    conversation_id: Id | None = None
    prompt: tuple[int, int] | None = None


class ToolServiceRequest(Wire):
    """The executor calls a tool of another service. After its Nexus-Deadline the call must not change anything."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    caller: Caller


class ToolServiceData(Wire):
    """The tool's data, snake_case inside."""

    result: dict[str, Any]


def tool_service(name: str, queue: str) -> Rpc[ToolServiceRequest, ToolServiceData]:
    """The method by which a service serves the tool `name`. Errors carry `reason` (e.g. not_in_sample)."""
    return Rpc(f"rpc.tool.{name}.v1", ToolServiceRequest, ToolServiceData, queue=queue, safe=False)


class CatalogueRequest(Wire):
    """Asks for the tools that this caller may use. `name`: only this tool. `with_quota`: also how many calls are left
    to `user_id`."""

    company_id: CompanyId
    role: str
    plan: str = "free"
    language: str = "es"
    user_id: Id | None = None
    name: str | None = Field(default=None, max_length=128)
    with_quota: bool = False


class CatalogueTool(Wire):
    """One tool as every interface shows it; `parameters` is JSON Schema."""

    id: str
    name: str
    description: str
    category: str
    required_plan: str
    parameters: dict[str, Any]
    side_effects: bool = False
    label: str | None = Field(default=None, description="what a person reads while it runs")
    quota: dict[Annotated[Literal["minute", "hour", "day"], OPEN], QuotaView] | None = Field(
        default=None, description="by window; left out when it was not asked for, or cannot be known now"
    )


class CatalogueReply(Wire):
    """The tools in the order of the catalogue, which is always the same."""

    tools: list[CatalogueTool]


CATALOGUE = Rpc("rpc.tools.catalogue.v1", CatalogueRequest, CatalogueReply, queue="tool-executor")

METHODS: tuple[Method, ...] = (
    HISTORY,
    SNAPSHOT,
    FACTS_AFTER,
    LATEST_CONVERSATION,
    CONVERSATION,
    CONVERSATION_MESSAGES,
    CONVERSATIONS,
    MESSAGE_BY_ID,
    TURN_STATE,
    CATALOGUE,
)
