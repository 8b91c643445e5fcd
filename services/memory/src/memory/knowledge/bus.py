"""What memory publishes about companies' knowledge, and what each replica receives."""

from typing import TypeVar

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.channels import company_of, fact, knowledge_work
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.events.knowledge import FileReceived, KnowledgeChanged, RefreshRequested
from contracts.ids import uuid7
from contracts.streams import FACTS, KNOWLEDGE
from memory.adapters.announcements import COMPANY_CHANGED
from memory.adapters.bus_errors import bus_errors
from memory.adapters.chat_log import SOURCE
from memory.knowledge.indexes import KnowledgeIndexes
from runtime.bus.connection import subscribe
from runtime.bus.publisher import Publisher

CHANGED = "knowledge.changed.v1"
EVENT_TYPES = tuple(subject.removesuffix(".>") for subject in FACTS.subjects if subject.startswith("knowledge."))
REFRESH_REQUESTED = "knowledge.refresh.requested.v1"
FILE_RECEIVED = "knowledge.file.received.v1"
DataT = TypeVar("DataT", KnowledgeChanged, RefreshRequested, FileReceived)
_log = structlog.get_logger(__name__)


class KnowledgeBus:
    def __init__(self, client: Client, publisher: Publisher) -> None:
        self._js = client.jetstream()  # pyright: ignore[reportUnknownMemberType]
        self._publisher = publisher

    async def changed(self, company: str, document: str | None) -> None:
        """Announces to every replica that a document has changed; None: more than one."""
        event = _event(CHANGED, KnowledgeChanged(company_id=company, document_id=document))
        subject, msg_id = fact(CHANGED, company, None), f"{company}.knowledge.{event.id}"
        await self._publisher.append(subject, event, stream=FACTS.name, msg_id=msg_id)

    async def forget(self, company: str) -> None:
        """Removes a company's documents and runs from the streams; raises BusUnavailableError."""
        with bus_errors("remove a company's knowledge from the streams"):
            for kind in EVENT_TYPES:
                await self._js.purge_stream(FACTS.name, subject=fact(kind, company, None))

    async def refresh(self, request: RefreshRequested, repeat: int = 0) -> None:
        """Asks the executors to read a site or a page. The same run id means the same run."""
        subject = knowledge_work(REFRESH_REQUESTED, request.company_id)
        msg_id = f"{request.company_id}.run.{request.run_id}.{repeat}"
        event = _event(REFRESH_REQUESTED, request)
        await self._publisher.append(subject, event, stream=KNOWLEDGE.name, msg_id=msg_id)

    async def file(self, file: FileReceived) -> None:
        """Passes a file to the executors."""
        subject, msg_id = knowledge_work(FILE_RECEIVED, file.company_id), f"{file.company_id}.file.{file.upload_id}"
        await self._publisher.append(subject, _event(FILE_RECEIVED, file), stream=KNOWLEDGE.name, msg_id=msg_id)


def _event(kind: str, data: DataT) -> CloudEvent[DataT]:
    return CloudEvent(id=uuid7(), source=SOURCE, type=kind, subject=data.company_id, data=data)


async def follow_changes(client: Client, indexes: KnowledgeIndexes) -> None:
    """Applies other replicas' changes, and changes of settings, to this replica from now on; what it misses is found
    when the store is next read."""

    async def changed(message: Msg) -> None:
        try:
            event = CloudEvent[KnowledgeChanged].model_validate_json(message.data)
        except ValidationError as error:
            _log.warning("knowledge.change_missed", subject=message.subject, error=str(error)[:200])
            return
        # The company is taken from the subject: permissions cover subjects, not what publishers write.
        indexes.mark_changed(company_of(message.subject), event.data.document_id)

    async def configured(message: Msg) -> None:
        try:
            indexes.configured(CloudEvent[CompanyConfigChanged].model_validate_json(message.data).data)
        except ValidationError as error:
            _log.warning("knowledge.settings_missed", subject=message.subject, error=str(error)[:200])

    await subscribe(client, f"{CHANGED}.>", changed)
    await subscribe(client, f"{COMPANY_CHANGED}.>", configured)
