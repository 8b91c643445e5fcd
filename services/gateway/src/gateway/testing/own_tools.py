"""For tests: a stand-in for the executor and the agent that try companies' own tools and models."""

from contracts import preview_rpc
from contracts.events.tool import ToolMetadata, ToolResult
from contracts.own_model import OwnModel
from contracts.own_tools import McpTool
from runtime.calls.rpc import RpcServer


async def serve_own_tools(server: RpcServer) -> None:
    """Starts answering. The result of a tool call shows the user, the headers and the arguments of the request."""

    async def call(request: preview_rpc.OwnToolRequest) -> preview_rpc.OwnToolReply:
        tools = {tool.name: tool for tool in request.config.own_tools.http}
        headers = [header.value for header in tools[request.tool].headers] if request.tool in tools else []
        data = {"result": {"user": request.user_id, "headers": headers, **request.arguments}}
        metadata = ToolMetadata(execution_time=1.0, foreign=True)
        return preview_rpc.OwnToolReply(result=ToolResult(success=True, data=data, metadata=metadata))

    async def listed(request: preview_rpc.McpToolsRequest) -> preview_rpc.McpToolsReply:
        if request.server != "crm":
            return preview_rpc.McpToolsReply(error=f"{request.server} does not answer")
        return preview_rpc.McpToolsReply(
            tools=[McpTool(name="find", description="Finds", input_schema={"type": "object"})]
        )

    async def model(request: preview_rpc.ModelCheckRequest) -> preview_rpc.ModelCheckReply:
        own_model = request.config.own_model or OwnModel(model="none")
        return preview_rpc.ModelCheckReply(
            provider=own_model.provider, model=own_model.model, ms=1, text=own_model.key or ""
        )

    await server.serve(preview_rpc.MODEL_CHECK, model)
    await server.serve(preview_rpc.OWN_TOOL_TRY, call)
    await server.serve(preview_rpc.MCP_TOOLS, listed)
