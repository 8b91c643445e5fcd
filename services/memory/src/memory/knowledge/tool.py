"""search_knowledge as a tool; the tool-executor has checked the caller."""

from datetime import datetime

from contracts.envelope import Snake
from contracts.knowledge import KnowledgeQuery
from contracts.memory_rpc import QUEUE
from contracts.tools.memory import KnowledgeSearchArguments
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from memory.knowledge.indexes import READ_SECONDS, KnowledgeIndexes
from memory.tool_arguments import arguments
from runtime.lifecycle.service import Service

SEARCH_KNOWLEDGE = tool_service("search_knowledge", QUEUE)
SOURCE = "knowledge"


class PassageData(Snake):
    """One passage. `text` is Markdown; `score` 0 to 1: the share of the question that it covers."""

    id: str
    title: str
    url: str | None
    heading: list[str]
    text: str
    score: float
    read_at: datetime
    hash: str
    source: str
    exact: bool


class SearchData(Snake):
    """Output of search_knowledge, best first. `complete`: all of the company's knowledge was searched."""

    passages: list[PassageData]
    complete: bool
    source: str = SOURCE


def serve(service: Service, indexes: KnowledgeIndexes) -> None:

    async def search(request: ToolServiceRequest) -> ToolServiceData:
        caller = request.caller
        search_arguments = arguments(KnowledgeSearchArguments, request)
        query = KnowledgeQuery(text=search_arguments.query, limit=search_arguments.limit, language=caller.language)
        reply = await indexes.search(caller.company_id, query, READ_SECONDS)
        passages = [PassageData.model_validate(passage, from_attributes=True) for passage in reply.passages]
        data = SearchData(passages=passages, complete=reply.complete)
        return ToolServiceData(result=data.model_dump(mode="json"))

    service.serve(SEARCH_KNOWLEDGE, search)
