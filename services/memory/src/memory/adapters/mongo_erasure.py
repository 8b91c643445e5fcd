"""Deletions in every collection that names a user or contains what one said.

The collection `erasures`: {_id: company/user or company/.receipt, conversations, at (ms), upTo, receipt?, people?}:
deletions to be repeated once; a row is removed when its deletion is complete.
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
COUNTED = ("digests", "spendings", "satisfactions")
"""Collections about single conversations, for reports."""
_OF_COMPANIES = (
    "facts", "conversations", "summaries", "memories", "executions", "usage", "erasures", "sightings",
    "replies", "receipts", *BY_CONVERSATION, *COUNTED,
)  # fmt: skip
"""Collections whose ids begin with their company's; the company's knowledge is deleted by its own stores."""


class MongoErasure:
    def __init__(self, database: Database, forget_gaps: Callable[[str, Sequence[str]], Awaitable[None]]) -> None:
        self._database = database
        self._forget_gaps = forget_gaps
        self._jobs = database["erasures"]

    async def conversations_of(self, company: str, user: str) -> list[str]:
        """The ids of the user's conversations, and of those that they began as a visitor."""
        prefix = f"{company}:{user}"
        found: set[str] = set()
        async with store_errors("read a person's conversations"):
            for key in ("personKey", "visitorKey"):
                where = {key: keys_under(prefix)}
                rows = await self._database["conversations"].find(where, {"_id": 1}).to_list()
                found |= {str(row["_id"]).split("/", 1)[1] for row in rows}
        return sorted(found)

    async def people_of(self, company: str, conversations: Sequence[str]) -> list[str]:
        """The people who wrote in these conversations."""
        found: set[str] = set()
        async with store_errors("read the authors of conversations"):
            for names in slices(conversations):
                where = {"_id": {"$in": [conversation_key(company, name) for name in names]}}
                rows = await self._database["conversations"].find(where, {"person": 1}).to_list()
                found |= {row["person"]["userId"] for row in rows if row.get("person")}
        return sorted(found)

    async def existing(self, company: str, conversations: Sequence[str]) -> list[str]:
        """The conversations among these that exist."""
        found: list[str] = []
        async with store_errors("look for conversations"):
            for names in slices(conversations):
                where = {"_id": {"$in": [conversation_key(company, name) for name in names]}}
                rows = await self._database["conversations"].find(where, {"_id": 1}).to_list()
                found += [str(row["_id"]).split("/", 1)[1] for row in rows]
        return found

    async def begun(self, company: str, user: str) -> Erasure | None:
        """The running deletion of this user, or the one named `.receipt`."""
        async with store_errors("read a deletion"):
            row = await self._jobs.find_one({"_id": f"{company}/{user}"})
        return _job(row) if row else None

    async def begin(self, job: Erasure) -> None:
        """Records the deletion, replacing an earlier one."""
        row = {
            "_id": _name(job),
            "conversations": list(job.conversations),
            "at": milliseconds(job.at),
            "upTo": str(job.up_to),
            "receipt": job.receipt,
            "people": list(job.people),
        }
        async with store_errors("store a deletion"):
            await self._jobs.replace_one({"_id": row["_id"]}, row, upsert=True)

    async def due(self, before: datetime, limit: int) -> list[Erasure]:
        """Deletions begun at or before `before`, oldest first."""
        where = {"at": {"$lte": milliseconds(before)}}
        async with store_errors("read deletions"):
            return [_job(row) for row in await self._jobs.find(where).sort("at", ASCENDING).limit(limit).to_list()]

    async def done(self, job: Erasure) -> None:
        """Removes the record, unless the deletion was begun again."""
        where = {"_id": _name(job), "at": milliseconds(job.at)}
        async with store_errors("end a deletion"):
            await self._jobs.delete_one(where)

    async def found(self, job: Erasure) -> dict[str, int]:
        """Counts the documents that `erase` would delete, by place."""
        names: defaultdict[str, set[str]] = defaultdict(set)
        async with store_errors("count what is to be deleted"):
            for collection, where in _all_of(job):
                rows = await self._database[collection].find(where, {"_id": 1}).to_list()
                names[f"mongodb {collection}"] |= {str(row["_id"]) for row in rows}
        return {place: len(found) for place, found in names.items()}

    async def erase(self, job: Erasure) -> None:
        """Deletes all data of the user, or of the conversations."""
        await self._forget_gaps(job.company, job.conversations)
        async with store_errors("delete a user"):
            for collection, where in _all_of(job):
                await self._database[collection].delete_many(where)

    async def erase_company(self, company: str) -> dict[str, int]:
        mine = {"_id": keys_under(company)}
        async with store_errors("delete a company"):
            return {
                f"mongodb {name}": (await self._database[name].delete_many(mine)).deleted_count
                for name in _OF_COMPANIES
            }

    async def erase_late(self, job: Erasure) -> None:
        """Deletes what was being written when `erase` ran; later data stays."""
        async with store_errors("delete a user"):
            for name in job.conversations:
                key = conversation_key(job.company, name)
                await self._database["facts"].delete_many({"key": {"$gt": f"{key}/", "$lte": f"{key}/{job.up_to}"}})
                await self._database["conversations"].delete_one({"_id": key, "latest": {"$lte": str(job.up_to)}})
                for collection in BY_CONVERSATION:
                    await self._database[collection].delete_many({"_id": keys_under(key)})
                await self._database["summaries"].delete_one({"_id": key, "upTo": {"$lte": str(job.up_to)}})
                for collection in COUNTED:
                    await self._database[collection].delete_one({"_id": key})
            if job.user and not await self.conversations_of(job.company, job.user):
                await self._learned_late(job)
            await self._executions(job, {"at": {"$lte": job.at.astimezone(UTC).isoformat()}}, own=bool(job.user))

    async def erase_calls(self, job: Erasure, *, own: bool) -> None:
        """Deletes the tool calls of the conversations; if `own`, all of the user's."""
        async with store_errors("delete a user's calls"):
            await self._executions(job, {}, own=own)

    async def _learned_late(self, job: Erasure) -> None:
        """What was learned from the deleted conversations during their deletion; what the user wrote themselves
        stays."""
        rows = self._database["memories"]
        row = await rows.find_one({"_id": f"{job.company}/{job.user}"})
        if row is not None and orjson.loads(row["state"]).get("learned"):
            await rows.delete_one({"_id": row["_id"], "version": row["version"]})

    async def _executions(self, job: Erasure, further: Document, *, own: bool = True) -> None:
        """The user's `own` calls, and all calls of the conversations."""
        for where in _calls_of(job, own=own):
            await self._database["executions"].delete_many(where | further)


def _all_of(job: Erasure) -> Iterator[tuple[str, Document]]:
    """The documents of a deletion, by collection; some may be listed twice."""
    for name in job.conversations:
        key = conversation_key(job.company, name)
        yield "facts", {"key": keys_under(key)}
        for collection in ("conversations", "summaries", *COUNTED):
            yield collection, {"_id": key}
        for collection in (*BY_CONVERSATION, "knowledge_asked"):
            yield collection, {"_id": keys_under(key)}
    for where in _calls_of(job, own=bool(job.user)):
        yield "executions", where
    if job.user:
        yield "memories", {"_id": f"{job.company}/{job.user}"}


def _calls_of(job: Erasure, *, own: bool) -> Iterator[Document]:
    if own:
        yield {"_id": keys_under(f"{job.company}/{job.user}")}
    for names in slices(job.conversations):
        yield {"conversationId": {"$in": names}, "key": keys_under(job.company)}


def _name(job: Erasure) -> str:
    """A name that no user's id can be, since none begins with a dot."""
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
