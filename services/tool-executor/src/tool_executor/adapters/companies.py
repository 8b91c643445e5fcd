"""What companies' settings say about tools: asked of memory once, then kept up to date by its announcements."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from pydantic import ValidationError

from contracts import channels
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.rpc import COMPANY_GET, CompanyRequest
from runtime.connection import subscribe
from runtime.deadlines import part
from runtime.errors import RpcError
from runtime.rpc import RpcClient
from runtime.single_flight import SingleFlight
from tool_executor.domain.declaration import ServiceAway
from tool_executor.domain.plans import CompanyTools

log = structlog.get_logger(__name__)

_ChangedEvent = CloudEvent[CompanyConfigChanged]
_CHANGES = "company.config.changed.v1.>"
_DEADLINE = 2.0
"""Seconds for memory's answer; who lists tools waits for a part of their caller's deadline only."""
_MOST = 10_000
_KEEP = 300.0
_KEEP_NONE = 5.0


@dataclass(frozen=True, slots=True)
class _Known:
    tools: CompanyTools
    version: int
    until: float


class BusCompanies:
    """See ports.Companies. A change takes effect with the next call; after a reconnect everything is asked anew."""

    def __init__(self, client: Client, rpc: RpcClient) -> None:
        self._client = client
        self._rpc = rpc
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking = SingleFlight[CompanyTools]()
        self._subscription: Subscription | None = None
        self._generation = 0

    async def start(self) -> None:
        """Listens for changes."""
        self._subscription = await subscribe(self._client, _CHANGES, self._on_change)

    async def forget(self) -> None:
        """Drops what is known: changes may have been missed while the bus was away."""
        self._generation += 1
        self._known.clear()
        self._asking.forget()

    def knows(self, company: str) -> bool:
        """Whether the next answer comes without asking memory."""
        known = self._known.get(company)
        return known is not None and known.until > time.monotonic()

    async def tools_of(self, company: str) -> CompanyTools:
        known = self._known.get(company)
        if known is not None and known.until > time.monotonic():
            return known.tools
        try:
            async with asyncio.timeout(part(_DEADLINE)):
                return await self._asking.result(company, lambda: self._ask(company))
        except TimeoutError as error:
            raise ServiceAway(f"the settings of {company} are not there yet") from error

    async def _ask(self, company: str) -> CompanyTools:
        generation = self._generation
        try:
            reply = await self._rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=_DEADLINE)
        except RpcError as error:
            raise ServiceAway(f"the settings of {company} cannot be read: {error}") from error
        if reply.settings is not None:
            tools, version, keep = tools_in(reply.settings), reply.settings.version, _KEEP
        else:
            tools, version, keep = CompanyTools(), 0, _KEEP_NONE
        if generation == self._generation:
            self._learn(company, tools, version, keep)
        known = self._known.get(company)
        return known.tools if known is not None else tools

    async def _on_change(self, message: Msg) -> None:
        try:
            event = _ChangedEvent.model_validate_json(message.data)
        except ValidationError as error:
            # What it says is asked of memory with the next call: nothing goes on by the old settings.
            log.warning("companies.bad_change", subject=message.subject, problems=error.error_count())
            self._known.pop(channels.company_of(message.subject), None)
            return
        self._learn(event.data.config.company_id, tools_in(event.data), event.data.version, _KEEP)

    def _learn(self, company: str, tools: CompanyTools, version: int, keep: float) -> None:
        known = self._known.get(company)
        # An answer that was on its way while a change came must not undo the change.
        if known is not None and known.version > version and known.until > time.monotonic():
            return
        self._known[company] = _Known(tools, version, time.monotonic() + keep)
        self._known.move_to_end(company)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)


def tools_in(settings: CompanySettings) -> CompanyTools:
    """The part of the settings that concerns tools."""
    config = settings.config.tool_config
    return CompanyTools(
        fetch_page_enabled=config.fetch_page_enabled,
        allowed_domains=tuple(config.allowed_domains),
        allowed_paths=tuple(config.allowed_paths),
        cache_enabled=config.cache_enabled,
        cache_ttl_seconds=config.cache_ttl_seconds,
        enabled_tools=frozenset(config.enabled_tools),
    )
