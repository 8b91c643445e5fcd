"""What an MCP server offers. The code that serves an offer is the same for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from contracts.languages import Language
from contracts.text import Text
from gateway.doors.mcp.tasks import TaskHandlers
from gateway.ports import TokenCaller
from gateway.web.deps import get_api

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers. `handlers`: by the names of the parameters of the SDK's Server (`on_list_tools`, …)."""

    instructions: Text
    handlers: Mapping[str, Any]
    cache_hints: Mapping[CacheableMethod, CacheHint] = field(default_factory=dict[CacheableMethod, CacheHint])
    header_schema: Callable[[str], Mapping[str, object] | None] = field(default=lambda _: None)
    """Returns a tool's input schema by its name, if its arguments in headers must be checked; else None."""
    tasks: TaskHandlers | None = None
    extensions: Mapping[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """Further extensions announced to clients, with their settings."""


def check_page(params: types.PaginatedRequestParams | None) -> None:
    """Raises MCPError for a cursor: every list is one page, so we never issue cursors."""
    if params is not None and params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="cursor: it is none of this server's")


def caller_of(context: Context) -> TokenCaller:
    """The caller, as identified by the endpoint."""
    return cast("TokenCaller", cast("Request", context.request).state.caller)


def principal_of(caller: TokenCaller) -> str:
    """The holder of data that a client carries: company, role and user."""
    return f"{caller.company}/{caller.role}/{caller.subject}"


async def language_of(context: Context, text: str = "") -> Language:
    """The language in which to answer the user. `text`: something that they wrote."""
    request = cast("Request", context.request)
    company, tags = caller_of(context).company, request.headers.get("accept-language")
    return await get_api(request).companies.language_for(company, tags, text)
