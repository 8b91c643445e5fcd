"""Which tools an asker may use: asked of the executor, kept for a moment."""

import time
from collections import OrderedDict

import structlog

from agent.ports import Asker, Tool
from contracts.rpc import CATALOGUE, CatalogueRequest
from runtime.errors import RpcError
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

FRESH = 5.0
"""Seconds that an answer is good for."""
STALE = 60.0
"""Seconds that it still does when the executor does not answer: a refused call costs less than no tools."""
KEPT = 4096
DEADLINE = 1.0
"""Seconds for the executor's answer; then what was last known holds."""


class ExecutorCatalogue:
    """The tools by company, role, plan and language: everybody of one kind gets the same."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._kept: OrderedDict[tuple[str, str, str, str], tuple[float, tuple[Tool, ...]]] = OrderedDict()

    def drop(self, company: str) -> None:
        """Forgets a company's tools: its settings have changed."""
        for key in [key for key in self._kept if key[0] == company]:
            del self._kept[key]

    async def offered(self, company: str, asker: Asker) -> tuple[Tool, ...]:
        """In the catalogue's own order; none when the executor does not answer and nothing is kept."""
        if asker.principal is None:
            return ()  # the executor refuses every call of somebody who proves nothing
        key = (company, asker.role, asker.plan, asker.language)
        kept = self._kept.get(key)
        now = time.monotonic()
        if kept is not None and now - kept[0] < FRESH:
            return kept[1]
        request = CatalogueRequest(company_id=company, role=asker.role, plan=asker.plan, language=asker.language)
        try:
            reply = await self._rpc.call(CATALOGUE, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("catalogue.unavailable", company=company, reason=error.code)
            return kept[1] if kept is not None and now - kept[0] < STALE else ()
        tools = tuple(
            Tool(tool.name, tool.description, tool.category, tool.parameters, tool.label or tool.name)
            for tool in reply.tools
        )
        self._kept[key] = (now, tools)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return tools
