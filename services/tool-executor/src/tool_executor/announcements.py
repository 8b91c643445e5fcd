"""Keeps the list of tools that other services announce and withdraw (stream FACTS).

Every executor keeps the whole list. A core subscription brings changes; at the start and after each reconnect the
stream is read from as far back as an announcement can be valid.
"""

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.tool import ToolsAnnounced, ToolsWithdrawn
from contracts.streams import FACTS
from contracts.wrong_fields import message_of
from runtime.background import start_task
from runtime.bus.connection import subscribe
from runtime.bus.direct import DirectReader, StoredFact
from runtime.errors import ReadFailedError
from tool_executor.catalogue.announced import Offers

log = structlog.get_logger(__name__)

# Assigned once, because building a parametrised model takes milliseconds.
_AnnouncedEvent = CloudEvent[ToolsAnnounced]
_WithdrawnEvent = CloudEvent[ToolsWithdrawn]

ANNOUNCED = "tools.announced.v1"
WITHDRAWN = "tools.withdrawn.v1"
_MAX_TTL = timedelta(hours=1)
"""The longest ttl that the contract allows."""
_DEADLINE = 5.0
"""Seconds to read the earlier announcements."""
_BATCH = 256
_MAX_FACTS = 10_000


class AnnouncedTools:
    """Keeps `offers` current with the bus."""

    def __init__(self, client: Client, offers: Offers) -> None:
        self._client = client
        self._offers = offers
        self._facts = DirectReader(client, FACTS.name)
        self._announced_live: set[tuple[str, str]] = set()
        """Services that announced live while the stream was being read; their earlier announcements do not count."""
        self._reading = asyncio.Lock()
        self._catch_ups: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Subscribes to announcements and reads the earlier ones; those that cannot be read are repeated soon."""
        await subscribe(self._client, f"{ANNOUNCED}.>", self._on_live)
        await subscribe(self._client, f"{WITHDRAWN}.>", self._on_live)
        await self._client.flush()
        await self.catch_up()

    def catch_up_soon(self) -> None:
        """Reads announcements that may have been missed, in the background."""
        start_task(self.catch_up(), self._catch_ups)

    async def close(self) -> None:
        for task in self._catch_ups:
            task.cancel()
        await asyncio.gather(*self._catch_ups, return_exceptions=True)

    async def catch_up(self) -> None:
        """Reads earlier announcements. Owners whose announcement cannot be read now will announce again."""
        async with self._reading:
            self._announced_live.clear()
            try:
                async with asyncio.timeout(_DEADLINE):
                    await self._read_back()
            except (ReadFailedError, TimeoutError) as error:
                # Owners announce again within their ttl.
                log.warning("tools.announcements_not_read", error=str(error) or type(error).__name__)

    async def _read_back(self) -> None:
        since = datetime.now(UTC) - _MAX_TTL
        facts = [fact for kind in (ANNOUNCED, WITHDRAWN) for fact in await self._facts_since(f"{kind}.>", since)]
        for fact in sorted(facts, key=lambda fact: fact.seq):
            age = time.time() - fact.time.timestamp()
            self._apply(fact.subject, fact.event, max(age, 0.0), live=False)

    async def _facts_since(self, subject: str, since: datetime) -> list[StoredFact]:
        batch = await self._facts.batch_since(subject, since, _BATCH)
        facts = batch.facts
        while batch.more and len(facts) < _MAX_FACTS:
            batch = await self._facts.batch(subject, facts[-1].seq + 1, _BATCH)
            facts += batch.facts
        return facts

    async def _on_live(self, message: Msg) -> None:
        self._apply(message.subject, message.data, 0.0, live=True)

    def _apply(self, subject: str, data: bytes, age: float, *, live: bool) -> None:
        kind = ANNOUNCED if subject.startswith(ANNOUNCED) else WITHDRAWN
        company = subject.removeprefix(f"{kind}.").partition(".")[0]
        try:
            if kind == ANNOUNCED:
                announced, misfits = _read(data)
                if not self._is_news(company, announced.service, live) or age >= announced.ttl_seconds:
                    return
                refused = self._offers.announce(company, announced, announced.ttl_seconds - age)
                for reason in (*misfits, *refused):
                    log.warning("tools.announcement_refused", company=company, service=announced.service, why=reason)
            else:
                withdrawn = _WithdrawnEvent.model_validate_json(data).data
                if self._is_news(company, withdrawn.service, live):
                    self._offers.withdraw(company, withdrawn.service, withdrawn.names)
        except ValidationError as error:
            log.warning("tools.bad_announcement", subject=subject, why=[fault for _, fault in _faults(error)[:5]])

    def _is_news(self, company: str, service: str, live: bool) -> bool:
        if live:
            if self._reading.locked():
                self._announced_live.add((company, service))
            return True
        return (company, service) not in self._announced_live


def _read(data: bytes) -> tuple[ToolsAnnounced, list[str]]:
    """Returns the announcement without the declarations that do not fit the contract, and what is wrong with these.
    Raises ValidationError if anything else is wrong."""
    try:
        return _AnnouncedEvent.model_validate_json(data).data, []
    except ValidationError as error:
        faults = _faults(error)
        if any(location[:2] != ("data", "tools") or len(location) < 3 for location, _ in faults):
            raise
        misfits = {location[2] for location, _ in faults}
        event = json.loads(data)
        tools = event["data"]["tools"]
        event["data"]["tools"] = [tool for place, tool in enumerate(tools) if place not in misfits]
        return _AnnouncedEvent.model_validate(event).data, [fault for _, fault in faults]


def _faults(error: ValidationError) -> list[tuple[tuple[int | str, ...], str]]:
    """Returns the place of each fault, and the fault in words."""
    return [
        (fault["loc"], f"{'.'.join(map(str, fault['loc']))}: {message_of(fault)}")
        for fault in error.errors(include_url=False, include_input=False)
    ]
