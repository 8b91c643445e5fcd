"""Questions without a good answer, in MongoDB.

knowledge_gaps   {_id: company/gap, listKey: company/state/count/last (ms)/gap, …}: one for all that ask the same
knowledge_asked  {_id: company/conversation/message, gapKey: company/gap/at (ms)/message, …}: each time it was asked
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from pymongo import DESCENDING, InsertOne
from pymongo.errors import BulkWriteError

from contracts.knowledge_rpc import GapExample, GapView
from memory.adapters.mongo import duplicate_writes, keys_under, page_of, replace_version, store_errors
from memory.domain.keys import milliseconds, moment, timed_key
from memory.ports import PageOf
from runtime.stores.mongo import Database, Document

MAX_EXAMPLES = 5
"""Examples of a gap."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One question. `version` changes with every write."""

    id: str
    question: str
    language: str
    count: int
    first_at: datetime
    last_at: datetime
    state: str = "open"
    proposed: str | None = None
    answer_id: str | None = None
    version: int = 0

    def view(self, examples: Sequence[GapExample] = ()) -> GapView:
        return GapView.model_validate({**asdict(self), "examples": examples})


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that the assistant could not answer; `message` is the one that showed it."""

    company: str
    conversation: str
    message: str
    question: str
    reason: str
    at: datetime
    language: str | None = None


class GapStore:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_gaps"]
        self._asked = database["knowledge_asked"]

    async def get(self, company: str, gap: str) -> Gap | None:
        async with store_errors("read a gap"):
            row = await self._rows.find_one({"_id": f"{company}/{gap}"})
        return _gap(row) if row else None

    async def put(self, company: str, gap: Gap, replaced_version: int | None) -> bool:
        """Replaces this version; returns False if another one is there."""
        async with store_errors("store a gap"):
            return await replace_version(
                self._rows, _row(company, replace(gap, version=(replaced_version or 0) + 1)), replaced_version
            )

    async def page(self, company: str, state: str | None, limit: int, cursor: str | None) -> PageOf[Gap]:
        """Returns gaps in a state, the most asked first."""
        prefix = f"{company}/{state}" if state else company
        async with store_errors("list gaps"):
            return (await page_of(self._rows, "listKey", prefix, limit, cursor)).mapped(_gap)

    async def note(self, occasions: Sequence[tuple[str, Unanswered]]) -> list[tuple[str, Unanswered]]:
        """Records occasions on which gaps, named by their ids, were asked; returns those that are new."""
        if not occasions:
            return []
        writes = [InsertOne(_occasion_row(gap, occasion)) for gap, occasion in occasions]
        duplicates: set[int] = set()
        async with store_errors("store questions without an answer"):
            try:
                await self._asked.bulk_write(writes, ordered=False)
            except BulkWriteError as error:
                duplicates = duplicate_writes(error)
        return [occasion for index, occasion in enumerate(occasions) if index not in duplicates]

    async def examples(self, company: str, gap: str, limit: int = MAX_EXAMPLES) -> list[GapExample]:
        """Returns the newest occasions."""
        async with store_errors("read a gap's examples"):
            rows_found = self._asked.find({"gapKey": keys_under(f"{company}/{gap}")})
            rows = await rows_found.sort("gapKey", DESCENDING).limit(limit).to_list()
        return [
            GapExample(
                conversation_id=row["_id"].split("/")[1],
                text=row["text"],
                at=moment(row["at"]),
                reason=row["reason"],
            )
            for row in rows
        ]

    async def of_conversation(self, company: str, conversation: str) -> list[tuple[str, datetime]]:
        """Returns the gaps asked in a conversation, and when."""
        async with store_errors("read a conversation's gaps"):
            rows = await self._asked.find({"_id": keys_under(f"{company}/{conversation}")}).to_list()
        return [(row["gapKey"].split("/")[1], moment(row["at"])) for row in rows]

    async def forget_conversations(self, company: str, conversations: Sequence[str]) -> None:
        """Deletes these conversations' occasions, and gaps that nobody else has asked."""
        for conversation in conversations:
            gaps = await self.of_conversation(company, conversation)
            async with store_errors("delete a conversation's gaps"):
                await self._asked.delete_many({"_id": keys_under(f"{company}/{conversation}")})
                for gap in {gap for gap, _ in gaps}:
                    examples = await self.examples(company, gap, 1)
                    if not examples:
                        await self._rows.delete_one({"_id": f"{company}/{gap}"})
                    else:
                        # The gap's wording may come from the deleted conversation.
                        stored = await self.get(company, gap)
                        if stored is not None and stored.question != examples[0].text:
                            await self.put(company, replace(stored, question=examples[0].text), stored.version)

    async def forget(self, company: str) -> int:
        """Deletes a company's gaps; returns the number of rows."""
        of_company = {"_id": keys_under(company)}
        async with store_errors("delete a company's gaps"):
            results = [await rows.delete_many(of_company) for rows in (self._rows, self._asked)]
        return sum(result.deleted_count for result in results)


def _occasion_row(gap: str, occasion: Unanswered) -> Document:
    at = milliseconds(occasion.at)
    return {
        "_id": f"{occasion.company}/{occasion.conversation}/{occasion.message}",
        "gapKey": timed_key(f"{occasion.company}/{gap}", at, occasion.message),
        "text": occasion.question,
        "at": at,
        "reason": occasion.reason,
    }


def _row(company: str, gap: Gap) -> Document:
    last_ms = milliseconds(gap.last_at)
    return {
        "_id": f"{company}/{gap.id}",
        "version": gap.version,
        "listKey": f"{company}/{gap.state}/{min(gap.count, 10**8 - 1):08d}/{last_ms:013d}/{gap.id}",
        "question": gap.question,
        "language": gap.language,
        "state": gap.state,
        "count": gap.count,
        "firstAt": milliseconds(gap.first_at),
        "lastAt": last_ms,
        "proposed": gap.proposed,
        "answerId": gap.answer_id,
    }


def _gap(row: Document) -> Gap:
    return Gap(
        row["_id"].split("/", 1)[1],
        row["question"],
        row["language"],
        row["count"],
        moment(row["firstAt"]),
        moment(row["lastAt"]),
        row["state"],
        row["proposed"],
        row["answerId"],
        row["version"],
    )
