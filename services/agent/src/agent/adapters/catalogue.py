"""The tools that a requester may use, as the executor lists them, cached for a minute.

A cached list that is in use is refreshed in the background before it expires, so no turn waits for it. After an
announcement or a withdrawal the list is kept for a shorter time, because the executor and this agent hear of it at the
same moment, and either may be first.
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

FRESH = 60.0
"""Seconds that an answer is good for."""
RENEWED = 30.0
"""Seconds after which whoever uses it has it asked for anew."""
CHANGING = 5.0
"""Seconds after a change that is heard of for which an answer is good for no longer than MOMENT."""
MOMENT = 0.5
STALE = 3600.0
"""Seconds that an answer, even one from before the company's settings changed, is still used while the executor does
not answer. The executor refuses what is no longer allowed, and a call that fails is told as such; without tools the
assistant would say that it has found nothing."""
KEPT = 4096
DEADLINE = 1.0
"""Seconds for the executor's answer; then what was last known holds."""
SERVED = 3.0
"""Seconds for any executor to answer at all."""

_Kind = tuple[str, str, str, Language]


class ExecutorCatalogue:
    """The tools by company, role, plan and language: everybody of one kind gets the same."""

    def __init__(self, rpc: RpcClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._rpc = rpc
        self._clock = clock
        self._kept: OrderedDict[_Kind, tuple[float, tuple[OfferedTool, ...]]] = OrderedDict()
        self._changed = float("-inf")
        self._renewing: dict[_Kind, asyncio.Task[tuple[OfferedTool, ...]]] = {}
        self._drops = 0
        self._dropped: set[_Kind] = set()

    def drop(self, company: str) -> None:
        """Forgets a company's tools because its settings have changed. The result of a request that is under way is
        not cached."""
        self._drops += 1
        self._dropped.update(key for key in self._kept if key[0] == company)

    async def changed(self, message: Msg | None = None) -> None:
        """A service has announced or withdrawn tools, or may have."""
        del message
        self._changed = self._clock()

    async def offered(self, company: str, requester: Requester) -> tuple[OfferedTool, ...]:
        """Returns the tools in the catalogue's order; none if the executor does not answer and nothing is cached."""
        if requester.principal is None:
            return ()  # the executor refuses every call of somebody who proves nothing
        key = (company, requester.role, requester.plan, requester.language)
        kept = self._kept.get(key)
        now = self._clock()
        fresh = MOMENT if kept is not None and kept[0] - self._changed < CHANGING else FRESH
        if kept is not None and now - kept[0] < fresh and key not in self._dropped:
            if now - kept[0] > RENEWED and key not in self._renewing:
                self._renewing[key] = asyncio.create_task(self._ask(key), context=detached_context())
                self._renewing[key].add_done_callback(lambda _: self._renewing.pop(key))
            return kept[1]
        return await self._ask(key)

    async def served(self, company: str, requester: Requester, tool: str) -> bool:
        """Whether any executor answers: it is asked about this tool alone."""
        request = CatalogueRequest(company_id=company, role=requester.role, plan=requester.plan, name=tool)
        try:
            await self._rpc.call(CATALOGUE, request, deadline=SERVED)
        except RpcError as error:
            return error.code not in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
        return True

    async def _ask(self, key: _Kind) -> tuple[OfferedTool, ...]:
        company, role, plan, language = key
        now, drops = self._clock(), self._drops
        request = CatalogueRequest(company_id=company, role=role, plan=plan, language=language)
        try:
            reply = await self._rpc.call(CATALOGUE, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("catalogue.unavailable", company=company, reason=error.code)
            kept = self._kept.get(key)
            return kept[1] if kept is not None and now - kept[0] < STALE else ()
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
        if drops != self._drops:
            return tools  # perhaps those of before
        self._kept[key] = (now, tools)
        self._dropped.discard(key)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._dropped.discard(self._kept.popitem(last=False)[0])
        return tools
