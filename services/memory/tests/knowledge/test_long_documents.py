"""A document of many parts is put together once, when the last of them has come."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from pymongo import AsyncMongoClient

from contracts.company import CompanySettings
from contracts.events.knowledge import DocumentUpserted
from contracts.knowledge import Block, KnowledgeQuery
from memory.adapters.mongo import for_facts
from memory.embeddings.embeddings import Embeddings
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_state import SiteStateStore
from memory.testing.harness import Servers
from runtime.clock import SystemClock

PARTS = 12


class CountingDocuments(DocumentStore):
    """Counts how often a document's parts are read."""

    read = 0

    async def parts(self, company: str, document: str, hash_digest: str) -> list[list[Block]]:
        self.read += 1
        return await super().parts(company, document, hash_digest)


async def _no_settings(_: str) -> CompanySettings | None:
    return None


async def _no_first_run(_: str) -> bool:
    return False


async def _nobody(_: str, __: str | None) -> None:
    return None


async def test_the_parts_of_a_long_document_that_come_together_are_read_once(servers: Servers) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        database = for_facts(client[servers.database], 10.0)
        documents = CountingDocuments(database)
        indexes = KnowledgeIndexes(documents, _no_settings, Embeddings(None, 0.1), _no_first_run)
        library = Library(documents, SiteStateStore(database), indexes, _nobody, SystemClock())
        events = [
            DocumentUpserted(
                company_id="acme",
                source="document",
                external_id="book",
                title="A long book",
                hash="h1",
                read_at=datetime(2026, 1, 5, tzinfo=UTC),
                part=part,
                parts=PARTS,
                blocks=[Block(text=f"Chapter {part} tells of the {part} rockets in hangar {part}.")],
            )
            for part in range(1, PARTS + 1)
        ]
        await asyncio.gather(*(library.upserted("acme", event) for event in events))
        found = await indexes.search("acme", KnowledgeQuery(text="rockets in hangar 12", limit=5), 10.0)
        assert "hangar 12" in found.passages[0].text
        assert documents.read == 1
        await indexes.stop()
