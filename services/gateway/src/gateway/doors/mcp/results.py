"""Converts tools and results of calls to MCP's types."""

import json
from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from contracts.errors import ToolCode
from contracts.events.tool import ToolError, ToolMetadata, ToolResult
from contracts.json_values import object_of
from contracts.tools_rpc import ToolDetails
from contracts.wrong_fields import message_of
from gateway.doors.mcp.views import VIEWS
from gateway.errors import UnavailableError

METADATA = "nexus/metadata"
LIMIT = "nexus/limit"
_OPEN_WORLD = frozenset({"market", "news", "own", "site"})


def listed_tool(tool: ToolDetails, *, views: bool) -> types.Tool:
    """A tool for the list of tools. `views`: with its view, for clients that show views."""
    meta: dict[str, object] = {"nexus/plan": tool.required_plan, "nexus/category": tool.category}
    if views and tool.name in VIEWS:
        meta["ui"] = {"resourceUri": VIEWS[tool.name]}
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=_with_error_shape(tool.output_schema),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.side_effects,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.category in _OPEN_WORLD,
        ),
        _meta=meta,
    )


def tool_result(
    result: ToolResult,
    limit: dict[str, object] | None = None,
    *,
    failed: bool = False,
    extra_meta: Mapping[str, object] | None = None,
) -> types.CallToolResult:
    """A result in MCP's form: data as structure and text, a refusal as text with its code. `extra_meta`: for `_meta`,
    which only the client sees."""
    meta: dict[str, object] = {METADATA: result.metadata.to_wire(), **(extra_meta or {})}
    if limit is not None:
        meta[LIMIT] = limit
    if result.error is not None:
        body = {"error": result.error.to_wire()}
        return types.CallToolResult(content=[_text(body)], structured_content=body, is_error=True, _meta=meta)
    data = result.data or {}
    return types.CallToolResult(content=[_text(data)], structured_content=data, is_error=failed, _meta=meta)


def refusal(code: ToolCode | str, message: str) -> types.CallToolResult:
    """A refusal by the gateway itself."""
    error = ToolError(code=code, message=message)
    return tool_result(ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0)))


def invalid_arguments(error: ValidationError) -> types.CallToolResult:
    """The refusal of arguments of which the first wrong one is named."""
    fault = error.errors()[0]
    return refusal(ToolCode.VALIDATION_ERROR, f"{'.'.join(map(str, fault['loc']))}: {message_of(fault)}")


def unavailable_error(error: UnavailableError) -> MCPError:
    """The protocol error for a dependency that is unavailable before a tool is called."""
    return MCPError(code=types.INTERNAL_ERROR, message=error.message, data={"code": str(error.code)})


def success(data: Mapping[str, object]) -> ToolResult:
    """A result with data that no tool returned."""
    return ToolResult(success=True, data=dict(data), metadata=ToolMetadata(execution_time=0.0))


def _with_error_shape(schema: Mapping[str, object] | None) -> dict[str, object] | None:
    """The output schema with a refusal as the alternative: clients check a refusal's structured content against the
    schema too, and fail if it does not fit."""
    if schema is None:
        return None
    optional_schema = {name: value for name, value in schema.items() if name != "required"}
    error = {"type": "object", "description": "Why there is no result"}
    return {
        **optional_schema,
        "properties": {**object_of(schema.get("properties")), "error": error},
        "anyOf": [{"required": schema.get("required", [])}, {"required": ["error"]}],
    }


def _text(body: Mapping[str, object]) -> types.TextContent:
    return types.TextContent(text=json.dumps(body, ensure_ascii=False))
