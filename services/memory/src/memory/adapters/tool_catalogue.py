"""Reads the executor's catalogue over the bus. It is cached for a moment, since it is the same for all users of a
plan."""

from collections.abc import Mapping

from contracts.tools_rpc import CATALOGUE, CatalogueRequest
from memory.errors import ServiceUnavailableError
from runtime.calls.deadlines import last_part_deadline
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.recent import Recent

CALL_TIMEOUT_SECONDS = 2.0
"""Deadline of the executor's answer."""
CACHE_SECONDS = 5.0
"""How long an answer is cached."""
MAX_CACHED = 1_000


class ToolCatalogue:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._cache = Recent[tuple[str, str, str], Mapping[str, str]](MAX_CACHED, ttl_seconds=CACHE_SECONDS)

    async def categories(self, company: str, role: str, plan: str, language: str) -> Mapping[str, str]:
        """The categories of the offered tools by tool name, in the catalogue's order; raises
        ServiceUnavailableError."""
        key = (company, role, plan)
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        request = CatalogueRequest(company_id=company, role=role, plan=plan, language=language)
        try:
            reply = await self._rpc.call(CATALOGUE, request, deadline=last_part_deadline(CALL_TIMEOUT_SECONDS))
        except RpcError as error:
            raise ServiceUnavailableError(f"the executor cannot list its tools: {error}") from error
        tools = {tool.name: tool.category for tool in reply.tools}
        self._cache.keep(key, tools)
        return tools
