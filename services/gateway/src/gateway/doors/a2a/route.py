"""POST /a2a: A2A 1.0 over JSON-RPC; streams are sent as server-sent events."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from fastapi import Request, Response

from contracts.errors import ErrorCode
from contracts.languages import named_language
from gateway.doors import server_sent
from gateway.doors.a2a import request as wire
from gateway.doors.a2a import rpc
from gateway.doors.a2a.card import PATH, router
from gateway.doors.a2a.rpc import A2AError, Json, RpcRequest
from gateway.doors.a2a.tasks import Tasks, TaskStream
from gateway.doors.door_route import RawBody
from gateway.errors import GatewayError, RefusedError
from gateway.web.deps import ApiDep, CallerDep
from gateway.web.keepalive import PAUSE_SECONDS, EventStream, Write, asgi_headers
from gateway.web.problems import STATUS, described
from gateway.web.words import AcceptLanguage

__all__ = ["router"]

METHODS: dict[str, Callable[[Tasks, Mapping[str, Any]], Coroutine[Any, Any, Json]]] = {
    "SendMessage": Tasks.send,
    "GetTask": Tasks.get,
    "ListTasks": Tasks.list_tasks,
    "CancelTask": Tasks.cancel,
}
STREAMS: dict[str, Callable[[Tasks, Mapping[str, Any]], Awaitable[TaskStream]]] = {
    "SendStreamingMessage": Tasks.stream,
    "SubscribeToTask": Tasks.subscribe,
}
_PUSH_METHODS = frozenset(
    f"{verb}TaskPushNotificationConfig{plural}"
    for verb, plural in (("Create", ""), ("Get", ""), ("List", "s"), ("Delete", ""))
)
_CODES_WITH_STATUS = frozenset({ErrorCode.RATE_LIMITED, ErrorCode.UNAVAILABLE, ErrorCode.TIMEOUT})
_JSON_HEADERS = asgi_headers({"Content-Type": "application/json"})
_SPACE = b" "
_CALL: Json = {
    "type": "object",
    "required": ["jsonrpc", "id", "method"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["string", "integer"]},
        "method": {"enum": [*METHODS, *STREAMS], "description": "What is asked for."},
        "params": {"type": "object", "description": "What the method takes, as A2A describes it."},
    },
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A JSON-RPC response; of the methods that stream, one in each server-sent event",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {},
        },
    },
    **{
        status: {"description": description, "content": {"application/json": {"schema": {"type": "object"}}}}
        for status, description in (
            (429, "Too much at once: Retry-After"),
            (503, "Try again"),
            (504, "No answer in time"),
        )
    },
}


@router.post(f"{PATH}/", include_in_schema=False)
@router.post(
    PATH,
    response_class=Response,
    responses={**described(), **_RESPONSES},
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _CALL}}}},
)
async def call_agent(
    request: Request, api: ApiDep, caller: CallerDep, body: RawBody, accept_language: AcceptLanguage = None
) -> Response:
    """A call of A2A 1.0 (SendMessage, GetTask, …). A task is one message in a conversation and its outcome."""
    if not caller.writes_as_visitor:
        raise RefusedError(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
    raw: object = None
    try:
        rpc.check_media(request.headers.get("content-type"))
        raw = rpc.parse_json(body)
        call = rpc.parse_request(raw)
        rpc.check_version(request.headers.get("a2a-version") or request.query_params.get("A2A-Version"))
        tasks = Tasks(api, caller, request, named_language(accept_language))
        if (stream := STREAMS.get(call.method)) is not None:
            return EventStream(partial(_write_stream, call, await stream(tasks, call.params)))
        if (method := METHODS.get(call.method)) is not None:
            return await _result_response(call, method(tasks, call.params))
        raise _unknown_method(call.method)
    except (A2AError, GatewayError) as error:
        return _error_response(rpc.request_id(raw), error)


def _unknown_method(method: str) -> A2AError:
    if method in _PUSH_METHODS:
        return wire.refuse_push_notifications()
    if method == "GetExtendedAgentCard":
        return rpc.unsupported("this agent has one card, for everybody")
    return A2AError(-32601, "METHOD_NOT_FOUND", f"there is no method {method[:80]!r} in A2A {rpc.PROTOCOL}")


def _json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def _error_response(identity: rpc.Identity, error: A2AError | GatewayError) -> Response:
    body = _error_body(identity, error)
    if isinstance(error, A2AError):
        return _json(body)
    headers = {} if error.wait is None else {"Retry-After": str(error.wait)}
    return _json(body, STATUS[error.code] if error.code in _CODES_WITH_STATUS else 200, headers)


def _error_body(identity: rpc.Identity, error: A2AError | GatewayError) -> Json:
    if isinstance(error, A2AError):
        return rpc.error_body(identity, error)
    return rpc.error_body(identity, rpc.from_gateway_error(error), error.wait)


async def _result_response(call: RpcRequest, work: Coroutine[Any, Any, Json]) -> Response:
    """The result. If it takes longer than PAUSE_SECONDS, the response begins without it, with spaces, which JSON may
    begin with; an error then has no status of its own (decision 0252)."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task,), timeout=PAUSE_SECONDS)
    except BaseException:
        task.cancel()
        raise
    if task.done():
        return _json(rpc.result_body(call.identity, task.result()))
    return EventStream(partial(_write_result, call, task), _JSON_HEADERS, _SPACE)


async def _write_result(call: RpcRequest, task: asyncio.Future[Json], write: Write) -> None:
    try:
        await write(_SPACE)
        body = rpc.result_body(call.identity, await task)
    except (A2AError, GatewayError) as error:
        body = _error_body(call.identity, error)
    finally:
        task.cancel()
    await write(orjson.dumps(body))


async def _write_stream(call: RpcRequest, stream: TaskStream, write: Write) -> None:
    def send(results: Sequence[Json]) -> Awaitable[None]:
        return write(server_sent.events([rpc.result_body(call.identity, result) for result in results]))

    try:
        await send([stream.task])
        if stream.thread is not None:
            await stream.send_rest(stream.thread, send)
    except (A2AError, GatewayError) as error:
        await write(server_sent.event(_error_body(call.identity, error)))
    finally:
        if stream.thread is not None:
            await stream.thread.end()
