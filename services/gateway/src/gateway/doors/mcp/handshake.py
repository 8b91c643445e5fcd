"""The MCP revisions with a handshake (up to 2025-11-25), served without sessions in memory.

Like the SDK's stateless mode, but the server can send requests too: a request is sent on the stream of the call that
needs it, and the client's response, a POST to any gateway, is forwarded to the gateway that waits.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import mcp_types as types
import orjson
import structlog
from anyio.abc import TaskStatus
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_connection
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import MessageMetadata, ServerMessageMetadata, SessionMessage
from mcp.shared.transport_context import TransportContext
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from contracts.json_values import is_object, object_of
from gateway.domain.client_answers import Answers, TooManyQuestionsError
from gateway.doors.door_route import replayed
from gateway.doors.mcp.offer import principal_of
from gateway.doors.mcp.sessions import HEADER, capabilities_of, new_session

VERSION_HEADER = "mcp-protocol-version"
log = structlog.get_logger(__name__)


class Handshake:
    """The ASGI application for these revisions."""

    def __init__(self, server: Server[Any], key: bytes, answers: Answers) -> None:
        self._server = server
        self._key = key
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = principal_of(request.state.caller)
        body = await request.body()
        message = _json_object(body)
        version = request.headers.get(VERSION_HEADER)
        meta = object_of(object_of(message.get("params")).get("_meta"))
        if meta.get(types.PROTOCOL_VERSION_META_KEY, version) != version:
            refusal = f"the header {VERSION_HEADER} is not the body's {types.PROTOCOL_VERSION_META_KEY}"
            await _error_response(400, refusal, types.HEADER_MISMATCH, message.get("id"))(scope, receive, send)
            return
        if (
            "id" in message
            and not _is_request_id(message["id"])
            and not str(message.get("method")).startswith("notifications/")
        ):
            # The SDK would take it for a notification, and its sender would wait in vain for an answer.
            await _error_response(400, "id: a text or a whole number")(scope, receive, send)
            return
        session = request.headers.get(HEADER)
        if message.get("method") == "initialize":
            capabilities = object_of(object_of(message.get("params")).get("capabilities"))
            session = new_session(self._key, caller, capabilities)
        else:
            session_capabilities = capabilities_of(self._key, caller, session) if session else {}
            if session_capabilities is None:
                await _error_response(404, "Session not found")(scope, receive, send)
                return
            capabilities = session_capabilities
        if "method" not in message and ("result" in message or "error" in message):
            is_taken = await self._answers.offer(caller, message)
            response = (
                Response(status_code=202) if is_taken else _error_response(400, "No request waits for this response")
            )
            await response(scope, receive, send)
            return
        replay = replayed({"type": "http.request", "body": body, "more_body": False}, receive)
        await self._exchange(caller, session, capabilities, request, replay, send)

    async def _exchange(
        self,
        caller: str,
        session: str | None,
        capabilities: dict[str, Any],
        request: Request,
        receive: Receive,
        send: Send,
    ) -> None:
        transport = StreamableHTTPServerTransport(mcp_session_id=session)
        version = request.headers.get(VERSION_HEADER, types.DEFAULT_NEGOTIATED_VERSION)
        connection = Connection.from_envelope(version, None, capabilities)

        async def serve(*, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
            async with transport.connect() as (incoming, outgoing):
                dispatcher = _Dispatcher(incoming, outgoing, caller, self._answers)
                task_status.started()
                try:
                    await serve_connection(self._server, dispatcher, connection=connection, lifespan_state={})
                except Exception:
                    log.exception("mcp.exchange_failed")

        async with anyio.create_task_group() as group:
            await group.start(serve)
            try:
                await transport.handle_request(request.scope, receive, send)
            finally:
                with anyio.CancelScope(shield=True):
                    await transport.terminate()


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, with calls that can send requests to their client."""

    def __init__(self, incoming: Any, outgoing: Any, caller: str, answers: Answers) -> None:
        super().__init__(
            incoming,
            outgoing,
            inline_methods=frozenset({"initialize"}),
            transport_builder=lambda _: TransportContext(kind="streamable-http", can_send_request=False),
        )
        self._outgoing = outgoing
        self._caller = caller
        self._answers = answers

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        async def call_with_requests(
            context: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
        ) -> dict[str, Any]:
            return await on_request(_Context(context, self), method, params)

        await super().run(call_with_requests, on_notify, on_notify_intercept, task_status=task_status)

    async def ask(
        self, context: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Sends a request to the client and returns its result; raises MCPError: the client's error, no answer in time,
        or too many waiting questions."""
        try:
            with self._answers.question(self._caller) as question:
                fields: dict[str, Any] = {"params": dict(params)} if params else {}
                message = types.JSONRPCRequest(jsonrpc="2.0", id=question.id, method=method, **fields)
                metadata = ServerMessageMetadata(related_request_id=context.request_id)
                await self._outgoing.send(SessionMessage(message, metadata=metadata))
                try:
                    response = await question.answer()
                except TimeoutError:
                    cancelled = {"requestId": question.id, "reason": "no answer in time"}
                    await context.notify("notifications/cancelled", cancelled)
                    raise MCPError(code=types.REQUEST_TIMEOUT, message="the client has not answered in time") from None
        except TooManyQuestionsError:
            raise MCPError(code=types.INTERNAL_ERROR, message="too many questions wait for an answer") from None
        if "error" in response:
            error = types.ErrorData.model_validate(response["error"])
            raise MCPError(code=error.code, message=error.message, data=error.data)
        result = response["result"]
        if not is_object(result):
            raise MCPError(code=types.INVALID_REQUEST, message="the client's answer is not an object")
        return result


class _Context:
    """The context of a call that can send a request to its client."""

    def __init__(self, inner: DispatchContext[TransportContext], dispatcher: _Dispatcher) -> None:
        self._inner = inner
        self._dispatcher = dispatcher

    @property
    def transport(self) -> TransportContext:
        return replace(self._inner.transport, can_send_request=True)

    @property
    def can_send_request(self) -> bool:
        return True

    @property
    def request_id(self) -> types.RequestId | None:
        return self._inner.request_id

    @property
    def message_metadata(self) -> MessageMetadata:
        return self._inner.message_metadata

    @property
    def cancel_requested(self) -> anyio.Event:
        return self._inner.cancel_requested

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        return await self._dispatcher.ask(self._inner, method, params)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        await self._inner.notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        await self._inner.progress(progress, total, message)


def _json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in the body; empty if there is none, which the transport itself reports."""
    with contextlib.suppress(orjson.JSONDecodeError):
        return object_of(orjson.loads(body))
    return {}


def _is_request_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error_response(
    status: int, message: str, code: int = types.INVALID_REQUEST, identity: types.RequestId | None = None
) -> Response:
    error = types.JSONRPCError(jsonrpc="2.0", id=identity, error=types.ErrorData(code=code, message=message))
    return Response(error.model_dump_json(by_alias=True, exclude_unset=True), status, media_type="application/json")
