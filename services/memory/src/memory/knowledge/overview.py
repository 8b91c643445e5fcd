"""An overview of a company's knowledge."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from contracts.company_rpc import CompanyRequest
from contracts.knowledge_rpc import KnowledgeOverview, SourceCount
from memory.adapters.mongo_companies import MongoCompanies
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_gaps import GapStore
from memory.knowledge.records import FAILED, Record
from memory.knowledge.runs import RunScheduler

MAX_FAILURES = 20
"""Failed documents that an overview names, newest first."""
MAX_GAPS = 1_000


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts what a company's knowledge consists of."""

    documents: DocumentStore
    gaps: GapStore
    refreshing: RunScheduler
    companies: MongoCompanies

    async def of(self, request: CompanyRequest) -> KnowledgeOverview:
        """Returns counts of stored documents and passages, the newest run, and what failed."""
        company = request.company_id
        counts, passages, failed_counts = Counter[str](), Counter[str](), Counter[str]()
        failures: list[Record] = []
        async for record in self.documents.all(company):
            counts[record.source] += 1
            passages[record.source] += record.passages
            if record.state == FAILED:
                failed_counts[record.source] += 1
                failures.append(record)
        settings = await self.companies.get(company)
        knowledge = settings.config.knowledge if settings else None
        last_run = await self.refreshing.newest(company)
        open_gaps = await self.gaps.page(company, "open", MAX_GAPS, None)
        next_run_at = None
        if knowledge and knowledge.site_url and last_run:
            next_run_at = (last_run.finished_at or last_run.requested_at) + timedelta(hours=knowledge.refresh_hours)
        failures.sort(key=lambda record: record.updated_at, reverse=True)
        return KnowledgeOverview(
            sources=[
                SourceCount(
                    source=source,  # pyright: ignore[reportArgumentType] - an open list
                    documents=count,
                    passages=passages[source],
                    failed=failed_counts[source],
                )
                for source, count in sorted(counts.items())
            ],
            site_url=knowledge.site_url if knowledge else None,
            last_run=last_run,
            next_run_at=next_run_at,
            gaps=len(open_gaps.items),
            failures=[record.view() for record in failures[:MAX_FAILURES]],
        )
