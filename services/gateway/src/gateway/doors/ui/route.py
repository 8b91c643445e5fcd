"""POST /v2/ui/chat and GET /v2/ui/chat/{id}/stream: the AI SDK's UI message stream v1 over a conversation.

The same messages again are one question, whose outcome is shown again.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from contracts.errors import ErrorCode
from contracts.events.chat import Action
from contracts.ids import answer_id, turn_id
from contracts.languages import named_language
from gateway.chat.commands import ConversationPlace
from gateway.chat.customers import has_account
from gateway.chat.sent_messages import SentMessage, client_message_id
from gateway.chat.thread import Thread
from gateway.doors import server_sent
from gateway.doors.approvals import actions_in, newest_messages
from gateway.doors.client_tools import wishes_in
from gateway.doors.door_route import DoorRoute
from gateway.doors.translation import translate
from gateway.doors.ui.reply import Json, UiReply, decided
from gateway.doors.ui.request import Approval, ChatRequest, approval_in
from gateway.errors import GatewayError, RefusedError, not_found
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, WriterDep
from gateway.web.keepalive import HEADERS, EventStream, Write, asgi_headers
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/ui/chat", tags=["ai-sdk"], route_class=DoorRoute)

DOOR = "ui"
_HEADERS = asgi_headers({**HEADERS, "x-vercel-ai-ui-message-stream": "v1"})
_DONE = b"data: [DONE]\n\n"
_STREAM: Json = {
    "description": "The chunks of a UI message stream v1 as server-sent events, from `start` to `[DONE]`",
    "content": {"text/event-stream": {}},
}
ChatPath = Annotated[str, Path(min_length=1, max_length=200, alias="id", description="the client's id of the chat")]


@router.post("", response_class=EventStream, status_code=200, responses=described(404, 409, 429) | {200: _STREAM})
async def send_messages(
    request: Request, api: ApiDep, caller: WriterDep, body: ChatRequest, accept_language: AcceptLanguage = None
) -> EventStream:
    """Answers the user's newest messages in the chat, and does what they have approved."""
    new, wishes = body.new_messages(), wishes_in(body.tools, schema="inputSchema")
    message, parts = body.answered()
    answers = [approval_in(part) for part in parts]
    locale = named_language(accept_language)
    place = ConversationPlace(caller, await api.threads.named(caller, DOOR, body.id))
    done = await _decided(api, place, answers, locale, alone=not new)
    given = {} if new else body.results()
    known = await api.handed.give(place.company, place.conversation, given) if given else frozenset[str]()
    if not new and not known:
        if not done:
            raise RefusedError(
                ErrorCode.BAD_FIELD, "messages: nothing new from the user, no answer, and no result awaited"
            )
        ending = server_sent.events([{"type": "start", "messageId": message}, *map(decided, done), _FINISH]) + _DONE
        return EventStream(lambda write: write(ending), _HEADERS)
    if body.trigger == "regenerate-message":
        new = [await _once_more(api, place, new[-1])]
    asked = await api.threads.newest(caller, place.conversation) if known else 0
    address = client_address(request.scope)
    async with api.threads.open(
        caller, place.conversation, address=address, locale=locale, after=asked or None, door=DOOR
    ) as thread:
        for one in new:
            asked = (await thread.send(one, wishes)).seq
        behind = UiReply(message, given, body.last_text()) if known else None
        return EventStream(partial(_tell, api, thread.hand_on(), asked, done, behind), _HEADERS)


@router.get(
    "/{id:path}/stream",
    response_class=EventStream,
    status_code=200,
    responses=described(404, 429) | {200: _STREAM, 204: {"description": "Nothing is being answered"}},
)
async def resume_stream(
    request: Request, api: ApiDep, caller: WriterDep, chat: ChatPath, accept_language: AcceptLanguage = None
) -> Response:
    """The answer to the chat's newest question, from its beginning. 204: the client has had it, or nobody has asked."""
    conversation, asked = await _asked(api, caller, chat)
    if asked == 0 or (
        api.threads.was_delivered(conversation, asked) and not await api.threads.awaited(caller, conversation)
    ):
        return Response(status_code=204)
    locale = named_language(accept_language)
    async with api.threads.open(
        caller, conversation, address=client_address(request.scope), locale=locale, after=asked, door=DOOR
    ) as thread:
        await thread.read_on(asked)
        return EventStream(partial(_tell, api, thread.hand_on(), asked, (), None), _HEADERS)


@router.post("/{id:path}/stop", status_code=204, response_class=Response, responses=described(404))
async def stop_stream(api: ApiDep, caller: WriterDep, chat: ChatPath) -> None:
    """Stops the answer to the chat's newest question, for everybody in it. What is over stays as it is."""
    conversation, asked = await _asked(api, caller, chat)
    if asked and await api.threads.awaited(caller, conversation):
        turn = turn_id(caller.company, conversation, asked)
        await api.commands.cancel(ConversationPlace(caller, conversation), turn)


async def _asked(api: Api, caller: TokenCaller, chat: str) -> tuple[str, int]:
    """The conversation, and the sequence of its newest question."""
    conversation = await api.threads.named(caller, DOOR, chat)
    return conversation, await api.threads.newest(caller, conversation)


async def _once_more(api: Api, place: ConversationPlace, one: SentMessage) -> SentMessage:
    """Asks a question again, as a new message: the first one stays in the log."""
    newest = await api.threads.newest(place.caller, place.conversation)
    return replace(one, identity=client_message_id(one.identity, "again", str(newest)))


async def _decided(
    api: Api, place: ConversationPlace, answers: Sequence[Approval], locale: str | None, *, alone: bool
) -> list[Action]:
    """The actions that the answers decide; all are looked up before any is decided. Together with new messages (not
    `alone`) they may be old ones, no longer among the conversation's last messages.

    Raises:
        RefusedError: NOT_FOUND, no such approval was requested in this chat.
        UnavailableError: this cannot be determined now.
    """
    caller = place.caller
    if not answers:
        return []
    wanted = [answer.approval for answer in answers]
    asked = actions_in(await newest_messages(api, place, wanted)) if has_account(caller) else {}
    if alone and not asked.keys() >= set(wanted):
        raise not_found("approval in this chat")
    decide = api.actions.decide
    return [
        await decide(
            caller, one.approval, "confirm" if one.approved else "reject", locale, one.edits(asked[one.approval])
        )
        for one in answers
        if one.approval in asked
    ]


_FINISH: Json = {"type": "finish", "finishReason": "stop"}


async def _tell(
    api: Api, thread: Thread, asked: int, done: Sequence[Action], behind: UiReply | None, write: Write
) -> None:
    """Writes the outcome of the message at `asked`, as it happens; before it, what was decided with it. `behind`: the
    client's own message, which continues after the handed calls that it has answered."""
    place = thread.place
    reply = behind or UiReply(answer_id(turn_id(place.company, place.conversation, asked)))
    try:
        beside = [{"type": "data-action", "id": action.id, "data": action.to_wire()} for action in done]
        await write(server_sent.events([*reply.begin(), *beside]))
        await translate(
            thread, asked, reply, lambda told: write(server_sent.events(told) + (_DONE if reply.ended else b""))
        )
        api.threads.mark_delivered(place.conversation, asked)
    except GatewayError as error:
        failed = reply.fail(str(error.code), await thread.error_in_words(error), error.wait)
        await write(server_sent.events(failed) + _DONE)
    finally:
        if reply.ended:
            await thread.end()
        else:
            thread.leave(asked)
