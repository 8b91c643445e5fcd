"""A cache of companies' settings: read once, replaced by each change, never expired.

Settings are read from memory, or, while memory does not answer, from the newest company.config.changed on the bus,
which holds them completely. They are kept for as long as the process lives. If changes may have been missed, settings
are confirmed before they are used, and used all the same if nobody can confirm them.
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
from runtime.bus.direct import DirectReader
from runtime.calls.rpc import RpcClient
from runtime.calls.single_flight import SingleFlight
from runtime.errors import ReadFailedError, RpcError
from runtime.observability.metrics import SETTINGS_AGE
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

COMPANY_CHANGED = "company.config.changed.v1"
CHANGES = f"{COMPANY_CHANGED}.>"
KEPT = 10_000
"""The most companies whose settings are cached."""
DEADLINE = 3.0
"""Deadline for memory, in seconds."""
HEAD_START = 0.25
"""Seconds that only memory is asked; then the bus is asked as well."""
TOLD_DEADLINE = 1.0
"""Deadline for the bus, in seconds."""
CONFIRMED = 60.0
"""Seconds after which settings are confirmed although changes are received, since one may have been dropped."""
AGAIN = 5.0
"""Seconds between two attempts to confirm the same settings."""
NOBODY = 2.0
"""Seconds for which a company is cached as unknown, so that guessed names do not each cause a call to memory."""

Listener = Callable[[str, CompanySettings | None], None]


@dataclass(slots=True)
class _HeldCompany:
    """`confirmed` and `tried`: when the settings were last confirmed, and when that was last attempted; monotonic
    seconds."""

    settings: CompanySettings
    confirmed: float
    tried: float


class CompanyCache:
    """All who wait for a company share one read."""

    def __init__(self, client: Client, rpc: RpcClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._rpc = rpc
        self._clock = clock
        self._held = Bounded[str, _HeldCompany](KEPT)
        self._nobody = Bounded[str, float](KEPT)
        self._asking = SingleFlight[CompanySettings | None]()
        self._listeners: list[Listener] = []
        self._missed = float("-inf")
        SETTINGS_AGE.set_function(self.age)

    async def get(self, company: str) -> CompanySettings | None:
        """The settings now; None: no such company.

        Raises:
            RpcError: they are not cached, and neither memory nor the bus answers.
        """
        held, now = self._held.get(company), self._clock()
        if held is not None and held.settings.deleted:
            # It may have been made anew, and that not been heard: it is looked at as any that there is not.
            held = None
        if held is None:
            return None if self._nobody.get(company, now) > now else await asyncio.shield(self._asked(company))
        heard = held.confirmed >= self._missed
        tried = now - held.tried < AGAIN and company not in self._asking
        if tried or (heard and now - held.confirmed < CONFIRMED):
            return held.settings
        held.tried = now
        asked = self._asked(company)
        if not heard:
            try:
                return await asyncio.shield(asked)
            except RpcError as error:
                log.warning("company.unconfirmed", company=company, seconds=int(self.age()), reason=error.code)
        return _living(self._held.get(company, held).settings)

    def held(self, company: str) -> CompanySettings | None:
        """The cached settings, without a call."""
        held = self._held.get(company)
        return None if held is None else _living(held.settings)

    async def newest(self, company: str) -> CompanySettings | None:
        """The settings from memory; raises RpcError."""
        reply = await self._rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=DEADLINE)
        if reply.deleted is not None:
            ended = CompanyConfig(company_id=company)
            return _living(self.learn(CompanySettings(config=ended, version=reply.deleted, deleted=True)))
        if reply.settings is None:
            self._nobody[company] = self._clock() + NOBODY
            held = self._held.get(company)
            return _living(held.settings) if held else None
        return _living(self.learn(reply.settings))

    def learn(self, settings: CompanySettings) -> CompanySettings:
        """Takes settings from any source; returns the newest known ones."""
        company, now = settings.config.company_id, self._clock()
        held = self._held.get(company)
        if held is not None and held.settings.version > settings.version:
            return held.settings  # a change came in while an older answer was on its way
        self._nobody.pop(company, None)
        if settings.deleted:
            self._nobody[company] = now + NOBODY
        self._held[company] = _HeldCompany(settings, now, now)
        if held is None or held.settings != settings:
            for listener in self._listeners:
                listener(company, _living(settings))
        return settings

    def on_change(self, listener: Listener) -> None:
        """Called with each change, and with settings that are read again; with None for a change that cannot be
        read."""
        self._listeners.append(listener)

    def missed(self) -> None:
        """Marks all settings as unconfirmed: the connection was away, and changes may have been missed."""
        self._missed = self._clock()
        self._nobody.clear()
        for held in self._held.values():
            held.tried = float("-inf")

    async def changed(self, message: Msg) -> None:
        """Handles a company.config.changed.v1 from the permanent subscription."""
        settings = _settings(message.subject, message.data)
        if settings is not None:
            self.learn(settings)
            log.info("company.changed", company=settings.config.company_id, version=settings.version)
            return
        # It may be the kill switch: nothing goes on by the old settings, memory is asked for these.
        company = company_of(message.subject)
        self._held.pop(company, None)
        for listener in self._listeners:
            listener(company, None)

    @property
    def count(self) -> int:
        """The number of companies whose settings are cached."""
        return len(self._held)

    def age(self) -> float:
        """Returns for how many seconds settings in use have been unconfirmed; 0 if all are confirmed."""
        waiting = [held.confirmed for held in list(self._held.values()) if held.tried > held.confirmed]
        return self._clock() - min(waiting) if waiting else 0.0

    async def check(self) -> str:
        """A remark for /readyz; settings never keep a service from being ready."""
        age = self.age()
        return f"{self.count} known, " + (f"not confirmed for {age:.0f} s" if age else "confirmed")

    def _asked(self, company: str) -> asyncio.Task[CompanySettings | None]:
        return self._asking.begin(company, lambda: self._ask(company))

    async def _ask(self, company: str) -> CompanySettings | None:
        asked = asyncio.create_task(self.newest(company))
        asked.add_done_callback(_look_at)
        done, _ = await asyncio.wait({asked}, timeout=HEAD_START)
        if not done or asked.exception() is not None:
            told = await self._told(company)
            if told is not None:
                return _living(self.learn(told))  # memory's answer is learned as well, if it comes
        return await asked

    async def _told(self, company: str) -> CompanySettings | None:
        try:
            stored = await self._facts.last(fact(COMPANY_CHANGED, company, None), deadline=TOLD_DEADLINE)
        except ReadFailedError:
            return None
        return None if stored is None else _settings(stored.subject, stored.event)


def _living(settings: CompanySettings) -> CompanySettings | None:
    return None if settings.deleted else settings


def _settings(subject: str, body: bytes) -> CompanySettings | None:
    try:
        return CompanySettings.model_validate(orjson.loads(body)["data"])
    except (ValidationError, KeyError, TypeError, orjson.JSONDecodeError):
        log.warning("company.unreadable_change", subject=subject)
        return None


def _look_at(task: asyncio.Task[CompanySettings | None]) -> None:
    # Whoever asked may be gone: nobody else would look at what was raised.
    if not task.cancelled():
        task.exception()
