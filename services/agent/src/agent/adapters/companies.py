"""The companies' settings: kept here, filled from memory on a miss, replaced by each change, dropped on a reconnect."""

from collections import OrderedDict
from collections.abc import Callable

import structlog
from nats.aio.msg import Msg
from pydantic import ValidationError

from agent.errors import UnreachableError
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.rpc import COMPANY_GET, CompanyRequest
from runtime.errors import RpcError
from runtime.rpc import RpcClient
from runtime.single_flight import SingleFlight

log = structlog.get_logger(__name__)

CHANGES = "company.config.changed.v1.>"
KEPT = 10_000
"""Companies whose settings are kept."""
DEADLINE = 3.0
"""Seconds for memory's answer."""
Listener = Callable[[str, CompanySettings | None], None]


class CompanyCache:
    """One read a company, shared by all turns that wait for it."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc
        self._kept: OrderedDict[str, CompanySettings | None] = OrderedDict()
        self._asking = SingleFlight[CompanySettings | None]()
        self._listeners: list[Listener] = []

    async def get(self, company: str) -> CompanySettings | None:
        """The settings now; None: no such company. Raises UnreachableError."""
        if company in self._kept:
            return self._kept[company]
        return await self._asking.result(company, lambda: self._ask(company))

    def on_change(self, listener: Listener) -> None:
        """Called with each change, and with what is read anew."""
        self._listeners.append(listener)

    def drop(self) -> None:
        """Forgets everything: changes may have been missed while the connection was away."""
        self._kept.clear()

    async def changed(self, message: Msg) -> None:
        """Takes a company.config.changed.v1 from the standing subscription."""
        try:
            event = CloudEvent[CompanyConfigChanged].model_validate_json(message.data)
        except ValidationError:
            log.warning("company.unreadable_change", subject=message.subject)
            return
        settings = CompanySettings(config=event.data.config, version=event.data.version)
        company = settings.config.company_id
        known = self._kept.get(company)
        if known is not None and known.version > settings.version:
            return
        self._keep(company, settings)
        log.info("company.changed", company=company, version=settings.version)

    async def _ask(self, company: str) -> CompanySettings | None:
        try:
            reply = await self._rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=DEADLINE)
        except RpcError as error:
            raise UnreachableError(f"the settings of {company} cannot be had: {error}") from error
        known = self._kept.get(company)
        if known is not None and (reply.settings is None or known.version >= reply.settings.version):
            return known  # a change came in while we asked
        if reply.settings is not None:
            self._keep(company, reply.settings)
        return reply.settings

    def _keep(self, company: str, settings: CompanySettings) -> None:
        self._kept[company] = settings
        self._kept.move_to_end(company)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        for listener in self._listeners:
            listener(company, settings)
