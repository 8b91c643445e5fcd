"""What an MCP server offers: given to the layer that serves it, which is the same for every offer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from contracts.languages import Language
from gateway.doors.mcp.tasks import TaskHandlers
from gateway.ports import TokenCaller
from gateway.web.deps import get_api, language_for

Context = ServerRequestContext[Any, Any]


def _no_header_arguments(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Offer:
    """`handlers` are the SDK's, by the names that its Server takes them under (`on_list_tools`, …)."""

    instructions: str
    handlers: Mapping[str, Any]
    cache_hints: Mapping[CacheableMethod, CacheHint] = field(default_factory=dict[CacheableMethod, CacheHint])
    header_schema: Callable[[str], Mapping[str, object] | None] = _no_header_arguments
    """The input schema of a tool that takes arguments in headers, by its name: they are checked against it. Without it
    none does, and none has to be looked up."""
    tasks: TaskHandlers | None = None
    extensions: Mapping[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """What else is told to clients as known here, with its settings."""


def check_page(params: types.PaginatedRequestParams | None) -> None:
    """Raises MCPError for a cursor: every list is one page, which gives none out."""
    if params is not None and params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="cursor: it is none of this server's")


def caller_of(context: Context) -> TokenCaller:
    """Who is calling, as the endpoint found out."""
    return cast("TokenCaller", cast("Request", context.request).state.caller)


def principal_of(caller: TokenCaller) -> str:
    """Whose something is that travels with a client: company, role and user."""
    return f"{caller.company}/{caller.role}/{caller.subject}"


async def language_of(context: Context, text: str = "") -> Language:
    """What its user reads; `text`: of theirs."""
    request = cast("Request", context.request)
    return await language_for(get_api(request), caller_of(context), request.headers.get("accept-language"), text)
