"""Searches the company's knowledge in memory (ports.KnowledgeReader)."""

import structlog

from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 1.0
"""Seconds; then the turn goes on without."""


class CompanyKnowledge:
    """Asks for the company's knowledge, once for each turn and at the same time as other requests."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def search(self, company: str, query: KnowledgeQuery) -> KnowledgeFound | None:
        """The best passages; None: not available in time."""
        request = KnowledgeSearch(company_id=company, **dict(query))
        try:
            return await self._rpc.call(SEARCH, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("knowledge.unavailable", company=company, reason=error.code)
            return None
