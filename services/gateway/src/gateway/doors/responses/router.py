"""POST /v1/responses, GET and DELETE /v1/responses/{id}, POST /v1/responses/{id}/cancel."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

import orjson
from fastapi import APIRouter, Header, Path, Query, Request, Response

from contracts.completion_rpc import OWN_MODEL
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT
from contracts.languages import named_language
from contracts.plain_text import is_blank
from gateway.chat.thread import Thread
from gateway.doors import server_sent
from gateway.doors.completions.parts import started
from gateway.doors.completions.route import admit, no_model, while_connected
from gateway.doors.door_route import DoorRoute
from gateway.doors.responses import kept, unkept
from gateway.doors.responses.names import parse_response_id
from gateway.doors.responses.objects import new_response
from gateway.doors.responses.requests import (
    APPROVAL,
    CreateResponse,
    approvals_in,
    check,
    is_echo,
    only_approves,
    takes_approvals,
    with_previous_response,
)
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.doors.translation import Send
from gateway.errors import GatewayError, RefusedError, TookTooLongError, bad_field
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, CustomerDep
from gateway.web.keepalive import EventStream, Write
from gateway.web.openai_errors import described, error_body
from gateway.web.problems import STATUS
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v1/responses", tags=["responses"], route_class=DoorRoute)

CANCEL_SECONDS = 10.0
"""Seconds to wait for a cancellation to arrive from the log."""
_DONE = b"data: [DONE]\n\n"
_LAST_EVENTS = frozenset({"response.completed", "response.failed", "response.incomplete"})
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The response; with `stream` its events",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
}
_DELETED: dict[int | str, dict[str, Any]] = {
    200: {"description": "It is deleted", "content": {"application/json": {"schema": {"type": "object"}}}}
}
Name = Annotated[str, Path(alias="responseId", max_length=200)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=255)]
Tries = Annotated[str | None, Header(alias="x-stainless-retry-count", include_in_schema=False)]
UserAgent = Annotated[str, Header(include_in_schema=False)]


@router.post("", response_class=Response, responses=described(400, 404, 413, 429, 504) | _STREAM)
async def create(
    request: Request,
    api: ApiDep,
    caller: CustomerDep,
    body: CreateResponse,
    accept_language: AcceptLanguage = None,
    idempotency_key: Key = None,
    tries: Tries = None,
    user_agent: UserAgent = "",
) -> Response:
    """A message in a conversation of the caller's, and its answer. What brings tools of its own, a whole history or a
    form for the text is answered without being kept, as `store: false` is."""
    body = with_previous_response(body)
    check(body)
    language = named_language(accept_language)
    retry_count = int(tries) if tries is not None and tries.isdecimal() else 0
    approvals = takes_approvals(body, user_agent)
    client = kept.ResponseCaller(
        caller, client_address(request.scope), language, idempotency_key, retry_count, approvals
    )
    decisions = approvals_in(body)
    if only_approves(body):
        return _decision(await kept.decide(api, client, body, decisions), stream=bool(body.stream))
    is_kept = _is_kept(body, caller)
    texts = kept.request_texts(body) if is_kept else None
    if texts is not None:
        if is_blank(texts.text):
            raise bad_field("input", "write something")
        await _check_model(api, caller, body.model)
    if decisions:
        await kept.decide(api, client, body, decisions)
    if texts is None:
        return await _unkept(request, api, client, body)
    conversation, identity = await kept.message_place(api, client, body)
    async with kept.open_thread(api, client, conversation) as thread:
        run = await kept.begin(api, thread, client, body, texts, identity)
        if body.stream:
            return EventStream(partial(_write_events, thread.detach(), run.progress, partial(kept.follow, run)))
        if body.background:
            return _json(run.progress.response)
        await while_connected(request, kept.follow(run))
        if run.notice is not None:
            raise await kept.failure(api, caller.company, run.notice)
        question = run.thread.question
        created_field = {} if question is None else {"created_at": int(question.created_at.timestamp())}
        return _json({**run.progress.response, **created_field})


@router.get("/{responseId}", response_class=Response, responses=described(400, 404, 429) | _STREAM)
async def retrieve(
    request: Request,
    api: ApiDep,
    caller: CustomerDep,
    response: Name,
    stream: bool = False,
    starting_after: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """The response as it stands; with `stream` its events behind the number `starting_after`, and what still comes."""
    response_id = parse_response_id(response)
    client = kept.ResponseCaller(caller, client_address(request.scope))
    after = -1 if starting_after is None else starting_after
    if response_id.action is not None:
        return _decision(await kept.stored_decision(api, client, response_id, after), stream=stream)
    conversation = await kept.existing_conversation(api, caller, response_id)
    async with kept.resumed(api, client, response_id, conversation, after) as run:
        if stream:
            return EventStream(partial(_write_events, run.thread.detach(), run.progress, partial(kept.follow, run)))
        return _json(await kept.current_response(run))


@router.post("/{responseId}/cancel", response_class=Response, responses=described(400, 404, 429, 504) | _STREAM)
async def cancel(request: Request, api: ApiDep, caller: CustomerDep, response: Name) -> Response:
    """Stops it, for everybody in the conversation; a response that has ended stays as it is."""
    response_id = parse_response_id(response)
    client = kept.ResponseCaller(caller, client_address(request.scope))
    # A response that is being answered is not deleted, so it is stopped without asking memory.
    conversation = await kept.own_conversation(api, caller, response_id)
    async with kept.resumed(api, client, response_id, conversation) as run:
        try:
            await run.thread.cancel(response_id.question_seq)
        except RefusedError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            await kept.existing_conversation(api, caller, response_id)
            return _json(await kept.current_response(run))
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await kept.follow(run)
        except TimeoutError:
            raise TookTooLongError("it is being cancelled: ask again") from None
        return _json(run.progress.response)


@router.delete("/{responseId}", response_class=Response, responses=described(400, 404, 429) | _DELETED)
async def delete(request: Request, api: ApiDep, caller: CustomerDep, response: Name) -> Response:
    """Hides the response from its client; the conversation, which is the company's record, stays as it is."""
    client = kept.ResponseCaller(caller, client_address(request.scope))
    await kept.delete(api, client, parse_response_id(response))
    return _json({"id": response, "object": "response.deleted", "deleted": True})


def _is_kept(body: CreateResponse, caller: TokenCaller) -> bool:
    """Whether the request becomes a message in a conversation; raises RefusedError if it must but cannot."""
    if body.store is False:
        return False
    field = _unkeepable_field(body, caller)
    if field is None:
        return True
    if body.store or body.background or body.previous_response_id is not None:
        if field in {"input", "instructions"}:
            reason = f"at most {MAX_TEXT} characters in a conversation that is kept here, or send store false"
            raise bad_field(field, reason)
        raise bad_field(field, "not in a conversation that is kept: send store false, and the history in input")
    return False


def _unkeepable_field(body: CreateResponse, caller: TokenCaller) -> str | None:
    """The first parameter that a conversation's log cannot represent; None if there is none."""
    if not caller.writes_as_visitor:
        return "store"
    if body.functions:
        return "tools"
    if body.tool_choice not in (None, "auto"):
        return "tool_choice"
    if body.format.type != "text":
        return "text.format"
    for index, item in enumerate(() if isinstance(body.input, str) else body.input):
        is_text_message = (
            item.type == "message" and item.role in {"user", "system", "developer"} and not item.has_pictures
        )
        if not is_text_message and item.type != APPROVAL and not is_echo(item):
            return f"input[{index}]"
    texts = kept.request_texts(body)
    if len(texts.text) > MAX_TEXT:
        return "input"
    return "instructions" if len(texts.instructions) > MAX_TEXT else None


async def _check_model(api: Api, caller: TokenCaller, model: str) -> None:
    if model != OWN_MODEL and all(listed.id != model for listed in await api.completions.models(caller.company)):
        raise no_model(model)


async def _unkept(request: Request, api: Api, client: kept.ResponseCaller, body: CreateResponse) -> Response:
    caller, request_id = client.caller, uuid4().hex
    if body.previous_response_id is not None:
        body = body.model_copy(update={"input": [*await unkept.items_before(api, caller, body), *body.items]})
    shape, completion = unkept.completion_request(
        body,
        company=caller.company,
        request_id=request_id,
        principal=api.identity.principals.sign(caller, None, client.locale),
        language=named_language(client.locale),
    )
    admit(request, api, caller, completion)
    created = api.clock.now().timestamp()
    response = new_response(body, f"resp_{request_id}", created, conversation=None)
    progress = ResponseEvents(response, request_id, accepts_approvals=client.accepts_approvals)
    events = unkept.response_events(api, caller, completion, progress, shape)
    if body.stream:
        return EventStream(partial(_write_events, None, progress, await started(events)))
    await while_connected(request, _exhaust(events))
    return _json(progress.response)


async def _exhaust(events: AsyncGenerator[list[Json]]) -> None:
    async for _ in events:
        pass


async def _write_events(
    thread: Thread | None, progress: ResponseEvents, source: Callable[[Send], Awaitable[None]], write: Write
) -> None:
    """Writes the events of the source; an error during the answer is reported by the last ones. Ends the thread."""
    try:
        await source(lambda events: write(_encoded(events)))
    except GatewayError as error:
        body = error_body(STATUS[error.code], str(error.code), error.message, spent=error.spent).error
        error_fields = {"code": body.code or body.type, "message": body.message}
        await write(_encoded(progress.end("failed", 0, error=error_fields)))
    finally:
        if thread is not None:
            await thread.end()


def _encoded(events: Sequence[Json]) -> bytes:
    encoded = server_sent.named_events(events)
    return encoded + _DONE if events and events[-1]["type"] in _LAST_EVENTS else encoded


def _decision(decision: kept.DecisionResponse, *, stream: bool) -> Response:
    return EventStream(lambda write: write(_encoded(decision.events))) if stream else _json(decision.response)


def _json(response: Json) -> Response:
    return Response(orjson.dumps(response), media_type="application/json")
