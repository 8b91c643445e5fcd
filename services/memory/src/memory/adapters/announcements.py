"""Facts that memory publishes in FACTS."""

from contracts.channels import fact
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.ids import derive_id
from contracts.streams import FACTS
from memory.adapters.chat_log import SOURCE
from runtime.publishing import Publisher

COMPANY_CHANGED = "company.config.changed.v1"


class BusAnnouncements:
    """Announcements. The ids are derived from company and version: a repeat is recognised."""

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
