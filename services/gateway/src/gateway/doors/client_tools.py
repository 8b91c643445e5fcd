"""Tools that a client sends with its message, and its results of handed calls."""

import json
from collections.abc import Sequence
from typing import Any, cast

import orjson
from pydantic import ValidationError

from contracts.events.chat import MAX_CLIENT_TOOLS, ClientTool, Wishes
from contracts.wrong_fields import message_of
from gateway.domain.json_schema import compile_schema
from gateway.errors import bad_field

Json = dict[str, Any]
MAX_BYTES = 32_000
"""Bytes allowed for all tools of a message together, and for one result; both are sent to the model."""


def wishes_with_tools(tools: Sequence[Json], *, schema: str) -> Wishes | None:
    """The wishes of a message with these tools; None if there are none. `schema`: the field with a tool's JSON Schema.

    Raises:
        RefusedError: BAD_FIELD, naming the tool.
    """
    if not tools:
        return None
    if len(tools) > MAX_CLIENT_TOOLS or _size(list(tools), "tools") > MAX_BYTES:
        raise bad_field("tools", f"at most {MAX_CLIENT_TOOLS}, and {MAX_BYTES} bytes in all")
    client_tools = [_client_tool(tool, f"tools[{index}]", schema) for index, tool in enumerate(tools)]
    names = [tool.name for tool in client_tools]
    if duplicates := {name for name in names if names.count(name) > 1}:
        raise bad_field("tools", f"two have the name {', '.join(sorted(duplicates))}")
    return Wishes(tools=client_tools)


def call_result(value: Any, error: str | None, field: str) -> Json:
    """A client's result of a handed call, in the form that turns store. `error`: the client's message; None: success.

    Raises:
        RefusedError: BAD_FIELD, the result is too long.
    """
    if error is not None:
        result: Json = {"success": False, "error": {"code": "EXECUTION_ERROR", "message": error}}
    else:
        result = {"success": True, "data": value if isinstance(value, dict) else {"result": value}}
    if _size(result, field) > MAX_BYTES:
        raise bad_field(field, f"at most {MAX_BYTES} bytes")
    return result


def _size(value: Any, field: str) -> int:
    try:
        return len(orjson.dumps(value))
    except TypeError as error:
        raise bad_field(field, f"JSON cannot carry it on: {error}") from None


def json_or_text(text: str) -> Any:
    """The value of a JSON text; the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _client_tool(declaration: Json, field: str, schema: str) -> ClientTool:
    parameters = {"type": "object"} if declaration.get(schema) is None else declaration[schema]
    try:
        compile_schema(parameters)
    except ValueError as error:
        raise bad_field(f"{field}.{schema}", str(error)) from None
    if not isinstance(parameters, dict) or cast("Json", parameters).get("type", "object") != "object":
        raise bad_field(f"{field}.{schema}", 'a tool\'s schema says "type": "object"')
    try:
        return ClientTool(
            name=cast("str", declaration.get("name")),
            description=str(declaration.get("description") or ""),
            parameters=cast("Json", parameters),
        )
    except ValidationError as error:
        path = ".".join(map(str, error.errors()[0]["loc"]))
        raise bad_field(f"{field}.{path}", message_of(error.errors()[0])) from None
