"""Facts that memory publishes in FACTS."""

from collections.abc import Sequence

from contracts.channels import fact
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.events.memory import MemoryUpdated
from contracts.ids import derive_id, uuid7
from contracts.streams import FACTS
from memory.adapters.chat_log import SOURCE
from runtime.publishing import Publisher

COMPANY_CHANGED = "company.config.changed.v1"
MEMORY_UPDATED = "memory.updated.v1"


class BusAnnouncements:
    """Announcements. Ids are derived from the version, or from the turn: a repeat is recognised."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def company_changed(self, settings: CompanySettings) -> None:
        company = settings.config.company_id
        event = CloudEvent(
            id=derive_id(company, COMPANY_CHANGED, str(settings.version)),
            source=SOURCE,
            type=COMPANY_CHANGED,
            subject=company,
            data=CompanyConfigChanged(config=settings.config, version=settings.version),
        )
        await self._publisher.append(
            fact(COMPANY_CHANGED, company, None),
            event,
            stream=FACTS.name,
            msg_id=f"{company}.config.{settings.version}",
        )

    async def memory_updated(self, company: str, user: str, fields: Sequence[str], turn: str | None) -> None:
        name = derive_id(company, user, MEMORY_UPDATED, turn) if turn else uuid7()
        event = CloudEvent(
            id=name,
            source=SOURCE,
            type=MEMORY_UPDATED,
            subject=f"{company}/{user}",
            data=MemoryUpdated(company_id=company, user_id=user, fields=list(fields), turn_id=turn),
        )
        await self._publisher.append(
            fact(MEMORY_UPDATED, company, user), event, stream=FACTS.name, msg_id=f"{company}.memory.{name}"
        )
