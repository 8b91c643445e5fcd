"""Searches the company's knowledge in memory (ports.KnowledgeReader)."""

import structlog

from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 1.0
"""Seconds for memory's answer; then the turn continues without passages."""


class CompanyKnowledge:
    """Searches the company's knowledge with one request to memory."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def search(self, company: str, query: KnowledgeQuery) -> KnowledgeFound | None:
        """Returns the best passages; None if they did not arrive in time."""
        request = KnowledgeSearch(company_id=company, **dict(query))
        try:
            return await self._rpc.call(SEARCH, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("knowledge.unavailable", company=company, reason=error.code)
            return None
