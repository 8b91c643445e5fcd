"""Trying a company's own tools and model before saving them, and listing an MCP server's tools."""

from fastapi import APIRouter
from pydantic import Field

from contracts import preview_rpc
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.tool import ToolResult
from contracts.own_tools import McpTool
from gateway.adapters.service_calls import OWN_TOOL_SECONDS, ask
from gateway.errors import RefusedError
from gateway.web.companies import CompanyPath, as_company_admin
from gateway.web.deps import ApiDep, FounderDep
from gateway.web.free_json import check_json
from gateway.web.problems import described
from gateway.web.tryouts import Unsaved, with_unsaved

router = APIRouter(prefix="/v2/companies/{companyId}", tags=["companies"])


class OwnToolCall(Unsaved):
    """A call of one of the settings' own tools."""

    tool: str = Field(min_length=1, max_length=64, description="its name; of an MCP server <server>_<tool>")
    arguments: dict[str, object] = Field(default_factory=dict[str, object])


class McpListing(Unsaved):
    """Which of the settings' `ownTools.mcp` to ask."""

    server: str = Field(min_length=1, max_length=64)


class McpListed(Wire):
    """The server's tools, each in the form of `ownTools.mcp[].tools`."""

    tools: list[McpTool]


@router.post("/tool-check", response_model_exclude_none=True, responses=described(404))
async def try_tool(api: ApiDep, caller: FounderDep, company: CompanyPath, body: OwnToolCall) -> ToolResult:
    """Makes one real call with settings that need not be saved; the body is the result."""
    check_json(body.arguments)
    acting = as_company_admin(caller, company)
    config = await with_unsaved(api, acting, company, body)
    request = preview_rpc.OwnToolRequest(
        config=config, tool=body.tool, arguments=body.arguments, user_id=acting.subject, language=body.language
    )
    return (await ask(api.rpc, preview_rpc.OWN_TOOL_TRY, request, deadline=OWN_TOOL_SECONDS)).result


@router.post("/model-check", response_model_exclude_none=True, responses=described(404, 429))
async def try_model(
    api: ApiDep, caller: FounderDep, company: CompanyPath, body: Unsaved
) -> preview_rpc.ModelCheckReply:
    """Asks the first model of settings that need not be saved for one word. `error`: why it does not answer."""
    config = await with_unsaved(api, as_company_admin(caller, company), company, body)
    request = preview_rpc.ModelCheckRequest(config=config, language=body.language)
    return await ask(api.rpc, preview_rpc.MODEL_CHECK, request, deadline=OWN_TOOL_SECONDS)


@router.post("/mcp-tools", responses=described(404))
async def list_mcp_tools(api: ApiDep, caller: FounderDep, company: CompanyPath, body: McpListing) -> McpListed:
    """Asks an MCP server for its tools, to choose from. 422 if it does not answer, or does not speak MCP."""
    acting = as_company_admin(caller, company)
    config = await with_unsaved(api, acting, company, body)
    request = preview_rpc.McpToolsRequest(config=config, server=body.server, language=body.language)
    reply = await ask(api.rpc, preview_rpc.MCP_TOOLS, request, deadline=OWN_TOOL_SECONDS)
    if reply.error is not None:
        raise RefusedError(ErrorCode.BAD_FIELD, reply.error)
    return McpListed(tools=reply.tools)
