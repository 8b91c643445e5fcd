"""Serves the tool search_memory to the tool-executor, which has checked the caller."""

from contracts.errors import ToolCode
from contracts.memory_rpc import QUEUE
from contracts.tools.memory import (
    FoundMessageData,
    MessageSearchArguments,
    MessageSearchData,
    NeighbourData,
    SupersededData,
)
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from memory.application.message_search import MessageSearch, RecalledMessage, Recollection
from memory.domain.recall.excerpts import excerpt
from memory.domain.recall.index import IndexedMessage
from memory.errors import MemoryServiceError
from memory.tool_arguments import arguments
from runtime.errors import RpcError
from runtime.lifecycle.service import Service

SEARCH_MEMORY = tool_service("search_memory", QUEUE)
MAX_TEXT = 1_000
"""Characters of a message at most; of its neighbours, MAX_NEIGHBOUR_TEXT."""
MAX_NEIGHBOUR_TEXT = 240


def serve(service: Service, message_search: MessageSearch) -> None:

    async def search(request: ToolServiceRequest) -> ToolServiceData:
        caller = request.caller
        if caller.user_id is None:
            raise RpcError(
                ToolCode.EXECUTION_ERROR, "search_memory looks into a user's own conversations: sign in first",
                reason="no_user",
            )  # fmt: skip
        parsed = arguments(MessageSearchArguments, request)
        try:
            recollection = await message_search.search(
                caller.company_id, caller.user_id, parsed.query, parsed.limit, caller.conversation_id, caller.prompt
            )
        except MemoryServiceError as error:
            raise RpcError(ToolCode.UNAVAILABLE, str(error), retryable=True, reason="store") from error
        return ToolServiceData(result=_data(recollection, parsed.query).model_dump(mode="json"))

    service.serve(SEARCH_MEMORY, search)


def _data(recollection: Recollection, query: str) -> MessageSearchData:
    return MessageSearchData(
        source="conversations",
        passages=[_passage(message, query) for message in recollection.passages],
        searched=recollection.searched,
        complete=recollection.complete,
        as_of=recollection.as_of,
    )


def _passage(recalled: RecalledMessage, query: str) -> FoundMessageData:
    passage, past = recalled.message.passage, recalled.past
    return FoundMessageData(
        text=excerpt(passage.text, query, MAX_TEXT),
        time=passage.at,
        conversation_id=passage.conversation,
        score=round(recalled.message.score, 3),
        speaker=passage.speaker,
        before=_neighbour(recalled.before, query),
        after=_neighbour(recalled.after, query),
        superseded=SupersededData(until=past.until, by=excerpt(past.by, query, MAX_NEIGHBOUR_TEXT) if past.by else None)
        if past
        else None,
    )


def _neighbour(passage: IndexedMessage | None, query: str) -> NeighbourData | None:
    if passage is None:
        return None
    return NeighbourData(speaker=passage.speaker, text=excerpt(passage.text, query, MAX_NEIGHBOUR_TEXT))
