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


async def overview(
    company: str, documents: Documents, gaps: Gaps, refreshing: Refreshing, companies: MongoCompanies
) -> KnowledgeOverview:
    """Counts of stored documents and passages, the newest run, and what failed."""
    counts, passages, failed = Counter[str](), Counter[str](), Counter[str]()
    broken: list[Record] = []
    async for one in documents.all(company):
        counts[one.source] += 1
        passages[one.source] += one.passages
        if one.state == FAILED:
            failed[one.source] += 1
            broken.append(one)
    settings = await companies.get(company)
    knowledge = settings.config.knowledge if settings else None
    last = await refreshing.newest(company)
    opened = await gaps.page(company, "open", MOST_GAPS, None)
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
            for source, count in sorted(counts.items())
        ],
        site_url=knowledge.site_url if knowledge else None,
        last_run=last,
        next_run_at=due,
        gaps=len(opened.items),
        failures=[one.view() for one in broken[:SHOWN]],
    )
