"""Deletes users and conversations from every collection that names a user or contains what one said.

The collection `erasures` lists deletions that are to be repeated once: {_id: company/user or company/.receipt,
conversations, at (ms), upTo, receipt?, people?}; a row is removed when its deletion is complete.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime

import orjson
from pymongo import ASCENDING

from memory.adapters.mongo import keys_under, slices, store_errors
from memory.domain.erasure import Erasure
from memory.domain.keys import conversation_key, milliseconds, moment, position_of
from runtime.stores.mongo import Database, Document

BY_CONVERSATION = ("ratings", "lessons", "updates", "notes", "withdrawals")
"""Collections whose ids begin with company/conversation/."""
REPORT_COLLECTIONS = ("digests", "spendings", "satisfactions")
"""Collections for reports, whose ids are company/conversation."""
_COMPANY_COLLECTIONS = (
    "facts", "conversations", "summaries", "memories", "executions", "usage", "erasures", "sightings",
    "replies", "receipts", *BY_CONVERSATION, *REPORT_COLLECTIONS,
)  # fmt: skip
"""Collections whose ids begin with the company's; a company's knowledge is deleted by its own stores."""


class MongoErasure:
    def __init__(self, database: Database, forget_gaps: Callable[[str, Sequence[str]], Awaitable[None]]) -> None:
        self._database = database
        self._forget_gaps = forget_gaps
        self._jobs = database["erasures"]

    async def conversations_of(self, company: str, user: str) -> list[str]:
        """The ids of the user's conversations, and of those that they began as a visitor."""
        prefix = f"{company}:{user}"
        ids: set[str] = set()
        async with store_errors("read a person's conversations"):
            for key in ("personKey", "visitorKey"):
                query = {key: keys_under(prefix)}
                rows = await self._database["conversations"].find(query, {"_id": 1}).to_list()
                ids |= {str(row["_id"]).split("/", 1)[1] for row in rows}
        return sorted(ids)

    async def people_of(self, company: str, conversations: Sequence[str]) -> list[str]:
        """The people who wrote in these conversations."""
        rows = await self._rows_of(company, conversations, {"person": 1}, "read the authors of conversations")
        return sorted({row["person"]["userId"] for row in rows if row.get("person")})

    async def existing(self, company: str, conversations: Sequence[str]) -> list[str]:
        """The conversations among these that exist."""
        rows = await self._rows_of(company, conversations, {"_id": 1}, "look for conversations")
        return [str(row["_id"]).split("/", 1)[1] for row in rows]

    async def _rows_of(
        self, company: str, conversations: Sequence[str], fields: Document, action: str
    ) -> list[Document]:
        rows: list[Document] = []
        async with store_errors(action):
            for batch in slices(conversations):
                query = {"_id": {"$in": [conversation_key(company, conversation) for conversation in batch]}}
                rows += await self._database["conversations"].find(query, fields).to_list()
        return rows

    async def begun(self, company: str, user: str) -> Erasure | None:
        """The unfinished deletion of this user, or the one named `.receipt`."""
        async with store_errors("read a deletion"):
            row = await self._jobs.find_one({"_id": f"{company}/{user}"})
        return _job(row) if row else None

    async def begin(self, job: Erasure) -> None:
        """Records the deletion, replacing an earlier one."""
        row = {
            "_id": _job_id(job),
            "conversations": list(job.conversations),
            "at": milliseconds(job.at),
            "upTo": str(job.up_to),
            "receipt": job.receipt,
            "people": list(job.people),
        }
        async with store_errors("store a deletion"):
            await self._jobs.replace_one({"_id": row["_id"]}, row, upsert=True)

    async def due(self, before: datetime, limit: int) -> list[Erasure]:
        """Deletions that began at or before `before`, oldest first."""
        query = {"at": {"$lte": milliseconds(before)}}
        async with store_errors("read deletions"):
            return [_job(row) for row in await self._jobs.find(query).sort("at", ASCENDING).limit(limit).to_list()]

    async def done(self, job: Erasure) -> None:
        """Removes the deletion from the list, unless it was begun again."""
        query = {"_id": _job_id(job), "at": milliseconds(job.at)}
        async with store_errors("end a deletion"):
            await self._jobs.delete_one(query)

    async def counts(self, job: Erasure) -> dict[str, int]:
        """Counts the documents that `erase` would delete, by collection (`mongodb <name>`)."""
        ids: defaultdict[str, set[str]] = defaultdict(set)
        async with store_errors("count what is to be deleted"):
            for collection, query in _documents_of(job):
                rows = await self._database[collection].find(query, {"_id": 1}).to_list()
                ids[f"mongodb {collection}"] |= {str(row["_id"]) for row in rows}
        return {place: len(document_ids) for place, document_ids in ids.items()}

    async def erase(self, job: Erasure) -> None:
        """Deletes all data of the user, or of the conversations."""
        await self._forget_gaps(job.company, job.conversations)
        async with store_errors("delete a user"):
            for collection, query in _documents_of(job):
                await self._database[collection].delete_many(query)

    async def erase_company(self, company: str) -> dict[str, int]:
        query = {"_id": keys_under(company)}
        async with store_errors("delete a company"):
            return {
                f"mongodb {name}": (await self._database[name].delete_many(query)).deleted_count
                for name in _COMPANY_COLLECTIONS
            }

    async def erase_late(self, job: Erasure) -> None:
        """Deletes what was being written while `erase` ran; later data stays."""
        async with store_errors("delete a user"):
            for conversation in job.conversations:
                key = conversation_key(job.company, conversation)
                await self._database["facts"].delete_many({"key": {"$gt": f"{key}/", "$lte": f"{key}/{job.up_to}"}})
                await self._database["conversations"].delete_one({"_id": key, "latest": {"$lte": str(job.up_to)}})
                for collection in BY_CONVERSATION:
                    await self._database[collection].delete_many({"_id": keys_under(key)})
                await self._database["summaries"].delete_one({"_id": key, "upTo": {"$lte": str(job.up_to)}})
                for collection in REPORT_COLLECTIONS:
                    await self._database[collection].delete_one({"_id": key})
            if job.user and not await self.conversations_of(job.company, job.user):
                await self._delete_late_memory(job)
            await self._delete_calls(
                job, {"at": {"$lte": job.at.astimezone(UTC).isoformat()}}, all_of_user=bool(job.user)
            )

    async def erase_calls(self, job: Erasure, *, all_of_user: bool) -> None:
        """Deletes the tool calls of the conversations; with `all_of_user`, also all others of the user."""
        async with store_errors("delete a user's calls"):
            await self._delete_calls(job, {}, all_of_user=all_of_user)

    async def _delete_late_memory(self, job: Erasure) -> None:
        """Deletes the memory if anything was learned into it from the deleted conversations during their deletion; a
        memory that only the user has written stays."""
        rows = self._database["memories"]
        row = await rows.find_one({"_id": f"{job.company}/{job.user}"})
        if row is not None and orjson.loads(row["state"]).get("learned"):
            await rows.delete_one({"_id": row["_id"], "version": row["version"]})

    async def _delete_calls(self, job: Erasure, condition: Document, *, all_of_user: bool = True) -> None:
        """Deletes all calls of the conversations, and with `all_of_user` all of the user's, that meet the condition."""
        for query in _calls_of(job, all_of_user=all_of_user):
            await self._database["executions"].delete_many(query | condition)


def _documents_of(job: Erasure) -> Iterator[tuple[str, Document]]:
    """Queries for the documents of a deletion, each with its collection; a document may match twice."""
    for conversation in job.conversations:
        key = conversation_key(job.company, conversation)
        yield "facts", {"key": keys_under(key)}
        for collection in ("conversations", "summaries", *REPORT_COLLECTIONS):
            yield collection, {"_id": key}
        for collection in (*BY_CONVERSATION, "knowledge_asked"):
            yield collection, {"_id": keys_under(key)}
    for query in _calls_of(job, all_of_user=bool(job.user)):
        yield "executions", query
    if job.user:
        yield "memories", {"_id": f"{job.company}/{job.user}"}


def _calls_of(job: Erasure, *, all_of_user: bool) -> Iterator[Document]:
    if all_of_user:
        yield {"_id": keys_under(f"{job.company}/{job.user}")}
    for batch in slices(job.conversations):
        yield {"conversationId": {"$in": batch}, "key": keys_under(job.company)}


def _job_id(job: Erasure) -> str:
    """The deletion's id. For conversations it is `.receipt`, which no user can be called: no user id begins with a
    dot."""
    return f"{job.company}/{job.user or '.' + job.receipt}"


def _job(row: Document) -> Erasure:
    company, user = row["_id"].split("/", 1)
    return Erasure(
        company=company,
        user="" if user.startswith(".") else user,
        conversations=tuple(row["conversations"]),
        at=moment(row["at"]),
        up_to=position_of(row["upTo"]),
        receipt=row.get("receipt", ""),
        people=tuple(row.get("people", ())),
    )
