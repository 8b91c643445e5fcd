"""Keeps the list of tools that other services announce and withdraw (stream FACTS).

Every executor keeps the whole list. A core subscription brings changes; at the start and after each reconnect the
stream is read from as far back as an announcement can be valid.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.tool import ToolsAnnounced, ToolsWithdrawn
from contracts.streams import FACTS
from runtime.bus.connection import subscribe
from runtime.bus.direct import DirectReader, StoredFact
from runtime.errors import ReadFailedError
from tool_executor.catalogue.announced import Offers

log = structlog.get_logger(__name__)

# Named once: building a parametrised model anew takes milliseconds.
_AnnouncedEvent = CloudEvent[ToolsAnnounced]
_WithdrawnEvent = CloudEvent[ToolsWithdrawn]

ANNOUNCED = "tools.announced.v1"
WITHDRAWN = "tools.withdrawn.v1"
_LONGEST = timedelta(hours=1)
"""The longest ttl that the contract allows."""
_DEADLINE = 5.0
"""Seconds to read back what was announced before."""
_BATCH = 256
_MOST = 10_000


class AnnouncedTools:
    """Keeps `offers` as the bus says."""

    def __init__(self, client: Client, offers: Offers) -> None:
        self._client = client
        self._offers = offers
        self._facts = DirectReader(client, FACTS.name)
        self._heard: set[tuple[str, str]] = set()
        """The services heard live while the stream is read: their earlier announcements no longer count."""
        self._reading = asyncio.Lock()
        self._later: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listens from now on, and reads earlier announcements; those that cannot be read now are repeated soon."""
        await subscribe(self._client, f"{ANNOUNCED}.>", self._on_live)
        await subscribe(self._client, f"{WITHDRAWN}.>", self._on_live)
        await self._client.flush()
        await self.catch_up()

    def catch_up_soon(self) -> None:
        """Reads what may have been missed, without keeping the caller."""
        task = asyncio.create_task(self.catch_up())
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def close(self) -> None:
        for task in self._later:
            task.cancel()
        await asyncio.gather(*self._later, return_exceptions=True)

    async def catch_up(self) -> None:
        """Reads earlier announcements. Owners whose announcement cannot be read now will announce again."""
        async with self._reading:
            self._heard.clear()
            try:
                async with asyncio.timeout(_DEADLINE):
                    await self._read_back()
            except (ReadFailedError, TimeoutError) as error:
                # Owners announce again within their ttl.
                log.warning("tools.announcements_not_read", error=str(error) or type(error).__name__)

    async def _read_back(self) -> None:
        since = datetime.now(UTC) - _LONGEST
        told = [fact for kind in (ANNOUNCED, WITHDRAWN) for fact in await self._told(f"{kind}.>", since)]
        for fact in sorted(told, key=lambda one: one.seq):
            age = time.time() - fact.time.timestamp()
            self._apply(fact.subject, fact.event, max(age, 0.0), live=False)

    async def _told(self, subject: str, since: datetime) -> list[StoredFact]:
        batch = await self._facts.batch_since(subject, since, _BATCH)
        found = batch.facts
        while batch.more and len(found) < _MOST:
            batch = await self._facts.batch(subject, found[-1].seq + 1, _BATCH)
            found += batch.facts
        return found

    async def _on_live(self, message: Msg) -> None:
        self._apply(message.subject, message.data, 0.0, live=True)

    def _apply(self, subject: str, data: bytes, age: float, *, live: bool) -> None:
        kind = ANNOUNCED if subject.startswith(ANNOUNCED) else WITHDRAWN
        company = subject.removeprefix(f"{kind}.").partition(".")[0]
        try:
            if kind == ANNOUNCED:
                announced = _AnnouncedEvent.model_validate_json(data).data
                if not self._is_news(company, announced.service, live) or age >= announced.ttl_seconds:
                    return
                refused = self._offers.announce(company, announced, announced.ttl_seconds - age)
                for line in refused:
                    log.warning("tools.announcement_refused", company=company, service=announced.service, why=line)
            else:
                withdrawn = _WithdrawnEvent.model_validate_json(data).data
                if self._is_news(company, withdrawn.service, live):
                    self._offers.withdraw(company, withdrawn.service, withdrawn.names)
        except ValidationError as error:
            log.warning("tools.bad_announcement", subject=subject, problems=error.error_count())

    def _is_news(self, company: str, service: str, live: bool) -> bool:
        if live:
            if self._reading.locked():
                self._heard.add((company, service))
            return True
        return (company, service) not in self._heard
