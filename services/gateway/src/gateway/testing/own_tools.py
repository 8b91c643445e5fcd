"""An executor that tries companies' own tools, for the gateway's tests: it says what it was asked."""

from contracts.events.tool import ToolMetadata, ToolResult
from contracts.own_model import OwnModel
from contracts.own_tools import McpTool
from contracts.preview_rpc import (
    MCP_TOOLS,
    MODEL_CHECK,
    OWN_TOOL_TRY,
    McpToolsReply,
    McpToolsRequest,
    ModelCheckReply,
    ModelCheckRequest,
    OwnToolReply,
    OwnToolRequest,
)
from runtime.calls.rpc import RpcServer


async def serve_own_tools(server: RpcServer) -> None:
    """Answers from now on."""

    async def call(request: OwnToolRequest) -> OwnToolReply:
        tools = {tool.name: tool for tool in request.config.own_tools.http}
        headers = [header.value for header in tools[request.tool].headers] if request.tool in tools else []
        said = {"result": {"user": request.user_id, "headers": headers, **request.arguments}}
        metadata = ToolMetadata(execution_time=1.0, foreign=True)
        return OwnToolReply(result=ToolResult(success=True, data=said, metadata=metadata))

    async def listed(request: McpToolsRequest) -> McpToolsReply:
        if request.server != "crm":
            return McpToolsReply(error=f"{request.server} does not answer")
        return McpToolsReply(tools=[McpTool(name="find", description="Finds", input_schema={"type": "object"})])

    async def model(request: ModelCheckRequest) -> ModelCheckReply:
        own = request.config.own_model or OwnModel(model="none")
        return ModelCheckReply(provider=own.provider, model=own.model, ms=1, text=own.key or "")

    await server.serve(MODEL_CHECK, model)
    await server.serve(OWN_TOOL_TRY, call)
    await server.serve(MCP_TOOLS, listed)
