"""The executor's catalogue over the bus, cached for a moment: it is the same for everybody of one plan."""

from collections.abc import Mapping

from contracts.tools_rpc import CATALOGUE, CatalogueRequest
from memory.errors import ServiceUnavailableError
from runtime.calls.deadlines import last_part_deadline
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.recent import Recent

DEADLINE = 2.0
"""Seconds for the executor's answer."""
FRESH = 5.0
"""Seconds for which an answer is cached."""
KEPT = 1_000


class ToolCatalogue:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._kept = Recent[tuple[str, str, str], Mapping[str, str]](KEPT, seconds=FRESH)

    async def offered(self, company: str, role: str, plan: str, language: str) -> Mapping[str, str]:
        """The tools' categories by name, in the catalogue's order; raises ServiceUnavailableError."""
        key = (company, role, plan)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        request = CatalogueRequest(company_id=company, role=role, plan=plan, language=language)
        try:
            reply = await self._rpc.call(CATALOGUE, request, deadline=last_part_deadline(DEADLINE))
        except RpcError as error:
            raise ServiceUnavailableError(f"the executor cannot list its tools: {error}") from error
        tools = {tool.name: tool.category for tool in reply.tools}
        self._kept.keep(key, tools)
        return tools
