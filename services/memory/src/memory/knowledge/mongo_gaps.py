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

SHOWN = 5
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
class AskedOnce:
    """One occasion on which a gap was asked."""

    conversation: str
    message: str
    gap: str
    text: str
    at: datetime
    reason: str


class Gaps:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_gaps"]
        self._asked = database["knowledge_asked"]

    async def get(self, company: str, gap: str) -> Gap | None:
        async with store_errors("read a gap"):
            row = await self._rows.find_one({"_id": f"{company}/{gap}"})
        return _gap(row) if row else None

    async def put(self, company: str, gap: Gap, over: int | None) -> bool:
        """Replaces the version `over`; False: another one is there."""
        async with store_errors("store a gap"):
            return await replace_version(self._rows, _row(company, replace(gap, version=(over or 0) + 1)), over)

    async def page(self, company: str, state: str | None, limit: int, cursor: str | None) -> PageOf[Gap]:
        """Gaps of a state, the most asked first."""
        prefix = f"{company}/{state}" if state else company
        async with store_errors("list gaps"):
            return (await page_of(self._rows, "listKey", prefix, limit, cursor)).mapped(_gap)

    async def note(self, times: Sequence[tuple[str, AskedOnce]]) -> list[tuple[str, AskedOnce]]:
        """Records occasions; returns those that are new."""
        if not times:
            return []
        writes = [InsertOne(_noted(company, asked)) for company, asked in times]
        known: set[int] = set()
        async with store_errors("store questions without an answer"):
            try:
                await self._asked.bulk_write(writes, ordered=False)
            except BulkWriteError as error:
                known = duplicate_writes(error)
        return [one for number, one in enumerate(times) if number not in known]

    async def examples(self, company: str, gap: str, most: int = SHOWN) -> list[GapExample]:
        """The newest occasions."""
        async with store_errors("read a gap's examples"):
            found = self._asked.find({"gapKey": keys_under(f"{company}/{gap}")})
            rows = await found.sort("gapKey", DESCENDING).limit(most).to_list()
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
        """The gaps asked in a conversation, and when."""
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
                    left = await self.examples(company, gap, 1)
                    if not left:
                        await self._rows.delete_one({"_id": f"{company}/{gap}"})
                    else:
                        # Its words may have been theirs.
                        stored = await self.get(company, gap)
                        if stored is not None and stored.question != left[0].text:
                            await self.put(company, replace(stored, question=left[0].text), stored.version)

    async def forget(self, company: str) -> int:
        """Deletes a company's gaps; returns how many."""
        mine = {"_id": keys_under(company)}
        async with store_errors("delete a company's gaps"):
            gone = [await rows.delete_many(mine) for rows in (self._rows, self._asked)]
        return sum(one.deleted_count for one in gone)


def _noted(company: str, asked: AskedOnce) -> Document:
    return {
        "_id": f"{company}/{asked.conversation}/{asked.message}",
        "gapKey": timed_key(f"{company}/{asked.gap}", milliseconds(asked.at), asked.message),
        "text": asked.text,
        "at": milliseconds(asked.at),
        "reason": asked.reason,
    }


def _row(company: str, one: Gap) -> Document:
    last = milliseconds(one.last_at)
    return {
        "_id": f"{company}/{one.id}",
        "version": one.version,
        "listKey": f"{company}/{one.state}/{min(one.count, 10**8 - 1):08d}/{last:013d}/{one.id}",
        "question": one.question,
        "language": one.language,
        "state": one.state,
        "count": one.count,
        "firstAt": milliseconds(one.first_at),
        "lastAt": last,
        "proposed": one.proposed,
        "answerId": one.answer_id,
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
