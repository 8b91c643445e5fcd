"""For tests: a stand-in for the executor and the agent that try companies' own tools and models."""

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
    """Starts answering. The result of a tool call shows the user, the headers and the arguments of the request."""

    async def call(request: OwnToolRequest) -> OwnToolReply:
        tools = {tool.name: tool for tool in request.config.own_tools.http}
        headers = [header.value for header in tools[request.tool].headers] if request.tool in tools else []
        data = {"result": {"user": request.user_id, "headers": headers, **request.arguments}}
        metadata = ToolMetadata(execution_time=1.0, foreign=True)
        return OwnToolReply(result=ToolResult(success=True, data=data, metadata=metadata))

    async def listed(request: McpToolsRequest) -> McpToolsReply:
        if request.server != "crm":
            return McpToolsReply(error=f"{request.server} does not answer")
        return McpToolsReply(tools=[McpTool(name="find", description="Finds", input_schema={"type": "object"})])

    async def model(request: ModelCheckRequest) -> ModelCheckReply:
        own_model = request.config.own_model or OwnModel(model="none")
        return ModelCheckReply(provider=own_model.provider, model=own_model.model, ms=1, text=own_model.key or "")

    await server.serve(MODEL_CHECK, model)
    await server.serve(OWN_TOOL_TRY, call)
    await server.serve(MCP_TOOLS, listed)
