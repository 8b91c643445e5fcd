"""MCP Tasks (io.modelcontextprotocol/tasks, 2026-07-28): a slow call returns a handle, and the client polls its
status. Nothing is stored here: an offer knows its tasks."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from contracts.json_values import object_of

EXTENSION = "io.modelcontextprotocol/tasks"
LISTEN = "subscriptions/listen"
_REQUIRED_CAPABILITY = types.ClientCapabilities(extensions={EXTENSION: {}})
Context = ServerRequestContext[Any, Any]
Json = dict[str, object]


class TaskHandlers(Protocol):
    """An offer's tasks. Every method treats another user's task as one that does not exist."""

    async def get(self, context: Context, task_id: str) -> Json | None:
        """The task's status (the extension's DetailedTask); None if there is no such task."""
        ...

    async def update(self, context: Context, task_id: str, responses: Mapping[str, object]) -> bool:
        """Passes on the client's input; returns whether there is such a task."""
        ...

    async def cancel(self, context: Context, task_id: str) -> bool:
        """Cancels the task soon; returns whether there is such a task."""
        ...


class TaskParams(types.RequestParams):
    """Names the task."""

    task_id: str


class UpdateParams(TaskParams):
    """The client's input, by the questions' names."""

    input_responses: dict[str, object]


def accepts_tasks(context: Context) -> bool:
    """Whether the request may be answered with a handle."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and context.session.check_client_capability(
        _REQUIRED_CAPABILITY
    )


def tasks_required() -> MCPError:
    """The error for clients that have not declared support for tasks."""
    data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=_REQUIRED_CAPABILITY)
    return MCPError(
        code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        message=f"declare the extension {EXTENSION} with the request",
        data=data.model_dump(by_alias=True, exclude_none=True),
    )


def serve_tasks(server: Server[Any], tasks: TaskHandlers) -> None:
    """Adds the extension's methods to a server."""

    async def get(context: Context, params: TaskParams) -> Json:
        _check(context, params)
        task = await tasks.get(context, params.task_id)
        if task is None:
            raise _unknown_task()
        return {**task, "resultType": "complete"}

    async def update(context: Context, params: UpdateParams) -> types.EmptyResult:
        _check(context, params)
        return _existing(await tasks.update(context, params.task_id, params.input_responses))

    async def cancel(context: Context, params: TaskParams) -> types.EmptyResult:
        _check(context, params)
        return _existing(await tasks.cancel(context, params.task_id))

    async def listen(ctx: Context, call_next: CallNext) -> HandlerResult:
        # There are no notifications of tasks here (-32601), but a client that may not request them gets another error:
        # "Servers MUST return this error for non-declaring clients requesting task notifications on
        # subscriptions/listen".
        notifications = object_of(object_of(ctx.params).get("notifications"))
        wants_task_notifications = (
            ctx.method == LISTEN and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and "taskIds" in notifications
        )
        if wants_task_notifications and not accepts_tasks(ctx):
            raise tasks_required()
        return await call_next(ctx)

    server.extensions[EXTENSION] = {}
    server.middleware.append(listen)
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def _check(context: Context, params: TaskParams) -> None:
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found", data=context.method)
    header = cast("Request", context.request).headers.get(MCP_NAME_HEADER)
    if decode_header_value(header) != params.task_id:
        raise MCPError(code=types.HEADER_MISMATCH, message=f"{MCP_NAME_HEADER} header is not the body's taskId")
    if not accepts_tasks(context):
        raise tasks_required()


def _existing(exists: bool) -> types.EmptyResult:
    """The empty result of a call about a task that exists; raises MCPError if it does not."""
    if not exists:
        raise _unknown_task()
    return types.EmptyResult()


def _unknown_task() -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message="Task not found")
