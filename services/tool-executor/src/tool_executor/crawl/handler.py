"""What the work queue KNOWLEDGE brings: places at runs, and files."""

import structlog
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.knowledge import FileReceived, RefreshRequested
from runtime.companies import CompanyCache
from runtime.outcomes import DeadLetter, Done, Outcome
from runtime.pulling import Delivery
from tool_executor.crawl.crawler import Crawler
from tool_executor.crawl.uploads import Uploads

REFRESH = "knowledge.refresh.requested.v1.*"
FILES = "knowledge.file.received.v1.*"
# Named once: pydantic forgets a parametrised model that nobody holds.
RefreshEvent = CloudEvent[RefreshRequested]
FileEvent = CloudEvent[FileReceived]

log = structlog.get_logger(__name__)


class KnowledgeHandler:
    """See runtime.pulling: what it raises brings the message again."""

    def __init__(self, crawler: Crawler, uploads: Uploads, companies: CompanyCache) -> None:
        self._crawler = crawler
        self._uploads = uploads
        self._companies = companies

    async def handle(self, delivery: Delivery) -> Outcome:
        """Done when a run is over or a file is told; Later when there is more to read."""
        try:
            if delivery.subject.startswith(FILES.removesuffix("*")):
                file = FileEvent.model_validate_json(delivery.data).data
                return await self._read(delivery, file)
            asked = RefreshEvent.model_validate_json(delivery.data).data
        except ValidationError as error:
            return DeadLetter(f"not an event of {delivery.subject}: {error.error_count()} fields are wrong")
        if not delivery.subject.endswith(f".{asked.company_id}"):
            return DeadLetter("the subject names another company than the event")
        settings = await self._companies.get(asked.company_id)
        return await self._crawler.work(asked, str(delivery.seq), settings)

    async def _read(self, delivery: Delivery, file: FileReceived) -> Outcome:
        if not delivery.subject.endswith(f".{file.company_id}"):
            return DeadLetter("the subject names another company than the event")
        await self._uploads.read(file)
        return Done()
