"""The data of reports: stored conversations, and three collections by company/conversation.

`digests` {of, digest}: a conversation's outcome, computed from its facts, and the state of the conversation then.
`spendings` {seen, promptTokens, completionTokens, cost, unpriced}: usage of model calls in it, each event once.
`satisfactions` {score, comment, at (ms, with fractions: two may come within one), user}: its visitor's rating.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from pydantic import TypeAdapter
from pymongo import DESCENDING, ReplaceOne

from contracts.events.fact import ConversationRated
from contracts.report_rpc import RatingView
from memory.adapters.mongo import keys_under, slices, store_errors, store_if_newer
from memory.adapters.mongo_counters import Count, count_once
from memory.adapters.mongo_facts import facts_of
from memory.domain.keys import conversation_key, moment
from memory.domain.report import Digest, ReportedConversation, ReportExtras, digest_of
from memory.ports import Spent
from runtime.stores.mongo import Collection, Database, Document

CONCURRENCY = 4
"""Conversations whose facts are read concurrently for one report."""
ONE_DAY = timedelta(days=1)
_DIGEST = TypeAdapter(Digest)


class MongoReports:
    """Reads and stores the data of reports; every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._conversations = database["conversations"]
        self._facts = database["facts"]
        self._executions = database["executions"]
        self._digests = database["digests"]
        self._spendings = database["spendings"]
        self._satisfactions = database["satisfactions"]

    async def began(self, company: str, since: date, until: date, limit: int, zone: tzinfo = UTC) -> list[Document]:
        """The newest conversations that began on these days in a time zone: {_id, latest, version, person, day}."""
        first, last = _utc_day(since, -ONE_DAY, zone), _utc_day(until, ONE_DAY, zone)
        query = {"dayKey": {"$gte": f"{company}/{first}", "$lte": f"{company}/{last}"}}
        fields = {"latest": 1, "version": 1, "person": 1, "startedAt": 1}
        async with store_errors("read conversations"):
            cursor = self._conversations.find(query, fields).sort("dayKey", DESCENDING).limit(limit)
            rows = await cursor.to_list()
        for row in rows:
            row["day"] = datetime.fromisoformat(row["startedAt"]).astimezone(zone).date()
        return [row for row in rows if since <= row["day"] <= until]

    async def counted(self, rows: Sequence[Document], max_new: int) -> tuple[list[ReportedConversation], bool]:
        """The outcomes of conversations that `began` returned, and whether they are complete. Computes at most
        `max_new` digests that are missing."""
        names = [str(row["_id"]) for row in rows]
        digests = await self._stored_digests(rows)
        missing = [row for row in rows if row["_id"] not in digests]
        gate = asyncio.Semaphore(CONCURRENCY)

        async def compute(row: Document) -> None:
            async with gate:
                digest = await self._compute_digest(str(row["_id"]))
            if digest is not None:
                digests[str(row["_id"])] = digest

        # Stored batch by batch: a report that misses its deadline leaves less work for the next one.
        for part in slices(missing[:max_new]):
            await asyncio.gather(*(compute(row) for row in part))
            await self._store_digests(part, digests)
        extras = await self._extras([name for name in names if name in digests])
        conversations = [
            ReportedConversation(
                name.split("/", 1)[1], _user(row), replace(digests[name], day=row["day"]), extras[name]
            )
            for name, row in zip(names, rows, strict=True)
            if name in digests
        ]
        return conversations, len(missing) <= max_new

    async def _stored_digests(self, rows: Sequence[Document]) -> dict[str, Digest]:
        digests: dict[str, Digest] = {}
        newest = {str(row["_id"]): _state(row) for row in rows}
        for names in slices(list(newest)):
            async with store_errors("read digests"):
                stored = await self._digests.find({"_id": {"$in": names}}).to_list()
            digests |= {
                row["_id"]: _DIGEST.validate_json(row["digest"]) for row in stored if row["of"] == newest[row["_id"]]
            }
        return digests

    async def _compute_digest(self, name: str) -> Digest | None:
        query = {"key": keys_under(name)}
        async with store_errors("read facts"):
            return digest_of(facts_of(await self._facts.find(query).sort("key", 1).to_list()))

    async def _store_digests(self, rows: Sequence[Document], digests: dict[str, Digest]) -> None:
        stored = [
            {"_id": name, "of": _state(row), "digest": _DIGEST.dump_json(digests[name]).decode()}
            for row in rows
            if (name := str(row["_id"])) in digests
        ]
        if stored:
            writes = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in stored]
            async with store_errors("keep digests"):
                await self._digests.bulk_write(writes, ordered=False)

    async def _extras(self, names: Sequence[str]) -> dict[str, ReportExtras]:
        extras: dict[str, ReportExtras] = {}
        for part in slices(names):
            spent = await _by_name(self._spendings, part, {"seen": 0})
            ratings = await _by_name(self._satisfactions, part, {"score": 1})
            tools = await self._tools(part)
            for name in part:
                usage: Document = spent.get(name, {})
                extras[name] = ReportExtras(
                    cost=usage.get("cost", 0.0),
                    unpriced=usage.get("unpriced", 0),
                    prompt_tokens=usage.get("promptTokens", 0),
                    completion_tokens=usage.get("completionTokens", 0),
                    tools=tools[name],
                    score=ratings[name]["score"] if name in ratings else None,
                )
        return extras

    async def _tools(self, names: Sequence[str]) -> Counter[str]:
        if not names:
            return Counter()
        company = names[0].split("/", 1)[0]
        query = {
            "conversationId": {"$in": [name.split("/", 1)[1] for name in names]},
            "key": keys_under(company),
        }
        async with store_errors("count tool calls"):
            rows = await self._executions.find(query, {"conversationId": 1}).to_list()
        return Counter(f"{company}/{row['conversationId']}" for row in rows)

    async def spend(self, spent: Sequence[Spent]) -> None:
        """Counts the usage of model calls in conversations, each event once; events without a conversation are
        ignored."""
        counts = [_count(event.conversation, event) for event in spent if event.conversation is not None]
        if counts:
            async with store_errors("count usage"):
                await count_once(self._spendings, counts)

    async def rate(self, company: str, user: str, rating: ConversationRated, at: datetime) -> None:
        """Stores a visitor's rating, unless there is a later one."""
        row = {
            "_id": conversation_key(company, rating.conversation_id),
            "score": rating.score,
            "comment": rating.comment,
            "user": user,
            "at": at.timestamp() * 1000,
        }
        async with store_errors("store a rating"):
            await store_if_newer(self._satisfactions, row)

    async def rating(self, company: str, conversation: str) -> RatingView | None:
        """The visitor's rating of a conversation."""
        async with store_errors("read a rating"):
            row = await self._satisfactions.find_one({"_id": conversation_key(company, conversation)})
        return RatingView(score=row["score"], comment=row["comment"], rated_at=moment(row["at"])) if row else None


def _utc_day(day: date, offset: timedelta, zone: tzinfo) -> str:
    """The bound of the UTC days (`dayKey`) on which a conversation of that day in a time zone can have begun."""
    is_calendar_end = day in (date.min, date.max)  # there is no day before or after
    return (day if zone is UTC or is_calendar_end else day + offset).isoformat()


def _user(row: Document) -> str | None:
    person: Any = row.get("person")
    return person["userId"] if person else None


def _state(row: Document) -> str:
    """A value that changes with every fact of a conversation, even a late one."""
    return f"{row['latest']}/{row['version']}"


async def _by_name(collection: Collection, names: Sequence[str], fields: dict[str, Any]) -> dict[str, Document]:
    async with store_errors("read for a report"):
        return {str(row["_id"]): row for row in await collection.find({"_id": {"$in": list(names)}}, fields).to_list()}


def _count(conversation: str, spent: Spent) -> Count:
    add = {
        "promptTokens": spent.prompt_tokens,
        "completionTokens": spent.completion_tokens,
        "cost": spent.cost,
        "unpriced": int(spent.unpriced),
    }
    return Count(conversation_key(spent.company, conversation), spent.event_id, add)
