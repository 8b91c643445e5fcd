"""Publishes memory's announcements in FACTS, and reads companies' settings there."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from contracts.channels import fact
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.events.memory import MemoryUpdated
from contracts.ids import derive_id, uuid7
from contracts.streams import FACTS
from memory.adapters.chat_log import SOURCE
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Fence, Publisher

COMPANY_CHANGED = "company.config.changed.v1"
MEMORY_UPDATED = "memory.updated.v1"
NEVER = datetime.min.replace(tzinfo=UTC)


class BusAnnouncements:
    """Publishes announcements. Ids are derived from the version or the turn, so that a repeat is recognised."""

    def __init__(self, publisher: Publisher, facts: DirectReader) -> None:
        self._publisher = publisher
        self._facts = facts

    async def company_changed(
        self, settings: CompanySettings, repeat: str | None = None, last_seen_seq: int | None = None
    ) -> None:
        """Publishes company.config.changed.v1 with secrets hidden; returns once it is stored. `repeat` distinguishes a
        repeat of what was published long ago; `last_seen_seq`: the sequence of the last announcement the caller knows.

        Raises:
            FenceRefusedError: there is a newer announcement.
        """
        company = settings.config.company_id
        subject = fact(COMPANY_CHANGED, company, None)
        event = CloudEvent(
            id=derive_id(company, COMPANY_CHANGED, str(settings.version)),
            source=SOURCE,
            type=COMPANY_CHANGED,
            subject=company,
            data=CompanyConfigChanged(config=settings.config, version=settings.version, deleted=settings.deleted),
        )
        await self._publisher.append(
            subject,
            event,
            stream=FACTS.name,
            msg_id=f"{company}.config.{settings.version}" + (f".{repeat}" if repeat else ""),
            fence=None if last_seen_seq is None else Fence(last_seen_seq, subject),
        )

    async def published_settings(self, company: str) -> tuple[CompanySettings | None, datetime, int]:
        """The newest settings on the bus, their time and their sequence (0 if there are none). The answer may come from
        a replica of the stream that lags behind."""
        stored = await self._facts.last(fact(COMPANY_CHANGED, company, None))
        return (_settings(stored), stored.time, stored.seq) if stored else (None, NEVER, 0)

    async def all_published_settings(self) -> list[CompanySettings]:
        """The newest settings of every company on the bus."""
        stored = await self._facts.last_of_each([f"{COMPANY_CHANGED}.*.-"])
        return [settings for fact in stored if (settings := _settings(fact)) is not None]

    async def memory_updated(self, company: str, user: str, fields: Sequence[str], turn: str | None) -> None:
        """Publishes memory.updated.v1; returns once it is stored."""
        event_id = derive_id(company, user, MEMORY_UPDATED, turn) if turn else uuid7()
        event = CloudEvent(
            id=event_id,
            source=SOURCE,
            type=MEMORY_UPDATED,
            subject=f"{company}/{user}",
            data=MemoryUpdated(company_id=company, user_id=user, fields=list(fields), turn_id=turn),
        )
        await self._publisher.append(
            fact(MEMORY_UPDATED, company, user), event, stream=FACTS.name, msg_id=f"{company}.memory.{event_id}"
        )


def _settings(stored: StoredFact) -> CompanySettings | None:
    try:
        event = CloudEvent[CompanyConfigChanged].model_validate_json(stored.event)
    except ValidationError:
        return None
    data = event.data
    return CompanySettings(config=data.config, version=data.version, deleted=data.deleted)
