"""POST /v2/ui/chat and GET /v2/ui/chat/{id}/stream: the AI SDK's UI message stream v1 on a conversation.

A repeated request with the same messages gets the same outcome.
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
from gateway.doors.client_tools import wishes_with_tools
from gateway.doors.door_route import DoorRoute
from gateway.doors.translation import translate
from gateway.doors.ui.reply import Json, UiReply, decision_chunk
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
    messages, wishes = body.new_messages(), wishes_with_tools(body.tools, schema="inputSchema")
    message, parts = body.decision_parts()
    answers = [approval_in(part) for part in parts]
    locale = named_language(accept_language)
    place = ConversationPlace(caller, await api.threads.conversation_named(caller, DOOR, body.id))
    decided_actions = await _decide_actions(api, place, answers, locale, only_answers=not messages)
    results = {} if messages else body.results()
    known_calls = (
        await api.handed.store_results(place.company, place.conversation, results) if results else frozenset[str]()
    )
    if not messages and not known_calls:
        if not decided_actions:
            raise RefusedError(
                ErrorCode.BAD_FIELD, "messages: nothing new from the user, no answer, and no result awaited"
            )
        body_bytes = (
            server_sent.events(
                [{"type": "start", "messageId": message}, *map(decision_chunk, decided_actions), _FINISH]
            )
            + _DONE
        )
        return EventStream(lambda write: write(body_bytes), _HEADERS)
    if body.trigger == "regenerate-message":
        messages = [await _repeated_question(api, place, messages[-1])]
    question_seq = await api.threads.newest_question_seq(caller, place.conversation) if known_calls else 0
    address = client_address(request.scope)
    async with api.threads.open(
        caller, place.conversation, address=address, locale=locale, after=question_seq or None, door=DOOR
    ) as thread:
        for question in messages:
            question_seq = (await thread.send(question, wishes)).seq
        continued_reply = UiReply(message, results, body.last_text()) if known_calls else None
        return EventStream(
            partial(_write_reply, api, thread.detach(), question_seq, decided_actions, continued_reply), _HEADERS
        )


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
    conversation, question_seq = await _newest_question(api, caller, chat)
    if question_seq == 0 or (
        api.threads.was_delivered(conversation, question_seq)
        and not await api.threads.is_unanswered(caller, conversation)
    ):
        return Response(status_code=204)
    locale = named_language(accept_language)
    async with api.threads.open(
        caller, conversation, address=client_address(request.scope), locale=locale, after=question_seq, door=DOOR
    ) as thread:
        await thread.announce_resume(question_seq)
        return EventStream(partial(_write_reply, api, thread.detach(), question_seq, (), None), _HEADERS)


@router.post("/{id:path}/stop", status_code=204, response_class=Response, responses=described(404))
async def stop_stream(api: ApiDep, caller: WriterDep, chat: ChatPath) -> None:
    """Stops the answer to the chat's newest question, for everybody in it. What is over stays as it is."""
    conversation, question_seq = await _newest_question(api, caller, chat)
    if question_seq and await api.threads.is_unanswered(caller, conversation):
        turn = turn_id(caller.company, conversation, question_seq)
        await api.chat.commands.cancel(ConversationPlace(caller, conversation), turn)


async def _newest_question(api: Api, caller: TokenCaller, chat: str) -> tuple[str, int]:
    """The conversation, and the sequence of its newest question."""
    conversation = await api.threads.conversation_named(caller, DOOR, chat)
    return conversation, await api.threads.newest_question_seq(caller, conversation)


async def _repeated_question(api: Api, place: ConversationPlace, question: SentMessage) -> SentMessage:
    """The question as a new message, to be asked again; the first one stays in the log."""
    newest_seq = await api.threads.newest_question_seq(place.caller, place.conversation)
    return replace(question, identity=client_message_id(question.identity, "again", str(newest_seq)))


async def _decide_actions(
    api: Api, place: ConversationPlace, answers: Sequence[Approval], locale: str | None, *, only_answers: bool
) -> list[Action]:
    """Decides the actions that the answers name, and returns them; all are looked up before any is decided. Without
    `only_answers` there are new messages too, and the answers may be old: actions no longer among the conversation's
    last messages are ignored.

    Raises:
        RefusedError: NOT_FOUND, no such approval was requested in this chat.
        UnavailableError: this cannot be determined now.
    """
    caller = place.caller
    if not answers:
        return []
    approval_ids = [answer.id for answer in answers]
    actions = actions_in(await newest_messages(api, place, approval_ids)) if has_account(caller) else {}
    if only_answers and not actions.keys() >= set(approval_ids):
        raise not_found("approval in this chat")
    decide = api.actions.decide
    return [
        await decide(
            caller, answer.id, "confirm" if answer.approved else "reject", locale, answer.edits(actions[answer.id])
        )
        for answer in answers
        if answer.id in actions
    ]


_FINISH: Json = {"type": "finish", "finishReason": "stop"}


async def _write_reply(
    api: Api,
    thread: Thread,
    question_seq: int,
    decided_actions: Sequence[Action],
    continued_reply: UiReply | None,
    write: Write,
) -> None:
    """Writes the decided actions, then the outcome of the message at `question_seq` as it happens. `continued_reply`:
    the client's message that continues after the handed calls that it has answered."""
    place = thread.place
    reply = continued_reply or UiReply(answer_id(turn_id(place.company, place.conversation, question_seq)))
    try:
        action_data_chunks = [
            {"type": "data-action", "id": action.id, "data": action.to_wire()} for action in decided_actions
        ]
        await write(server_sent.events([*reply.start(), *action_data_chunks]))
        await translate(
            thread,
            question_seq,
            reply,
            lambda chunks: write(server_sent.events(chunks) + (_DONE if reply.has_ended else b"")),
        )
        api.threads.mark_delivered(place.conversation, question_seq)
    except GatewayError as error:
        failed = reply.fail(str(error.code), await thread.error_text(error), error.wait)
        await write(server_sent.events(failed) + _DONE)
    finally:
        if reply.has_ended:
            await thread.end()
        else:
            thread.handle_client_gone(question_seq)
