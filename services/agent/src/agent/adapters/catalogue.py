"""The tools that a requester may use, as the executor lists them, cached for a minute.

A list in use is refreshed in the background before it expires, so no turn waits for it. After an announcement or a
withdrawal of tools a list is kept for a shorter time, because the executor and this agent receive it at the same time,
in any order.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

import structlog
from nats.aio.msg import Msg

from agent.domain.offered_tool import OfferedTool
from agent.ports import Requester
from contracts.errors import ErrorCode
from contracts.languages import Language
from contracts.tools_rpc import CATALOGUE, CatalogueRequest
from runtime.calls.deadlines import detached_context
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

FRESH_SECONDS = 60.0
"""Seconds for which a cached list is used."""
RENEW_AFTER_SECONDS = 30.0
"""Age in seconds from which a use of a list refreshes it in the background."""
CHANGE_WINDOW_SECONDS = 5.0
"""Seconds after a change of tools during which a fetched list is used for FRESH_AFTER_CHANGE_SECONDS only."""
FRESH_AFTER_CHANGE_SECONDS = 0.5
"""Seconds for which such a list is used."""
STALE_SECONDS = 3600.0
"""Age in seconds up to which a list is still used while the executor does not answer, even if the company's settings
have changed since. The executor refuses what is no longer allowed, and a failed call is shown as failed; without tools
the assistant would say that it has found nothing."""
MAX_LISTS = 4096
TIMEOUT_SECONDS = 1.0
"""Seconds for the executor's answer; then the last known list is used."""
SERVING_TIMEOUT_SECONDS = 3.0
"""Seconds for any executor to answer the check whether one is there."""

_ListKey = tuple[str, str, str, Language]


class ExecutorCatalogue:
    """The tools by company, role, plan and language; requesters with the same four get the same list."""

    def __init__(self, rpc: RpcClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._rpc = rpc
        self._clock = clock
        self._lists: OrderedDict[_ListKey, tuple[float, tuple[OfferedTool, ...]]] = OrderedDict()
        self._changed_at = float("-inf")
        self._renewals: dict[_ListKey, asyncio.Task[tuple[OfferedTool, ...]]] = {}
        self._drop_count = 0
        self._dropped: set[_ListKey] = set()

    def drop(self, company: str) -> None:
        """Expires a company's lists because its settings have changed. The result of a running request is not
        cached."""
        self._drop_count += 1
        self._dropped.update(key for key in self._lists if key[0] == company)

    async def changed(self, message: Msg | None = None) -> None:
        """Notes that a service has announced or withdrawn tools, or may have."""
        self._changed_at = self._clock()

    async def offered(self, company: str, requester: Requester) -> tuple[OfferedTool, ...]:
        """Returns the tools in the catalogue's order; none if the executor does not answer and nothing is cached."""
        if requester.principal is None:
            return ()  # the executor refuses every call without a principal
        key = (company, requester.role, requester.plan, requester.language)
        cached = self._lists.get(key)
        now = self._clock()
        fresh_seconds = (
            FRESH_AFTER_CHANGE_SECONDS
            if cached is not None and cached[0] - self._changed_at < CHANGE_WINDOW_SECONDS
            else FRESH_SECONDS
        )
        if cached is not None and now - cached[0] < fresh_seconds and key not in self._dropped:
            if now - cached[0] > RENEW_AFTER_SECONDS and key not in self._renewals:
                self._renewals[key] = asyncio.create_task(self._ask(key), context=detached_context())
                self._renewals[key].add_done_callback(lambda _: self._renewals.pop(key))
            return cached[1]
        return await self._ask(key)

    async def served(self, company: str, requester: Requester, tool: str) -> bool:
        """Whether any executor answers a request about this tool."""
        request = CatalogueRequest(company_id=company, role=requester.role, plan=requester.plan, name=tool)
        try:
            await self._rpc.call(CATALOGUE, request, deadline=SERVING_TIMEOUT_SECONDS)
        except RpcError as error:
            return error.code not in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
        return True

    async def _ask(self, key: _ListKey) -> tuple[OfferedTool, ...]:
        company, role, plan, language = key
        now, drop_count = self._clock(), self._drop_count
        request = CatalogueRequest(company_id=company, role=role, plan=plan, language=language)
        try:
            reply = await self._rpc.call(CATALOGUE, request, deadline=TIMEOUT_SECONDS)
        except RpcError as error:
            log.warning("catalogue.unavailable", company=company, reason=error.code)
            cached = self._lists.get(key)
            return cached[1] if cached is not None and now - cached[0] < STALE_SECONDS else ()
        tools = tuple(
            OfferedTool(
                tool.name,
                tool.description,
                tool.category,
                tool.parameters,
                tool.label or tool.name,
                tool.side_effects,
            )
            for tool in reply.tools
        )
        if drop_count != self._drop_count:
            return tools  # not cached: they may be from before the change
        self._lists[key] = (now, tools)
        self._dropped.discard(key)
        self._lists.move_to_end(key)
        if len(self._lists) > MAX_LISTS:
            self._dropped.discard(self._lists.popitem(last=False)[0])
        return tools
