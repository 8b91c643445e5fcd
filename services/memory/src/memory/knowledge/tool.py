"""search_knowledge as a tool; the tool-executor has checked the caller."""

from contracts.knowledge import KnowledgeQuery
from contracts.memory_rpc import QUEUE
from contracts.tools.memory import KnowledgeSearchArguments, PassageData, SearchData
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from memory.knowledge.indexes import READ_SECONDS, KnowledgeIndexes
from memory.tool_arguments import arguments
from runtime.lifecycle.service import Service

SEARCH_KNOWLEDGE = tool_service("search_knowledge", QUEUE)


def serve(service: Service, indexes: KnowledgeIndexes) -> None:

    async def search(request: ToolServiceRequest) -> ToolServiceData:
        caller = request.caller
        search_arguments = arguments(KnowledgeSearchArguments, request)
        query = KnowledgeQuery(text=search_arguments.query, limit=search_arguments.limit, language=caller.language)
        reply = await indexes.search(caller.company_id, query, READ_SECONDS)
        passages = [PassageData.model_validate(passage, from_attributes=True) for passage in reply.passages]
        data = SearchData(passages=passages, complete=reply.complete, source="knowledge")
        return ToolServiceData(result=data.model_dump(mode="json"))

    service.serve(SEARCH_KNOWLEDGE, search)
