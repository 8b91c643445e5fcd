"""The desk: what human agents do with conversations besides writing in them, and their canned replies."""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationRef, ConversationView
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT
from contracts.events.desk import MAX_LABELS, Label, Topic
from contracts.ids import Id, uuid7
from contracts.plain_text import LINE, WORDS
from contracts.ws import Uuid
from gateway.adapters.desk import change_conversation
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.chat.commands import ConversationPlace
from gateway.errors import RefusedError, bad_field, check_not_blank, not_found
from gateway.ports import TokenCaller
from gateway.web.deps import Api, ApiDep, ConversationPath, OperatorDep
from gateway.web.knowledge import Body
from gateway.web.moments import Moment
from gateway.web.problems import described

router = APIRouter(prefix="/v2", tags=["desk"])

ME = "me"
CHANGES = ("state", "assignee", "labels", "add_labels", "remove_labels", "topic", "customer")


class ConversationPatch(Body):
    """The changes; fields left out stay as they are, unknown fields are refused. An assignee of null is nobody, `me`
    is the caller; a topic or customer of null is none; `labels` replace all labels, also those that somebody else adds
    now, which `addLabels` and `removeLabels` leave alone. CONFLICT if `expectedAssignee` is
    given and somebody else is assigned by now."""

    state: Literal["open", "resolved", "snoozed"] | None = None
    snoozed_until: Moment | None = Field(default=None, description="with state snoozed; null: until the next message")
    seen_seq: int | None = Field(
        default=None,
        ge=0,
        description="of the newest message or change of owner that I have seen: what came later opens it again",
    )
    assignee: Id | None = None
    assignee_name: Annotated[str, Field(max_length=200), LINE] | None = None
    expected_assignee: Id | None = None
    labels: list[Annotated[Label, LINE]] | None = Field(default=None, max_length=MAX_LABELS)
    add_labels: list[Annotated[Label, LINE]] = Field(
        default=[], max_length=MAX_LABELS, description="added to those that it has"
    )
    remove_labels: list[Annotated[Label, LINE]] = Field(
        default=[], max_length=MAX_LABELS, description="taken from those that it has"
    )
    topic: Annotated[Topic, LINE] | None = None
    customer: Id | None = Field(default=None, description="who has written here before: the visitor is them")

    @model_validator(mode="after")
    def _says_something(self) -> "ConversationPatch":
        if not self.model_fields_set & set(CHANGES):
            raise ValueError(f"say what is to change: {', '.join(map(to_camel, CHANGES))}")
        if "state" in self.model_fields_set and self.state is None:
            raise ValueError("state: one of open, resolved, snoozed")
        if self.snoozed_until is not None and self.state != "snoozed":
            raise ValueError("snoozedUntil: only with the state snoozed")
        return self


class _Assignee(NamedTuple):
    """The assignee; an empty id stands for nobody."""

    user_id: str
    name: str | None


class NoteDraft(Wire):
    """A private note; the same noteId again is the same note, with another text it is a CONFLICT."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT), WORDS]
    note_id: Uuid | None = None


class NamesSeen(Wire):
    """The time of the newest note mentioning me that I have seen."""

    seen_up_to: Moment


class Replies(desk_rpc.CannedReplies):
    """The replies, with the company's name."""

    company: str = Field(description="what {company} of a reply stands for")


class ReplyDraft(Wire):
    """A canned reply. Placeholders: {name} the visitor, {agent} oneself, {company}, {page}."""

    text: Annotated[str, Field(min_length=1, max_length=4000), WORDS]


ShortcutPath = Annotated[
    str, Path(pattern=desk_rpc.SHORTCUT_PATTERN, description="what it is found by: 1 to 40 of a-z 0-9 _ -")
]


@router.get("/conversations/counts", responses=described())
async def count_conversations(
    api: ApiDep,
    caller: OperatorDep,
    present: Annotated[
        bool, Query(description="I am at the desk: where it is set, conversations are given in turn")
    ] = False,
) -> desk_rpc.CountsReply:
    """The number of conversations in each of the inbox's lists, and of those I have not read."""
    request = desk_rpc.CountsRequest(
        company_id=caller.company, operator_id=caller.subject, operator_name=caller.name, present=present
    )
    return await ask(api.rpc, desk_rpc.COUNTS, request)


@router.patch("/conversations/{conversationId}", response_model=ConversationView, responses=described(404, 409))
async def update_conversation(
    api: ApiDep, caller: OperatorDep, conversation: ConversationPath, body: ConversationPatch
) -> Response:
    """Resolves, snoozes or reopens a conversation, assigns it, labels it, names its topic.

    If a person answers in it, the new assignee answers from then on.
    """
    await api.chat.access.check_watchable(caller, conversation)
    if body.snoozed_until is not None and body.snoozed_until <= api.clock.now():
        raise bad_field("snoozedUntil", "choose a time to come")
    changed = body.model_fields_set
    assignee = await _assignee(api, caller, body)
    request = desk_rpc.ConversationUpdate(
        company_id=caller.company,
        conversation_id=conversation,
        update_id=uuid7(),
        state=body.state,
        snoozed_until=body.snoozed_until,
        seen_seq=body.seen_seq,
        assignee=assignee.user_id if "assignee" in changed else None,
        assignee_name=assignee.name,
        expected_assignee=_user_id(caller, body.expected_assignee) if "expected_assignee" in changed else None,
        labels=list(dict.fromkeys(body.labels or [])) if "labels" in changed else None,
        add_labels=body.add_labels,
        remove_labels=body.remove_labels,
        topic=(body.topic or "") if "topic" in changed else None,
        person=(body.customer or "") if "customer" in changed else None,
        by=caller.subject,
        name=caller.name,
    )
    view = await change_conversation(api.rpc, request)
    if assignee.user_id:
        place = ConversationPlace(caller, conversation)
        owner = await api.chat.commands.hand_to(place, assignee.user_id, assignee.name)
        view = view.model_copy(update={"owner": owner or view.owner})
    return JSONResponse(view.to_wire())


@router.get("/conversations/{conversationId}/notes", response_model_exclude_none=True, responses=described(404))
async def list_notes(api: ApiDep, caller: OperatorDep, conversation: ConversationPath) -> desk_rpc.NotesReply:
    """A conversation's private notes and desk changes, oldest first."""
    await api.chat.access.check_watchable(caller, conversation)
    request = ConversationRef(company_id=caller.company, conversation_id=conversation)
    return await ask(api.rpc, desk_rpc.NOTES, request)


@router.post(
    "/conversations/{conversationId}/notes",
    status_code=201,
    response_model_exclude_none=True,
    responses=described(404, 409),
)
async def add_note(
    api: ApiDep, caller: OperatorDep, conversation: ConversationPath, body: NoteDraft
) -> desk_rpc.NoteView:
    """Adds a private note, which only human agents read. People mentioned with @ are told."""
    check_not_blank(body.text)
    await api.chat.access.check_watchable(caller, conversation)
    request = desk_rpc.NoteRequest(
        company_id=caller.company,
        conversation_id=conversation,
        note_id=body.note_id or uuid7(),
        text=body.text,
        by=caller.subject,
        name=caller.name,
    )
    added = (await ask(api.rpc, desk_rpc.NOTE_ADD, request, deadline=CHANGE_SECONDS)).note
    if (added.text, added.by) != (body.text, caller.subject):
        raise RefusedError(ErrorCode.CONFLICT, "noteId: it was used for another note; choose a new one")
    return added


@router.get("/colleagues", response_model_exclude_none=True, responses=described())
async def list_colleagues(api: ApiDep, caller: OperatorDep) -> desk_rpc.Colleagues:
    """Who works at the company's desk, by name, and how to mention each of them in a note: the team that the company
    lists, and everybody who was at the desk within a day."""
    return await ask(api.rpc, desk_rpc.COLLEAGUES, desk_rpc.ColleaguesRequest(company_id=caller.company))


@router.get("/notes/named", response_model_exclude_none=True, responses=described())
async def list_named(api: ApiDep, caller: OperatorDep) -> desk_rpc.NamedReply:
    """The notes that mention me with @, newest first: by my id, my first name, or my whole name in one word."""
    return await ask(api.rpc, desk_rpc.NAMED, _named(caller))


@router.put("/notes/named", status_code=204, response_class=Response, responses=described())
async def see_named(api: ApiDep, caller: OperatorDep, body: NamesSeen) -> None:
    """Marks them as seen up to then."""
    # Notes that do not exist yet cannot have been seen.
    await ask(api.rpc, desk_rpc.NAMED, _named(caller, min(body.seen_up_to, api.clock.now())))


@router.get("/replies", responses=described())
async def list_replies(api: ApiDep, caller: OperatorDep) -> Replies:
    """The company's canned replies, by shortcut."""
    replies = await ask(api.rpc, desk_rpc.REPLIES, desk_rpc.CannedRepliesRequest(company_id=caller.company))
    settings = await api.companies.get(caller.company)
    return Replies(items=replies.items, company=(settings and settings.config.name) or caller.company)


@router.put("/replies/{shortcut}", responses=described())
async def put_reply(api: ApiDep, caller: OperatorDep, shortcut: ShortcutPath, body: ReplyDraft) -> desk_rpc.CannedReply:
    """Saves a canned reply under a shortcut, replacing an existing one."""
    check_not_blank(body.text)
    request = desk_rpc.CannedReplyRequest(
        company_id=caller.company, reply=desk_rpc.CannedReply(shortcut=shortcut, text=body.text)
    )
    return (await ask(api.rpc, desk_rpc.REPLY_PUT, request, deadline=CHANGE_SECONDS)).reply


@router.delete("/replies/{shortcut}", status_code=204, response_class=Response, responses=described(404))
async def delete_reply(api: ApiDep, caller: OperatorDep, shortcut: ShortcutPath) -> None:
    """Deletes a canned reply."""
    request = desk_rpc.CannedReplyRef(company_id=caller.company, shortcut=shortcut)
    if not (await ask(api.rpc, desk_rpc.REPLY_DELETE, request, deadline=CHANGE_SECONDS)).deleted:
        raise not_found("reply")


def _named(caller: TokenCaller, seen_up_to: datetime | None = None) -> desk_rpc.NamedRequest:
    return desk_rpc.NamedRequest(
        company_id=caller.company, operator_id=caller.subject, operator_name=caller.name, seen_up_to=seen_up_to
    )


def _user_id(caller: TokenCaller, user: str | None) -> str:
    return caller.subject if user == ME else user or ""


async def _assignee(api: Api, caller: TokenCaller, body: ConversationPatch) -> _Assignee:
    """The assignee with their name at the desk. Raises RefusedError if the company lists its team and nobody in it has
    this id. Without such a list any id is accepted, since its owner may just not have been at the desk yet."""
    user = _user_id(caller, body.assignee)
    if user in {"", caller.subject}:
        return _Assignee(user, caller.name if user else None)
    desk = await ask(api.rpc, desk_rpc.COLLEAGUES, desk_rpc.ColleaguesRequest(company_id=caller.company))
    for colleague in desk.items:
        if colleague.user_id == user:
            return _Assignee(user, colleague.name or body.assignee_name)
    settings = await api.companies.get(caller.company)
    if settings is None or not settings.config.team.members:
        return _Assignee(user, body.assignee_name)
    raise bad_field("assignee", "nobody at this company's desk has this id: GET /v2/colleagues lists them")
