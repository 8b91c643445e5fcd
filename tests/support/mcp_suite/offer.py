"""What the suite's scenarios call by fixed names, which the product does not have, through the gateway's own layer.

The endpoint (token, origin, methods), the transport, the seal, the mapping of errors and of the product's kind of
results are the gateway's: only what is offered is another.
"""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint

from contracts.text import Text
from gateway.domain.client_answers import Answers
from gateway.doors.mcp.offer import Context, Offer
from gateway.doors.mcp.server import GatewayMcpServer, serve
from gateway.doors.mcp.tools import unknown_tool
from gateway.web.deps import Api
from tests.support.mcp_suite import contents
from tests.support.mcp_suite.jobs import JOB_TOOLS, JOBS
from tests.support.mcp_suite.rounds import ROUNDS
from tests.support.mcp_suite.tools import PLAIN, Outcome

TOOLS = {tool.name: tool for tool in (*PLAIN, *ROUNDS, *JOB_TOOLS)}
_CACHEABLE: tuple[CacheableMethod, ...] = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)


def build(api: Api, answers: Answers) -> GatewayMcpServer:
    """The gateway's MCP server with this offer in place of the product's."""
    handlers = {
        "on_list_tools": list_tools,
        "on_call_tool": call_tool,
        "on_list_prompts": contents.list_prompts,
        "on_get_prompt": contents.get_prompt,
        "on_completion": contents.complete,
        "on_list_resources": contents.list_resources,
        "on_list_resource_templates": contents.list_templates,
        "on_read_resource": contents.read_resource,
        "on_subscribe_resource": nothing,
        "on_unsubscribe_resource": nothing,
        "on_set_logging_level": nothing,
    }
    hints = dict.fromkeys(_CACHEABLE, CacheHint(ttl_ms=60_000, scope="private"))
    texts = Text(en="Diagnostics.", es="Diagnóstico.")
    return serve(Offer(texts, handlers, hints, header_schema, JOBS), api.identity.seal_key, answers)


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """All of them, on one page."""
    del context, params
    return types.ListToolsResult(tools=[tool.listed() for tool in TOOLS.values()])


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Outcome:
    """One call."""
    if params.name not in TOOLS:
        raise unknown_tool(params.name)
    return await TOOLS[params.name].run(context, params)


async def nothing(context: Context, params: object) -> types.EmptyResult:
    """Taken, and forgotten with the request: there are no sessions."""
    del context, params
    return types.EmptyResult()


def header_schema(name: str) -> Mapping[str, Any] | None:
    """The schema of a tool that takes arguments in headers."""
    return TOOLS[name].parameters if name in TOOLS else None
