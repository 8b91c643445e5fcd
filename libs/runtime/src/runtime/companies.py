"""A cache of companies' settings, which are read once, replaced by each change, and never expire.

Settings are read from memory, or, while memory does not answer, from the newest company.config.changed on the bus,
which holds them completely. They are cached for as long as the process lives. If changes may have been missed, settings
are confirmed before they are used; if nobody can confirm them, they are used anyway.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.channels import company_of, fact
from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyRequest
from contracts.streams import FACTS
from runtime.background import start_early
from runtime.bus.direct import DirectReader
from runtime.calls.rpc import RpcClient
from runtime.calls.single_flight import SingleFlight
from runtime.errors import ReadFailedError, RpcError
from runtime.observability.metrics import SETTINGS_AGE
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

COMPANY_CHANGED = "company.config.changed.v1"
CHANGES = f"{COMPANY_CHANGED}.>"
MAX_COMPANIES = 10_000
"""The most companies whose settings are cached."""
DEADLINE = 3.0
"""Deadline for memory, in seconds."""
BUS_DELAY_SECONDS = 0.25
"""Seconds to wait for memory before the bus is read as well."""
BUS_DEADLINE = 1.0
"""Deadline for the bus, in seconds."""
CONFIRM_INTERVAL = 60.0
"""Seconds after which settings are confirmed even though changes are received, since one may have been lost."""
RETRY_INTERVAL = 5.0
"""Seconds between two attempts to confirm the same settings."""
UNKNOWN_SECONDS = 2.0
"""Seconds for which a company is cached as unknown, so that guessed names do not each cause a call to memory."""

Listener = Callable[[str, CompanySettings | None], None]


@dataclass(slots=True)
class _CachedCompany:
    """`confirmed` and `tried`: when the settings were last confirmed, and when that was last attempted; monotonic
    seconds."""

    settings: CompanySettings
    confirmed: float
    tried: float


class CompanyCache:
    """Callers that wait for the same company share one read."""

    def __init__(self, client: Client, rpc: RpcClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._rpc = rpc
        self._clock = clock
        self._entries = Bounded[str, _CachedCompany](MAX_COMPANIES)
        self._unknown_until = Bounded[str, float](MAX_COMPANIES)
        self._reads = SingleFlight[CompanySettings | None]()
        self._listeners: list[Listener] = []
        self._missed_at = float("-inf")
        SETTINGS_AGE.set_function(self.age)

    async def get(self, company: str) -> CompanySettings | None:
        """Returns the current settings; None if there is no such company.

        Raises:
            RpcError: they are not cached, and neither memory nor the bus answers.
        """
        cached, now = self._entries.get(company), self._clock()
        if cached is not None and cached.settings.deleted:
            # It may have been created again without our notice, so it is looked up like an unknown company.
            cached = None
        if cached is None:
            return (
                None
                if self._unknown_until.get(company, now) > now
                else await asyncio.shield(self._shared_read(company))
            )
        is_confirmed = cached.confirmed >= self._missed_at
        was_tried = now - cached.tried < RETRY_INTERVAL and company not in self._reads
        if was_tried or (is_confirmed and now - cached.confirmed < CONFIRM_INTERVAL):
            return cached.settings
        cached.tried = now
        read = self._shared_read(company)
        if not is_confirmed:
            try:
                return await asyncio.shield(read)
            except RpcError as error:
                log.warning("company.unconfirmed", company=company, seconds=int(self.age()), reason=error.code)
        return _unless_deleted(self._entries.get(company, cached).settings)

    def cached(self, company: str) -> CompanySettings | None:
        """Returns the cached settings without a call, or None."""
        entry = self._entries.get(company)
        return None if entry is None else _unless_deleted(entry.settings)

    async def latest_settings(self, company: str) -> CompanySettings | None:
        """Reads the settings from memory; raises RpcError."""
        reply = await self._rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=DEADLINE)
        if reply.deleted is not None:
            config = CompanyConfig(company_id=company)
            return _unless_deleted(self.learn(CompanySettings(config=config, version=reply.deleted, deleted=True)))
        if reply.settings is None:
            self._unknown_until[company] = self._clock() + UNKNOWN_SECONDS
            entry = self._entries.get(company)
            return _unless_deleted(entry.settings) if entry else None
        return _unless_deleted(self.learn(reply.settings))

    def learn(self, settings: CompanySettings) -> CompanySettings:
        """Caches settings from any source, unless newer ones are known; returns the newest known ones."""
        company, now = settings.config.company_id, self._clock()
        entry = self._entries.get(company)
        if entry is not None and entry.settings.version > settings.version:
            return entry.settings  # a change came in while an older answer was in transit
        self._unknown_until.pop(company, None)
        if settings.deleted:
            self._unknown_until[company] = now + UNKNOWN_SECONDS
        self._entries[company] = _CachedCompany(settings, now, now)
        if entry is None or entry.settings != settings:
            for listener in self._listeners:
                listener(company, _unless_deleted(settings))
        return settings

    def on_change(self, listener: Listener) -> None:
        """Registers a listener, which gets every change and settings that were read again, and None for an unreadable
        change."""
        self._listeners.append(listener)

    def missed(self) -> None:
        """Marks all settings as unconfirmed, because the connection was down and changes may have been missed."""
        self._missed_at = self._clock()
        self._unknown_until.clear()
        for entry in self._entries.values():
            entry.tried = float("-inf")

    async def changed(self, message: Msg) -> None:
        """Handles a company.config.changed.v1 from the permanent subscription."""
        settings = _settings(message.subject, message.data)
        if settings is not None:
            self.learn(settings)
            log.info("company.changed", company=settings.config.company_id, version=settings.version)
            return
        # The change may be the kill switch: the old settings must not be used any more, and are read from memory.
        company = company_of(message.subject)
        self._entries.pop(company, None)
        for listener in self._listeners:
            listener(company, None)

    @property
    def count(self) -> int:
        """The number of companies whose settings are cached."""
        return len(self._entries)

    def age(self) -> float:
        """Returns the seconds for which settings in use have been unconfirmed; 0 if all are confirmed."""
        unconfirmed = [cached.confirmed for cached in list(self._entries.values()) if cached.tried > cached.confirmed]
        return self._clock() - min(unconfirmed) if unconfirmed else 0.0

    async def check(self) -> str:
        """Returns a remark for /readyz; settings never make a service not ready."""
        age = self.age()
        return f"{self.count} known, " + (f"not confirmed for {age:.0f} s" if age else "confirmed")

    def _shared_read(self, company: str) -> asyncio.Task[CompanySettings | None]:
        return self._reads.begin(company, lambda: self._read(company))

    async def _read(self, company: str) -> CompanySettings | None:
        answer = start_early(self.latest_settings(company))
        done, _ = await asyncio.wait({answer}, timeout=BUS_DELAY_SECONDS)
        if not done or answer.exception() is not None:
            stored = await self._read_from_bus(company)
            if stored is not None:
                return _unless_deleted(self.learn(stored))  # memory's answer is cached too, if it comes
        return await answer

    async def _read_from_bus(self, company: str) -> CompanySettings | None:
        try:
            stored = await self._facts.last(fact(COMPANY_CHANGED, company, None), deadline=BUS_DEADLINE)
        except ReadFailedError:
            return None
        return None if stored is None else _settings(stored.subject, stored.event)


def _unless_deleted(settings: CompanySettings) -> CompanySettings | None:
    return None if settings.deleted else settings


def _settings(subject: str, body: bytes) -> CompanySettings | None:
    try:
        return CompanySettings.model_validate(orjson.loads(body)["data"])
    except (ValidationError, KeyError, TypeError, orjson.JSONDecodeError):
        log.warning("company.unreadable_change", subject=subject)
        return None
