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
_STORE_RETRY_SECONDS = 1.0
"""Seconds before a place is delivered again after Redis did not answer."""
# Assigned once: pydantic drops parametrised models without references.
RefreshEvent = CloudEvent[RefreshRequested]
FileEvent = CloudEvent[FileReceived]

log = structlog.get_logger(__name__)


class RunHandler:
    """Handles places at runs. If it raises, the message is delivered again (runtime.workers.pull_worker)."""

    def __init__(self, crawler: Crawler, companies: CompanyCache) -> None:
        self._crawler = crawler
        self._companies = companies

    async def handle(self, delivery: Delivery) -> Outcome:
        """Works one slice of a run: Ack if the run is over, Retry if there is more to read."""
        try:
            request = RefreshEvent.model_validate_json(delivery.data).data
        except ValidationError as error:
            return _misfit(error)
        if not delivery.subject.endswith(f".{request.company_id}"):
            return _WRONG_COMPANY
        settings = await self._companies.get(request.company_id)
        try:
            return await self._crawler.work(request, str(delivery.seq), settings)
        except RedisUnavailableError as unavailable:
            # The pause does not grow with the number of deliveries, because each slice is one.
            log.warning("crawl.store_away", company=request.company_id, run=request.run_id, error=str(unavailable))
            return Retry(_STORE_RETRY_SECONDS)


class FileHandler:
    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads

    async def handle(self, delivery: Delivery) -> Outcome:
        """Reads a file: Ack once its text, or the reason why it cannot be read, has been published."""
        try:
            file = FileEvent.model_validate_json(delivery.data).data
        except ValidationError as error:
            return _misfit(error)
        if not delivery.subject.endswith(f".{file.company_id}"):
            return _WRONG_COMPANY
        await self._uploads.read(file)
        return Ack()


_WRONG_COMPANY = DeadLetter("the subject names another company than the event")


def _misfit(error: ValidationError) -> DeadLetter:
    return DeadLetter(f"it does not fit its contract: {error.error_count()} fields are wrong")
