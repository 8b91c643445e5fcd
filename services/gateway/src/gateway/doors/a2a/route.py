"""POST /a2a: A2A 1.0 over JSON-RPC; streams are sent as server-sent events."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from gateway.web.keepalive import EventStream, Write
from gateway.web.problems import STATUS, described
from gateway.web.words import AcceptLanguage

__all__ = ["router"]

METHODS: dict[str, Callable[[Tasks, Mapping[str, Any]], Awaitable[Json]]] = {
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
            return _json(rpc.result_body(call.identity, await method(tasks, call.params)))
        raise _unknown_method(call.method)
    except A2AError as error:
        return _json(rpc.error_body(rpc.request_id(raw), error))
    except GatewayError as error:
        return _error_response(rpc.request_id(raw), error)


def _unknown_method(method: str) -> A2AError:
    if method in _PUSH_METHODS:
        return wire.refuse_push_notifications()
    if method == "GetExtendedAgentCard":
        return rpc.unsupported("this agent has one card, for everybody")
    return A2AError(-32601, "METHOD_NOT_FOUND", f"there is no method {method[:80]!r} in A2A {rpc.PROTOCOL}")


def _json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def _error_response(identity: rpc.Identity, error: GatewayError) -> Response:
    wait = error.wait
    body = rpc.error_body(identity, rpc.from_gateway_error(error), wait)
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return _json(body, STATUS[error.code] if error.code in _CODES_WITH_STATUS else 200, headers)


async def _write_stream(call: RpcRequest, stream: TaskStream, write: Write) -> None:
    def send(results: Sequence[Json]) -> Awaitable[None]:
        return write(server_sent.events([rpc.result_body(call.identity, result) for result in results]))

    try:
        await send([stream.task])
        if stream.thread is not None:
            await stream.send_rest(stream.thread, send)
    except A2AError as error:
        await write(server_sent.event(rpc.error_body(call.identity, error)))
    except GatewayError as error:
        await write(server_sent.event(rpc.error_body(call.identity, rpc.from_gateway_error(error), error.wait)))
    finally:
        if stream.thread is not None:
            await stream.thread.end()
