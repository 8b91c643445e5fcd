"""Handles the work queue KNOWLEDGE: places at runs, and files."""

from typing import TypeVar

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

DataT = TypeVar("DataT", RefreshRequested, FileReceived)

log = structlog.get_logger(__name__)


class RunHandler:
    """Handles places at runs. If it raises, the message is delivered again (runtime.workers.pull_worker)."""

    def __init__(self, crawler: Crawler, companies: CompanyCache) -> None:
        self._crawler = crawler
        self._companies = companies

    async def handle(self, delivery: Delivery) -> Outcome:
        """Works one slice of a run: Ack if the run is over, Retry if there is more to read."""
        request = _data_in(delivery, RefreshEvent)
        if isinstance(request, DeadLetter):
            return request
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
        file = _data_in(delivery, FileEvent)
        if isinstance(file, DeadLetter):
            return file
        await self._uploads.read(file)
        return Ack()


def _data_in(delivery: Delivery, event: type[CloudEvent[DataT]]) -> DataT | DeadLetter:
    try:
        data = event.model_validate_json(delivery.data).data
    except ValidationError as error:
        return DeadLetter(f"it does not fit its contract: {error.error_count()} fields are wrong")
    if not delivery.subject.endswith(f".{data.company_id}"):
        return DeadLetter("the subject names another company than the event")
    return data
