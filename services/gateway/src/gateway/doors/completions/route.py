"""/v1: the OpenAI-compatible API for the official clients; the answer is the copilot's, with tools.

The caller sends the whole conversation each time, and none of it is stored. If the caller disconnects, the work stops.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Literal, TypeVar
from uuid import uuid4

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from contracts.completion_rpc import CompletePart, CompleteRequest, ModelName
from contracts.errors import ErrorCode, FieldFault
from contracts.languages import named_language
from gateway.doors import server_sent
from gateway.doors.completions.chunks import ChatCompletion, ChunkedAnswer
from gateway.doors.completions.parts import collected, completion_parts, started
from gateway.doors.completions.request import ChatCompletionRequest, completion_request, text_shape_of
from gateway.doors.door_route import DoorRoute
from gateway.errors import GatewayError, RefusedError, UnavailableError
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, CustomerDep
from gateway.web.http_transport import CONNECTION, BoundedHttp
from gateway.web.keepalive import EventStream, Write
from gateway.web.openai_errors import described, error_body
from gateway.web.problems import STATUS
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v1", tags=["openai"], route_class=DoorRoute)

MAX_BYTES = 768 * 1024
"""Largest request in bytes; it is sent over the bus in one message."""
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
    return ModelList(data=[_listed_model(model) for model in await api.completions.models(caller.company)])


@router.get("/models/{model:path}", responses=described(400, 404))
async def get_model(api: ApiDep, caller: CustomerDep, model: Annotated[str, Path(max_length=200)]) -> ListedModel:
    """One of them."""
    for listed in await api.completions.models(caller.company):
        if listed.id == model:
            return _listed_model(listed)
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
    completion = completion_request(
        body,
        company=caller.company,
        request_id=request_id,
        principal=api.identity.principals.sign(caller, None, language),
        language=language,
        door="completions",
    )
    admit(request, api, caller, completion)
    answer = ChunkedAnswer(f"chatcmpl-{request_id}", int(api.clock.now().timestamp()), body.model)
    parts = completion_parts(api, caller, completion, text_shape_of(body))
    if completion.stream:
        source = await started(_chunks(parts, answer, with_usage=body.wants_usage))
        return EventStream(partial(_write_chunks, source))
    text, end = await while_connected(request, collected(parts))
    return Response(answer.completion(text, end).model_dump_json(exclude_none=False), media_type="application/json")


def no_model(name: str) -> RefusedError:
    """The error for a model that the company does not have."""
    message = f"there is no model {name!r}: GET /v1/models lists them"
    return RefusedError(ErrorCode.NOT_FOUND, message, [FieldFault(field="model", message=message)])


def admit(request: Request, api: Api, caller: TokenCaller, completion: CompleteRequest) -> None:
    """Checks the request's size, and the same limits of messages as the websocket. Results of the caller's own tools
    are not counted: they belong to an earlier message.

    Raises:
        HTTPException: 413, the request is too large.
        RateLimitedError: the user or their address has sent too many messages.
    """
    if len(completion.to_json()) > MAX_BYTES:
        raise HTTPException(413, f"send at most {MAX_BYTES} bytes")
    # A wanted shape adds a system message at the end.
    if next((one.role for one in reversed(completion.messages) if one.role != "system"), None) != "tool":
        subject = f"{caller.company}/{caller.subject}"
        api.chat.limits.count_message(subject, client_address(request.scope), opens_conversation=False)


async def while_connected(request: Request, work: Awaitable[ResultT]) -> ResultT:
    """The result of `work`, which is cancelled if the caller disconnects: it costs money, and nobody would read it."""
    task = asyncio.ensure_future(work)
    connection: BoundedHttp = request.scope[CONNECTION]
    connection.watch(task.cancel)
    try:
        await asyncio.wait((task,))
        if task.cancelled():
            raise UnavailableError("the caller has gone")
        return task.result()
    finally:
        connection.watch(None)
        task.cancel()
        await asyncio.wait((task,))


async def _chunks(
    parts: AsyncGenerator[CompletePart], answer: ChunkedAnswer, *, with_usage: bool
) -> AsyncGenerator[bytes]:
    """The answer as server-sent events."""
    yield server_sent.event(answer.first_chunk())
    async with aclosing(parts):
        async for part in parts:
            if part.text is not None:
                yield server_sent.event(answer.text_chunk(part.text))
            if part.end is not None:
                yield server_sent.events(answer.last_chunks(part.end, with_usage=with_usage)) + _DONE
                return
    raise UnavailableError("the answer has no end: try again")


async def _write_chunks(source: Callable[[Write], Awaitable[None]], write: Write) -> None:
    """Writes the chunks of the source; an error during the answer is the last event."""
    try:
        await source(write)
    except GatewayError as error:
        error_chunk = error_body(STATUS[error.code], str(error.code), error.message, spent=error.spent)
        await write(server_sent.event(error_chunk.model_dump()))


def _listed_model(model: ModelName) -> ListedModel:
    return ListedModel(id=model.id, owned_by=model.provider)
