"""Our tools and what comes of a call, in MCP's words."""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from contracts.events.tool import ToolResult
from contracts.tools_rpc import ToolDetails

METADATA = "nexus/metadata"
LIMIT = "nexus/limit"
_OPEN_WORLD = frozenset({"market", "news", "own", "site"})


def described(tool: ToolDetails) -> types.Tool:
    """A tool as the list shows it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.side_effects,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.category in _OPEN_WORLD,
        ),
        _meta={"nexus/plan": tool.required_plan, "nexus/category": tool.category},
    )


def told(result: ToolResult, limit: dict[str, Any] | None = None, *, failed: bool = False) -> types.CallToolResult:
    """A result as MCP has it: the data structured and as text, a refusal as text that tells its code."""
    meta: dict[str, Any] = {METADATA: result.metadata.to_wire()}
    if limit is not None:
        meta[LIMIT] = limit
    if result.error is not None:
        body = {"error": result.error.to_wire()}
        return types.CallToolResult(content=[_text(body)], structured_content=body, is_error=True, _meta=meta)
    data = result.data or {}
    return types.CallToolResult(content=[_text(data)], structured_content=data, is_error=failed, _meta=meta)


def _text(body: Mapping[str, Any]) -> types.TextContent:
    return types.TextContent(text=json.dumps(body, ensure_ascii=False))
