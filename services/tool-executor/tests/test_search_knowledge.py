"""The tool search_knowledge: through the whole pipeline, answered by memory."""

from datetime import UTC, datetime

from nats.aio.client import Client

from contracts.company import ToolConfig
from contracts.errors import ErrorCode, ToolCode
from contracts.knowledge import KnowledgeFound, Passage
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from contracts.rpc import CATALOGUE, CatalogueRequest
from runtime.errors import RpcError
from runtime.rpc import RpcClient
from runtime.testing import ValkeyServer
from tool_executor.testing import Asker, Memory, Someone, running_executor

READ_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PASSAGE = Passage(
    id="p1",
    document_id="d1",
    source="site",
    title="Returns",
    url="https://www.example.com/returns#how",
    heading=["Returns", "How"],
    text="Thirty days.",
    score=0.81234,
    read_at=READ_AT,
    hash="h",
)


async def test_a_visitor_finds_what_their_company_says_and_nobody_elses(
    nats_client: Client, valkey_server: ValkeyServer
):
    asked: list[KnowledgeSearch] = []

    async def search(request: KnowledgeSearch) -> KnowledgeFound:
        asked.append(request)
        if request.text == "away":
            raise RpcError(ErrorCode.UNAVAILABLE, "not now", retryable=True)
        return KnowledgeFound(passages=[PASSAGE], documents=1)

    memory = Memory({"demo": ToolConfig()})
    server = await memory.serve(nats_client)
    await server.serve(SEARCH, search)
    async with running_executor(nats_client, valkey_server.url):
        asker, visitor = Asker(nats_client), Someone(role="visitor", plan=None, conversation="c1")
        answer = await asker.call("search_knowledge", {"query": "returns"}, visitor, category="knowledge")
        assert answer.result.data == {
            "results": [
                {
                    "title": "Returns",
                    "url": "https://www.example.com/returns#how",
                    "heading": "Returns › How",
                    "text": "Thirty days.",
                    "score": 0.8123,
                    "read_at": READ_AT.isoformat(),
                    "source": "site",
                    "passage_id": "p1",
                    "hash": "h",
                }
            ]
        }
        assert (asked[0].company_id, asked[0].text, asked[0].limit, asked[0].language) == ("demo", "returns", 5, "en")
        for wrong in ({"query": " "}, {"query": "x", "limit": 21}, {"query": "x", "company": "other"}):
            error = (await asker.call("search_knowledge", wrong, visitor, category="knowledge")).result.error
            assert error is not None
            assert error.code == ToolCode.VALIDATION_ERROR
        error = (await asker.call("search_knowledge", {"query": "away"}, visitor, category="knowledge")).result.error
        assert error is not None
        assert error.code == ToolCode.UNAVAILABLE
        listed = await RpcClient(nats_client).call(
            CATALOGUE, CatalogueRequest(company_id="demo", role="visitor", plan="free", language="es")
        )
        assert "search_knowledge" in {tool.name for tool in listed.tools}
    await server.drain(2.0)
