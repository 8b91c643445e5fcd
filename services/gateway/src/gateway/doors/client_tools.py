"""Tools that a client brings with its message, and what it gives back for the calls that it was handed."""

import json
from collections.abc import Sequence
from typing import Any, cast

import orjson
from pydantic import ValidationError

from contracts.errors import ErrorCode, FieldFault
from contracts.events.chat import MAX_CLIENT_TOOLS, ClientTool, Wishes
from gateway.errors import Refused

Json = dict[str, Any]
MOST_BYTES = 32_000
"""Of all tools of a message, and of one result: both go to the model."""


def wishes_in(tools: Sequence[Json], *, schema: str) -> Wishes | None:
    """A message's wish for these tools; None: there are none. `schema`: the field with their JSON Schema.

    Raises:
        Refused: BAD_FIELD, naming the tool.
    """
    if not tools:
        return None
    if len(tools) > MAX_CLIENT_TOOLS or len(orjson.dumps(list(tools))) > MOST_BYTES:
        raise _bad("tools", f"at most {MAX_CLIENT_TOOLS}, and {MOST_BYTES} bytes in all")
    return Wishes(tools=[_tool(one, f"tools[{index}]", schema) for index, one in enumerate(tools)])


def result_of(value: Any, error: str | None, field: str) -> Json:
    """A result as the turn keeps it. `error`: in the client's words; None: it went well.

    Raises:
        Refused: BAD_FIELD, it is too long.
    """
    if error is not None:
        told: Json = {"success": False, "error": {"code": "EXECUTION_ERROR", "message": error}}
    else:
        told = {"success": True, "data": value if isinstance(value, dict) else {"result": value}}
    if len(orjson.dumps(told)) > MOST_BYTES:
        raise _bad(field, f"at most {MOST_BYTES} bytes")
    return told


def parsed(text: str) -> Any:
    """What a text says: its JSON where it is some."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _tool(told: Json, field: str, schema: str) -> ClientTool:
    parameters = told.get(schema)
    try:
        return ClientTool(
            name=cast("str", told.get("name")),
            description=str(told.get("description") or ""),
            parameters=cast("Json", parameters) if isinstance(parameters, dict) else {},
        )
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise _bad(f"{field}.{where}", error.errors()[0]["msg"]) from None


def _bad(field: str, message: str) -> Refused:
    return Refused(ErrorCode.BAD_FIELD, f"{field}: {message}", [FieldFault(field=field, message=message)])
