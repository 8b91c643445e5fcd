"""Calls of human agents at their desk: resolving, assigning and labelling conversations, notes, canned replies."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from contracts.conversation_rpc import ConversationRef, ConversationReply
from contracts.envelope import Wire
from contracts.events.chat import MAX_TEXT
from contracts.events.desk import MAX_LABELS, Label, Status, Topic
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"
SHORTCUT_PATTERN = r"^[a-z0-9_-]{1,40}$"


class ConversationUpdate(Wire):
    """Changes what the desk has noted about a conversation, as conversation.updated.v1 does. CONFLICT if
    `expected_assignee` is given and the conversation has another assignee by now."""

    company_id: CompanyId
    conversation_id: Id
    update_id: Id = Field(description="the same again is the same update")
    state: Status | None = None
    seen_seq: int | None = Field(
        default=None, ge=0, description="the newest message or change of owner that they had seen"
    )
    snoozed_until: datetime | None = None
    assignee: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")] | None = None
    assignee_name: str | None = Field(default=None, max_length=200)
    expected_assignee: str | None = Field(default=None, max_length=64, description="empty: nobody")
    labels: list[Label] | None = Field(default=None, max_length=MAX_LABELS, description="all of them")
    add_labels: list[Label] = Field(default_factory=list[Label], max_length=MAX_LABELS)
    remove_labels: list[Label] = Field(default_factory=list[Label], max_length=MAX_LABELS)
    topic: Topic | None = None
    person: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")] | None = Field(
        default=None, description="the customer that the visitor has turned out to be; empty: none"
    )
    person_name: str | None = Field(default=None, max_length=200, description="that customer's, if it is known")
    previous: Id | None = None
    by: str = Field(min_length=1, max_length=64)
    name: str | None = Field(default=None, max_length=200)
    begins: bool = Field(default=False, description="the conversation has no message yet")


class PersonMerge(Wire):
    """Merges a visitor into another person; `into` null undoes it. Repeating a `merge_id` repeats nothing. NOT_FOUND
    for an unknown person, CONFLICT for a customer."""

    company_id: CompanyId
    person_id: Id
    into: Id | None = None
    merge_id: Id
    most: int = Field(default=200, ge=1, le=200, description="conversations that change hands with one call")
    by: str = Field(min_length=1, max_length=64)
    name: str | None = Field(default=None, max_length=200)


class PersonMerged(Wire):
    """The conversations that changed hands, newest first; `left`: there are more, and the same call continues."""

    person_id: Id
    into: Id | None = None
    conversations: list[Id] = Field(max_length=200)
    left: bool = False


class NoteRequest(Wire):
    """A private note."""

    company_id: CompanyId
    conversation_id: Id
    note_id: Id
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    by: str = Field(min_length=1, max_length=64)
    name: str | None = Field(default=None, max_length=200)


class NoteView(Wire):
    """A private note as human agents see it."""

    id: Id
    text: str
    mentions: list[str] = Field(default_factory=list[str])
    by: str
    name: str | None = None
    created_at: datetime


class DeskChange(Wire):
    """A change to the conversation, as the thread shows it."""

    id: Id
    state: str | None = None
    snoozed_until: datetime | None = None
    assignee: str | None = None
    assignee_name: str | None = None
    labels: list[str] | None = None
    topic: str | None = None
    person: str | None = None
    by: str
    name: str | None = None
    reason: str | None = None
    created_at: datetime


class NotesReply(Wire):
    """Notes and changes, oldest first; the newest 500 of each."""

    items: list[NoteView]
    changes: list[DeskChange] = Field(default_factory=list[DeskChange])


class NoteReply(Wire):
    """The note as it is stored."""

    note: NoteView


class NamedRequest(Wire):
    """Asks for the notes that mention a human agent with @. `seen_up_to`: marks those until then as seen."""

    company_id: CompanyId
    operator_id: Id
    operator_name: str | None = Field(default=None, max_length=200)
    seen_up_to: datetime | None = None


class NamedNote(Wire):
    """A note that mentions somebody, and its conversation. `unseen` null: unknown at the moment."""

    conversation_id: Id
    note: NoteView
    unseen: bool | None = None


class NamedReply(Wire):
    """The notes, newest first, at most 50."""

    items: list[NamedNote]


class ColleaguesRequest(Wire):
    """Asks who works at the company's desk."""

    company_id: CompanyId


class Colleague(Wire):
    """A human agent, and the unambiguous @name for them in a note."""

    user_id: str = Field(min_length=1, max_length=64)
    name: str | None = None
    mention: str


class Colleagues(Wire):
    """Sorted by name, at most 600: the company's own team, and everybody who was at the desk within a day."""

    items: list[Colleague]


class CountsRequest(Wire):
    """Counts the inbox's lists for one human agent. `present`: they are at the desk and may be given conversations."""

    company_id: CompanyId
    operator_id: Id
    operator_name: str | None = Field(default=None, max_length=200)
    present: bool = False


class CountsReply(Wire):
    """The number of conversations in each list."""

    all: int = Field(ge=0)
    needs_human: int = Field(ge=0)
    mine: int = Field(ge=0)
    unassigned: int = Field(ge=0)
    ai: int = Field(ge=0)
    stuck: int = Field(ge=0)
    snoozed: int = Field(ge=0)
    resolved: int = Field(ge=0)
    unread: dict[str, int] | None = Field(
        default=None,
        description="conversations where a visitor has written what nobody has answered and this human agent has not "
        "read, with the place of the newest such message; at most 500, the newest. null: it cannot be told now",
    )
    named: int | None = Field(
        default=None,
        ge=0,
        description="notes that name this human agent with @ and that they have not seen, at most 50. null: it cannot "
        "be told now",
    )


Shortcut = Annotated[str, Field(pattern=SHORTCUT_PATTERN)]


class CannedReply(Wire):
    """A saved reply, found by `/shortcut`; placeholders such as {name} are filled in."""

    shortcut: Shortcut
    text: str = Field(min_length=1, max_length=4000)


class CannedReplyRequest(Wire):
    """The reply to save; it replaces the one with the same shortcut."""

    company_id: CompanyId
    reply: CannedReply


class CannedReplyRef(Wire):
    """Names one of a company's saved replies."""

    company_id: CompanyId
    shortcut: Shortcut


class CannedReplySaved(Wire):
    """The saved reply after the change."""

    reply: CannedReply


class CannedReplyGone(Wire):
    """`deleted` is true if there was such a reply."""

    deleted: bool


class CannedRepliesRequest(Wire):
    """Asks for all saved replies of a company."""

    company_id: CompanyId


class CannedReplies(Wire):
    """The saved replies, sorted by shortcut; at most 500."""

    items: list[CannedReply]


# All of these may be repeated: updates and notes have ids, and a reply is replaced as a whole.
CONVERSATION_UPDATE = Rpc("rpc.memory.conversation.update.v1", ConversationUpdate, ConversationReply, queue=QUEUE)
PERSON_MERGE = Rpc("rpc.memory.person.merge.v1", PersonMerge, PersonMerged, queue=QUEUE)
COLLEAGUES = Rpc("rpc.memory.colleagues.list.v1", ColleaguesRequest, Colleagues, queue=QUEUE)
NOTE_ADD = Rpc("rpc.memory.note.add.v1", NoteRequest, NoteReply, queue=QUEUE)
NOTES = Rpc("rpc.memory.notes.list.v1", ConversationRef, NotesReply, queue=QUEUE)
COUNTS = Rpc("rpc.memory.conversations.count.v1", CountsRequest, CountsReply, queue=QUEUE)
NAMED = Rpc("rpc.memory.notes.named.v1", NamedRequest, NamedReply, queue=QUEUE)
REPLIES = Rpc("rpc.memory.replies.list.v1", CannedRepliesRequest, CannedReplies, queue=QUEUE)
REPLY_PUT = Rpc("rpc.memory.reply.put.v1", CannedReplyRequest, CannedReplySaved, queue=QUEUE)
REPLY_DELETE = Rpc("rpc.memory.reply.delete.v1", CannedReplyRef, CannedReplyGone, queue=QUEUE)
