"""Which tools an asker may use: asked of the executor, kept for a minute, less after somebody announced or withdrew
some: the executor and this agent hear of it at the same time, and either may be first."""

import time
from collections import OrderedDict

import structlog
from nats.aio.msg import Msg

from agent.ports import Asker, Tool
from contracts.rpc import CATALOGUE, CatalogueRequest
from runtime.errors import RpcError
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

FRESH = 60.0
"""Seconds that an answer is good for."""
CHANGING = 5.0
"""Seconds after a change that is heard of for which an answer is good for no longer than MOMENT."""
MOMENT = 0.5
STALE = 120.0
"""Seconds that it still does when the executor does not answer: a refused call costs less than no tools."""
KEPT = 4096
DEADLINE = 1.0
"""Seconds for the executor's answer; then what was last known holds."""


class ExecutorCatalogue:
    """The tools by company, role, plan and language: everybody of one kind gets the same."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._kept: OrderedDict[tuple[str, str, str, str], tuple[float, tuple[Tool, ...]]] = OrderedDict()
        self._changed = float("-inf")

    def drop(self, company: str) -> None:
        """Forgets a company's tools: its settings have changed."""
        for key in [key for key in self._kept if key[0] == company]:
            del self._kept[key]

    async def changed(self, message: Msg | None = None) -> None:
        """Somebody has announced or withdrawn tools, or may have."""
        del message
        self._changed = time.monotonic()

    async def offered(self, company: str, asker: Asker) -> tuple[Tool, ...]:
        """In the catalogue's own order; none when the executor does not answer and nothing is kept."""
        if asker.principal is None:
            return ()  # the executor refuses every call of somebody who proves nothing
        key = (company, asker.role, asker.plan, asker.language)
        kept = self._kept.get(key)
        now = time.monotonic()
        fresh = MOMENT if kept is not None and kept[0] - self._changed < CHANGING else FRESH
        if kept is not None and now - kept[0] < fresh:
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
