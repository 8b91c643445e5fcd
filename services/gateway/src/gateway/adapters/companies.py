"""Companies' settings: asked of memory once, kept true by company.config.changed (ports.Companies)."""

from collections import OrderedDict
from typing import Any, TypeVar

import orjson
import structlog
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.company import CompanySettings
from contracts.rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_PATCH,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyRequest,
)
from gateway.adapters.asking import ask
from runtime.clock import Clock
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

ValueT = TypeVar("ValueT")

CHANGES = "company.config.changed.v1.>"
MAX_COMPANIES = 10_000
SAVE_SECONDS = 10.0
"""For a change: memory stores it and tells it before it answers."""
UNKNOWN_SECONDS = 2.0
"""How long a company is held not to exist: guesses must not become questions to memory one by one."""


class BusCompanies:
    """A cache that a standing subscription keeps true; emptied when the bus was away."""

    def __init__(self, client: RpcClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._known: OrderedDict[str, CompanySettings] = OrderedDict()
        self._unknown: OrderedDict[str, float] = OrderedDict()

    async def get(self, company: str) -> CompanySettings | None:
        known = self._known.get(company)
        if known is not None:
            return known
        until = self._unknown.get(company, 0.0)
        if until > self._clock.monotonic():
            return None
        settings = await self.newest(company)
        if settings is None:
            _keep(self._unknown, company, self._clock.monotonic() + UNKNOWN_SECONDS)
        return settings

    async def newest(self, company: str) -> CompanySettings | None:
        settings = (await ask(self._client, COMPANY_GET, CompanyRequest(company_id=company))).settings
        if settings is not None:
            self._learn(settings)
        return settings

    async def create(self, config: dict[str, Any]) -> CompanySettings:
        saved = await ask(self._client, COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=SAVE_SECONDS)
        self._learn(saved.settings)
        return saved.settings

    async def patch(self, company: str, version: int, patch: dict[str, Any]) -> CompanySettings:
        request = CompanyPatchRequest(company_id=company, version=version, patch=patch)
        saved = await ask(self._client, COMPANY_PATCH, request, deadline=SAVE_SECONDS)
        self._learn(saved.settings)
        return saved.settings

    def forget(self) -> None:
        """Changes may have been missed."""
        self._known.clear()
        self._unknown.clear()

    async def changed(self, message: Msg) -> None:
        """A company's settings changed."""
        try:
            settings = CompanySettings.model_validate(orjson.loads(message.data)["data"])
        except (ValidationError, KeyError, TypeError, orjson.JSONDecodeError):
            log.warning("companies.malformed_change", subject=message.subject)
            return
        self._learn(settings)

    def _learn(self, settings: CompanySettings) -> None:
        company = settings.config.company_id
        self._unknown.pop(company, None)
        known = self._known.get(company)
        if known is None or known.version <= settings.version:
            _keep(self._known, company, settings)


def _keep(cache: OrderedDict[str, ValueT], key: str, value: ValueT) -> None:
    cache[key] = value
    if len(cache) > MAX_COMPANIES:
        cache.popitem(last=False)
