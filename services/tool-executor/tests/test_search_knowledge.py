"""The tool search_knowledge: for everybody of a company, through the whole pipeline, answered by memory."""

from nats.aio.client import Client

from contracts.company import ToolConfig
from contracts.errors import ErrorCode, ToolCode
from contracts.tools_rpc import CATALOGUE, CatalogueRequest, ToolServiceData, ToolServiceRequest, tool_service
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.servers import ValkeyServer
from tool_executor.testing.harness import Memory, Someone, asking

FOUND = {
    "passages": [
        {
            "id": "p1",
            "title": "Returns",
            "url": "https://www.example.com/returns#how",
            "heading": ["Returns", "How"],
            "text": "Thirty days.",
            "score": 0.8,
            "read_at": "2026-03-01T12:00:00Z",
            "hash": "h",
            "source": "site",
            "exact": False,
        }
    ],
    "complete": True,
    "source": "knowledge",
}


async def test_a_visitor_finds_what_their_company_says(nats_client: Client, valkey_server: ValkeyServer):
    asked: list[ToolServiceRequest] = []

    async def search(request: ToolServiceRequest) -> ToolServiceData:
        asked.append(request)
        if request.arguments["query"] == "away":
            raise RpcError(ErrorCode.UNAVAILABLE, "not now", retryable=True)
        return ToolServiceData(result=FOUND)

    memory = Memory({"demo": ToolConfig()})
    server = await memory.serve(nats_client)
    await server.serve(tool_service("search_knowledge", "memory"), search)
    async with asking(nats_client, valkey_server.url) as asker:
        asker, visitor = asker, Someone(role="visitor", plan=None, conversation="c1")
        answer = await asker.call("search_knowledge", {"query": "returns"}, visitor, category="knowledge")
        assert answer.result.data == FOUND
        assert asked[0].arguments == {"query": "returns", "limit": 5}
        assert (asked[0].caller.company_id, asked[0].caller.language) == ("demo", "en")
        for wrong in ({"query": " "}, {"query": "x", "limit": 21}, {"query": "x", "company": "other"}):
            error = await asker.failure("search_knowledge", wrong, visitor, category="knowledge")
            assert error.code == ToolCode.VALIDATION_ERROR
        error = await asker.failure("search_knowledge", {"query": "away"}, visitor, category="knowledge")
        assert error.code == ToolCode.UNAVAILABLE
        request = CatalogueRequest(company_id="demo", role="visitor", plan="free", language="es")
        listed = await RpcClient(nats_client).call(CATALOGUE, request)
        assert "search_knowledge" in {tool.name for tool in listed.tools}
    await server.drain(2.0)
