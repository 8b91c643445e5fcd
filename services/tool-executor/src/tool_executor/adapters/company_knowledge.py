"""What companies say, asked of memory."""

from typing import Any

from contracts.errors import ErrorCode
from contracts.knowledge import Passage
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from runtime.errors import RpcError
from runtime.rpc import RpcClient
from tool_executor.domain.declaration import CallContext, ServiceAway

_SPARE = 0.25
"""Seconds kept back, so that "nobody answers" can still be said before the call's own time limit."""


class CompanyKnowledge:
    """See ports.Knowledge."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def search(self, query: str, limit: int, context: CallContext) -> list[dict[str, Any]]:
        caller = context.caller
        request = KnowledgeSearch(company_id=caller.company, text=query, language=caller.language, limit=limit)
        try:
            found = await self._client.call(SEARCH, request, deadline=max(context.seconds_left - _SPARE, 0.05))
        except RpcError as error:
            if error.code == ErrorCode.TIMEOUT:
                raise TimeoutError(error.message) from error
            raise ServiceAway(error.message) from error
        return [_shown(passage) for passage in found.passages]


def _shown(passage: Passage) -> dict[str, Any]:
    shown = {
        "title": passage.title,
        "url": passage.url,
        "heading": " › ".join(passage.heading) or None,
        "text": passage.text,
        "score": round(passage.score, 4),
        "read_at": passage.read_at.isoformat(),
        "source": passage.source,
        "passage_id": passage.id,
        "hash": passage.hash,
    }
    return {name: value for name, value in shown.items() if value is not None}
