"""Handles the work queue KNOWLEDGE: places at runs, and files."""

import structlog
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.knowledge import FileReceived, RefreshRequested
from runtime.companies import CompanyCache
from runtime.workers.outcomes import Ack, DeadLetter, Outcome, Retry
from runtime.workers.pull_worker import Delivery
from tool_executor.crawl.crawler import Crawler
from tool_executor.crawl.uploads import Uploads
from tool_executor.ports import RedisUnavailableError

REFRESH = "knowledge.refresh.requested.v1.*"
FILES = "knowledge.file.received.v1.*"
_AWAY_PAUSE = 1.0
"""Seconds before a place is taken again when Redis did not answer."""
# Named once: pydantic forgets a parametrised model that nobody holds.
RefreshEvent = CloudEvent[RefreshRequested]
FileEvent = CloudEvent[FileReceived]

log = structlog.get_logger(__name__)


class RunHandler:
    """Handles places at runs. If it raises, the message is delivered again (runtime.workers.pull_worker)."""

    def __init__(self, crawler: Crawler, companies: CompanyCache) -> None:
        self._crawler = crawler
        self._companies = companies

    async def handle(self, delivery: Delivery) -> Outcome:
        """Ack when the run is over; Retry when there is more to read."""
        try:
            asked = RefreshEvent.model_validate_json(delivery.data).data
        except ValidationError as error:
            return _misfit(error)
        if not delivery.subject.endswith(f".{asked.company_id}"):
            return _ANOTHERS
        settings = await self._companies.get(asked.company_id)
        try:
            return await self._crawler.work(asked, str(delivery.seq), settings)
        except RedisUnavailableError as away:
            # Not by the count of deliveries: each slice is one.
            log.warning("crawl.store_away", company=asked.company_id, run=asked.run_id, error=str(away))
            return Retry(_AWAY_PAUSE)


class FileHandler:
    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads

    async def handle(self, delivery: Delivery) -> Outcome:
        """Ack once the file's text has been published, or the reason why it cannot be read."""
        try:
            file = FileEvent.model_validate_json(delivery.data).data
        except ValidationError as error:
            return _misfit(error)
        if not delivery.subject.endswith(f".{file.company_id}"):
            return _ANOTHERS
        await self._uploads.read(file)
        return Ack()


_ANOTHERS = DeadLetter("the subject names another company than the event")


def _misfit(error: ValidationError) -> DeadLetter:
    return DeadLetter(f"it does not fit its contract: {error.error_count()} fields are wrong")
