"""/v2/conversations: inbox, history, transcript, human agents' messages, taking and releasing."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field, Strict

from contracts.conversation_rpc import (
    ConversationRef,
    ConversationsReply,
    ConversationsRequest,
    ConversationView,
    Direction,
    InboxList,
    MessagesReply,
    MessageView,
)
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT, Action, Owner, OwnerKind
from contracts.events.desk import Topic
from contracts.events.fact import Score
from contracts.files import MAX_FILES
from contracts.ids import ID_PATTERN, Id
from contracts.inbox import OwnerEvent
from contracts.languages import named_language
from contracts.plain_text import LINE, WORDS
from contracts.report_rpc import RATING, RatingReply, RatingView
from contracts.ws import Uuid
from gateway.adapters.service_calls import ask
from gateway.chat.commands import ConversationPlace, MessageDraft
from gateway.domain.accepted import prefers
from gateway.errors import RefusedError, bad_field, check_not_blank, found
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, ConversationPath, OperatorDep, PersonDep
from gateway.web.free_json import check_json
from gateway.web.moments import Moment
from gateway.web.pagination import Limit, PageCursor, page
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/conversations", tags=["conversations"])

TRANSCRIPT_PAGE = 200
TRANSCRIPT_MESSAGES = 20_000


_SEEN_DESCRIPTION = "The newest change of owner that you have seen. A colleague who has taken it later keeps it (409)."


class MessageRequest(Wire):
    """A human agent's message; the same clientMessageId again is the same message. CONFLICT: a colleague has taken the
    conversation after `seenSeq`."""

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    client_message_id: Uuid
    files: list[Id] | None = Field(default=None, max_length=MAX_FILES, description="taken in before: POST …/files")
    seen_seq: int | None = Field(default=None, ge=0, description=_SEEN_DESCRIPTION)


class OwnerRequest(Wire):
    """Who is to answer."""

    owner: Literal["human", "ai"]
    seen_seq: int | None = Field(default=None, ge=0, description=_SEEN_DESCRIPTION)


class OwnerReply(Wire):
    """Who answers now."""

    owner: Owner


class BeginRequest(Wire):
    """The topic, if known."""

    topic: Annotated[Topic, Field(min_length=1), LINE] | None = None


class Begun(Wire):
    """The new conversation, and the caller's latest before it."""

    conversation_id: str
    previous: str | None = None


class DecisionRequest(Wire):
    """A person's yes or no. `edits`: a yes with new values of the action's editable fields."""

    decision: Literal["confirm", "reject"]
    edits: dict[str, object] | None = Field(default=None, max_length=20)


class RatingRequest(Wire):
    """The visitor's rating of their conversation."""

    score: Annotated[Score, Strict()]
    comment: Annotated[str, Field(max_length=1000), WORDS] | None = None


class Transcript(Wire):
    """A whole conversation."""

    conversation: ConversationView
    messages: list[MessageView]
    events: list[OwnerEvent] = Field(default_factory=list[OwnerEvent], description="changes of owner")


_NOT_FOR_VISITORS = dict.fromkeys(
    ("hand_over", "assignee", "assignee_name", "labels", "snoozed_until", "resolved_by"), None
)


@router.get("", response_model=ConversationsReply, responses=described())
async def list_conversations(
    api: ApiDep,
    caller: PersonDep,
    state: InboxList | None = None,
    order: Annotated[
        Direction | None, Query(description="by newest message: desc; who needs a person: asc, longest waiting first")
    ] = None,
    q: Annotated[str | None, Query(max_length=200, description="words of messages, names, labels, the topic")] = None,
    label: Annotated[str | None, Query(max_length=40)] = None,
    visitor: Annotated[str | None, Query(pattern=ID_PATTERN, description="for human agents: of this person")] = None,
    since: Annotated[Moment | None, Query(description="with a message from then on")] = None,
    until: Annotated[Moment | None, Query(description="with their newest message before then")] = None,
    limit: Limit = 50,
    cursor: PageCursor = None,
) -> Response:
    """The inbox of the human agent's company; visitors and customers see their own conversations."""
    request = ConversationsRequest(
        company_id=caller.company,
        user_id=caller.subject,
        limit=limit,
        cursor=cursor,
        direction=order,
        since=since,
        until=until,
    )
    if caller.is_operator:
        # With query and label, visitors could find out labels and names that only human agents may see.
        own = {"which": state, "operator_id": caller.subject, "user_id": visitor}
        request = request.model_copy(update=own | {"query": q or None, "label": label or None})
    async with api.chat.limits.read(caller.company, caller.subject):
        conversations = await api.memory.conversations(request)
    visible = [view for view in conversations.items if caller.is_operator or _is_visible_to_visitor(view)]
    current = await api.action_states.views_with_current_states(caller.company, visible)
    items = [_view_for(caller, view) for view in current]
    return page(conversations.model_copy(update={"items": items}))


@router.post("", status_code=201, response_model_exclude_none=True, responses=described(429))
async def begin_conversation(request: Request, api: ApiDep, caller: PersonDep, body: BeginRequest) -> Begun:
    """Begins a new topic: another conversation of the visitor or customer, beside the earlier ones. Its id goes into
    the chat's hello."""
    if caller.is_operator:
        raise RefusedError(ErrorCode.FORBIDDEN, "this is for visitors and customers")
    address = client_address(request.scope)
    api.chat.limits.count_message(f"{caller.company}/{caller.subject}", address, opens_conversation=True)
    conversation, previous = await api.chat.topics.begin(caller, body.topic)
    return Begun(conversation_id=conversation, previous=previous)


@router.get("/{conversationId}", response_model_exclude_none=True, responses=described(404))
async def get_conversation(api: ApiDep, caller: PersonDep, conversation: ConversationPath) -> ConversationView:
    """One conversation as the inbox shows it."""
    return await _view(api, caller, conversation)


@router.get("/{conversationId}/messages", response_model=MessagesReply, responses=described(404))
async def list_messages(
    api: ApiDep,
    caller: PersonDep,
    conversation: ConversationPath,
    limit: Limit = 50,
    cursor: PageCursor = None,
    latest: Annotated[bool, Query(description="begin with the newest; each cursor then leads to older ones")] = False,
) -> Response:
    """The messages, oldest first."""
    await api.chat.access.check_readable(caller, conversation)
    return page(await _messages(api, caller, conversation, limit, cursor, latest=latest))


@router.get(
    "/{conversationId}/transcript",
    response_model=Transcript,
    responses=described(404) | {200: {"content": {"text/plain": {}, "application/json": {}}}},
)
async def get_transcript(request: Request, api: ApiDep, caller: PersonDep, conversation: ConversationPath) -> Response:
    """The whole conversation, as text or (Accept: application/json) as JSON."""
    view = await _view(api, caller, conversation)
    pages = [page async for page in _pages(api, caller, conversation)]
    messages = [message for page in pages for message in page.items]
    events = [event for page in pages for event in page.events or ()]
    if prefers(request.headers.get("accept", ""), "text/plain", "application/json"):
        entries = sorted([*messages, *events], key=lambda entry: entry.seq)
        return PlainTextResponse("".join(map(_transcript_line, entries)))
    return JSONResponse(Transcript(conversation=view, messages=messages, events=events).to_wire())


@router.post(
    "/{conversationId}/messages", status_code=201, response_model_exclude_none=True, responses=described(404, 409)
)
async def send_message(
    api: ApiDep, caller: OperatorDep, conversation: ConversationPath, body: MessageRequest
) -> MessageView:
    """A human agent's message. The same clientMessageId with another text is a CONFLICT."""
    check_not_blank(body.text)
    await api.chat.access.check_watchable(caller, conversation)
    place = ConversationPlace(caller, conversation)
    stored = await api.chat.commands.find_sent(place, body.client_message_id)
    files = await api.chat.files.file_refs(place, body.files)
    if stored is None:
        draft = MessageDraft(body.client_message_id, body.text, files=files, seen_seq=body.seen_seq)
        stored = await api.chat.commands.send_as_operator(place, draft)
    message = found(await api.chat.commands.message_at(place, stored.seq), "conversation")  # it may be deleted since
    if (message.text, message.files) != (body.text, files):
        raise RefusedError(ErrorCode.CONFLICT, "clientMessageId: it was used for another message; choose a new one")
    return message


@router.post("/{conversationId}/owner", response_model_exclude_none=True, responses=described(404, 409))
async def change_owner(
    api: ApiDep, caller: OperatorDep, conversation: ConversationPath, body: OwnerRequest
) -> OwnerReply:
    """Take the conversation over (human) or give it back to the AI (ai)."""
    await api.chat.access.check_watchable(caller, conversation)
    place = ConversationPlace(caller, conversation)
    if body.owner == "human":
        await api.chat.commands.take(place, body.seen_seq)
        return OwnerReply(owner=Owner(kind=OwnerKind.HUMAN, operator_id=caller.subject, name=caller.name))
    await api.chat.commands.release(place)
    return OwnerReply(owner=Owner(kind=OwnerKind.AI))


@router.get("/{conversationId}/rating", response_model_exclude_none=True, responses=described(404))
async def get_rating(api: ApiDep, caller: PersonDep, conversation: ConversationPath) -> RatingReply:
    """The visitor's rating; empty: none yet."""
    await api.chat.access.check_readable(caller, conversation)
    request = ConversationRef(company_id=caller.company, conversation_id=conversation)
    return await ask(api.rpc, RATING, request)


@router.put("/{conversationId}/rating", response_model_exclude_none=True, responses=described(404))
async def put_rating(api: ApiDep, caller: PersonDep, conversation: ConversationPath, body: RatingRequest) -> RatingView:
    """Rates the conversation, by its visitor or customer. A new rating replaces the old one."""
    if caller.is_operator:
        raise RefusedError(ErrorCode.FORBIDDEN, "only the visitor or customer it belongs to can rate a conversation")
    await api.chat.access.check_usable(caller, conversation)
    await api.chat.commands.rate(ConversationPlace(caller, conversation), body.score, body.comment)
    return RatingView(score=body.score, comment=body.comment, rated_at=api.clock.now())


@router.post("/{conversationId}/actions/{actionId}", response_model_exclude_none=True, responses=described(404, 409))
async def decide_action(
    api: ApiDep,
    caller: PersonDep,
    conversation: ConversationPath,
    action: Annotated[str, Path(pattern=ID_PATTERN, alias="actionId")],
    body: DecisionRequest,
    accept_language: AcceptLanguage = None,
) -> Action:
    """Confirms or rejects an action of the caller's. Deciding again changes nothing: the first decision counts."""
    await api.chat.access.check_usable(caller, conversation)
    language = named_language(accept_language)
    if body.edits and body.decision == "reject":
        raise bad_field("edits", "only a yes has some")
    check_json(body.edits or {})
    return await api.actions.decide(caller, action, body.decision, language, body.edits)


async def _view(api: Api, caller: TokenCaller, conversation: str) -> ConversationView:
    await api.chat.access.check_readable(caller, conversation)
    view = found(await api.memory.conversation(caller.company, conversation), "conversation")
    return _view_for(caller, (await api.action_states.views_with_current_states(caller.company, [view]))[0])


def _is_visible_to_visitor(view: ConversationView) -> bool:
    """Whether visitors may see the conversation: those merged by human agents do not see each other's conversations."""
    return not view.visitor.was or bool(view.visitor.signed_in)


def _view_for(caller: TokenCaller, view: ConversationView) -> ConversationView:
    """The view without fields that only human agents may see, if the caller is none."""
    return view if caller.is_operator else view.model_copy(update=_NOT_FOR_VISITORS | _visitor_status(view))


def _visitor_status(view: ConversationView) -> dict[str, str]:
    """Fields that show a snoozed conversation as open to visitors."""
    if view.status != "snoozed":
        return {}
    return {"status": "open", "state": "human" if view.owner.kind is OwnerKind.HUMAN else "ai"}


async def _messages(
    api: Api, caller: TokenCaller, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
) -> MessagesReply:
    async with api.chat.limits.read(caller.company, caller.subject):
        page = await api.memory.messages(caller.company, conversation, limit, cursor, latest=latest)
    return page.model_copy(
        update={"items": await api.action_states.with_current_states(caller.company, conversation, page.items)}
    )


async def _pages(api: Api, caller: TokenCaller, conversation: str) -> AsyncIterator[MessagesReply]:
    cursor: str | None = None
    limit, left = TRANSCRIPT_PAGE, TRANSCRIPT_MESSAGES
    while left > 0:
        page = await _messages(api, caller, conversation, limit, cursor)
        yield page
        # Memory shortens a page of long messages after having read it in vain; pages of 25 always fit.
        limit = min(limit, max(len(page.items), 25))
        left -= max(len(page.items), 1)
        cursor = page.next
        if cursor is None:
            return


def _transcript_line(entry: MessageView | OwnerEvent) -> str:
    if isinstance(entry, MessageView):
        file_list = "".join(f" [{file.name}, {file.type}, {file.size} bytes]" for file in entry.files or ())
        return f"[{_time(entry.created_at)}] {entry.role.value}: {entry.text}{file_list}\n"
    person = entry.owner.name or entry.owner.operator_id
    owner = entry.owner.kind.value + (f" ({person})" if person else "")
    reason = f", {entry.reason}" if entry.reason else ""
    return f"[{_time(entry.created_at)}] owner: {owner}, by {entry.name or entry.by}{reason}\n"


def _time(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")
