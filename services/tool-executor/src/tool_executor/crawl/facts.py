"""Publishes documents, in as many events as they need, and the progress of runs."""

import asyncio
from typing import Any

from contracts.channels import fact, knowledge_work
from contracts.envelope import CloudEvent
from contracts.events.knowledge import DocumentFailed, DocumentUpserted, RefreshRequested, RunProgressed
from contracts.ids import derive_id
from contracts.knowledge import MAX_PARTS
from runtime.bus.publisher import Publisher
from tool_executor.extraction.document import in_parts

SOURCE = "/nexus/tool-executor"
_UPSERTED = "knowledge.document.upserted.v1"
_FAILED = "knowledge.document.failed.v1"
_PROGRESSED = "knowledge.run.progressed.v1"
_REFRESH = "knowledge.refresh.requested.v1"
# Assigned once: pydantic drops parametrised models without references.
UpsertedEvent = CloudEvent[DocumentUpserted]
FailedEvent = CloudEvent[DocumentFailed]
ProgressedEvent = CloudEvent[RunProgressed]
RefreshEvent = CloudEvent[RefreshRequested]


class KnowledgeFacts:
    """Publishes facts about runs and documents. Every method raises PublishFailedError."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def upserted(self, document: DocumentUpserted) -> None:
        """Publishes a document; a repeat after a lost acknowledgement is published once."""
        parts = (await asyncio.to_thread(in_parts, document.blocks))[:MAX_PARTS]
        for number, blocks in enumerate(parts, 1):
            part = document.model_copy(update={"blocks": blocks, "part": number, "parts": len(parts)})
            content = (document.document_id or "", document.run_id or "", document.hash, str(len(document.blocks)))
            identity = derive_id(document.company_id, "knowledge", *content, str(number))
            event = UpsertedEvent(id=identity, source=SOURCE, type=_UPSERTED, data=part)
            await self._append(event, document.company_id)

    async def failed(self, failure: DocumentFailed, upload: str) -> None:
        identity = derive_id(failure.company_id, "knowledge", failure.document_id, upload, "failed")
        event = FailedEvent(id=identity, source=SOURCE, type=_FAILED, data=failure)
        await self._append(event, failure.company_id)

    async def progressed(self, progress: RunProgressed) -> None:
        """Publishes the progress of a run. Its end is published once, even if several executors report it."""
        step = str(progress.step) if progress.state == "running" else "end"
        identity = derive_id(progress.company_id, "run", progress.run_id, step)
        event = ProgressedEvent(id=identity, source=SOURCE, type=_PROGRESSED, data=progress)
        await self._append(event, progress.company_id)

    async def add_place(self, request: RefreshRequested, number: int) -> None:
        """Adds a place at a run, for any executor with a free slot."""
        identity = derive_id(request.company_id, "run", request.run_id, "place", str(number))
        event = RefreshEvent(id=identity, source=SOURCE, type=_REFRESH, data=request)
        subject = knowledge_work(_REFRESH, request.company_id)
        await self._publisher.append(subject, event, stream="KNOWLEDGE", msg_id=identity)

    async def _append(self, event: CloudEvent[Any], company: str) -> None:
        await self._publisher.append(fact(event.type, company, None), event, stream="FACTS", msg_id=event.id)
