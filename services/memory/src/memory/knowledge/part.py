"""Composes a replica's part in companies' knowledge: consumers, methods and sweeps."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from pydantic import ValidationError

from contracts.company_rpc import CompanyRequest
from contracts.envelope import CloudEvent, Wire
from contracts.events.chat import AssistantMessage, OperatorMessage, OwnerChanged, VisitorMessage
from contracts.events.fact import FeedbackGiven
from contracts.events.knowledge import DocumentFailed, DocumentRemoved, DocumentUpserted, RunProgressed
from contracts.knowledge import Grounding
from contracts.knowledge_rpc import FORGET, OVERVIEW, DocumentGone
from contracts.languages import named_language
from contracts.streams import FACTS
from memory.application.projection_sources import ProjectionSource, process_each
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.embeddings.embeddings import configured
from memory.errors import BadKnowledgeError
from memory.fact_intake import MISPLACED, FactIntake, fact_owner
from memory.knowledge import answer_methods, methods, tool
from memory.knowledge.bus import KnowledgeBus, follow_changes
from memory.knowledge.gaps import GapList
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.library import Library
from memory.knowledge.methods import DocumentMethods
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_gaps import GapStore, Unanswered
from memory.knowledge.mongo_runs import RunStore
from memory.knowledge.mongo_state import SiteStateStore
from memory.knowledge.overview import Overview
from memory.knowledge.runs import RunScheduler
from memory.knowledge.texts import STEMS
from memory.migrations import MigrationStep
from memory.settings import EmbeddingSettings
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.direct import StoredFact
from runtime.calls.refusals import wrong_fields
from runtime.workers.batch_worker import BatchWorker, each_event
from runtime.workers.outcomes import Ack, DeadLetter, Outcome
from runtime.workers.pull_worker import Delivery

DURABLE = "memory-knowledge"
SUBJECT = "knowledge.>"
"""In FACTS: documents, runs, and memory's own announcements, which are skipped."""
SETTLE_SECONDS = 2.0
"""Seconds between checks whether all pages of a site have arrived."""
SCHEDULE_SECONDS = 15.0
"""Seconds between checks for sites that are due to be read again."""
COMPARE_SECONDS = 30.0
"""Seconds between comparisons of the index with the store."""


class _Anything(Wire):
    """An event's data before its type is known."""


class KnowledgePart:
    """Built once the service is connected."""

    def __init__(self, deps: Deps) -> None:
        service, stored, companies, clock = deps.service, deps.fact_database, deps.companies, deps.clock
        self._service = service
        self._companies = companies
        self._facts = deps.stored_facts
        documents = DocumentStore(deps.database)
        self.gap_store = GapStore(stored)
        self.embeddings = configured(EmbeddingSettings())
        """The embeddings that all parts of the replica share."""
        service.on_stop(self.embeddings.stop)
        self.indexes = KnowledgeIndexes(documents, companies.get, self.embeddings, self._is_first_run)
        self.bus = KnowledgeBus(service.nats, service.publisher)
        self.library = Library(DocumentStore(stored), SiteStateStore(stored), self.indexes, self.bus.changed, clock)
        self.refreshing = RunScheduler(
            RunStore(stored), DocumentStore(stored), self.library, companies, self.bus, clock
        )
        self.gaps = GapList(self.gap_store, self.library, clock)
        gaps = GapStore(deps.database)
        document_methods = DocumentMethods(self.library, documents, self.bus)
        methods.serve(service, self.indexes, document_methods, self.refreshing)
        service.serve(OVERVIEW, Overview(documents, gaps, self.refreshing, companies).of)
        answer_methods.serve(service, self.library, documents, gaps, self.gaps, clock)
        tool.serve(service, self.indexes)
        self._stores = (DocumentStore(stored), SiteStateStore(stored), RunStore(stored), self.gap_store)
        service.serve(FORGET, self._forget)
        service.on_stop(self.indexes.stop)
        service.on_reconnect(self.indexes.mark_all_changed)

    async def _is_first_run(self, company: str) -> bool:
        return await self.refreshing.is_first(company)

    async def follow(self) -> None:
        """Follows changes from now on."""
        await follow_changes(self._service.nats, self.indexes)

    def sweeps(self) -> Sequence[PeriodicSweep]:
        return (
            PeriodicSweep("pages that have come in", SETTLE_SECONDS, self.library.settle),
            PeriodicSweep("sites that are due", SCHEDULE_SECONDS, self.refreshing.sweep),
            PeriodicSweep("knowledge held and stored", COMPARE_SECONDS, self.indexes.mark_all_changed),
        )

    async def note_gaps(self, facts: Sequence[LogFact]) -> None:
        """Finds questions in conversations' facts that the assistant could not answer."""
        await self.gaps.note(question for fact in facts if (question := _unanswered(fact)) is not None)
        for fact in facts:
            if isinstance(fact.data, OperatorMessage):
                await self.gaps.operator_said(fact.company, fact.conversation, fact.data.text, fact.at)

    async def rated(self, company: str, rating: FeedbackGiven, at: datetime) -> bool:
        """Makes the answered question of a bad rating a gap. Returns False if the answer is not known (yet)."""
        if rating.rating != "down":
            return True
        answer = await self._facts.message(company, rating.conversation_id, rating.message_id)
        if answer is None or not isinstance(answer.data, AssistantMessage):
            return answer is not None
        message, language = answer.data, None
        if message.grounding:
            question, language = message.grounding.question, message.grounding.language
        else:
            era = answer.position.era
            before, upto = LogPosition(era, message.basis - 1), LogPosition(era, message.basis)
            messages = await self._facts.after(company, rating.conversation_id, before, upto, 1)
            visitor_message = messages[0].data if messages else None
            if not isinstance(visitor_message, VisitorMessage):
                return True
            question, language = visitor_message.text, named_language(visitor_message.locale)
        unanswered = Unanswered(
            company, rating.conversation_id, rating.message_id, question, "thumbs_down", at, language
        )
        await self.gaps.note([unanswered])
        return True

    async def _forget(self, request: CompanyRequest) -> DocumentGone:
        await self.forget(request.company_id)
        return DocumentGone(deleted=True)

    async def forget(self, company: str) -> int:
        """Deletes everything of a company: first from the streams, so that nothing comes back. Returns the number of
        documents."""
        await self.bus.forget(company)
        removed = sum([await store.forget(company) for store in self._stores])
        self.indexes.drop(company)
        await self.bus.changed(company, None)
        return removed

    def stems_step(self) -> MigrationStep:
        """The migration after the stems have changed."""
        documents = self._stores[0]
        description = "passages are given the stems by which this release finds them"
        return MigrationStep(
            "knowledge-stems", description, lambda: documents.count_older(STEMS), self.library.renew_stems
        )

    def consume(self, intake: FactIntake) -> None:
        """Consumes the facts of documents and runs; they are retried while the store is unavailable."""

        async def take(delivery: Delivery, event: CloudEvent[_Anything]) -> Outcome:
            return await self._take(delivery.subject, event.type, delivery.data)

        spec = ConsumerSpec(FACTS.name, DURABLE, ("knowledge.document.>", "knowledge.run.>"))
        worker = BatchWorker(
            self._service.nats, spec, each_event(CloudEvent[_Anything], take), service=self._service.name
        )
        self._service.add_worker(worker)

        async def again(stored: StoredFact) -> None:
            event = CloudEvent[_Anything].model_validate_json(stored.event)
            await self._take(stored.subject, event.type, stored.event)

        intake.sources.append(ProjectionSource(FACTS.name, DURABLE, SUBJECT, partial(process_each, take=again)))

    async def _take(self, subject: str, kind: str, body: bytes) -> Outcome:
        owner = fact_owner(kind, subject)
        if owner is None:
            return MISPLACED
        company = owner[0]
        settings = await self._companies.get_with_deleted(company)
        if settings is not None and settings.deleted:
            return Ack()  # of a run that began before its company was deleted
        try:
            if kind == "knowledge.document.upserted.v1":
                await self.library.upserted(company, CloudEvent[DocumentUpserted].model_validate_json(body).data)
            elif kind == "knowledge.document.removed.v1":
                event = CloudEvent[DocumentRemoved].model_validate_json(body)
                await self.library.removed(company, event.data, event.time)
            elif kind == "knowledge.document.failed.v1":
                await self.library.failed(company, CloudEvent[DocumentFailed].model_validate_json(body).data)
            elif kind == "knowledge.run.progressed.v1":
                await self.refreshing.progressed(company, CloudEvent[RunProgressed].model_validate_json(body).data)
        except ValidationError as error:
            return DeadLetter(f"does not fit its contract: {wrong_fields(error)}")
        except BadKnowledgeError as error:
            return DeadLetter(str(error))
        return Ack()


def _unanswered(fact: LogFact) -> Unanswered | None:
    """Returns the question whose answer had no source, or because of which a person was asked for."""
    match fact.data:
        case AssistantMessage(grounding=Grounding(known=False) as grounding) as answer:
            message_id, reason = answer.message_id, "unknown"
        case OwnerChanged(grounding=Grounding(known=False) as grounding):
            message_id, reason = fact.event_id, "handoff"
        case _:
            return None
    return Unanswered(
        fact.company, fact.conversation, message_id, grounding.question, reason, fact.at, grounding.language
    )
