"""A company's knowledge at a glance."""

from collections import Counter
from datetime import timedelta

from contracts.knowledge_rpc import KnowledgeOverview, SourceCount
from memory.adapters.mongo_companies import MongoCompanies
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.mongo_gaps import Gaps
from memory.knowledge.records import FAILED, Record
from memory.knowledge.runs import Refreshing

SHOWN = 20
MOST_GAPS = 1_000


class Overview:
    """Counts of stored documents and passages."""

    def __init__(self, documents: Documents, gaps: Gaps, refreshing: Refreshing, companies: MongoCompanies) -> None:
        self._documents = documents
        self._gaps = gaps
        self._refreshing = refreshing
        self._companies = companies

    async def of(self, company: str) -> KnowledgeOverview:
        documents, passages, failed = Counter[str](), Counter[str](), Counter[str]()
        broken: list[Record] = []
        async for one in self._documents.all(company):
            documents[one.source] += 1
            passages[one.source] += one.passages
            if one.state == FAILED:
                failed[one.source] += 1
                broken.append(one)
        settings = await self._companies.get(company)
        knowledge = settings.config.knowledge if settings else None
        last = await self._refreshing.newest(company)
        gaps = await self._gaps.page(company, "open", MOST_GAPS, None)
        due = None
        if knowledge and knowledge.site_url and last:
            due = (last.finished_at or last.requested_at) + timedelta(hours=knowledge.refresh_hours)
        broken.sort(key=lambda one: one.updated_at, reverse=True)
        return KnowledgeOverview(
            sources=[
                SourceCount(
                    source=source,  # pyright: ignore[reportArgumentType] - an open list
                    documents=count,
                    passages=passages[source],
                    failed=failed[source],
                )
                for source, count in sorted(documents.items())
            ],
            site_url=knowledge.site_url if knowledge else None,
            last_run=last,
            next_run_at=due,
            gaps=len(gaps.items),
            failures=[one.view() for one in broken[:SHOWN]],
        )
