"""/v1: the OpenAI-compatible API for the official clients; the answer is the copilot's, with tools.

The caller sends the whole conversation each time, and none of it is stored. The work ends when the caller disconnects.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, suppress
from functools import partial
from typing import Annotated, Literal, TypeVar
from uuid import uuid4

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from contracts.completion_rpc import CompletePart, CompleteRequest, CompletionEnd, ModelName
from contracts.errors import ErrorCode, FieldFault
from contracts.languages import named_language
from contracts.providers import OFFLINE_MODEL
from gateway.domain.text_shape import TextShape
from gateway.doors import server_sent
from gateway.doors.completions.chunks import ChatCompletion, ChunkedAnswer
from gateway.doors.completions.request import ChatCompletionRequest, request_of, shape_of
from gateway.doors.door_route import DoorRoute
from gateway.errors import GatewayError, RateLimitedError, RefusedError, UnavailableError
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, CustomerDep
from gateway.web.http_transport import CONNECTION, BoundedHttp
from gateway.web.keepalive import EventStream, Write
from gateway.web.openai_errors import described, error_body
from gateway.web.problems import STATUS
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v1", tags=["openai"], route_class=DoorRoute)

MOST_BYTES = 768 * 1024
"""Bytes of a request, which goes over the bus in one message."""
HEADERS_AFTER = 5.0
"""Seconds after which a stream begins even without a first part; a later error is one of its events."""
TRIES = 2
"""Attempts at a text of the requested format."""
_NO_MODEL = "no model is configured, and the built-in assistant writes no JSON: set a model's key, or ask for text"
_DONE = b"data: [DONE]\n\n"
ResultT = TypeVar("ResultT")


class ListedModel(BaseModel):
    """A possible value of `model`."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str


class ModelList(BaseModel):
    """All of them, the company's own choice first."""

    object: Literal["list"] = "list"
    data: list[ListedModel]


@router.get("/models", responses=described())
async def list_models(api: ApiDep, caller: CustomerDep) -> ModelList:
    """`nexus`, which is whatever model the company has set, and the models of its provider."""
    return ModelList(data=[_view(model) for model in await api.completions.models(caller.company)])


@router.get("/models/{model:path}", responses=described(400, 404))
async def get_model(api: ApiDep, caller: CustomerDep, model: Annotated[str, Path(max_length=200)]) -> ListedModel:
    """One of them."""
    for one in await api.completions.models(caller.company):
        if one.id == model:
            return _view(one)
    raise no_model(model)


@router.post(
    "/chat/completions",
    response_class=Response,
    responses=described(400, 404, 413, 429, 504)
    | {
        200: {
            "model": ChatCompletion,
            "description": "The answer; with `stream` its chunks as server-sent events",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def complete(
    request: Request,
    api: ApiDep,
    caller: CustomerDep,
    body: ChatCompletionRequest,
    accept_language: AcceptLanguage = None,
) -> Response:
    """The copilot's answer. Its tools run behind it with the caller's plan; the caller's own are returned to them."""
    request_id = uuid4().hex
    language = named_language(accept_language)
    asked = request_of(
        body,
        company=caller.company,
        request_id=request_id,
        principal=api.principals.sign(caller, None, language),
        language=language,
        door="completions",
    )
    admit(request, api, caller, asked)
    answering = ChunkedAnswer(f"chatcmpl-{request_id}", int(api.clock.now().timestamp()), body.model)
    shape = shape_of(body)
    if asked.stream:
        told = api.completions.complete(caller, asked) if shape is None else aclosing(_whole(api, caller, asked, shape))
        return await _streamed(told, answering, with_usage=body.wants_usage)
    work = collected(api, caller, asked) if shape is None else shaped(api, caller, asked, shape)
    text, end = await while_connected(request, work)
    return Response(answering.whole(text, end).model_dump_json(exclude_none=False), media_type="application/json")


def no_model(name: str) -> RefusedError:
    """The error for a model that the company does not have."""
    message = f"there is no model {name!r}: GET /v1/models lists them"
    return RefusedError(ErrorCode.NOT_FOUND, message, [FieldFault(field="model", message=message)])


def admit(request: Request, api: Api, caller: TokenCaller, asked: CompleteRequest) -> None:
    """Checks the request's size and the websocket's limits, which count the user's messages. Results of the caller's
    own tools are not counted: they belong to an earlier message.

    Raises:
        HTTPException: 413, it is too large.
        RateLimitedError: the user or their address has sent too many.
    """
    if len(asked.to_json()) > MOST_BYTES:
        raise HTTPException(413, f"send at most {MOST_BYTES} bytes")
    if asked.messages[-1].role != "tool":
        subject = f"{caller.company}/{caller.subject}"
        api.limits.count_message(subject, client_address(request.scope), opens_conversation=False)


async def collected(api: Api, caller: TokenCaller, asked: CompleteRequest) -> tuple[str, CompletionEnd]:
    texts: list[str] = []
    async with api.completions.complete(caller, asked) as parts:
        async for part in parts:
            if part.text is not None:
                texts.append(part.text)
            if part.end is not None:
                return "".join(texts), part.end
    raise UnavailableError("the answer has no end: try again")


async def shaped(api: Api, caller: TokenCaller, asked: CompleteRequest, shape: TextShape) -> tuple[str, CompletionEnd]:
    """A text of the requested format, asked for again if it is wrong; calls of the caller's tools have no format.

    Raises:
        RefusedError: no model answered, but the built-in assistant.
        UnavailableError: the model's text does not fit.
    """
    asked = asked.model_copy(update={"stream": False})
    wrong = None
    for attempt in range(TRIES):
        text, end = await collected(api, caller, asked)
        wrong = None if end.calls else await asyncio.to_thread(shape.misfit, text)
        if wrong is None:
            return text, end
        if end.model == OFFLINE_MODEL:
            raise RefusedError(ErrorCode.BAD_FIELD, _NO_MODEL)
        said = [
            {"role": "assistant", "content": text or "-"},
            {"role": "system", "content": f"That does not fit: {wrong}. {shape.instruction}"},
        ]
        again = CompleteRequest.model_validate({**asked.to_wire(), "messages": [*asked.to_wire()["messages"], *said]})
        asked = again.model_copy(update={"request_id": f"{asked.request_id[:60]}-{attempt + 2}"})
    raise UnavailableError(f"the model's answer does not have the wanted shape: {wrong}")


async def _whole(
    api: Api, caller: TokenCaller, asked: CompleteRequest, shape: TextShape
) -> AsyncGenerator[CompletePart, None]:
    """Collects a text that is to be checked."""
    text, end = await shaped(api, caller, asked, shape)
    if text:
        yield CompletePart(text=text)
    yield CompletePart(end=end)


async def while_connected(request: Request, work: Awaitable[ResultT]) -> ResultT:
    """The result; cancelled if the caller disconnects, since it costs money and nobody would read it."""
    working = asyncio.ensure_future(work)
    connection: BoundedHttp = request.scope[CONNECTION]
    connection.watch(working.cancel)
    try:
        await asyncio.wait((working,))
        if working.cancelled():
            raise UnavailableError("the caller has gone")
        return working.result()
    finally:
        connection.watch(None)
        working.cancel()
        await asyncio.wait((working,))


async def _streamed(
    told: AbstractAsyncContextManager[AsyncIterator[CompletePart]], answering: ChunkedAnswer, *, with_usage: bool
) -> Response:
    """A stream whose first part is ready, so that an error before it can have its own status."""
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(told)
        waiting = asyncio.ensure_future(anext(parts))
        stack.push_async_callback(_given_up, waiting)
        await asyncio.wait((waiting,), timeout=HEADERS_AFTER)
        if waiting.done():
            waiting.result()
        return EventStream(partial(_tell, stack.pop_all(), parts, waiting, answering, with_usage))
    raise AssertionError("unreachable")


async def _tell(
    stack: AsyncExitStack,
    parts: AsyncIterator[CompletePart],
    waiting: asyncio.Future[CompletePart],
    answering: ChunkedAnswer,
    with_usage: bool,
    write: Write,
) -> None:
    """Writes server-sent events; an error during the answer is the last one."""
    try:
        async with stack:
            piece = server_sent.event(answering.first())
            if not waiting.done():
                await write(piece)
                piece = b""
            part = await waiting
            while True:
                if part.text is not None:
                    piece += server_sent.event(answering.text(part.text))
                if part.end is not None:
                    await write(piece + server_sent.events(answering.last(part.end, with_usage=with_usage)) + _DONE)
                    return
                if piece:
                    await write(piece)
                piece, part = b"", await anext(parts)
    except GatewayError as error:
        spent = isinstance(error, RateLimitedError) and error.spent
        told = error_body(STATUS[error.code], str(error.code), error.message, spent=spent)
        await write(server_sent.event(told.model_dump()))


async def _given_up(waiting: asyncio.Future[CompletePart]) -> None:
    """Cancels the task that waits for the next part before the parts are closed."""
    if not waiting.done():
        waiting.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await waiting


def _view(model: ModelName) -> ListedModel:
    return ListedModel(id=model.id, owned_by=model.provider)
